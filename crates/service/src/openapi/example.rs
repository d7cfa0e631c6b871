//! Examples of requests, for the document and the page: from the design's own seed data and examples where there are any. On the
//! seed data they are answered, or refused because what they make is there already; an example that needs more than the seed data is shown only
//! where there is no other.

use design::{Attribute, CheckedDesign, Entity, ExampleKind, Given, GivenEntry, Operation, Pattern, Type};
use dynamo::{Item, Value};
use serde_json::{Map, Value as Json};

use super::schema;
use crate::rest::{identity, json_of};

/// An example of a parameter of a pattern.
pub(crate) fn parameter(design: &CheckedDesign, pattern: &str, name: &str) -> Option<Json> {
    let shown = design
        .examples
        .iter()
        .find(|example| matches!(&example.kind, ExampleKind::Pattern(asked) if asked.value == pattern))?;
    let value = shown.with.iter().find(|entry| entry.name.value == name)?;
    match &value.value.value {
        Given::Value(value) => Some(json_of(value)),
        _ => None,
    }
}

/// The same, as it stands in a query: of a list the first element.
pub(crate) fn parameter_text(design: &CheckedDesign, pattern: &Pattern, name: &str) -> Option<String> {
    let mut value = parameter(design, &pattern.name.value, name)?;
    if let Json::Array(list) = &value {
        value = list.first().cloned()?;
    }
    Some(match value {
        Json::String(text) => text,
        other => other.to_string(),
    })
}

/// An example of an operation's input. Ids that are made when they are absent are absent, so that it can be sent again.
pub(crate) fn operation_body(design: &CheckedDesign, operation: &Operation) -> Option<Json> {
    let is_done = |example: &&design::Example| {
        let own = matches!(&example.kind, ExampleKind::Operation(done) if done.value == operation.name.value);
        own && example.fails.is_none()
    };
    // One that needs nothing but the seed data, if there is one.
    let mut examples = design.examples.iter().filter(is_done).collect::<Vec<_>>();
    examples.sort_by_key(|example| !example.given.is_empty());
    let mut given = values(&examples.first()?.with);
    for input in &operation.inputs {
        if input.attribute.optional && input.attribute.kind.is_generated() {
            given.remove(&input.attribute.name.value);
        }
    }
    Some(json_of(&Value::M(given)))
}

/// An example of what is sent to make an item. An id that is made when it is absent is absent.
pub(crate) fn create_body(design: &CheckedDesign, entity: &Entity) -> Option<Json> {
    let mut item = seeded(design, entity)?;
    // What stands before it in the key is what the item belongs to.
    if let Some(own) = identity(entity).last()
        && entity.attribute(own).is_some_and(|attribute| attribute.kind.is_generated())
        && !is_of_another(design, entity, own)
    {
        item.remove(*own);
    }
    Some(json_of(&Value::M(item)))
}

/// Whether an attribute names another item, of which something is copied or which counts this one.
fn is_of_another(design: &CheckedDesign, entity: &Entity, name: &str) -> bool {
    let copied = entity.attributes.iter().filter_map(|attribute| attribute.from.as_ref()).any(|from| {
        let source = design.entity(from.entity());
        source.is_some_and(|source| source.identity().iter().any(|slot| from.local(slot) == name))
    });
    let counted = design.entities.iter().any(|target| {
        let mut tallies = target.counters.iter().flat_map(|counter| &counter.tallies);
        tallies.any(|tally| {
            let own = tally.entity.value == entity.name.value;
            own && target.identity().iter().any(|slot| tally.source(slot) == name)
        })
    });
    copied || counted
}

/// An example of what is sent to change an item: its first text or number that may be changed, as it is.
pub(crate) fn change_body(design: &CheckedDesign, entity: &Entity) -> Option<Json> {
    let item = seeded(design, entity)?;
    let schema = schema::changed(design, entity);
    let changeable = schema.get("properties")?.as_object()?;
    let is_simple = |attribute: &&Attribute| {
        let is_simple =
            matches!(attribute.kind, Type::String | Type::Number | Type::Integer | Type::OneOf(_));
        is_simple && changeable.contains_key(&attribute.name.value)
    };
    let mut shown = entity.attributes.iter().filter(is_simple).filter_map(|attribute| {
        let name = &attribute.name.value;
        Some((name.clone(), json_of(item.get(name)?)))
    });
    Some(Json::Object(Map::from_iter([shown.next()?])))
}

/// An example of a part of an item's key.
pub(crate) fn key_part(design: &CheckedDesign, entity: &Entity, name: &str) -> Option<Json> {
    let source = match &entity.copy {
        None => entity,
        // Whether there is a copy of the item that is shown is not known.
        Some(copy) if copy.when.is_some() => return None,
        // A copy has the key of what it follows from.
        Some(copy) => design.entity(&copy.source.value)?,
    };
    let item = seeded(design, source)?;
    design::at(&item, name).map(json_of)
}

fn seeded(design: &CheckedDesign, entity: &Entity) -> Option<Item> {
    let seed = design.seeds.iter().find(|seed| seed.entity.value == entity.name.value)?;
    Some(values(&seed.attributes))
}

fn values(entries: &[GivenEntry]) -> Item {
    let values = entries.iter().filter_map(|entry| match &entry.value.value {
        Given::Value(value) => Some((entry.name.value.clone(), value.clone())),
        _ => None,
    });
    values.collect()
}
