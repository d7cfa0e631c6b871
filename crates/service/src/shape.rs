//! Items as their entities see them: which entity an item is of, and what of it is answered.
//!
//! Always true: a secret attribute never leaves through here.

use std::collections::BTreeMap;

use design::{CheckedDesign, Entity as Declared, MapType, Piece, Template, Type};
use dynamo::{Item, Value};

use crate::answer::Entity;

/// What is known of a design's tables before anything is read.
pub(crate) struct Shapes {
    pub(crate) tables: Vec<TableShape>,
}

/// A table: its names, its key, and what can stand in it.
pub(crate) struct TableShape {
    /// Its name in the design.
    pub(crate) name: String,
    /// Its name in DynamoDB.
    pub(crate) physical: String,
    /// The attributes of its key, partition first.
    pub(crate) key: Vec<String>,
    /// The attributes of the keys of its indexes.
    pub(crate) indexes: BTreeMap<String, Vec<String>>,
    /// Its entities, those with most constants first.
    candidates: Vec<Candidate>,
}

/// What every item of an entity has.
struct Candidate {
    entity: usize,
    constants: Vec<(String, Value)>,
    /// For each key attribute, the beginnings and ends that its templates write; none if it is no text.
    keys: Vec<(String, Vec<(String, String)>)>,
}

impl Shapes {
    pub(crate) fn of(design: &CheckedDesign, variables: &BTreeMap<String, String>) -> Shapes {
        let physical = design::create_tables(design, variables);
        let tables = design.tables.iter().zip(physical).map(|(table, request)| {
            let own = |index: &&design::Index| index.table.value == table.name.value;
            let names =
                |index: &design::Index| index.key_attributes().map(|key| key.name.value.clone()).collect();
            let indexes = design.indexes.iter().filter(own);
            let mut candidates = design.entities.iter().enumerate();
            let mut candidates = candidates
                .by_ref()
                .filter(|(_, entity)| entity.table == table.name.value)
                .map(|(number, entity)| candidate(number, entity))
                .collect::<Vec<_>>();
            candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.constants.len()));
            TableShape {
                name: table.name.value.clone(),
                physical: request.table_name.unwrap_or_default(),
                key: table.key_attributes().map(|key| key.name.value.clone()).collect(),
                indexes: indexes.map(|index| (index.name.value.clone(), names(index))).collect(),
                candidates,
            }
        });
        Shapes { tables: tables.collect() }
    }

    /// The table with this name in DynamoDB.
    pub(crate) fn table(&self, physical: &str) -> Option<&TableShape> {
        self.tables.iter().find(|table| table.physical == physical)
    }

    /// The entity that an item of a table is. The whole check of keys is costly, so it is done only where constants, beginnings and
    /// ends of keys leave more than one.
    pub(crate) fn recognise<'d>(
        &self,
        design: &'d CheckedDesign,
        physical: &str,
        stored: &Item,
    ) -> Option<&'d Declared> {
        let table = self.table(physical)?;
        let mut possible = table.candidates.iter().filter(|candidate| candidate.admits(stored));
        let first = possible.next()?;
        match possible.next() {
            Some(second) if second.constants.len() == first.constants.len() => {
                design::recognise(design, &table.name, stored)
            }
            _ => design.entities.get(first.entity),
        }
    }
}

fn candidate(number: usize, entity: &Declared) -> Candidate {
    let keys = entity.key.parts.iter().map(|part| {
        let ends = part.choices.iter().map(|choice| ends(&choice.template.value));
        (part.attribute.value.clone(), ends.collect())
    });
    let constants = entity.constants.iter().map(|(name, value)| (name.value.clone(), value.clone()));
    Candidate { entity: number, constants: constants.collect(), keys: keys.collect() }
}

/// The literals at both ends of a template.
fn ends(template: &Template) -> (String, String) {
    let literal = |piece: Option<&Piece>| match piece {
        Some(Piece::Literal(text)) => text.clone(),
        _ => String::new(),
    };
    (literal(template.pieces.first()), literal(template.pieces.last()))
}

impl Candidate {
    fn admits(&self, stored: &Item) -> bool {
        let has_constants = self.constants.iter().all(|(name, value)| stored.get(name) == Some(value));
        has_constants
            && self.keys.iter().all(|(name, choices)| match stored.get(name) {
                Some(Value::S(text)) => choices
                    .iter()
                    .any(|(start, end)| text.starts_with(start.as_str()) && text.ends_with(end.as_str())),
                Some(_) => true,
                None => false,
            })
    }
}

/// An item with its attributes and constants, secrets and all: for use inside only.
pub(crate) fn whole(design: &CheckedDesign, entity: &Declared, stored: Item) -> Item {
    // Where nothing stands in the key alone, what is stored is the item, and the keys beside it.
    if entity.attributes.iter().all(|attribute| attribute.stored) {
        let mut item = stored;
        item.retain(|name, _| entity.attribute(name).is_some() || entity.constant(name).is_some());
        return item;
    }
    let mut item = design::logical_item(design, entity, &stored);
    item.extend(entity.constants.iter().map(|(name, value)| (name.value.clone(), value.clone())));
    item
}

/// A stored item as it is answered.
pub(crate) fn entity(design: &CheckedDesign, entity: &Declared, stored: &Item) -> Entity {
    answered(entity, whole(design, entity, stored.clone()))
}

/// A whole item as it is answered.
pub(crate) fn answered(entity: &Declared, mut item: Item) -> Entity {
    let version = entity.attributes.iter().find(|attribute| attribute.kind == Type::Version);
    let version = version.and_then(|version| match item.get(&version.name.value) {
        Some(Value::N(number)) => Some(*number),
        _ => None,
    });
    for attribute in &entity.attributes {
        let name = &attribute.name.value;
        match (&attribute.kind, item.get_mut(name)) {
            _ if attribute.secret => {
                item.remove(name);
            }
            (Type::Map(map), Some(Value::M(members))) => without_secrets(map, members),
            _ => {}
        }
    }
    Entity { name: entity.name.value.clone(), item, version }
}

fn without_secrets(map: &MapType, members: &mut Item) {
    for member in &map.members {
        let name = &member.name.value;
        match (&member.kind, members.get_mut(name)) {
            _ if member.secret => {
                members.remove(name);
            }
            (Type::Map(inner), Some(Value::M(inner_members))) => without_secrets(inner, inner_members),
            _ => {}
        }
    }
}
