//! A value of a kind that does not belong here, or a word that is not one of those known.

use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::source::{Placed, Span};
use crate::suggest::nearest;

pub(crate) const RULE: Rule = Rule {
    code: "D003",
    title: "a value that does not belong here",
    family: Family::Unclear,
    severity: Severity::Error,
    why: "Every key of a design takes one kind of value: a text, a number, a list, a table, or one of a few words.",
    wrong: "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\nstream        = \"new-and-old\"\n",
    right: "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\nstream        = \"new-and-old-images\"\n",
};

/// Another kind of value is expected.
pub(crate) fn kind(span: Span, what: &str, expected: &str, found: &str) -> Finding {
    Finding::new(&RULE, span, format!("{what} is {expected}, and this is {found}"))
        .help(format!("write {expected}"))
}

/// One of some words is expected.
pub(crate) fn word(text: &Placed<String>, what: &str, known: &[&str]) -> Finding {
    let finding = Finding::new(&RULE, text.span, format!("`{}` is not known as {what}", text.value));
    match nearest(text.value.trim_end_matches(['?', '[', ']']), known.iter().copied()) {
        Some(near) => finding.help(format!("did you mean \"{near}\"?")),
        None => finding.help(format!("there are {}", known.join(", "))),
    }
}

/// Something else is wrong with the value.
pub(crate) fn plain(span: Span, sentence: &str) -> Finding {
    Finding::new(&RULE, span, sentence).help("take it out")
}
