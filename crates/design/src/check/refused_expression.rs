//! An update expression that DynamoDB refuses as it is written.

use dynamo::{ApiError, Item, Value};
use expression::Substitutions;

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    code: "D009",
    title: "an expression that DynamoDB refuses",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "An `expression` is sent to DynamoDB as it is written, and DynamoDB refuses about 570 words as bare names, \
          wherever they stand in a path. `set`, `add`, `append` and `remove` are written with placeholders and take any name.",
    wrong: shop!(
        "[entity.Page]\nkey = { PK = \"PAGE#{pageId}\", SK = \"PAGE\" }\n\n[entity.Page.attributes]\npageId = \"ulid\"\nreads  = { type = \"number\", default = 0 }\n\n\
         [operation.read]\ninput = { pageId = \"Page.pageId\", one = \"number\" }\n\n[[operation.read.step]]\nupdate     = \"Page\"\nexpression = \"ADD reads :one\"\n"
    ),
    right: shop!(
        "[entity.Page]\nkey = { PK = \"PAGE#{pageId}\", SK = \"PAGE\" }\n\n[entity.Page.attributes]\npageId = \"ulid\"\nreads  = { type = \"number\", default = 0 }\n\n\
         [operation.read]\ninput = { pageId = \"Page.pageId\" }\n\n[[operation.read.step]]\nupdate = \"Page\"\nadd    = { reads = 1 }\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let of_operations = design.operations.iter().flat_map(|operation| {
        let inputs = operation.inputs.iter().map(|input| input.attribute.name.value.as_str()).collect::<Vec<_>>();
        operation.steps.iter().map(move |step| (step, inputs.clone()))
    });
    let of_reactions = design.reactions.iter().flat_map(|reaction| reaction.steps.iter().map(|step| (step, Vec::new())));
    let mut findings = Vec::new();
    for (step, inputs) in of_operations.chain(of_reactions) {
        let Some(text) = &step.expression else { continue };
        let Some(error) = refusal(&text.value, &inputs) else { continue };
        // The message ends with the word: point at it where it stands.
        let word = error.rsplit([' ', ':']).next().unwrap_or_default();
        let found = names(&text.value).into_iter().find(|(name, _)| *name == word);
        let span = found.map_or(text.span, |(name, at)| context.source.within(text.span, &text.value, at, at + name.len()));
        let sentence = format!("DynamoDB refuses this expression: {error}");
        findings.push(Finding::new(&RULE, span, sentence).help("write the change as `set`, `add`, `append` or `remove`: there any name can be used"));
    }
    findings
}

/// What DynamoDB says to the expression, if it refuses it. `:name` is the input of that name, or `:now`.
fn refusal(text: &str, inputs: &[&str]) -> Option<String> {
    let values = inputs.iter().copied().chain(["now"]).filter(|name| text.contains(&format!(":{name}")));
    let values = values.map(|name| (format!(":{name}"), Value::from(1))).collect::<Item>();
    let values = (!values.is_empty()).then_some(values);
    let update = Substitutions::new(None, values.as_ref()).and_then(|mut substitutions| substitutions.update(text));
    update.err().map(|error| ApiError::from(error).message.trim_end_matches('.').to_owned())
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
