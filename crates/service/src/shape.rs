//! Items as their entities see them: which entity an item is of, and what of it is answered.
//!
//! Always true: a secret attribute never leaves through here.

mod face;

use std::collections::BTreeMap;

use design::{CheckedDesign, Entity as Declared, KeyTexts, MapType, Piece, Template, Type};
use dynamo::{Item, Shape, StoredItem, Value, ValueRef};

use face::Face;
pub(crate) use face::Found;

use crate::answer::Entity;

/// What is known of a design's tables before anything is read.
pub(crate) struct Shapes {
    pub(crate) tables: Vec<TableShape>,
    /// What is answered of each entity, by its number.
    faces: Vec<Face>,
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
    /// For each key attribute, in the order of the table's key, the templates that write it.
    outlines: Vec<Vec<Outline>>,
    /// The keys exactly: they take longer to compare with.
    keys: KeyTexts,
}

/// An attribute of an item's key, as far as entities differ by it.
#[derive(Clone, Copy)]
enum KeyPart<'a> {
    Text(&'a str),
    Other,
    Missing,
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
                .map(|(number, entity)| Candidate::of(design, number, entity))
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
        Shapes { tables: tables.collect(), faces: design.entities.iter().map(Face::of).collect() }
    }

    /// The table with this name in DynamoDB.
    pub(crate) fn table(&self, physical: &str) -> Option<&TableShape> {
        self.tables.iter().find(|table| table.physical == physical)
    }

    /// The entity that an item of a table is.
    pub(crate) fn recognise<'d>(
        &self,
        design: &'d CheckedDesign,
        physical: &str,
        stored: &Item,
    ) -> Option<&'d Declared> {
        let key = |name: &str| match stored.get(name) {
            Some(Value::S(text)) => KeyPart::Text(text),
            Some(_) => KeyPart::Other,
            None => KeyPart::Missing,
        };
        let has = |name: &str, value: &Value| stored.get(name) == Some(value);
        design.entities.get(self.table(physical)?.entity(key, has)?)
    }

    /// An item of a table with the entity that it is; none if it is of no entity.
    pub(crate) fn found<'s>(
        &'s self,
        design: &'s CheckedDesign,
        table: &TableShape,
        stored: StoredItem,
    ) -> Option<Found<'s>> {
        let key = |name: &str| match stored.get(name).map(ValueRef::shape) {
            Some(Shape::S(text)) => KeyPart::Text(text),
            Some(_) => KeyPart::Other,
            None => KeyPart::Missing,
        };
        let has = |name: &str, value: &Value| stored.get(name).is_some_and(|found| is(found, value));
        let number = table.entity(key, has)?;
        Some(Found::new(design, design.entities.get(number)?, self.faces.get(number)?, stored))
    }
}

impl Shapes {
    /// A stored item of an entity.
    pub(crate) fn of_entity<'s>(
        &'s self,
        design: &'s CheckedDesign,
        entity: &'s Declared,
        stored: StoredItem,
    ) -> Option<Found<'s>> {
        let number = design.entities.iter().position(|own| own.name.value == entity.name.value)?;
        Some(Found::new(design, entity, self.faces.get(number)?, stored))
    }
}

impl TableShape {
    /// The number of the entity that an item is, by the attributes of its key, which are looked up once, and by its constants. Keys are compared
    /// exactly only where constants and the outlines of keys leave more than one.
    fn entity<'a>(
        &self,
        key: impl Fn(&str) -> KeyPart<'a>,
        has: impl Fn(&str, &Value) -> bool,
    ) -> Option<usize> {
        let key = self.key.iter().map(|name| key(name)).collect::<Vec<_>>();
        let mut possible = self.candidates.iter().filter(|candidate| {
            candidate.is_like(&key) && candidate.constants.iter().all(|(name, value)| has(name, value))
        });
        let first = possible.next()?;
        let Some(second) = possible.next() else { return Some(first.entity) };
        let exact = [first, second].into_iter().chain(possible).filter(|candidate| candidate.has_key(&key));
        exact.max_by_key(|candidate| (candidate.constants.len(), candidate.entity)).map(|found| found.entity)
    }
}

/// The literals of a template in their order, with anything between them.
struct Outline {
    literals: Vec<String>,
    starts_with_slot: bool,
    ends_with_slot: bool,
}

impl Outline {
    fn of(template: &Template) -> Outline {
        let is_slot = |piece: Option<&Piece>| matches!(piece, Some(Piece::Slot(_)));
        let literals = template.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.clone()),
            Piece::Slot(_) => None,
        });
        Outline {
            literals: literals.collect(),
            starts_with_slot: is_slot(template.pieces.first()),
            ends_with_slot: is_slot(template.pieces.last()),
        }
    }

    /// Whether the literals stand in a text, one after the other: each as early as it can, which leaves the most for the others.
    fn fits(&self, text: &str) -> bool {
        let mut rest = text;
        for (number, literal) in self.literals.iter().enumerate() {
            let found = if number == 0 && !self.starts_with_slot {
                rest.starts_with(literal.as_str()).then_some(0)
            } else {
                rest.find(literal.as_str())
            };
            let Some(after) = found.and_then(|at| rest.get(at + literal.len()..)) else { return false };
            rest = after;
        }
        self.ends_with_slot || self.literals.last().is_none_or(|last| text.ends_with(last.as_str()))
    }
}

impl Candidate {
    fn of(design: &CheckedDesign, number: usize, entity: &Declared) -> Candidate {
        let outlines = entity.key.parts.iter().map(|part| {
            let outlines = part.choices.iter().map(|choice| Outline::of(&choice.template.value));
            outlines.collect()
        });
        let constants = entity.constants.iter().map(|(name, value)| (name.value.clone(), value.clone()));
        Candidate {
            entity: number,
            constants: constants.collect(),
            outlines: outlines.collect(),
            keys: KeyTexts::of(design, entity),
        }
    }

    /// Whether a key has the outlines of this entity's.
    fn is_like(&self, key: &[KeyPart<'_>]) -> bool {
        self.outlines.iter().zip(key).all(|(choices, part)| match part {
            KeyPart::Text(text) => choices.iter().any(|outline| outline.fits(text)),
            KeyPart::Other => true,
            KeyPart::Missing => false,
        })
    }

    /// Whether it is a key of this entity.
    fn has_key(&self, key: &[KeyPart<'_>]) -> bool {
        key.iter().enumerate().all(|(place, part)| match part {
            KeyPart::Text(text) => self.keys.admit(place, text),
            KeyPart::Other => true,
            KeyPart::Missing => false,
        })
    }
}

/// Whether a stored value is this one.
fn is(found: ValueRef<'_>, value: &Value) -> bool {
    match (found.shape(), value) {
        (Shape::S(found), Value::S(text)) => found == text,
        _ => found.decode() == *value,
    }
}

/// An item with its attributes and constants, secrets and all: for use inside only.
pub(crate) fn whole(design: &CheckedDesign, entity: &Declared, stored: Item) -> Item {
    // Where nothing stands in the key alone, what is stored is the item, and the keys beside it.
    if entity.attributes.iter().all(|attribute| attribute.stored) {
        return own(entity, stored);
    }
    let mut item = design::logical_item(design, entity, &stored);
    item.extend(entity.constants.iter().map(|(name, value)| (name.value.clone(), value.clone())));
    item
}

/// What of a stored item is its entity's.
fn own(entity: &Declared, mut stored: Item) -> Item {
    stored.retain(|name, _| entity.attribute(name).is_some() || entity.constant(name).is_some());
    stored
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
