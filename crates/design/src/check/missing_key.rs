//! Something that every element of this kind says is not said.

use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::source::Span;

pub(crate) const RULE: Rule = Rule {
    code: "D004",
    title: "something is missing",
    family: Family::Unclear,
    severity: Severity::Error,
    why: "Without it nothing can be said about the element: a table needs a partition key, an entity a value for each attribute \
          of its key, a pattern a condition.",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\n"
    ),
};

pub(crate) fn finding(span: Span, what: &str, key: &str) -> Finding {
    Finding::new(&RULE, span, format!("{what} does not say `{key}`")).help(format!("add `{key} = …`"))
}

/// One of several is missing.
pub(crate) fn one_of(span: Span, what: &str, keys: &str) -> Finding {
    Finding::new(&RULE, span, format!("{what} says none of {keys}")).help("add one of them")
}
