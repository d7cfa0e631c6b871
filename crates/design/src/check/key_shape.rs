//! A key that cannot be written: a text for a number key, or a part that may be absent.

use dynamo::{KeyType, ValueType};

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Design, Entity, EntityKey, KeyPart, Type};
use crate::resolve::slot_span;
use crate::source::Placed;
use crate::template::{Format, Slot, Template};

pub(crate) const RULE: Rule = Rule {
    code: "D018",
    title: "a key that cannot be written",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "A key attribute is a text, a number or bytes. A key in the table must always be there, so none of its slots may be absent; \
          lists, maps and sets cannot stand in a key at all.",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"USER#{userId}\", SK = \"ORDER#{number}\" }\n\n[entity.Order.attributes]\nuserId = \"key\"\nnumber = \"key?\"\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"USER#{userId}\", SK = \"ORDER#{number}\" }\n\n[entity.Order.attributes]\nuserId = \"key\"\nnumber = \"key\"\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in &context.design.entities {
        for key in entity.keys() {
            for part in key.parts.iter().filter(|part| !part.implied || key.index.is_none()) {
                for choice in &part.choices {
                    template(context, entity, key, part, &choice.template, &mut findings);
                }
                conditional(entity, key, part, &mut findings);
            }
        }
        if let Some(when) = &entity.key.when {
            let sentence = format!("the key of `{}` in its table cannot depend on a condition", entity.name.value);
            findings.push(Finding::new(&RULE, when.span, sentence).help("take `when` out; only keys in indexes may be absent"));
        }
    }
    findings
}

fn template(
    context: &Context<'_>,
    entity: &Entity,
    key: &EntityKey,
    part: &KeyPart,
    template: &Placed<Template>,
    findings: &mut Vec<Finding>,
) {
    let name = &part.attribute.value;
    let wanted = key_type(context.design, entity, key, name);
    if wanted != KeyType::S {
        let fits = template.value.only_slot().and_then(|slot| entity.type_at(&slot.path)).and_then(|kind| kind.value_type());
        if fits != Some(wanted.value_type()) {
            let kind = if wanted == KeyType::N { "a number" } else { "binary" };
            let sentence = format!("`{name}` is {kind}, and `{}` writes a text to it", entity.name.value);
            findings.push(Finding::new(&RULE, template.span, sentence).help(format!("write one slot and nothing else, of an attribute that is {kind}")));
        }
        return;
    }
    for slot in template.value.slots() {
        if let Some((sentence, help)) = problem(entity, key, slot) {
            findings.push(Finding::new(&RULE, slot_span(context.source, template, slot), sentence).help(help));
        }
    }
    if let Some(slot) = template.value.only_slot()
        && part.implied
        && entity.type_at(&slot.path).and_then(|kind| kind.value_type()) == Some(ValueType::N)
    {
        let sentence = format!("`{name}` is a number in `{}`, and a text in the key", entity.name.value);
        findings.push(Finding::new(&RULE, template.span, sentence).help(format!("declare the key {{ name = \"{name}\", type = \"number\" }}")));
    }
}

fn problem(entity: &Entity, key: &EntityKey, slot: &Slot) -> Option<(String, String)> {
    let kind = entity.type_at(&slot.path)?;
    if matches!(kind.value_type(), Some(ValueType::L | ValueType::M | ValueType::Ss | ValueType::Ns | ValueType::Bs | ValueType::B)) {
        let sentence = format!("`{}` is a {} and cannot be part of a text", slot.path, kind.name());
        return Some((sentence, "use an attribute that is a text or a number".to_owned()));
    }
    let format_fits = match slot.format {
        Format::Padded(_) => kind.is_number(),
        Format::Truncated(_) => matches!(kind, Type::Timestamp(..) | Type::Date | Type::String),
        Format::Lower | Format::Upper => kind.value_type() == Some(ValueType::S),
        Format::Plain | Format::Shard(_) => true,
    };
    if !format_fits {
        let sentence = format!("`{}` is {}, which the format `{}` does not fit", slot.path, kind.name(), slot.format);
        return Some((sentence, "numbers are padded, timestamps truncated, texts put in lower case".to_owned()));
    }
    let may_be_absent = is_optional(entity, &slot.path);
    if key.index.is_none() && may_be_absent && entity.copy.is_none() {
        let sentence = format!("`{}` may be absent, but the key of `{}` needs it", slot.path, entity.name.value);
        return Some((sentence, format!("make `{}` an attribute that is always there, or give it a default", slot.path)));
    }
    None
}

fn is_optional(entity: &Entity, path: &str) -> bool {
    let mut names = path.split('.');
    let mut at = String::new();
    names.any(|name| {
        if !at.is_empty() {
            at.push('.');
        }
        at.push_str(name);
        entity.attribute(&at).is_some_and(|attribute| attribute.optional && attribute.default.is_none())
    })
}

/// Several templates for a key in the table must leave no case open.
fn conditional(entity: &Entity, key: &EntityKey, part: &KeyPart, findings: &mut Vec<Finding>) {
    let covered = part.choices.last().is_none_or(|choice| choice.when.is_none());
    if key.index.is_none() && !covered {
        let sentence = format!("no template of `{}` is left when none of the conditions holds", part.attribute.value);
        findings.push(Finding::new(&RULE, part.attribute.span, sentence).help(format!("add a last template without `when` for `{}`", entity.name.value)));
    }
}

fn key_type(design: &Design, entity: &Entity, key: &EntityKey, name: &str) -> KeyType {
    let found = match &key.index {
        Some(index) => design.index(index).and_then(|index| index.key_attributes().find(|key| key.name.value == name)),
        None => design.table(&entity.table).and_then(|table| table.key_attributes().find(|key| key.name.value == name)),
    };
    found.map_or(KeyType::S, |key| key.key_type)
}
