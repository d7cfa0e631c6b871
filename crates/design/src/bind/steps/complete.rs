//! New items with everything that is made for them: ids, times, defaults, what is copied from others, how long they live.

use dynamo::{Item, Value};

use super::Work;
use crate::bind::time::lifetime_seconds;
use crate::bind::value::{at, coerce, coerced, fill, now, put_at, validate};
use crate::bind::{Problem, ProblemKind};
use crate::model::{Attribute, Entity, Given, MapType, TimeRole, Type};

impl Work<'_> {
    /// The attributes of a new item with everything that is made when it is absent. None if something must be read first.
    pub(super) fn completed(&mut self, entity: &Entity, mut item: Item) -> Option<Item> {
        for attribute in &entity.attributes {
            let name = &attribute.name.value;
            match item.get_mut(name) {
                Some(value) => {
                    coerce(&attribute.kind, value);
                    if let (Type::Map(map), Value::M(members)) = (&attribute.kind, value) {
                        add_defaults(map, members);
                    }
                }
                None => item.extend(self.made(attribute).map(|value| (name.clone(), value))),
            }
        }
        // What is wrong or missing is told at once, before anything is read for what follows from others.
        if entity.attributes.iter().any(follows_from_others) {
            let mut problems = validate(entity, &item, &self.design.delimiters);
            problems.retain(|problem| {
                let found = entity.attribute(&problem.name);
                found.is_none_or(|attribute| attribute.from.is_none() && attribute.after.is_empty())
            });
            if !problems.is_empty() {
                self.problems.extend(problems);
                return None;
            }
        }
        let complete = self.denormalised(entity, &mut item) & self.lifetimes(entity, &mut item);
        complete.then_some(item)
    }

    fn made(&mut self, attribute: &Attribute) -> Option<Value> {
        match &attribute.kind {
            Type::Timestamp(_, TimeRole::Created | TimeRole::Updated) => {
                Some(now(&attribute.kind, self.context))
            }
            Type::Version => Some(Value::from(1)),
            kind if kind.is_generated() && !attribute.optional => Some(self.generated(kind)),
            kind => {
                let value = match attribute.default.as_ref().map(|default| &default.value) {
                    Some(Given::Value(value)) => Some(value.clone()),
                    Some(Given::Template(template)) => fill(template, &self.start()),
                    _ => None,
                };
                let mut value = value.map(|value| coerced(kind, value));
                if let Type::Map(map) = kind {
                    if !attribute.optional {
                        value.get_or_insert_with(|| Value::M(Item::new()));
                    }
                    if let Some(Value::M(members)) = &mut value {
                        add_defaults(map, members);
                    }
                }
                value
            }
        }
    }

    pub(super) fn generated(&mut self, kind: &Type) -> Value {
        if matches!(kind, Type::Timestamp(..)) {
            return now(kind, self.context);
        }
        let id = (self.context.new_id)(kind, self.ids);
        self.ids += 1;
        Value::S(id)
    }

    /// Copies attributes of other entities into a new item. False if one must be read first.
    fn denormalised(&mut self, entity: &Entity, item: &mut Item) -> bool {
        let mut complete = true;
        for attribute in &entity.attributes {
            let (Some(from), None) = (&attribute.from, item.get(&attribute.name.value)) else { continue };
            let Some(source) = self.entity(from.entity()) else { continue };
            let mut identity = Item::new();
            for slot in source.identity() {
                if let Some(value) = at(item, from.local(slot)) {
                    put_at(&mut identity, slot, value.clone());
                }
            }
            match self.current(source, &identity) {
                None => complete = false,
                Some(None) => {
                    let message = format!("there is no such {}", source.name.value);
                    self.problems.push(Problem::new(ProblemKind::NotFound, &source.name.value, message));
                }
                Some(Some((key, found))) => {
                    let value = at(&found, from.attribute()).cloned();
                    item.extend(value.map(|value| (attribute.name.value.clone(), value)));
                    // A change that has just been passed on to all copies would never reach this one.
                    if from.refresh {
                        let because = format!("copied: {}", from.source.value);
                        self.depends(source, key, &found, &[from.attribute().to_owned()], because);
                    }
                }
            }
        }
        complete
    }

    /// Gives a new item its time to live: the first lifetime that there is. False if one must be read first.
    fn lifetimes(&mut self, entity: &Entity, item: &mut Item) -> bool {
        for attribute in entity.attributes.iter().filter(|attribute| !attribute.after.is_empty()) {
            if item.contains_key(&attribute.name.value) {
                continue;
            }
            for after in &attribute.after {
                let seconds = match lifetime_seconds(&after.value) {
                    Some(seconds) => Some(seconds),
                    None => match self.lifetime_of(&after.value, item) {
                        Ok(seconds) => seconds,
                        Err(NotRead) => return false,
                    },
                };
                if let Some(seconds) = seconds {
                    let expires = self.context.now_milliseconds.div_euclid(1_000).saturating_add(seconds);
                    item.insert(attribute.name.value.clone(), Value::from(expires));
                    break;
                }
            }
        }
        true
    }

    /// The lifetime that an attribute of another item gives: `InboxConfig.ttl.default`.
    fn lifetime_of(&mut self, reference: &str, item: &Item) -> Result<Option<i64>, NotRead> {
        let Some((entity, path)) = reference.split_once('.') else { return Ok(None) };
        let Some(source) = self.entity(entity) else { return Ok(None) };
        let found = self.current(source, item).ok_or(NotRead)?;
        Ok(found.and_then(|(_, found)| match at(&found, path) {
            Some(Value::S(text)) => lifetime_seconds(text),
            _ => None,
        }))
    }
}

/// Whether other items must be read for an attribute of a new one.
pub(in crate::bind) fn follows_from_others(attribute: &Attribute) -> bool {
    attribute.from.is_some() || attribute.after.iter().any(|after| lifetime_seconds(&after.value).is_none())
}

/// An item must be read first.
struct NotRead;

/// Adds the defaults of a map's members, where they are absent.
fn add_defaults(map: &MapType, members: &mut Item) {
    for member in &map.members {
        if let Some(Given::Value(default)) = member.default.as_ref().map(|default| &default.value)
            && !members.contains_key(&member.name.value)
        {
            members.insert(member.name.value.clone(), default.clone());
        }
    }
}
