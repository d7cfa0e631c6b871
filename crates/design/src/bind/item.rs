//! Items: as their entity sees them (logical) and as they stand in the table (stored).
//!
//! Always true: `logical_item(stored_item(item)) == item` for every valid item, because templates decode in one way only.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dynamo::{Item, KeyType, Value};

use super::placeholders::holds;
use super::value::{at, fill, formatted, put_at};
use super::{Context, ItemKey};
use crate::keys::{Strings, template_texts, texts};
use crate::model::{Design, Entity, EntityKey, Table};
use crate::template::{Format, Piece, Template};
use crate::texts::{Part, Texts};

/// The name of a table in DynamoDB.
pub(crate) fn physical_name(design: &Design, table: &Table, variables: &BTreeMap<String, String>) -> String {
    let mut name = String::new();
    for piece in &table.physical_name.value.pieces {
        match piece {
            Piece::Literal(literal) => name.push_str(literal),
            Piece::Slot(slot) => {
                let declared = design.variables.iter().find(|variable| variable.name.value == slot.path);
                let Some(declared) = declared else { return table.name.value.clone() };
                let value = variables.get(&slot.path).unwrap_or(&declared.default);
                match slot.format {
                    Format::Plain => name.push_str(value),
                    format => match formatted(&Value::S(value.clone()), format) {
                        Some(text) => name.push_str(&text),
                        None => return table.name.value.clone(),
                    },
                }
            }
        }
    }
    name
}

/// The values of a key; none if a slot has none, or if the key is not written for this item.
pub(super) fn key_values(key: &EntityKey, logical: &Item) -> Option<Item> {
    if key.when.as_ref().is_some_and(|when| !holds(&when.condition, logical, logical)) {
        return None;
    }
    let parts = key.parts.iter().map(|part| {
        let applies = |choice: &&crate::model::Choice| match &choice.when {
            Some(when) => holds(&when.condition, logical, logical),
            None => true,
        };
        let choice = part.choices.iter().find(applies)?;
        Some((part.attribute.value.clone(), fill(&choice.template.value, logical)?))
    });
    parts.collect()
}

/// The key of an item in its table.
pub fn item_key(design: &Design, entity: &Entity, logical: &Item, context: &Context<'_>) -> Option<ItemKey> {
    let table = physical_name(design, design.table(&entity.table)?, context.variables);
    Some(ItemKey { table, key: key_values(&entity.key, &with_constants(entity, logical))? })
}

/// The item with the constants of its entity.
pub(super) fn with_constants<'i>(entity: &Entity, logical: &'i Item) -> Cow<'i, Item> {
    let mut item = Cow::Borrowed(logical);
    for (name, value) in &entity.constants {
        item.to_mut().insert(name.value.clone(), value.clone());
    }
    item
}

/// An item as it stands in the table: stored attributes, constants, and every key that is written for it.
pub fn stored_item(entity: &Entity, logical: &Item) -> Option<Item> {
    stored(entity, with_constants(entity, logical).into_owned())
}

/// The same of an item that has the constants of its entity.
pub(super) fn stored(entity: &Entity, mut whole: Item) -> Option<Item> {
    let key = key_values(&entity.key, &whole)?;
    let index_keys = entity.index_keys.iter().filter_map(|key| key_values(key, &whole)).collect::<Vec<_>>();
    if entity.attributes.iter().any(|attribute| !attribute.stored) {
        whole.retain(|name, _| entity.attribute(name).is_none_or(|attribute| attribute.stored));
    }
    whole.extend(key);
    whole.extend(index_keys.into_iter().flatten());
    Some(whole)
}

/// An item as its entity sees it: its attributes, with those that stand in its key only read from there.
pub fn logical_item(design: &Design, entity: &Entity, stored: &Item) -> Item {
    let mut logical = Item::new();
    for attribute in &entity.attributes {
        if let Some(value) = stored.get(&attribute.name.value) {
            logical.insert(attribute.name.value.clone(), value.clone());
        }
    }
    // Taking a key apart costs more than all the rest: only where something stands nowhere else.
    if entity.attributes.iter().all(|attribute| attribute.stored) {
        return logical;
    }
    for part in &entity.key.parts {
        let Some(Value::S(text)) = stored.get(&part.attribute.value) else { continue };
        for choice in &part.choices {
            for (path, value) in decoded(design, entity, &choice.template.value, text).unwrap_or_default() {
                let missing = at(&logical, &path).is_none();
                let own = entity.attribute(path.split('.').next().unwrap_or_default());
                if missing && own.is_some_and(|attribute| !attribute.stored) {
                    put_at(&mut logical, &path, Value::S(value));
                }
            }
        }
    }
    logical
}

