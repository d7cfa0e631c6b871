//! A list or set that every use makes longer.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Given, Type};

pub(crate) const RULE: Rule = Rule {
    code: "D051",
    title: "a list that grows without bound",
    family: Family::TooBig,
    severity: Severity::Warning,
    why: "Every append makes the item larger, slower and dearer, until it reaches 400 KB and can no longer be written at all. What grows belongs in items of its own under one partition key.",
    wrong: shop!(
        "[entity.Ticket]\nkey = { PK = \"TICKET#{ticketId}\", SK = \"TICKET\" }\n\n[entity.Ticket.attributes]\nticketId = \"ulid\"\ncomments = \"string[]\"\n\n\
         [operation.comment]\ninput = { ticketId = \"Ticket.ticketId\", text = \"string\" }\n\n[[operation.comment.step]]\nupdate = \"Ticket\"\nappend = { comments = [\"{text}\"] }\n"
    ),
    right: shop!(
        "[entity.Ticket]\nkey = { PK = \"TICKET#{ticketId}\", SK = \"TICKET\" }\n\n[entity.Ticket.attributes]\nticketId = \"ulid\"\n\n\
         [entity.Comment]\nkey = { PK = \"TICKET#{ticketId}\", SK = \"COMMENT#{commentId}\" }\n\n[entity.Comment.attributes]\nticketId  = \"ulid\"\ncommentId = \"ulid\"\ntext      = \"string\"\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let steps = design.operations.iter().flat_map(|operation| &operation.steps);
    let steps = steps.chain(design.reactions.iter().flat_map(|reaction| &reaction.steps));
    let mut findings = Vec::new();
    for step in steps {
        let Some(entity) = design.entity(&step.entity.value) else { continue };
        let to_sets = step.add.iter().filter(|entry| matches!(entity.type_at(&entry.name.value), Some(Type::StringSet | Type::NumberSet | Type::BinarySet)));
        for entry in step.append.iter().chain(to_sets) {
            let bounded = entity.attribute(&entry.name.value).is_some_and(|attribute| attribute.max_items.is_some());
            let constant = matches!(entry.value.value, Given::Value(_)) && step.append.is_empty();
            if !bounded && !constant {
                let sentence = format!("`{}` of `{}` grows with every use and is never cut", entry.name.value, entity.name.value);
                findings.push(Finding::new(&RULE, entry.name.span, sentence).help("make the elements items of their own, or say max-items = …, which is then kept"));
            }
        }
    }
    findings
}
