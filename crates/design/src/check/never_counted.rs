//! A number that nothing ever changes.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Action, Design, Step};

pub(crate) const RULE: Rule = Rule {
    code: "D041",
    title: "a number that nothing changes",
    family: Family::Incomplete,
    severity: Severity::Warning,
    why: "The entity exists only because operations add to its numbers, and none of them touches this one. It will always be absent or zero, \
          so what it is meant to say cannot be right.",
    wrong: shop!(
        "[entity.Page]\nkey = { PK = \"PAGE#{pageId}\", SK = \"PAGE\" }\n\n[entity.Page.attributes]\npageId = \"ulid\"\n\n\
         [entity.PageStats]\nkey = { PK = \"PAGE#{pageId}\", SK = \"STATS\" }\n\n[entity.PageStats.attributes]\npageId = \"ulid\"\nviews  = \"number?\"\nshares = \"number?\"\n\n\
         [operation.view]\ninput = { pageId = \"Page.pageId\" }\n\n[[operation.view.step]]\nupsert = \"PageStats\"\nadd    = { views = 1 }\n"
    ),
    right: shop!(
        "[entity.Page]\nkey = { PK = \"PAGE#{pageId}\", SK = \"PAGE\" }\n\n[entity.Page.attributes]\npageId = \"ulid\"\n\n\
         [entity.PageStats]\nkey = { PK = \"PAGE#{pageId}\", SK = \"STATS\" }\n\n[entity.PageStats.attributes]\npageId = \"ulid\"\nviews  = \"number?\"\n\n\
         [operation.view]\ninput = { pageId = \"Page.pageId\" }\n\n[[operation.view.step]]\nupsert = \"PageStats\"\nadd    = { views = 1 }\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let mut findings = Vec::new();
    for entity in &design.entities {
        let own = || steps(design).filter(|step| step.entity.value == entity.name.value);
        let only_added = own().any(|step| !step.add.is_empty()) && !own().any(|step| step.action == Action::Create);
        if !only_added || !entity.counters.is_empty() || entity.copy.is_some() {
            continue;
        }
        for attribute in entity.attributes.iter().filter(|attribute| attribute.kind.is_number()) {
            let name = attribute.name.value.as_str();
            let in_key = entity.key.slots().any(|slot| slot.path == name);
            let changed = own().any(|step| {
                let entries = step.add.iter().chain(&step.set).chain(&step.with);
                step.expression.is_some() || entries.into_iter().any(|entry| entry.name.value == name)
            });
            if !in_key && !changed && !attribute.kind.is_generated() {
                let sentence = format!("nothing ever changes `{}.{name}`, so it cannot say what it is meant to", entity.name.value);
                findings.push(Finding::new(&RULE, attribute.name.span, sentence).help("count it where it changes, declare it as a counter, or take it out"));
            }
        }
    }
    findings
}

fn steps(design: &Design) -> impl Iterator<Item = &Step> {
    let operations = design.operations.iter().flat_map(|operation| &operation.steps);
    operations.chain(design.reactions.iter().flat_map(|reaction| &reaction.steps))
}
