//! A partition key by anything but equality.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::query::Problem;
use crate::resolve::condition_span;

pub(crate) const RULE: Rule = Rule {
    code: "D010",
    title: "a partition key that is not asked for by equality",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "The partition key decides where an item is kept, by its hash. DynamoDB finds a partition by its exact key only and \
          refuses begins_with, BETWEEN and comparisons on it.",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"STATUS#{status}\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\nstatus  = [\"open\", \"paid\"]\n\n\
         [pattern.open-orders]\nwhere = 'begins_with(PK, \"ORDER#\") AND SK = \"STATUS#open\"'\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"STATUS#{status}\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\nstatus  = [\"open\", \"paid\"]\n\n\
         [pattern.order]\nwhere = 'PK = \"ORDER#{orderId}\" AND SK = \"STATUS#open\"'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, _) in &context.queries {
        for problem in &query.problems {
            let Problem::PartitionNotEqual { attribute, at } = problem else { continue };
            let sentence = format!(
                "pattern `{}` is refused: the partition key `{attribute}` can only be asked for with `=`",
                query.pattern.name.value
            );
            let span = condition_span(context.source, query.condition, *at);
            findings.push(Finding::new(&RULE, span, sentence).help(
                "give the entity an index key whose partition key is known when the pattern is asked, \
                 or ask for one partition and use `filter`",
            ));
        }
    }
    findings
}
