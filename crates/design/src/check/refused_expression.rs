//! An update expression that DynamoDB refuses as it is written.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::source::Span;

pub(crate) const RULE: Rule = Rule {
    code: "D009",
    title: "an expression with a reserved word",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "An `expression` is sent to DynamoDB as it is written, and DynamoDB refuses about 570 words as bare names, \
          wherever they stand in a path. `set`, `add`, `append` and `remove` are written with placeholders and take any name.",
    wrong: shop!(
        "[entity.Page]\nkey = { PK = \"PAGE#{pageId}\", SK = \"PAGE\" }\n\n[entity.Page.attributes]\npageId = \"ulid\"\nreads  = { type = \"number\", default = 0 }\n\n\
         [operation.read]\ninput = { pageId = \"Page.pageId\" }\n\n[[operation.read.step]]\nupdate     = \"Page\"\nexpression = \"ADD reads :one\"\n"
    ),
    right: shop!(
        "[entity.Page]\nkey = { PK = \"PAGE#{pageId}\", SK = \"PAGE\" }\n\n[entity.Page.attributes]\npageId = \"ulid\"\nreads  = { type = \"number\", default = 0 }\n\n\
         [operation.read]\ninput = { pageId = \"Page.pageId\" }\n\n[[operation.read.step]]\nupdate = \"Page\"\nadd    = { reads = 1 }\n"
    ),
};

/// The words that begin a clause.
const CLAUSES: [&str; 4] = ["SET", "ADD", "REMOVE", "DELETE"];

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let steps = design.operations.iter().flat_map(|operation| &operation.steps);
    let steps = steps.chain(design.reactions.iter().flat_map(|reaction| &reaction.steps));
    let mut findings = Vec::new();
    for step in steps {
        let Some(text) = &step.expression else { continue };
        for (word, at) in names(&text.value) {
            if crate::reserved::is_reserved(word) && !CLAUSES.contains(&word.to_ascii_uppercase().as_str()) {
                let span: Span = context.source.within(text.span, &text.value, at, at + word.len());
                let sentence = format!("DynamoDB refuses this expression: `{word}` is a reserved word");
                let help = format!("write add, set or remove as a table, or `#{word}` with a name for it");
                findings.push(Finding::new(&RULE, span, sentence).help(help));
            }
        }
    }
    findings
}

/// The bare names of an expression, with their places; placeholders and functions are none.
pub(super) fn names(text: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | ':');
    let mut at = 0;
    for piece in text.split_inclusive(|c: char| !is_name(c)) {
        let word = piece.trim_end_matches(|c: char| !is_name(c));
        let is_function = piece.ends_with('(');
        let starts = word.chars().next();
        if starts.is_some_and(|c| c.is_alphabetic() || c == '_') && !is_function {
            found.push((word, at));
        }
        at += piece.len();
    }
    found
}
