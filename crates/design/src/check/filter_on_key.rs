//! A filter on a key attribute.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::resolve::condition_span;

pub(crate) const RULE: Rule = Rule {
    code: "D017",
    title: "a filter on a key attribute",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "DynamoDB refuses a filter that names an attribute of the key that is queried: \"Filter Expression can only contain non-primary key attributes\".",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\n\n[entity.Order.attributes]\nuserId  = \"key\"\norderId = \"ulid\"\n\n\
         [pattern.orders]\nwhere  = 'PK = \"USER#{userId}\"'\nfilter = 'begins_with(SK, \"ORDER#\")'\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\n\n[entity.Order.attributes]\nuserId  = \"key\"\norderId = \"ulid\"\n\n\
         [pattern.orders]\nwhere = 'PK = \"USER#{userId}\" AND begins_with(SK, \"ORDER#\")'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, _) in context.sound_queries() {
        let Some(filter) = &query.pattern.filter else { continue };
        for path in filter.condition.paths() {
            let name = path.top();
            if query.partition.iter().chain(&query.sort).any(|key| key.name.value == name) {
                let sentence = format!("pattern `{}` is refused: the filter names the key attribute `{name}`", query.pattern.name.value);
                let span = condition_span(context.source, filter, path.at);
                findings.push(Finding::new(&RULE, span, sentence).help("say it in `where`, or filter on another attribute"));
            }
        }
    }
    findings
}
