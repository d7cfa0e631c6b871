//! A value that can forge another key.

use super::{Context, same_key};
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::keys::{Strings, template_texts};
use crate::model::{Entity, Type};
use crate::resolve::slot_span;
use crate::source::{Placed, Span};
use crate::template::{Slot, Template};

pub(crate) const RULE: Rule = Rule {
    code: "D022",
    title: "a value that can forge another key",
    family: Family::Ambiguous,
    severity: Severity::Error,
    why: "A `string` may contain the delimiter. Joined into a key, such a value reads like another key: the user `a#ORDER#1` writes where the order 1 of user `a` is. \
          A `key` is a text without delimiters; a value that has one is refused.",
    wrong: shop!(
        "[entity.User]\nkey = { PK = \"USER#{userId}\", SK = \"USER\" }\n\n[entity.User.attributes]\nuserId = \"string\"\n\n\
         [entity.Order]\nkey = { PK = \"USER#{userId}#ORDER#{orderId}\", SK = \"USER\" }\n\n[entity.Order.attributes]\nuserId  = \"key\"\norderId = \"ulid\"\n"
    ),
    right: shop!(
        "[entity.User]\nkey = { PK = \"USER#{userId}\", SK = \"USER\" }\n\n[entity.User.attributes]\nuserId = \"key\"\n\n\
         [entity.Order]\nkey = { PK = \"USER#{userId}#ORDER#{orderId}\", SK = \"USER\" }\n\n[entity.Order.attributes]\nuserId  = \"key\"\norderId = \"ulid\"\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (left, right) in same_key::pairs(context.design) {
        if same_key::shares(left, right) {
            continue;
        }
        let delimited = same_key::common_key(context.design, left, right, Strings::WithoutDelimiters);
        let any = same_key::common_key(context.design, left, right, Strings::Any);
        if let (None, Some(example)) = (delimited, any) {
            findings.extend(forgery(context, left, right, &example));
        }
    }
    for entity in &context.design.entities {
        findings.extend(own_forgeries(context, entity));
    }
    findings
}

fn forgery(context: &Context<'_>, left: &Entity, right: &Entity, example: &str) -> Option<Finding> {
    let (forger, victim) = if open_slot(left).is_some() { (left, right) } else { (right, left) };
    let (template, slot) = open_slot(forger)?;
    let sentence = format!("a value of `{}` can forge a key of `{}`: {example}", slot.path, victim.name.value);
    Some(
        Finding::new(&RULE, span(context, template, slot), sentence)
            .help(format!("make `{}` of `{}` a `key`: a text without `{}`", slot.path, forger.name.value, context.design.delimiters))
            .related(victim.key.span, format!("the key of `{}`", victim.name.value)),
    )
}

/// Templates that read in one way only if strings have no delimiters.
fn own_forgeries(context: &Context<'_>, entity: &Entity) -> Vec<Finding> {
    let delimiters = &context.design.delimiters;
    let own = entity.keys().flat_map(|key| &key.parts).filter(|part| !part.implied);
    let templates = own.flat_map(|part| part.choices.iter().map(|choice| &choice.template));
    let found = templates.filter_map(|template| {
        let any = template_texts(entity, &template.value, delimiters, Strings::Any).read_in_two_ways()?;
        let delimited = template_texts(entity, &template.value, delimiters, Strings::WithoutDelimiters).read_in_two_ways();
        let slot = template.value.slots().find(|slot| is_open(entity, slot))?;
        let sentence = format!("a value of `{}` that has a delimiter makes this key ambiguous: \"{any}\"", slot.path);
        let help = format!("make `{}` of `{}` a `key`: a text without `{delimiters}`", slot.path, entity.name.value);
        delimited.is_none().then(|| Finding::new(&RULE, span(context, template, slot), sentence).help(help))
    });
    found.collect()
}

fn open_slot(entity: &Entity) -> Option<(&Placed<Template>, &Slot)> {
    entity.key.templates().find_map(|template| {
        let slot = template.value.slots().find(|slot| is_open(entity, slot))?;
        Some((template, slot))
    })
}

fn is_open(entity: &Entity, slot: &Slot) -> bool {
    matches!(entity.type_at(&slot.path), Some(Type::String | Type::Any))
}

fn span(context: &Context<'_>, template: &Placed<Template>, slot: &Slot) -> Span {
    slot_span(context.source, template, slot)
}
