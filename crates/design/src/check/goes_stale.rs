//! A denormalised attribute that cannot be kept equal to its source.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Design, Entity, EntityKey, From};

pub(crate) const RULE: Rule = Rule {
    code: "D043",
    title: "a copied attribute that goes stale",
    family: Family::Incomplete,
    severity: Severity::Warning,
    why: "When the source changes, every item that has a copy of its attribute must be found. Without an index (or copy) whose partition key \
          follows from the source's key they cannot be, and the copies keep the old value. Where that is meant, `refresh = false` says so.",
    wrong: concat!(
        "design = \"blog\"\n\n[table.Blog]\npartition-key = \"PK\"\nsort-key      = \"SK\"\nstream        = \"new-and-old-images\"\n\n",
        "[entity.User]\nkey = { PK = \"USER#{userId}\", SK = \"USER\" }\n\n[entity.User.attributes]\nuserId = \"key\"\nname   = \"string\"\n\n",
        "[entity.Post]\nkey = { PK = \"POST#{postId}\", SK = \"POST\" }\n\n[entity.Post.attributes]\npostId     = \"ulid\"\nauthorId   = \"key\"\nauthorName = { type = \"string\", from = \"User.name\", by = { userId = \"authorId\" } }\n"
    ),
    right: concat!(
        "design = \"blog\"\n\n[table.Blog]\npartition-key = \"PK\"\nsort-key      = \"SK\"\nstream        = \"new-and-old-images\"\n\n",
        "[entity.User]\nkey = { PK = \"USER#{userId}\", SK = \"USER\" }\n\n[entity.User.attributes]\nuserId = \"key\"\nname   = \"string\"\n\n",
        "[entity.Post]\nkey = { PK = \"USER#{authorId}\", SK = \"POST#{postId}\" }\n\n[entity.Post.attributes]\npostId     = \"ulid\"\nauthorId   = \"key\"\nauthorName = { type = \"string\", from = \"User.name\", by = { userId = \"authorId\" } }\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let mut findings = Vec::new();
    for entity in design.entities.iter().filter(|entity| entity.copy.is_none()) {
        for attribute in &entity.attributes {
            let Some(from) = attribute.from.as_ref().filter(|from| from.refresh) else { continue };
            let Some(source) = design.entity(from.entity()) else { continue };
            if dependents_key(design, entity, source, from).is_none() {
                let sentence = format!(
                    "`{}` goes stale when `{}` changes: no index finds the `{}` items of one `{}`",
                    attribute.name.value, from.source.value, entity.name.value, source.name.value
                );
                let locals = source.identity().iter().map(|slot| format!("{{{}}}", from.local(slot))).collect::<Vec<_>>().join("#");
                let help = format!("give `{}` an index key that begins with {locals}, or say refresh = false to keep the value of the day", entity.name.value);
                findings.push(Finding::new(&RULE, attribute.span, sentence).help(help));
            }
        }
    }
    findings
}

/// The key, of the entity or of one of its copies, whose partitions follow from the source's key: there the items are found
/// that have a copy of the source's attribute.
pub(crate) fn dependents_key<'a>(design: &'a Design, entity: &'a Entity, source: &Entity, from: &From) -> Option<(&'a Entity, &'a EntityKey)> {
    let locals = source.identity().into_iter().map(|slot| from.local(slot)).collect::<Vec<_>>();
    let holders = std::iter::once(entity).chain(design.copies_of(&entity.name.value));
    let mut keys = holders.flat_map(|holder| holder.keys().map(move |key| (holder, key)));
    keys.find(|(holder, key)| {
        let width = key.index.as_ref().and_then(|index| design.index(index)).map_or(1, |index| index.partition_key.len());
        let partition = key.parts.iter().take(width).flat_map(|part| part.choices.iter().map(|choice| &choice.template.value));
        let mut slots = partition.flat_map(crate::template::Template::slots);
        slots.all(|slot| locals.contains(&slot.path.as_str()) || holder.constant(&slot.path).is_some())
            && key.parts.iter().take(width).flat_map(|part| &part.choices).any(|choice| !choice.template.value.is_constant())
            && key.when.is_none()
    })
}
