//! One partition for everything.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Design, Entity, EntityKey};
use crate::template::Template;

pub(crate) const RULE: Rule = Rule {
    code: "D053",
    title: "one partition for everything",
    family: Family::TooBig,
    severity: Severity::Warning,
    why: "Every item of the entity has the same partition key, so every write lands on one partition, which takes 1,000 write units and gives 3,000 read units a second, however large the \
          table. Spread over shards, {orderId:shard(8)}, it takes as many times more, and a pattern asks each shard.",
    wrong: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\nGSI1 = { GSI1PK = \"ORDERS\", GSI1SK = \"{createdAt}\" }\n\n[entity.Order.attributes]\norderId   = \"ulid\"\ncreatedAt = \"created\"\n\n\
         [pattern.latest]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"ORDERS\"'\norder = \"descending\"\n"
    ),
    right: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\nGSI1 = { GSI1PK = \"ORDERS#{orderId:shard(8)}\", GSI1SK = \"{createdAt}\" }\n\n[entity.Order.attributes]\norderId   = \"ulid\"\ncreatedAt = \"created\"\n\n\
         [pattern.latest]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"ORDERS#{shard}\"'\norder = \"descending\"\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in &context.design.entities {
        if entity.identity().is_empty() {
            continue;
        }
        for key in entity.keys().filter(|key| key.when.is_none()) {
            let Some(template) = constant_partition(context.design, entity, key) else { continue };
            let place = key.index.as_deref().unwrap_or("the table");
            let span = if key.implied || template.span == entity.name.span { constant_span(entity, &template.value) } else { template.span };
            let sentence = format!("every `{}` is in one partition of {place}", entity.name.value);
            let mut finding = Finding::new(&RULE, span, sentence).help(
                "spread it over shards ({id:shard(8)}), or allow it where there are few items or few writes: allow = { D053 = \"why\" }",
            );
            if let Some(index) = key.index.as_ref().and_then(|index| context.design.index(index)) {
                finding = finding.related(index.name.span, "the index");
            }
            findings.push(finding);
        }
    }
    findings
}

/// The template of the partition key, if the partition is always the same.
fn constant_partition<'a>(design: &Design, entity: &Entity, key: &'a EntityKey) -> Option<&'a crate::source::Placed<Template>> {
    let width = key.index.as_ref().and_then(|index| design.index(index)).map_or(1, |index| index.partition_key.len());
    let constant = |template: &Template| template.slots().all(|slot| entity.constant(&slot.path).is_some());
    let partition = key.parts.get(..width)?;
    let always = partition.iter().all(|part| part.choices.iter().all(|choice| constant(&choice.template.value)));
    always.then(|| partition.first()?.choices.first().map(|choice| &choice.template)).flatten()
}

/// Where the constant is declared that an index is on.
fn constant_span(entity: &Entity, template: &Template) -> crate::source::Span {
    let name = template.slots().next().map(|slot| slot.path.as_str());
    let declared = entity.constants.iter().find(|(constant, _)| Some(constant.value.as_str()) == name);
    declared.map_or(entity.name.span, |(constant, _)| constant.span)
}
