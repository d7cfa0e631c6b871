//! A key that keeps only a part of what makes an item distinct.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::resolve::slot_span;
use crate::template::Format;

pub(crate) const RULE: Rule = Rule {
    code: "D026",
    title: "a key that keeps only a part of a value",
    family: Family::Ambiguous,
    severity: Severity::Warning,
    why: "A truncated or sharded value is not the value: two visits on one day have the same {at:day}, and the second overwrites the first. \
          The whole value, or an id, must stand in the key as well.",
    wrong: shop!(
        "[entity.Visit]\nkey = { PK = \"PAGE#{page}\", SK = \"VISIT#{at:day}\" }\n\n[entity.Visit.attributes]\npage = \"key\"\nat   = \"timestamp\"\n"
    ),
    right: shop!(
        "[entity.Visit]\nkey = { PK = \"PAGE#{page}#{at:month}\", SK = \"VISIT#{at}\" }\n\n[entity.Visit.attributes]\npage = \"key\"\nat   = \"timestamp\"\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in context.design.entities.iter().filter(|entity| entity.copy.is_none()) {
        let whole = |path: &str| {
            entity.key.slots().any(|slot| slot.path == path && !matches!(slot.format, Format::Truncated(_) | Format::Shard(_)))
        };
        let generated = entity.key.slots().any(|slot| {
            slot.format == Format::Plain && entity.attribute(&slot.path).is_some_and(|attribute| attribute.kind.is_generated())
        });
        for template in entity.key.templates() {
            for slot in template.value.slots() {
                let cut = matches!(slot.format, Format::Truncated(_) | Format::Shard(_));
                if cut && !whole(&slot.path) && !generated {
                    let sentence = format!("two items of `{}` with the same `{{{}{}}}` have one key", entity.name.value, slot.path, slot.format);
                    let span = slot_span(context.source, template, slot);
                    findings.push(Finding::new(&RULE, span, sentence).help(format!("put {{{}}} or an id into the key as well", slot.path)));
                }
            }
        }
    }
    findings
}
