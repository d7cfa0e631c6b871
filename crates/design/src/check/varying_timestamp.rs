//! A timestamp whose text does not sort by time.

use super::Context;
use super::number_as_text::{is_plain, sorted_templates};
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Precision, Type};
use crate::resolve::slot_span;

pub(crate) const RULE: Rule = Rule {
    code: "D031",
    title: "a timestamp that does not sort by time",
    family: Family::WrongOrder,
    severity: Severity::Warning,
    why: "ISO 8601 allows other offsets and any number of decimals: 10:30:00Z sorts after 10:30:00.5Z, and 12:00+02:00 is before 11:00Z. Texts sort by time only if they all \
          have the same form, as `timestamp`, `created` and `updated` do.",
    wrong: shop!(
        "[entity.Event]\nkey = { PK = \"LOG#{logId}\", SK = \"EVENT#{at}\" }\n\n[entity.Event.attributes]\nlogId = \"ulid\"\nat    = \"timestamp(any)\"\n\n\
         [pattern.events]\nwhere = 'PK = \"LOG#{logId}\" AND begins_with(SK, \"EVENT#\")'\n"
    ),
    right: shop!(
        "[entity.Event]\nkey = { PK = \"LOG#{logId}\", SK = \"EVENT#{at}\" }\n\n[entity.Event.attributes]\nlogId = \"ulid\"\nat    = \"timestamp\"\n\n\
         [pattern.events]\nwhere = 'PK = \"LOG#{logId}\" AND begins_with(SK, \"EVENT#\")'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (entity, _, template) in sorted_templates(context) {
        for slot in template.value.slots().filter(|slot| is_plain(slot)) {
            if matches!(entity.type_at(&slot.path), Some(Type::Timestamp(Precision::Varying, _))) {
                let sentence = format!("`{}` can have several forms, so its text does not sort by time", slot.path);
                let span = slot_span(context.source, template, slot);
                findings.push(Finding::new(&RULE, span, sentence).help("make it a `timestamp` (milliseconds, UTC) or `timestamp(seconds)`"));
            }
        }
    }
    findings
}
