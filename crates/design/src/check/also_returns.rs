//! A pattern that returns more than was meant.

use super::Context;
use crate::condition::{Comparator, Operand};
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::keys::{Strings, template_texts};
use crate::model::Entity;
use crate::query::{Asked, Query, Test};
use crate::resolve::condition_span;
use crate::template::{Piece, Template};

pub(crate) const RULE: Rule = Rule {
    code: "D024",
    title: "a pattern that also returns something else",
    family: Family::Ambiguous,
    severity: Severity::Warning,
    why: "A range that is open at one end runs on to the end of the partition: SK > \"EVENT#2024\" also returns what begins with REMINDER#. \
          BETWEEN keeps to one prefix; `~` sorts after all letters and digits. A pattern that says what it `returns` is held to it.",
    wrong: shop!(
        "[entity.Event]\nkey = { PK = \"BATCH#{batchId}\", SK = \"EVENT#{createdAt}\" }\n\n[entity.Event.attributes]\nbatchId   = \"ulid\"\ncreatedAt = \"created\"\n\n\
         [entity.Reminder]\nkey = { PK = \"BATCH#{batchId}\", SK = \"REMINDER#{reminderId}\" }\n\n[entity.Reminder.attributes]\nbatchId    = \"ulid\"\nreminderId = \"ulid\"\n\n\
         [pattern.recent-events]\nwhere = 'PK = \"BATCH#{batchId}\" AND SK > \"EVENT#{since}\"'\n"
    ),
    right: shop!(
        "[entity.Event]\nkey = { PK = \"BATCH#{batchId}\", SK = \"EVENT#{createdAt}\" }\n\n[entity.Event.attributes]\nbatchId   = \"ulid\"\ncreatedAt = \"created\"\n\n\
         [entity.Reminder]\nkey = { PK = \"BATCH#{batchId}\", SK = \"REMINDER#{reminderId}\" }\n\n[entity.Reminder.attributes]\nbatchId    = \"ulid\"\nreminderId = \"ulid\"\n\n\
         [pattern.recent-events]\nwhere = 'PK = \"BATCH#{batchId}\" AND SK BETWEEN \"EVENT#{since}\" AND \"EVENT#~\"'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, answer) in context.sound_queries() {
        if query.pattern.returns.is_empty() {
            findings.extend(runs_on(context, query, answer));
            continue;
        }
        let meant = |entity: &Entity| query.pattern.returns.iter().any(|name| name.value == entity.name.value);
        for entity in answer.iter().filter(|entity| !meant(entity)) {
            let sentence = format!("pattern `{}` also returns `{}`, which is not among what it says it returns", query.pattern.name.value, entity.name.value);
            findings.push(Finding::new(&RULE, query.condition.span, sentence).help("narrow the key condition, or add the entity to `returns`"));
        }
    }
    findings
}

/// An open range with a prefix that some entities in the answer have and others have not.
fn runs_on(context: &Context<'_>, query: &Query<'_>, answer: &[&Entity]) -> Option<Finding> {
    let asked = query.sort_test()?;
    let Test::Compare(comparator, Operand::Text(bound, _)) = asked.test else { return None };
    let [Piece::Literal(prefix), Piece::Slot(_), ..] = bound.pieces.as_slice() else { return None };
    let has_prefix = |entity: &&&Entity| begins(context, query, asked, entity, prefix);
    let meant = answer.iter().find(has_prefix)?;
    let caught = answer.iter().find(|entity| !has_prefix(entity))?;
    let sentence = format!(
        "pattern `{}` is meant for `{}`, but the open range also returns `{}`",
        query.pattern.name.value, meant.name.value, caught.name.value
    );
    let name = &asked.attribute.name.value;
    let help = match comparator {
        Comparator::Less | Comparator::LessOrEqual => format!("{name} BETWEEN \"{prefix}\" AND \"{bound}\""),
        _ => format!("{name} BETWEEN \"{bound}\" AND \"{prefix}~\""),
    };
    Some(Finding::new(&RULE, condition_span(context.source, query.condition, asked.at), sentence).help(format!("close the range: {help}")))
}

fn begins(context: &Context<'_>, query: &Query<'_>, asked: &Asked<'_>, entity: &Entity, prefix: &str) -> bool {
    let Some(part) = entity.key_in(query.index).and_then(|key| key.part(&asked.attribute.name.value)) else { return false };
    let starts = |template: &Template| {
        template_texts(entity, template, &context.design.delimiters, Strings::WithoutDelimiters).head().starts_with(prefix)
    };
    part.choices.iter().any(|choice| starts(&choice.template.value))
}
