//! Two entities that can write the same key.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::keys::{Strings, begin_differently, template_texts};
use crate::model::{Design, Entity, KeyPart};
use crate::template::Template;

pub(crate) const RULE: Rule = Rule {
    code: "D020",
    title: "two entities that can write the same key",
    family: Family::Ambiguous,
    severity: Severity::Error,
    why: "An item is found by its key alone. If two entities can have the same key, writing one overwrites the other. \
          Where that is meant, `shares-key-with` says so.",
    wrong: shop!(
        "[entity.Total]\nkey = { PK = \"USER#{userId}\", SK = \"COUNT#*\" }\n\n[entity.Total.attributes]\nuserId = \"key\"\n\n\
         [entity.CategoryTotal]\nkey = { PK = \"USER#{userId}\", SK = \"COUNT#{category}\" }\n\n[entity.CategoryTotal.attributes]\nuserId   = \"key\"\ncategory = \"key\"\n"
    ),
    right: shop!(
        "[entity.Total]\nkey = { PK = \"USER#{userId}\", SK = \"COUNT#*\" }\n\n[entity.Total.attributes]\nuserId = \"key\"\n\n\
         [entity.CategoryTotal]\nkey = { PK = \"USER#{userId}\", SK = \"COUNT#{category}\" }\n\n[entity.CategoryTotal.attributes]\nuserId   = \"key\"\ncategory = \"slug\"\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (left, right) in pairs(context.design) {
        if shares(left, right) {
            continue;
        }
        if let Some(example) = common_key(context.design, left, right, Strings::WithoutDelimiters) {
            let sentence = format!("`{}` and `{}` can write the same key: {example}", left.name.value, right.name.value);
            findings.push(
                Finding::new(&RULE, right.key.span, sentence)
                    .help(format!(
                        "begin one of the keys with a prefix of its own, narrow the type of a slot (`slug`), or say shares-key-with = [\"{}\"]",
                        left.name.value
                    ))
                    .related(left.key.span, format!("the key of `{}`", left.name.value)),
            );
        }
    }
    findings
}

/// Every two entities of one table.
pub(super) fn pairs(design: &Design) -> impl Iterator<Item = (&Entity, &Entity)> {
    design.entities.iter().enumerate().flat_map(|(index, left)| {
        let others = design.entities.iter().skip(index + 1);
        others.filter(|right| right.table == left.table).map(move |right| (left, right))
    })
}

/// True if one of the two says that it shares its key with the other.
pub(super) fn shares(left: &Entity, right: &Entity) -> bool {
    let says = |entity: &Entity, other: &Entity| entity.shares_key_with.iter().any(|name| name.value == other.name.value);
    says(left, right) || says(right, left)
}

/// A key that both entities can write, as `PK = "…", SK = "…"`.
pub(super) fn common_key(design: &Design, left: &Entity, right: &Entity, strings: Strings) -> Option<String> {
    let ruled_out = left.key.parts.iter().any(|part| {
        let other = right.key.part(&part.attribute.value);
        other.is_some_and(|other| {
            let differ = |own: &Template| other.choices.iter().all(|choice| begin_differently(own, &choice.template.value));
            part.choices.iter().all(|choice| differ(&choice.template.value))
        })
    });
    if ruled_out {
        return None;
    }
    let mut shown = Vec::new();
    for part in &left.key.parts {
        let other = right.key.part(&part.attribute.value)?;
        let example = common_text(design, (left, part), (right, other), strings)?;
        shown.push(format!("{} = \"{example}\"", part.attribute.value));
    }
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn common_text(design: &Design, left: (&Entity, &KeyPart), right: (&Entity, &KeyPart), strings: Strings) -> Option<String> {
    let texts = |entity: &Entity, template: &Template| template_texts(entity, template, &design.delimiters, strings);
    left.1.choices.iter().find_map(|choice| {
        let own = texts(left.0, &choice.template.value);
        right.1.choices.iter().find_map(|other| own.common(&texts(right.0, &other.template.value)))
    })
}
