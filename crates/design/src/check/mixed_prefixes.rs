//! An order over keys that begin differently.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::keys::{Strings, template_texts};

pub(crate) const RULE: Rule = Rule {
    code: "D032",
    title: "an order over keys that begin differently",
    family: Family::WrongOrder,
    severity: Severity::Warning,
    why: "The pattern asks for an order, and its answer has entities whose sort keys begin with different words. They sort by the word first: all of one entity, \
          then all of the other, each by itself in order.",
    wrong: shop!(
        "[entity.Post]\nkey = { PK = \"USER#{userId}\", SK = \"POST#{createdAt}\" }\n\n[entity.Post.attributes]\nuserId    = \"key\"\ncreatedAt = \"created\"\n\n\
         [entity.Like]\nkey = { PK = \"USER#{userId}\", SK = \"LIKE#{createdAt}\" }\n\n[entity.Like.attributes]\nuserId    = \"key\"\ncreatedAt = \"created\"\n\n\
         [pattern.latest]\nwhere = 'PK = \"USER#{userId}\"'\norder = \"descending\"\n"
    ),
    right: shop!(
        "[entity.Post]\nkey = { PK = \"USER#{userId}\", SK = \"POST#{createdAt}\" }\n\n[entity.Post.attributes]\nuserId    = \"key\"\ncreatedAt = \"created\"\n\n\
         [entity.Like]\nkey = { PK = \"USER#{userId}\", SK = \"LIKE#{createdAt}\" }\n\n[entity.Like.attributes]\nuserId    = \"key\"\ncreatedAt = \"created\"\n\n\
         [pattern.latest-posts]\nwhere = 'PK = \"USER#{userId}\" AND begins_with(SK, \"POST#\")'\norder = \"descending\"\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, answer) in context.sound_queries() {
        let (Some(order), Some(sort)) = (&query.pattern.order, query.sort.first()) else { continue };
        let heads = answer.iter().filter_map(|entity| {
            let part = entity.key_in(query.index)?.part(&sort.name.value)?;
            let template = &part.choices.first()?.template.value;
            let head = template_texts(entity, template, &context.design.delimiters, Strings::WithoutDelimiters).head();
            (!template.is_constant()).then_some((*entity, head))
        });
        let heads = heads.collect::<Vec<_>>();
        let Some((first, head)) = heads.first() else { continue };
        if let Some((other, _)) = heads.iter().find(|(_, other)| other != head) {
            let sentence = format!(
                "pattern `{}` is ordered, but `{}` and `{}` sort by the word their keys begin with",
                query.pattern.name.value, first.name.value, other.name.value
            );
            findings.push(Finding::new(&RULE, order.span, sentence).help("ask for one of them with begins_with, or use `merge` with `by`"));
        }
    }
    findings
}
