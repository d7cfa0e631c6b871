//! A batch of the wrong size.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::PatternKind;

pub(crate) const RULE: Rule = Rule {
    code: "D054",
    title: "a batch of the wrong size",
    family: Family::TooBig,
    severity: Severity::Warning,
    why: "BatchGetItem takes up to 100 keys; BatchWriteItem takes 25. A batch of more than 100 keys is refused, and one of 25 takes four times the requests it needs.",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\n\n[pattern.orders]\nget   = \"Order\"\nbatch = 25\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\n\n[pattern.orders]\nget   = \"Order\"\nbatch = 100\n"
    ),
};

const GET_MAX: usize = 100;
const WRITE_MAX: usize = 25;

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for pattern in &context.design.patterns {
        let PatternKind::Get { batch: Some(batch), .. } = &pattern.kind else { continue };
        let name = &pattern.name.value;
        let sentence = match batch.value {
            size if size > GET_MAX => format!("pattern `{name}` gets {size} items at once, and BatchGetItem takes {GET_MAX}"),
            WRITE_MAX => format!("pattern `{name}` gets {WRITE_MAX} items at once, which is BatchWriteItem's limit; BatchGetItem takes {GET_MAX}"),
            _ => continue,
        };
        findings.push(Finding::new(&RULE, batch.span, sentence).help(format!("write batch = {GET_MAX}")));
    }
    findings
}
