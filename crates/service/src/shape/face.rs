//! What of an entity's stored items is answered, known before anything is read: so an item goes from the store to JSON without becoming a tree.
//!
//! Always true: what [`Found::write_json`] writes is what [`Found::answered`] gives, as JSON.

use std::cmp::Ordering;

use design::{CheckedDesign, Entity as Declared, MapType, Type};
use dynamo::{Item, Number, Shape, StoredItem, Value, ValueRef};

use super::{answered, without_secrets};
use crate::answer::Entity;
use crate::rest::{ENTITY_MEMBER, write_entity, write_plain_value, write_stored_value, write_text};

/// What is answered of the items of an entity.
pub(crate) struct Face {
    /// Attributes and constants without secrets, ascending by name, as stored items have them.
    members: Vec<Member>,
    /// The attribute that holds the version.
    version: Option<String>,
    /// False if some attributes stand in the key alone: then an item must be taken apart before it is answered.
    is_whole: bool,
}

struct Member {
    name: String,
    /// The name as JSON, with its colon.
    json: Vec<u8>,
    /// The map with secrets in it that this is.
    secrets: Option<MapType>,
    /// Answered even where a pattern selects others.
    always: bool,
}

impl Face {
    pub(super) fn of(entity: &Declared) -> Face {
        let identity = entity.identity();
        let attributes = entity.attributes.iter().filter(|attribute| !attribute.secret).map(|attribute| {
            let secrets = match &attribute.kind {
                Type::Map(map) if has_secrets(map) => Some(map.clone()),
                _ => None,
            };
            let name = attribute.name.value.clone();
            let always = identity.contains(&name.as_str()) || entity.constant(&name).is_some();
            Member::new(name, secrets, always)
        });
        let is_hidden = |name: &str| entity.attribute(name).is_some();
        let constants = entity.constants.iter().filter(|(name, _)| !is_hidden(&name.value));
        let constants = constants.map(|(name, _)| Member::new(name.value.clone(), None, true));
        let mut members = attributes.chain(constants).collect::<Vec<_>>();
        members.sort_by(|left, right| left.name.cmp(&right.name));
        let version = entity.attributes.iter().find(|attribute| attribute.kind == Type::Version);
        Face {
            members,
            version: version.map(|version| version.name.value.clone()),
            is_whole: entity.attributes.iter().all(|attribute| attribute.stored),
        }
    }
}

fn has_secrets(map: &MapType) -> bool {
    map.members
        .iter()
        .any(|member| member.secret || matches!(&member.kind, Type::Map(inner) if has_secrets(inner)))
}

/// An item that was read, and the entity it is of.
#[derive(Clone)]
pub(crate) struct Found<'s> {
    pub(crate) entity: &'s Declared,
    face: &'s Face,
    content: Content,
}

#[derive(Clone)]
enum Content {
    /// As it stands in the table.
    Stored(StoredItem),
    /// As its entity sees it, secrets and all.
    Tree(Item),
}

impl<'s> Found<'s> {
    pub(super) fn new(
        design: &CheckedDesign,
        entity: &'s Declared,
        face: &'s Face,
        stored: StoredItem,
    ) -> Found<'s> {
        let content = if face.is_whole {
            Content::Stored(stored)
        } else {
            Content::Tree(super::whole(design, entity, stored.decode()))
        };
        Found { entity, face, content }
    }

    /// Its attributes and constants, secrets and all: for use inside only.
    pub(crate) fn tree(&mut self) -> &mut Item {
        if let Content::Stored(stored) = &self.content {
            self.content = Content::Tree(super::own(self.entity, stored.decode()));
        }
        match &mut self.content {
            Content::Tree(item) => item,
            Content::Stored(_) => unreachable!("it was made a tree just now"),
        }
    }

    /// The same, by value.
    pub(crate) fn into_tree(mut self) -> Item {
        std::mem::take(self.tree())
    }

    /// What stands at a path.
    pub(crate) fn at(&self, path: &str) -> Option<Value> {
        match &self.content {
            Content::Tree(item) => design::at(item, path).cloned(),
            Content::Stored(stored) => {
                let mut names = path.split('.');
                let mut found = stored.get(names.next()?)?;
                for name in names {
                    let Shape::M(map) = found.shape() else { return None };
                    found = map.get(name)?;
                }
                Some(found.decode())
            }
        }
    }

    /// Its version, if its entity has one.
    pub(crate) fn version(&self) -> Option<Number> {
        match self.at(self.face.version.as_deref()?)? {
            Value::N(number) => Some(number),
            _ => None,
        }
    }

    /// The item as it is answered: all of it, or what a pattern selects.
    pub(crate) fn answered(self, selected: &[&str]) -> Entity {
        let (entity, face) = (self.entity, self.face);
        let mut item = self.into_tree();
        if !selected.is_empty() {
            item.retain(|name, _| face.is_answered(name, selected));
        }
        answered(entity, item)
    }

    /// Appends the item as it is answered, as JSON.
    pub(crate) fn write_json(&self, selected: &[&str], out: &mut Vec<u8>) {
        match &self.content {
            Content::Stored(stored) => self.face.write(&self.entity.name.value, stored, selected, out),
            // It may have more than its entity: what other items say of it.
            Content::Tree(_) => write_entity(&self.clone().answered(selected), out),
        }
    }
}

impl Face {
    fn is_answered(&self, name: &str, selected: &[&str]) -> bool {
        selected.contains(&name) || self.members.iter().any(|member| member.always && member.name == name)
    }

    /// Both names are in the same order, so each is looked at once.
    fn write(&self, entity: &str, stored: &StoredItem, selected: &[&str], out: &mut Vec<u8>) {
        out.reserve(stored.as_bytes().len() * 5 / 4 + 32);
        out.push(b'{');
        let has_own = self.members.iter().any(|member| member.name == ENTITY_MEMBER);
        if !has_own || stored.get(ENTITY_MEMBER).is_none() {
            write_text(ENTITY_MEMBER, out);
            out.push(b':');
            write_text(entity, out);
        }
        let mut members = self.members.iter();
        let mut next = members.next();
        for (name, value) in stored.attributes().raw() {
            let found = loop {
                match next.map(|member| (member, member.name.as_bytes().cmp(name))) {
                    Some((_, Ordering::Less)) => next = members.next(),
                    Some((member, Ordering::Equal)) => break Some(member),
                    Some((_, Ordering::Greater)) | None => break None,
                }
            };
            let Some(member) = found else { continue };
            if selected.is_empty() || member.always || selected.contains(&member.name.as_str()) {
                member.write(value, out);
            }
        }
        out.push(b'}');
    }
}

impl Member {
    fn new(name: String, secrets: Option<MapType>, always: bool) -> Member {
        let mut json = Vec::new();
        write_text(&name, &mut json);
        json.push(b':');
        Member { name, json, secrets, always }
    }

    fn write(&self, value: ValueRef<'_>, out: &mut Vec<u8>) {
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        out.extend_from_slice(&self.json);
        let Some(map) = &self.secrets else { return write_stored_value(value, out) };
        let mut value = value.decode();
        if let Value::M(members) = &mut value {
            without_secrets(map, members);
        }
        write_plain_value(&value, out);
    }
}
