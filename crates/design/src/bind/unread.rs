//! Writes for which nothing must be read first: nothing follows from them, and what they leave does not depend on what was there.
//!
//! Always true: such a write leaves the same as `bind_write` would, in one request instead of two, and with nothing that could be lost to
//! others. Whatever is wrong with an update or a delete is left for `bind_write` to say.
//!
//! They are most of what a busy service does, so whatever does not depend on values is made once, when the design is checked ([`Manner`]).

use std::collections::BTreeMap;

use dynamo::operation::{DeleteItem, PutItem, UpdateItem};
use dynamo::{Item, Number, Operation, Value};

use super::item::{item_key, physical_name, stored};
use super::steps::{Write, complete::follows_from_others, new_item};
use super::value::{check, coerce, now, validate_key};
use super::{Context, Problem};
use crate::check::{CheckedDesign, cannot_recompute};
use crate::model::{Attribute, Design, Entity, TimeRole, Type};

/// What is known of the writes of an entity before any values are.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// Nothing follows from a new item, and nothing of others goes into it.
    makes_alone: bool,
    /// Nothing follows when an item is gone, and its key says that it is of this entity.
    deletes_alone: bool,
    /// The condition that an item is there, and the names in it.
    exists: Fixed,
    /// The condition that none is.
    not_exists: Fixed,
    /// How each attribute is changed, in the order of the entity's attributes.
    attributes: Vec<Change>,
}

/// An expression that is the same in every request, with its names.
#[derive(Clone, Debug)]
struct Fixed {
    text: String,
    names: Option<BTreeMap<String, String>>,
}

/// How an attribute is changed.
#[derive(Clone, Debug)]
struct Change {
    /// Nothing depends on it.
    alone: bool,
    /// It in an expression: its name, or a placeholder where that cannot stand there.
    path: String,
    /// The placeholder of its new value.
    value: String,
}

impl Manner {
    /// What is known of an entity.
    pub(crate) fn of(design: &Design, entity: &Entity) -> Manner {
        let name = &entity.name.value;
        let counted = |target: &Entity, eventual_too: bool| {
            let counters = target.counters.iter().filter(|counter| eventual_too || !counter.eventual);
            let mut tallies = counters.flat_map(|counter| &counter.tallies);
            tallies.any(|tally| tally.entity.value == *name)
        };
        let is_copied = design.copies_of(name).next().is_some();
        let depended = cannot_recompute::depended_on(design, entity);
        let attributes = entity.attributes.iter().enumerate().map(|(number, attribute)| {
            let own = &attribute.name.value;
            let is_depended = depended.iter().any(|path| path.split('.').next() == Some(own));
            // No word begins with a digit, so these placeholders are nobody else's.
            let word = if is_word(own) { own.clone() } else { format!("0_{number}") };
            let path = if stands_plainly(own) { own.clone() } else { format!("#{word}") };
            Change { alone: attribute.stored && !is_depended, path, value: format!(":{word}") }
        });
        let key = entity.key.parts.first().map(|part| part.attribute.value.as_str()).unwrap_or_default();
        Manner {
            makes_alone: !is_copied
                && !design.entities.iter().any(|target| counted(target, false))
                && !entity.attributes.iter().any(follows_from_others),
            // Constants tell entities apart that share a key: only the item says which one it is.
            deletes_alone: !is_copied
                && entity.constants.is_empty()
                && !design.entities.iter().any(|target| counted(target, true)),
            exists: Fixed::function("attribute_exists", key),
            not_exists: Fixed::function("attribute_not_exists", key),
            attributes: attributes.collect(),
        }
    }
}

impl Fixed {
    fn function(function: &str, name: &str) -> Fixed {
        if stands_plainly(name) {
            return Fixed { text: format!("{function}({name})"), names: None };
        }
        let names = BTreeMap::from([("#key".to_owned(), name.to_owned())]);
        Fixed { text: format!("{function}(#key)"), names: Some(names) }
    }
}

/// Whether a name can stand in an expression: no reserved word, and nothing in it that means something there.
fn stands_plainly(name: &str) -> bool {
    let parsed = expression::parse_condition(
        expression::ExpressionKind::Condition,
        &format!("attribute_exists({name})"),
    );
    is_word(name) && parsed.is_ok()
}

/// Whether a name is made of letters, digits and `_`, and begins with no digit.
fn is_word(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_letter) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Whether a new item of this entity is all that a create writes, and nothing must be known for it.
pub fn makes_alone(design: &CheckedDesign, entity: &Entity) -> bool {
    design.manner(entity).is_some_and(|manner| manner.makes_alone)
}

/// The request that makes an item of an entity that [`makes_alone`]; or everything that is wrong with it.
pub fn bind_new(
    design: &CheckedDesign,
    entity: &Entity,
    attributes: Item,
    context: &Context<'_>,
) -> Result<PutItem, Vec<Problem>> {
    let mut item = new_item(design, entity, attributes, context)?;
    item.extend(entity.constants.iter().map(|(name, value)| (name.value.clone(), value.clone())));
    let incomplete = || vec![Problem::invalid(&entity.name.value, "has no key")];
    let item = stored(entity, item).ok_or_else(incomplete)?;
    let (table, manner) = design.table(&entity.table).zip(design.manner(entity)).ok_or_else(incomplete)?;
    Ok(PutItem {
        table_name: Some(physical_name(design, table, context.variables)),
        item: Some(item.into()),
        condition_expression: Some(manner.not_exists.text.clone()),
        expression_attribute_names: manner.not_exists.names.clone(),
        ..PutItem::default()
    })
}

