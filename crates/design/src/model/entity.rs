//! Entities: their keys, attributes and what follows from them.

use dynamo::Value;

use super::PlacedCondition;
use super::attribute::{Attribute, Type};
use crate::source::{Placed, Span};
use crate::template::{Slot, Template};

/// A kind of item.
#[derive(Clone, Debug)]
pub struct Entity {
    /// Its name.
    pub name: Placed<String>,
    /// What it is.
    pub about: String,
    /// The table it is in.
    pub table: String,
    /// The key in its table.
    pub key: EntityKey,
    /// Its keys in indexes.
    pub index_keys: Vec<EntityKey>,
    /// Attributes that are the same in every item.
    pub constants: Vec<(Placed<String>, Value)>,
    /// Its attributes. A copy has those of its source that it carries, and those its keys need.
    pub attributes: Vec<Attribute>,
    /// What it is a copy of.
    pub copy: Option<Copy>,
    /// Attributes that count or sum up other entities.
    pub counters: Vec<Counter>,
    /// Entities that may write the same keys.
    pub shares_key_with: Vec<Placed<String>>,
    /// Where it is declared.
    pub span: Span,
}

/// The key of an entity in its table or in an index.
#[derive(Clone, Debug)]
pub struct EntityKey {
    /// The index; none for the table itself.
    pub index: Option<String>,
    /// When the key is written at all.
    pub when: Option<PlacedCondition>,
    /// The attributes of the key, in the order of the index.
    pub parts: Vec<KeyPart>,
    /// True if nothing was declared: the index is on attributes that the entity has.
    pub implied: bool,
    /// Where it is declared.
    pub span: Span,
}

/// One attribute of a key, and what is written to it.
#[derive(Clone, Debug)]
pub struct KeyPart {
    /// The attribute.
    pub attribute: Placed<String>,
    /// The templates; the first whose condition holds is used.
    pub choices: Vec<Choice>,
    /// True if the attribute is written by another key, constant or attribute already.
    pub implied: bool,
}

/// A template and when it is used.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The condition; none if it is used always.
    pub when: Option<PlacedCondition>,
    /// The template.
    pub template: Placed<Template>,
}

/// What a copy is a copy of.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The entity.
    pub source: Placed<String>,
    /// When there is a copy.
    pub when: Option<PlacedCondition>,
    /// Whether two copies with one key are refused: a uniqueness constraint.
    pub unique: bool,
    /// The attributes it carries; none for all.
    pub attributes: Option<Vec<Placed<String>>>,
}

/// An attribute that counts or sums up.
#[derive(Clone, Debug)]
pub struct Counter {
    /// The attribute; dots reach into maps.
    pub attribute: Placed<String>,
    /// What is counted; their total is the counter.
    pub tallies: Vec<Tally>,
    /// True if the stream keeps it instead of the transaction.
    pub eventual: bool,
    /// Where it is declared.
    pub span: Span,
}

/// One thing that a counter counts.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The entity that is counted.
    pub entity: Placed<String>,
    /// The attribute that is summed up; none if items are counted.
    pub sum: Option<Placed<String>>,
    /// Which of them count.
    pub when: Option<PlacedCondition>,
    /// For each slot of this entity's key, the attribute of the counted entity that has its value.
    pub by: Vec<(Placed<String>, Placed<String>)>,
}

impl Tally {
    /// The attribute of the counted entity that has the value of a slot of the counter's key.
    pub fn source<'a>(&'a self, slot: &'a str) -> &'a str {
        self.by.iter().find(|(name, _)| name.value == slot).map_or(slot, |(_, source)| source.value.as_str())
    }
}

impl EntityKey {
    /// Every template of the key.
    pub fn templates(&self) -> impl Iterator<Item = &Placed<Template>> {
        self.parts.iter().flat_map(|part| part.choices.iter().map(|choice| &choice.template))
    }

    /// Every slot of the key.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.templates().flat_map(|template| template.value.slots())
    }

    /// The part for an attribute.
    pub fn part(&self, attribute: &str) -> Option<&KeyPart> {
        self.parts.iter().find(|part| part.attribute.value == attribute)
    }
}

impl Entity {
    /// The key in the table and the keys in indexes.
    pub fn keys(&self) -> impl Iterator<Item = &EntityKey> {
        std::iter::once(&self.key).chain(&self.index_keys)
    }

    /// The key in an index; in the table for none.
    pub fn key_in(&self, index: Option<&str>) -> Option<&EntityKey> {
        self.keys().find(|key| key.index.as_deref() == index)
    }

    /// The attribute at a path; dots reach into maps. Members that a map admits without naming them are not found.
    pub fn attribute(&self, path: &str) -> Option<&Attribute> {
        let mut names = path.split('.');
        let first = names.next()?;
        let mut found = self.attributes.iter().find(|attribute| attribute.name.value == first)?;
        for name in names {
            let Type::Map(map) = &found.kind else { return None };
            found = map.members.iter().find(|member| member.name.value == name)?;
        }
        Some(found)
    }

    /// The value of a constant attribute.
    pub fn constant(&self, name: &str) -> Option<&Value> {
        self.constants.iter().find(|(constant, _)| constant.value == name).map(|(_, value)| value)
    }

    /// The type of what stands at a path: an attribute, a constant, a key attribute, or something inside a map or list
    /// that admits anything.
    pub fn type_at(&self, path: &str) -> Option<Type> {
        match self.constant(path) {
            Some(value) => Some(Type::OneOf(vec![Placed::new(value.clone(), Span::default())])),
            None => self.kind_at(path).cloned(),
        }
    }

    /// The same for what is no constant.
    pub(crate) fn kind_at(&self, path: &str) -> Option<&Type> {
        let mut names = path.split('.');
        let first = names.next()?;
        let Some(attribute) = self.attributes.iter().find(|attribute| attribute.name.value == first) else {
            return self.keys().any(|key| key.part(path).is_some()).then_some(&Type::String);
        };
        let mut kind = &attribute.kind;
        for name in names {
            kind = match kind {
                Type::Map(map) => match map.members.iter().find(|member| member.name.value == name) {
                    Some(member) => &member.kind,
                    None => map.others.as_deref()?,
                },
                Type::List(element) => element,
                Type::Any => return Some(&Type::Any),
                _ => return None,
            };
        }
        Some(kind)
    }

    /// The distinct slots of the key in the table, in order.
    pub fn identity(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for slot in self.key.slots() {
            if !names.contains(&slot.path.as_str()) {
                names.push(slot.path.as_str());
            }
        }
        names
    }

    /// True if nothing but key, constants and counters is in it: it exists because something is counted.
    pub fn is_tally_only(&self) -> bool {
        !self.counters.is_empty()
            && self.attributes.iter().all(|attribute| {
                let name = attribute.name.value.as_str();
                attribute.optional
                    || attribute.kind.is_generated()
                    || self.key.slots().any(|slot| slot.path == name)
                    || self.counters.iter().any(|counter| counter.attribute.value == name)
            })
    }
}
