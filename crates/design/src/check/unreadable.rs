//! A template, condition or event that cannot be read.

use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::source::Span;

pub(crate) const RULE: Rule = Rule {
    code: "D007",
    title: "a template or condition that cannot be read",
    family: Family::Unclear,
    severity: Severity::Error,
    why: "Templates are texts with slots in braces: USER#{userId}. Conditions are DynamoDB's own, with the values written where \
          DynamoDB has placeholders: status = \"open\" AND attribute_not_exists(archivedAt).",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\n"
    ),
};

pub(crate) fn finding(span: Span, kind: &str, message: &str) -> Finding {
    let help = match kind {
        "template" => "a template reads USER#{userId} or CHILD#{order:06}#{nodeId}",
        "condition" => "a condition reads status = \"open\" AND attribute_not_exists(archivedAt)",
        _ => "an event reads update Story when status = \"COMPLETED\"",
    };
    Finding::new(&RULE, span, format!("this {kind} cannot be read: {message}")).help(help)
}