/// The request for the one item that an update or a delete is about. None if something must be known first, or is wrong.
pub fn bind_unread(design: &CheckedDesign, write: &Write<'_>, context: &Context<'_>) -> Option<Operation> {
    match write {
        Write::Update { entity, key, set, remove, version: None } => {
            let entity = design.entity(entity).filter(|entity| entity.constants.is_empty())?;
            let manner = design.manner(entity)?;
            let mut update =
                Changing { entity, manner, request: UpdateItem::default(), clauses: Clauses::default() };
            update.set(set, &design.delimiters)?;
            update.remove(set, remove)?;
            update.made(context)?;
            Some(update.finish(place(design, entity, key, context)?).into())
        }
        Write::Delete { entity, key, version: None } => {
            let entity = design.entity(entity)?;
            let manner = design.manner(entity).filter(|manner| manner.deletes_alone)?;
            let place = place(design, entity, key, context)?;
            let request = DeleteItem {
                table_name: Some(place.table),
                key: Some(place.key),
                condition_expression: Some(manner.exists.text.clone()),
                expression_attribute_names: manner.exists.names.clone(),
                ..DeleteItem::default()
            };
            Some(request.into())
        }
        _ => None,
    }
}

/// Where an item is, if its key is sound.
fn place(design: &Design, entity: &Entity, key: &Item, context: &Context<'_>) -> Option<super::ItemKey> {
    let is_sound = validate_key(entity, key, &design.delimiters).is_empty();
    if is_sound { item_key(design, entity, key, context) } else { None }
}

/// An update that is being put together. Each step gives none if the item must be known for it.
struct Changing<'d> {
    entity: &'d Entity,
    manner: &'d Manner,
    request: UpdateItem,
    clauses: Clauses,
}

/// The clauses of an update expression.
#[derive(Default)]
struct Clauses {
    set: String,
    add: String,
    remove: String,
}

impl<'d> Changing<'d> {
    /// An attribute on which nothing depends, and how it is changed.
    fn attribute(&self, name: &str) -> Option<(&'d Attribute, &'d Change)> {
        let attributes = self.entity.attributes.iter().zip(&self.manner.attributes);
        attributes.into_iter().find(|(attribute, change)| attribute.name.value == name && change.alone)
    }

    fn set(&mut self, set: &Item, delimiters: &str) -> Option<()> {
        let mut problems = Vec::new();
        for (name, value) in set {
            let (attribute, change) = self.attribute(name)?;
            let mut value = value.clone();
            coerce(&attribute.kind, &mut value);
            check(attribute, name, &value, delimiters, &mut problems);
            self.assign(name, change, value);
        }
        problems.is_empty().then_some(())
    }

    fn remove(&mut self, set: &Item, remove: &[String]) -> Option<()> {
        for name in remove {
            let (attribute, change) = self.attribute(name)?;
            if !attribute.optional || set.contains_key(name) {
                return None;
            }
            self.name(name, change);
            clause(&mut self.clauses.remove, "REMOVE ", &[&change.path]);
        }
        Some(())
    }

    /// What is set by itself: the time of the change, the version.
    fn made(&mut self, context: &Context<'_>) -> Option<()> {
        for own in &self.entity.attributes {
            let name = &own.name.value;
            if matches!(own.kind, Type::Timestamp(_, TimeRole::Updated)) {
                let (_, change) = self.attribute(name)?;
                self.assign(name, change, now(&own.kind, context));
            }
            if own.kind == Type::Version {
                let (_, change) = self.attribute(name)?;
                self.name(name, change);
                clause(&mut self.clauses.add, "ADD ", &[&change.path, " ", &change.value]);
                self.value(change, Value::N(Number::from(1_i64)));
            }
        }
        Some(())
    }

    fn assign(&mut self, name: &str, change: &Change, value: Value) {
        self.name(name, change);
        clause(&mut self.clauses.set, "SET ", &[&change.path, " = ", &change.value]);
        self.value(change, value);
    }

    fn name(&mut self, name: &str, change: &Change) {
        if change.path != name {
            let names = self.request.expression_attribute_names.get_or_insert_default();
            names.insert(change.path.clone(), name.to_owned());
        }
    }

    fn value(&mut self, change: &Change, value: Value) {
        let values = self.request.expression_attribute_values.get_or_insert_default();
        values.insert(change.value.clone(), value);
    }

    fn finish(self, place: super::ItemKey) -> UpdateItem {
        let mut request = self.request;
        let Clauses { mut set, add, remove } = self.clauses;
        for clause in [add, remove].iter().filter(|clause| !clause.is_empty()) {
            if !set.is_empty() {
                set.push(' ');
            }
            set.push_str(clause);
        }
        request.table_name = Some(place.table);
        request.key = Some(place.key);
        request.update_expression = Some(set);
        let exists = &self.manner.exists;
        request.condition_expression = Some(exists.text.clone());
        if let Some(names) = &exists.names {
            request.expression_attribute_names.get_or_insert_default().extend(names.clone());
        }
        request
    }
}

/// Adds to a clause of an expression.
fn clause(clause: &mut String, word: &str, parts: &[&str]) {
    clause.push_str(if clause.is_empty() { word } else { ", " });
    clause.extend(parts.iter().copied());
}
