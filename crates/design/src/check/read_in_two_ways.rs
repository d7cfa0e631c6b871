//! A template that can be read in two ways.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::keys::{Strings, template_texts};

pub(crate) const RULE: Rule = Rule {
    code: "D021",
    title: "a template that can be read in two ways",
    family: Family::Ambiguous,
    severity: Severity::Error,
    why: "If two different sets of values give the same key, two different items have one key, and the second overwrites the first. Between two slots \
          whose length is not fixed there must be something that neither can contain.",
    wrong: shop!(
        "[entity.Membership]\nkey = { PK = \"TEAM#{team}{user}\", SK = \"MEMBER\" }\n\n[entity.Membership.attributes]\nteam = \"key\"\nuser = \"key\"\n"
    ),
    right: shop!(
        "[entity.Membership]\nkey = { PK = \"TEAM#{team}#{user}\", SK = \"MEMBER\" }\n\n[entity.Membership.attributes]\nteam = \"key\"\nuser = \"key\"\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in &context.design.entities {
        for key in entity.keys() {
            for template in key.parts.iter().filter(|part| !part.implied).flat_map(|part| part.choices.iter().map(|choice| &choice.template)) {
                let texts = template_texts(entity, &template.value, &context.design.delimiters, Strings::WithoutDelimiters);
                if let Some(example) = texts.read_in_two_ways() {
                    let sentence = format!("this template of `{}` can be read in two ways: \"{example}\"", entity.name.value);
                    findings.push(Finding::new(&RULE, template.span, sentence).help(
                        "put a delimiter between the slots, or give one of them a fixed width ({n:06}, `ulid`, `created`)",
                    ));
                }
            }
        }
    }
    findings
}
