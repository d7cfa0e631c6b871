//! A uniqueness item for something that is unique already.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};

pub(crate) const RULE: Rule = Rule {
    code: "D047",
    title: "a uniqueness that the key already gives",
    family: Family::Incomplete,
    severity: Severity::Warning,
    why: "Two items of an entity cannot have the same key. A unique copy over exactly the attributes of that key refuses nothing that would not be refused anyway, and costs \
          a second item with every write.",
    wrong: shop!(
        "[entity.Post]\nkey = { PK = \"POST#{slug}\", SK = \"POST\" }\n\n[entity.Post.attributes]\nslug = \"slug\"\n\n\
         [entity.Slug]\ncopy-of    = \"Post\"\nunique     = true\nkey        = { PK = \"SLUG#{slug}\", SK = \"SLUG\" }\nattributes = []\n"
    ),
    right: shop!(
        "[entity.Post]\nkey = { PK = \"POST#{postId}\", SK = \"POST\" }\n\n[entity.Post.attributes]\npostId = \"ulid\"\nslug   = \"slug\"\n\n\
         [entity.Slug]\ncopy-of    = \"Post\"\nunique     = true\nkey        = { PK = \"SLUG#{slug}\", SK = \"SLUG\" }\nattributes = []\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in &context.design.entities {
        let Some(copy) = entity.copy.as_ref().filter(|copy| copy.unique && copy.when.is_none()) else { continue };
        let Some(source) = context.design.entity(&copy.source.value) else { continue };
        let (mut own, mut identity) = (entity.identity(), source.identity());
        own.sort_unstable();
        identity.sort_unstable();
        if own == identity {
            let sentence = format!("`{}` makes {} unique, which the key of `{}` does already", entity.name.value, own.join(", "), source.name.value);
            findings.push(
                Finding::new(&RULE, entity.name.span, sentence)
                    .help(format!("take `{}` out", entity.name.value))
                    .related(source.key.span, format!("the key of `{}`", source.name.value)),
            );
        }
    }
    findings
}
