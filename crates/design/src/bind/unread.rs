//! Writes for which nothing must be read first: nothing follows from them, and what they leave does not depend on what was there.
//!
//! Always true: such a write leaves the same as `bind_write` would, in one request instead of two, and with nothing that could be lost to
//! others. Whatever is wrong with a write is left for `bind_write` to say.

use dynamo::{Item, Number};

use super::item::item_key;
use super::steps::Write;
use super::value::{check, coerced, now, validate_key};
use super::write::{Body, Changes, Guard, ItemWrite, PlannedWrite, merged};
use super::{Context, ItemKey};
use crate::check::{CheckedDesign, cannot_recompute};
use crate::model::{Entity, TimeRole, Type};

/// The write of the one item that an update or a delete is about. None if something must be known first, or is wrong.
pub fn bind_unread(design: &CheckedDesign, write: &Write<'_>, context: &Context<'_>) -> Option<PlannedWrite> {
    let (name, key, body) = match write {
        Write::Update { entity, key, set, remove, version: None } => {
            let body = changes(design, design.entity(entity)?, set, remove, context)?;
            (entity, key, Body::Update(body))
        }
        Write::Delete { entity, key, version: None } => {
            let counted = |target: &Entity| {
                let tallies = target.counters.iter().flat_map(|counter| &counter.tallies);
                tallies.into_iter().any(|tally| tally.entity.value == *entity)
            };
            let is_alone = design.copies_of(entity).next().is_none() && !design.entities.iter().any(counted);
            (entity, key, is_alone.then_some(Body::Delete)?)
        }
        _ => return None,
    };
    let entity = design.entity(name)?;
    // Constants tell entities apart that share a key: only the item says which one it is.
    if !entity.constants.is_empty() || !validate_key(entity, key, &design.delimiters).is_empty() {
        return None;
    }
    let key = item_key(design, entity, key, context)?;
    merged(vec![planned(entity, key, body)]).pop()
}

fn planned(entity: &Entity, key: ItemKey, body: Body) -> ItemWrite {
    ItemWrite {
        key,
        entity: entity.name.value.clone(),
        because: Vec::new(),
        otherwise: None,
        guards: vec![Guard::Exists],
        body,
        before: None,
    }
}

/// What an update changes, if nothing depends on it and all of it is sound.
fn changes(
    design: &CheckedDesign,
    entity: &Entity,
    set: &Item,
    remove: &[String],
    context: &Context<'_>,
) -> Option<Changes> {
    let depended = cannot_recompute::depended_on(design, entity);
    let is_depended = |name: &str| depended.iter().any(|path| path.split('.').next() == Some(name));
    let attribute = |name: &str| {
        let found = entity.attributes.iter().find(|attribute| attribute.name.value == name)?;
        (found.stored && !is_depended(name)).then_some(found)
    };
    let mut changes = Changes::default();
    let mut problems = Vec::new();
    for (name, value) in set {
        let attribute = attribute(name)?;
        let value = coerced(&attribute.kind, value.clone());
        check(attribute, name, &value, &design.delimiters, &mut problems);
        changes.set.push((name.clone(), value));
    }
    for name in remove {
        attribute(name).filter(|attribute| attribute.optional && !set.contains_key(name))?;
        changes.remove.push(name.clone());
    }
    for own in &entity.attributes {
        let name = &own.name.value;
        let is_updated = matches!(own.kind, Type::Timestamp(_, TimeRole::Updated));
        if is_updated || own.kind == Type::Version {
            attribute(name)?;
        }
        if is_updated {
            changes.set.push((name.clone(), now(&own.kind, context)));
        }
        if own.kind == Type::Version {
            changes.add.push((name.clone(), Number::from(1_i64)));
        }
    }
    problems.is_empty().then_some(changes)
}
