//! Examples of requests, for the documentation page: from the design's own seed data and examples where there are any.

use design::{CheckedDesign, Entity, ExampleKind, Given, GivenEntry, Operation, Pattern};
use dynamo::{Item, Value};

use super::is_given;
use super::schema::is_required;
use crate::rest::json_of;

/// An example of a parameter of a pattern, as it stands in a query.
pub(crate) fn parameter_text(design: &CheckedDesign, pattern: &Pattern, name: &str) -> Option<String> {
    let shown = design.examples.iter().find(
        |example| matches!(&example.kind, ExampleKind::Pattern(asked) if asked.value == pattern.name.value),
    )?;
    let value = shown.with.iter().find(|entry| entry.name.value == name)?;
    match &value.value.value {
        Given::Value(Value::L(list)) => list.first().map(text),
        Given::Value(value) => Some(text(value)),
        _ => None,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::S(text) => text.clone(),
        other => json_of(other).to_string(),
    }
}

/// An example of an operation's input.
pub(crate) fn operation_body(design: &CheckedDesign, operation: &Operation) -> String {
    let shown = design.examples.iter().find(
        |example| matches!(&example.kind, ExampleKind::Operation(done) if done.value == operation.name.value),
    );
    let entries = shown.map(|example| values(&example.with)).unwrap_or_default();
    json_of(&Value::M(entries)).to_string()
}

/// An example of what is sent to make an item.
pub(crate) fn create_body(design: &CheckedDesign, entity: &Entity) -> String {
    let seed = design.seeds.iter().find(|seed| seed.entity.value == entity.name.value);
    let item = match seed {
        Some(seed) => values(&seed.attributes),
        None => {
            let needed = entity
                .attributes
                .iter()
                .filter(|attribute| is_given(entity, attribute) && is_required(attribute));
            needed.map(|attribute| (attribute.name.value.clone(), Value::from("…"))).collect()
        }
    };
    json_of(&Value::M(item)).to_string()
}

fn values(entries: &[GivenEntry]) -> Item {
    let values = entries.iter().filter_map(|entry| match &entry.value.value {
        Given::Value(value) => Some((entry.name.value.clone(), value.clone())),
        _ => None,
    });
    values.collect()
}
