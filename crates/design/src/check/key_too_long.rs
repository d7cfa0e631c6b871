//! A key that can be longer than DynamoDB allows.

use dynamo::{PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX};

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::Entity;
use crate::template::{Format, Piece, Template};

pub(crate) const RULE: Rule = Rule {
    code: "D055",
    title: "a key that can be too long",
    family: Family::TooBig,
    severity: Severity::Warning,
    why: "A partition key has at most 2,048 bytes and a sort key 1,024. With values as long as `max-bytes` allows, this key would be refused.",
    wrong: shop!(
        "[entity.File]\nkey = { PK = \"DRIVE#{drive}\", SK = \"FILE#{path}\" }\n\n[entity.File.attributes]\ndrive = \"key\"\npath  = { type = \"key\", max-bytes = 4096 }\n"
    ),
    right: shop!(
        "[entity.File]\nkey = { PK = \"DRIVE#{drive}\", SK = \"FILE#{path}\" }\n\n[entity.File.attributes]\ndrive = \"key\"\npath  = { type = \"key\", max-bytes = 1000 }\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in &context.design.entities {
        for key in entity.keys() {
            let width = key.index.as_ref().and_then(|index| context.design.index(index)).map_or(1, |index| index.partition_key.len());
            for (position, part) in key.parts.iter().enumerate().filter(|(_, part)| !part.implied) {
                let most = if position < width { PARTITION_KEY_BYTES_MAX } else { SORT_KEY_BYTES_MAX };
                for choice in &part.choices {
                    let bytes = known_bytes(entity, &choice.template.value);
                    if bytes > most {
                        let sentence = format!("`{}` of `{}` can have {bytes} bytes, and DynamoDB allows {most}", part.attribute.value, entity.name.value);
                        findings.push(Finding::new(&RULE, choice.template.span, sentence).help("lower `max-bytes`, or put a hash of the value into the key"));
                    }
                }
            }
        }
    }
    findings
}

/// The bytes that are certain: literals, and slots as long as their attribute's `max-bytes` allows.
fn known_bytes(entity: &Entity, template: &Template) -> usize {
    let of = |piece: &Piece| match piece {
        Piece::Literal(text) => text.len(),
        Piece::Slot(slot) if matches!(slot.format, Format::Plain | Format::Lower | Format::Upper) => {
            entity.attribute(&slot.path).and_then(|attribute| attribute.max_bytes).unwrap_or(1)
        }
        Piece::Slot(_) => 1,
    };
    template.pieces.iter().map(of).fold(0, usize::saturating_add)
}
