//! Something that follows from other items, written by hand.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Action, Entity, Step};

pub(crate) const RULE: Rule = Rule {
    code: "D042",
    title: "something derived that is written by hand",
    family: Family::Incomplete,
    severity: Severity::Error,
    why: "Copies, counters and denormalised attributes follow from other items and are written when those change. Written by hand they would no longer say \
          what they follow from.",
    wrong: shop!(
        "[entity.User]\nkey = { PK = \"USER#{userId}\", SK = \"USER\" }\n\n[entity.User.attributes]\nuserId = \"key\"\nemail  = \"key\"\n\n\
         [entity.Email]\ncopy-of    = \"User\"\nunique     = true\nkey        = { PK = \"EMAIL#{email}\", SK = \"EMAIL\" }\nattributes = [\"userId\"]\n\n\
         [operation.free]\ninput = { email = \"User.email\" }\n\n[[operation.free.step]]\ndelete = \"Email\"\n"
    ),
    right: shop!(
        "[entity.User]\nkey = { PK = \"USER#{userId}\", SK = \"USER\" }\n\n[entity.User.attributes]\nuserId = \"key\"\nemail  = \"key\"\n\n\
         [entity.Email]\ncopy-of    = \"User\"\nunique     = true\nkey        = { PK = \"EMAIL#{email}\", SK = \"EMAIL\" }\nattributes = [\"userId\"]\n\n\
         [operation.change-email]\ninput = { userId = \"User.userId\", email = \"User.email\" }\n\n[[operation.change-email.step]]\nupdate = \"User\"\nset    = { email = \"{email}\" }\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let steps = design.operations.iter().flat_map(|operation| &operation.steps);
    let steps = steps.chain(design.reactions.iter().flat_map(|reaction| &reaction.steps));
    let mut findings = Vec::new();
    for step in steps {
        let Some(entity) = design.entity(&step.entity.value) else { continue };
        findings.extend(copy_written(step, entity));
        findings.extend(attribute_written(step, entity));
    }
    for seed in &design.seeds {
        if let Some(copy) = design.entity(&seed.entity.value).and_then(|entity| entity.copy.as_ref()) {
            let sentence = format!("`{}` is a copy of `{}` and follows from it", seed.entity.value, copy.source.value);
            findings.push(Finding::new(&RULE, seed.entity.span, sentence).help(format!("give the `{}` instead", copy.source.value)));
        }
    }
    findings
}

fn copy_written(step: &Step, entity: &Entity) -> Option<Finding> {
    let copy = entity.copy.as_ref().filter(|_| !matches!(step.action, Action::Get | Action::Check))?;
    let sentence = format!("`{}` is a copy of `{}` and cannot be written by itself", entity.name.value, copy.source.value);
    Some(Finding::new(&RULE, step.entity.span, sentence).help(format!("{} the `{}`; its copies follow", step.action.name(), copy.source.value)))
}

fn attribute_written(step: &Step, entity: &Entity) -> Vec<Finding> {
    let mut findings = Vec::new();
    let entries = step.with.iter().chain(&step.set).chain(&step.add).chain(&step.append);
    let names = entries.map(|entry| &entry.name).chain(&step.remove);
    for name in names {
        let counter = entity.counters.iter().any(|counter| counter.attribute.value == name.value);
        let from = entity.attribute(&name.value).and_then(|attribute| attribute.from.as_ref()).filter(|from| from.refresh);
        let what = match (counter, from) {
            (true, _) => "is counted".to_owned(),
            (false, Some(from)) => format!("is `{}`", from.source.value),
            (false, None) => continue,
        };
        let sentence = format!("`{}` of `{}` {what} and cannot be written by hand", name.value, entity.name.value);
        findings.push(Finding::new(&RULE, name.span, sentence).help("take it out of the step"));
    }
    findings
}
