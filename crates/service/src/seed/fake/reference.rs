//! What an entity refers to: what its attributes are copied from, what counts it, and what its attributes are named after.

use design::{CheckedDesign, Entity};

/// A reference of an entity to another, or to another item of itself.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// The entity it refers to.
    pub(super) entity: String,
    /// The slots of that entity's key, each with the attribute here that has its value.
    pub(super) slots: Vec<(String, String)>,
    /// True if an item can do without.
    pub(super) optional: bool,
}

/// The references of an entity, the most specific ones first.
pub(super) fn references(design: &CheckedDesign, entity: &Entity) -> Vec<Reference> {
    let mut found = Vec::new();
    for attribute in &entity.attributes {
        if let Some(from) = &attribute.from
            && let Some(source) = design.entity(from.entity())
        {
            push(&mut found, entity, source, |slot| from.local(slot).to_owned());
        }
    }
    let targets = design.entities.iter().filter(|target| !target.is_tally_only());
    for target in targets {
        let tallies = target.counters.iter().flat_map(|counter| &counter.tallies);
        for tally in tallies.filter(|tally| tally.entity.value == entity.name.value) {
            push(&mut found, entity, target, |slot| tally.source(slot).to_owned());
        }
    }
    for attribute in &entity.attributes {
        let name = attribute.name.value.as_str();
        let is_known = found.iter().any(|to: &Reference| to.slots.iter().any(|(_, local)| local == name));
        if let (false, Some(source)) = (is_known, named_after(design, entity, name)) {
            let own = source.identity().last().map(|slot| (*slot).to_owned());
            push(&mut found, entity, source, |slot| {
                if own.as_deref() == Some(slot) { name.to_owned() } else { slot.to_owned() }
            });
        }
    }
    found.sort_by_key(|to| std::cmp::Reverse(to.slots.len()));
    found
}

/// Adds a reference through attributes that the entity has and that are not derived themselves.
fn push(found: &mut Vec<Reference>, entity: &Entity, to: &Entity, local: impl Fn(&str) -> String) {
    let slots = to.identity().into_iter().map(|slot| (slot.to_owned(), local(slot))).collect::<Vec<_>>();
    let usable = |(_, local): &(String, String)| {
        entity.attributes.iter().any(|attribute| attribute.name.value == *local && attribute.from.is_none())
    };
    let optional =
        slots.iter().any(|(_, local)| entity.attribute(local).is_some_and(|attribute| attribute.optional));
    let known = found.iter().any(|known| known.entity == to.name.value && known.slots == slots);
    if !known && slots.iter().all(usable) && to.copy.is_none() {
        found.push(Reference { entity: to.name.value.clone(), slots, optional });
    }
}

/// The entity that an attribute such as `batchId` or `tenant_key` is named after.
fn named_after<'d>(design: &'d CheckedDesign, entity: &Entity, name: &str) -> Option<&'d Entity> {
    let ends = ["Id", "ID", "_id", "_key", "Key"];
    let stem = ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_lowercase();
    let is_key = entity.keys().flat_map(design::EntityKey::slots).any(|slot| slot.path == name);
    let others = design.entities.iter().filter(|other| {
        other.name.value != entity.name.value && other.copy.is_none() && !other.is_tally_only()
    });
    let mut others = others.filter(|other| {
        let other = other.name.value.to_lowercase();
        other == stem || (stem.len() > 3 && other.starts_with(&stem))
    });
    others.next().filter(|_| is_key)
}
