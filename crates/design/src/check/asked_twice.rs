//! Two conditions on one key attribute.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::query::Problem;
use crate::resolve::condition_span;

pub(crate) const RULE: Rule = Rule {
    code: "D011",
    title: "two conditions on one key attribute",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "A key condition has at most one condition for each key attribute. A range with both ends is one condition: BETWEEN.",
    wrong: shop!(
        "[entity.Event]\nkey = { PK = \"LOG#{logId}\", SK = \"EVENT#{createdAt}\" }\n\n[entity.Event.attributes]\nlogId     = \"ulid\"\ncreatedAt = \"created\"\n\n\
         [pattern.events-since]\nwhere = 'PK = \"LOG#{logId}\" AND begins_with(SK, \"EVENT#\") AND SK > \"EVENT#{since}\"'\n"
    ),
    right: shop!(
        "[entity.Event]\nkey = { PK = \"LOG#{logId}\", SK = \"EVENT#{createdAt}\" }\n\n[entity.Event.attributes]\nlogId     = \"ulid\"\ncreatedAt = \"created\"\n\n\
         [pattern.events-since]\nwhere = 'PK = \"LOG#{logId}\" AND SK BETWEEN \"EVENT#{since}\" AND \"EVENT#~\"'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, _) in &context.queries {
        for problem in &query.problems {
            let Problem::AskedTwice { attribute, at } = problem else { continue };
            let sentence = format!(
                "pattern `{}` is refused: `{attribute}` has two conditions, and DynamoDB takes one for each key attribute",
                query.pattern.name.value
            );
            let span = condition_span(context.source, query.condition, *at);
            findings.push(
                Finding::new(&RULE, span, sentence).help(format!("make it one: {attribute} BETWEEN \"…\" AND \"…\"")),
            );
        }
    }
    findings
}
