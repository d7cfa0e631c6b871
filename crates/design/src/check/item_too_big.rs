//! An item that can grow beyond DynamoDB's limit.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Attribute, Entity};

pub(crate) const RULE: Rule = Rule {
    code: "D050",
    title: "an item that can be too big",
    family: Family::TooBig,
    severity: Severity::Warning,
    why: "An item has at most 400 KB, names included. The attributes with `max-bytes` can together come near or over that. Large texts belong in \
          an object store, with their address in the item, or in several items.",
    wrong: shop!(
        "[entity.Page]\nkey = { PK = \"PAGE#{pageId}\", SK = \"PAGE\" }\n\n[entity.Page.attributes]\npageId = \"ulid\"\nhtml   = { type = \"string\", max-bytes = 300000 }\nsource = { type = \"string\", max-bytes = 200000 }\n"
    ),
    right: shop!(
        "[entity.Page]\nkey = { PK = \"PAGE#{pageId}\", SK = \"PAGE\" }\n\n[entity.Page.attributes]\npageId = \"ulid\"\nsource = { type = \"string\", max-bytes = 200000 }\n"
    ),
};

const ITEM_BYTES_MAX: usize = 400 * 1024;
/// Nine tenths: the rest of the item, its keys and names need room too.
const NEAR_BYTES: usize = ITEM_BYTES_MAX / 10 * 9;

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in context.design.entities.iter().filter(|entity| entity.copy.is_none()) {
        let bytes = known_bytes(entity);
        if bytes > NEAR_BYTES {
            let largest = entity.attributes.iter().max_by_key(|attribute| attribute.max_bytes.unwrap_or(0));
            let span = largest.map_or(entity.name.span, |attribute| attribute.span);
            let sentence = format!("an item of `{}` can have {} KB, and DynamoDB allows 400", entity.name.value, bytes / 1024);
            findings.push(Finding::new(&RULE, span, sentence).help("lower `max-bytes`, or keep the content elsewhere and its address here"));
        }
    }
    findings
}

fn known_bytes(entity: &Entity) -> usize {
    let of = |attribute: &Attribute| attribute.max_bytes.map_or(0, |bytes| bytes.saturating_add(attribute.name.value.len()));
    entity.attributes.iter().filter(|attribute| attribute.stored).map(of).fold(0, usize::saturating_add)
}