/// The entity that an item is: the one whose key and constants it has; of several, the one with most constants.
pub fn recognise<'d>(design: &'d Design, table: &str, stored: &Item) -> Option<&'d Entity> {
    let candidates = design.entities_of(table).filter(|entity| {
        let constants = entity.constants.iter().all(|(name, value)| stored.get(&name.value) == Some(value));
        constants && has_key_of(design, entity, stored)
    });
    candidates.max_by_key(|entity| entity.constants.len())
}

fn has_key_of(design: &Design, entity: &Entity, stored: &Item) -> bool {
    let Some(table) = design.table(&entity.table) else { return false };
    let texts = KeyTexts::of(design, entity);
    let mut parts = entity.key.parts.iter().zip(table.key_attributes()).enumerate();
    parts.all(|(place, (part, key))| match stored.get(&part.attribute.value) {
        Some(Value::S(text)) if key.key_type == KeyType::S => texts.admit(place, text),
        Some(value) => value.value_type() == key.key_type.value_type(),
        None => false,
    })
}

/// The keys that items of an entity can have, made once to be compared with many.
#[derive(Debug)]
pub struct KeyTexts {
    /// For each attribute of the key, what its templates can write.
    parts: Vec<Vec<Texts>>,
}

impl KeyTexts {
    /// The keys of an entity.
    pub fn of(design: &Design, entity: &Entity) -> KeyTexts {
        let written =
            |template| template_texts(entity, template, &design.delimiters, Strings::WithoutDelimiters);
        let parts = entity.key.parts.iter().map(|part| {
            let choices = part.choices.iter().map(|choice| written(&choice.template.value));
            choices.collect()
        });
        KeyTexts { parts: parts.collect() }
    }

    /// Whether the attribute at this place of the key, partition first, can have this text.
    pub fn admit(&self, place: usize, text: &str) -> bool {
        self.parts.get(place).is_some_and(|choices| choices.iter().any(|texts| texts.contains(text)))
    }
}

/// The values of the slots in a text that the template wrote. Slots whose format keeps only a part of the value are left out.
fn decoded(
    design: &Design,
    entity: &Entity,
    template: &Template,
    text: &str,
) -> Option<Vec<(String, String)>> {
    let values = split(design, entity, &template.pieces, text)?;
    let slots = template.slots().zip(values);
    Some(
        slots
            .filter(|(slot, _)| slot.format == Format::Plain)
            .map(|(slot, value)| (slot.path.clone(), value))
            .collect(),
    )
}

/// Cuts a text into the values of the slots: the only way there is, since templates read in one way.
fn split(design: &Design, entity: &Entity, pieces: &[Piece], text: &str) -> Option<Vec<String>> {
    let Some((first, rest)) = pieces.split_first() else { return text.is_empty().then(Vec::new) };
    match first {
        Piece::Literal(literal) => split(design, entity, rest, text.strip_prefix(literal.as_str())?),
        Piece::Slot(slot) => {
            let alone = Template { pieces: vec![Piece::Slot(slot.clone())] };
            let possible =
                texts(&alone, &design.delimiters, Strings::WithoutDelimiters, |path| entity.type_at(path));
            // A slot reaches to a place where the next literal stands, or to the end.
            let ends = match rest.first() {
                Some(Piece::Literal(literal)) => {
                    text.match_indices(literal.as_str()).map(|(at, _)| at).collect()
                }
                Some(Piece::Slot(_)) => text.char_indices().map(|(at, _)| at).collect::<Vec<_>>(),
                None => vec![text.len()],
            };
            ends.into_iter().filter(|end| *end > 0).find_map(|end| {
                let value = text.get(..end)?;
                possible.common(&Texts::new(vec![Part::Literal(value.to_owned())]))?;
                let mut values = split(design, entity, rest, text.get(end..)?)?;
                values.insert(0, value.to_owned());
                Some(values)
            })
        }
    }
}
