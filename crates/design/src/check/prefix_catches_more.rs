//! A prefix that catches more than was meant.

use super::Context;
use crate::condition::Operand;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::keys::{Strings, template_texts};
use crate::model::{Entity, Type};
use crate::query::{Asked, Query, Test, aligned, asked_texts};
use crate::resolve::condition_span;
use crate::template::{Piece, Template};

pub(crate) const RULE: Rule = Rule {
    code: "D023",
    title: "a prefix that catches more than was meant",
    family: Family::Ambiguous,
    severity: Severity::Warning,
    why: "begins_with compares characters, not parts: the prefix ORDER#1 also catches ORDER#10. A prefix should end with the delimiter, \
          or with a slot of fixed width. Where the beginning of a value is searched for, declare the parameter: input = { name = \"string\" }.",
    wrong: shop!(
        "[entity.Item]\nkey = { PK = \"SHOP#{shop}\", SK = \"ORDER#{order}#ITEM#{item}\" }\n\n[entity.Item.attributes]\nshop  = \"key\"\norder = \"key\"\nitem  = \"ulid\"\n\n\
         [pattern.items-of-order]\nwhere = 'PK = \"SHOP#{shop}\" AND begins_with(SK, \"ORDER#{order}\")'\n"
    ),
    right: shop!(
        "[entity.Item]\nkey = { PK = \"SHOP#{shop}\", SK = \"ORDER#{order}#ITEM#{item}\" }\n\n[entity.Item.attributes]\nshop  = \"key\"\norder = \"key\"\nitem  = \"ulid\"\n\n\
         [pattern.items-of-order]\nwhere = 'PK = \"SHOP#{shop}\" AND begins_with(SK, \"ORDER#{order}#\")'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, answer) in context.sound_queries() {
        for asked in &query.asked {
            let Test::BeginsWith(operand @ Operand::Text(prefix, _)) = asked.test else { continue };
            let found = cut_slot(context, query, asked, operand, prefix, answer)
                .or_else(|| cut_word(context, query, asked, prefix, answer));
            findings.extend(found);
        }
    }
    findings
}

/// The prefix ends in a slot, and one value of the slot can be the beginning of another.
fn cut_slot(
    context: &Context<'_>,
    query: &Query<'_>,
    asked: &Asked<'_>,
    operand: &Operand,
    prefix: &Template,
    answer: &[&Entity],
) -> Option<Finding> {
    let Some(Piece::Slot(slot)) = prefix.pieces.last() else { return None };
    // A parameter that is declared as any text is searched for by its beginning on purpose.
    let declared = query.pattern.inputs.iter().find(|input| input.name.value == slot.path);
    if declared.is_some_and(|input| input.kind == Type::String) {
        return None;
    }
    let delimiters = &context.design.delimiters;
    answer.iter().find_map(|entity| {
        let part = entity.key_in(query.index)?.part(&asked.attribute.name.value)?;
        part.choices.iter().find_map(|choice| {
            let own = &choice.template.value;
            let pairs = aligned(prefix, own)?;
            let (_, own_slot) = pairs.last()?;
            let path = &own_slot.path;
            let example = asked_texts(context.design, entity, own, operand, query.pattern)?.beginning_of_another()?;
            let written = template_texts(entity, own, delimiters, Strings::WithoutDelimiters);
            written.common(&asked_texts(context.design, entity, own, operand, query.pattern)?.then_anything())?;
            let sentence = format!(
                "the prefix of pattern `{}` also catches other values of `{path}` that begin like `{}`, as \"{example}\" and \"{example}0\"",
                query.pattern.name.value, slot.path
            );
            let help = match own.pieces.get(prefix.pieces.len()) {
                Some(Piece::Literal(next)) => {
                    let delimiter = next.chars().next().map(String::from).unwrap_or_default();
                    format!("end the prefix with the delimiter: \"{prefix}{delimiter}\"")
                }
                _ => format!("ask for it with `=`, or, if the beginning is searched for, declare input = {{ {} = \"string\" }}", slot.path),
            };
            Some(Finding::new(&RULE, condition_span(context.source, query.condition, asked.at), sentence).help(help))
        })
    })
}

/// The prefix ends within a word: `ORDER` catches `ORDER#…` and `ORDERLINE#…`.
fn cut_word(
    context: &Context<'_>,
    query: &Query<'_>,
    asked: &Asked<'_>,
    prefix: &Template,
    answer: &[&Entity],
) -> Option<Finding> {
    let text = prefix.constant()?;
    text.chars().last().filter(char::is_ascii_alphanumeric)?;
    let delimiters = &context.design.delimiters;
    let heads = answer.iter().filter_map(|entity| {
        let part = entity.key_in(query.index)?.part(&asked.attribute.name.value)?;
        let template = &part.choices.first()?.template.value;
        Some((*entity, template_texts(entity, template, delimiters, Strings::WithoutDelimiters).head()))
    });
    let heads = heads.collect::<Vec<_>>();
    let goes_on = |head: &str| head.strip_prefix(text.as_str()).and_then(|rest| rest.chars().next());
    let whole = heads.iter().find(|(_, head)| goes_on(head).is_some_and(|next| delimiters.contains(next)))?;
    let longer = heads.iter().find(|(_, head)| goes_on(head).is_some_and(|next| next.is_ascii_alphanumeric()))?;
    let sentence = format!(
        "the prefix \"{text}\" of pattern `{}` catches `{}` and, because its word goes on, also `{}`",
        query.pattern.name.value, whole.0.name.value, longer.0.name.value
    );
    let delimiter = goes_on(&whole.1).map(String::from).unwrap_or_default();
    let help = format!("end the prefix with the delimiter: \"{text}{delimiter}\"");
    Some(Finding::new(&RULE, condition_span(context.source, query.condition, asked.at), sentence).help(help))
}
