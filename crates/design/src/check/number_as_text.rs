//! A number that sorts as text.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Entity, EntityKey, Type};
use crate::resolve::slot_span;
use crate::source::Placed;
use crate::template::{Format, Slot, Template};

pub(crate) const RULE: Rule = Rule {
    code: "D030",
    title: "a number that sorts as text",
    family: Family::WrongOrder,
    severity: Severity::Warning,
    why: "A text sorts by its characters, so 10 comes before 2. With zeros in front, {order:06}, the order of the text is the order of the numbers. \
          A sort key that is nothing but a number can be declared a number.",
    wrong: shop!(
        "[entity.Line]\nkey = { PK = \"ORDER#{orderId}\", SK = \"LINE#{line}\" }\n\n[entity.Line.attributes]\norderId = \"ulid\"\nline    = \"integer\"\n\n\
         [pattern.lines]\nwhere = 'PK = \"ORDER#{orderId}\" AND begins_with(SK, \"LINE#\")'\n"
    ),
    right: shop!(
        "[entity.Line]\nkey = { PK = \"ORDER#{orderId}\", SK = \"LINE#{line:04}\" }\n\n[entity.Line.attributes]\norderId = \"ulid\"\nline    = \"integer\"\n\n\
         [pattern.lines]\nwhere = 'PK = \"ORDER#{orderId}\" AND begins_with(SK, \"LINE#\")'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (entity, key, template) in sorted_templates(context) {
        for slot in template.value.slots() {
            if slot.format == Format::Plain && entity.type_at(&slot.path).is_some_and(|kind| sorts_as_text(&kind)) {
                let sentence = format!(
                    "`{}` is a number and sorts as text in {}: 10 comes before 2",
                    slot.path,
                    key.index.as_deref().unwrap_or("the table")
                );
                let span = slot_span(context.source, template, slot);
                findings.push(Finding::new(&RULE, span, sentence).help(format!("write it with zeros in front: {{{}:06}}", slot.path)));
            }
        }
    }
    findings
}

/// Numbers of different widths.
fn sorts_as_text(kind: &Type) -> bool {
    match kind {
        Type::OneOf(values) => {
            let widths = values.iter().filter(|value| kind.is_number() || value.value_type() == dynamo::ValueType::N);
            let mut widths = widths.filter_map(|value| crate::keys::written(value)).map(|text| text.len()).collect::<Vec<_>>();
            widths.dedup();
            widths.len() > 1
        }
        // Ten digits until the year 2286.
        Type::Epoch | Type::Ttl => false,
        kind => kind.is_number(),
    }
}

/// The templates of sort keys that a pattern reads more than one item by: there the order shows.
pub(super) fn sorted_templates<'a>(context: &'a Context<'_>) -> Vec<(&'a Entity, &'a EntityKey, &'a Placed<Template>)> {
    let mut found = Vec::new();
    for entity in &context.design.entities {
        for key in entity.keys() {
            let read = context.sound_queries().any(|(query, answer)| {
                query.index == key.index.as_deref() && !query.is_exact() && answer.iter().any(|other| other.name.value == entity.name.value)
            });
            if !read {
                continue;
            }
            let partitions = partition_width(context, entity, key);
            for part in key.parts.iter().skip(partitions).filter(|part| !is_number_key(context, entity, key, &part.attribute.value)) {
                found.extend(part.choices.iter().map(|choice| (entity, key, &choice.template)));
            }
        }
    }
    found
}

fn partition_width(context: &Context<'_>, _entity: &Entity, key: &EntityKey) -> usize {
    key.index.as_ref().and_then(|index| context.design.index(index)).map_or(1, |index| index.partition_key.len())
}

fn is_number_key(context: &Context<'_>, entity: &Entity, key: &EntityKey, name: &str) -> bool {
    let of_index = key.index.as_ref().and_then(|index| context.design.index(index));
    let found = match of_index {
        Some(index) => index.key_attributes().find(|key| key.name.value == name),
        None => context.design.table(&entity.table).and_then(|table| table.key_attributes().find(|key| key.name.value == name)),
    };
    found.is_some_and(|key| key.key_type != dynamo::KeyType::S)
}

/// Whether a slot is written as it is.
pub(super) fn is_plain(slot: &Slot) -> bool {
    slot.format == Format::Plain
}
