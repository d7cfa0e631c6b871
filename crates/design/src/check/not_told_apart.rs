//! Entities that share keys and look alike.

use super::{Context, same_key};
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::keys::Strings;
use crate::model::Entity;

pub(crate) const RULE: Rule = Rule {
    code: "D025",
    title: "entities that cannot be told apart",
    family: Family::Ambiguous,
    severity: Severity::Error,
    why: "An item that is read is an item of some entity: of the one whose keys and constants it has. Two entities that share their keys \
          need a constant by which they differ.",
    wrong: shop!(
        "[entity.Message]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\n\n[entity.Message.attributes]\nuserId = \"key\"\nid     = \"ulid\"\nbody   = \"string\"\n\n\
         [entity.Receipt]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\nshares-key-with = [\"Message\"]\n\n[entity.Receipt.attributes]\nuserId = \"key\"\nid     = \"ulid\"\nreadat = \"epoch\"\n"
    ),
    right: shop!(
        "[entity.Message]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\nconstants = { kind = \"M\" }\n\n[entity.Message.attributes]\nuserId = \"key\"\nid     = \"ulid\"\nbody   = \"string\"\n\n\
         [entity.Receipt]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\nshares-key-with = [\"Message\"]\n\n[entity.Receipt.attributes]\nuserId = \"key\"\nid     = \"ulid\"\nreadat = \"epoch\"\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (left, right) in same_key::pairs(context.design) {
        let alike = same_key::shares(left, right) && !differ(left, right);
        if alike && same_key::common_key(context.design, left, right, Strings::WithoutDelimiters).is_some() {
            let sentence = format!("an item with this key can be a `{}` or a `{}`, and nothing tells which", left.name.value, right.name.value);
            findings.push(
                Finding::new(&RULE, right.key.span, sentence)
                    .help("give one of them a constant: constants = { kind = \"…\" }")
                    .related(left.key.span, format!("the key of `{}`", left.name.value)),
            );
        }
    }
    findings
}

/// True if one has a constant that the other has with another value, or has not at all.
fn differ(left: &Entity, right: &Entity) -> bool {
    let apart = |one: &Entity, other: &Entity| {
        one.constants.iter().any(|(name, value)| match other.constant(&name.value) {
            Some(same) => same != value,
            None => other.attribute(&name.value).is_none(),
        })
    };
    apart(left, right) || apart(right, left)
}
