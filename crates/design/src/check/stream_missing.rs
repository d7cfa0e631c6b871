//! Something that follows a stream which the table does not have.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Design, Entity, StreamView, Type};
use crate::source::Span;

pub(crate) const RULE: Rule = Rule {
    code: "D049",
    title: "a stream that is missing",
    family: Family::Incomplete,
    severity: Severity::Error,
    why: "Reactions, eventual counters, refreshed attributes and everything that follows from an expiry come from the table's stream, and need the item before and \
          after the change: stream = \"new-and-old-images\".",
    wrong: shop!(
        "[entity.Message]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\n\n[entity.Message.attributes]\nuserId    = \"key\"\nid        = \"ulid\"\nexpiresAt = \"ttl\"\n\n\
         [entity.Stats]\nkey = { PK = \"USER#{userId}\", SK = \"STATS\" }\n\n[entity.Stats.attributes]\nuserId = \"key\"\n\n[entity.Stats.counters]\nmessages = { count = \"Message\" }\n"
    ),
    right: concat!(
        "design = \"shop\"\n\n[table.Shop]\npartition-key = \"PK\"\nsort-key      = \"SK\"\nstream        = \"new-and-old-images\"\n\n",
        "[entity.Message]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\n\n[entity.Message.attributes]\nuserId    = \"key\"\nid        = \"ulid\"\nexpiresAt = \"ttl\"\n\n",
        "[entity.Stats]\nkey = { PK = \"USER#{userId}\", SK = \"STATS\" }\n\n[entity.Stats.attributes]\nuserId = \"key\"\n\n[entity.Stats.counters]\nmessages = { count = \"Message\" }\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let mut findings = Vec::new();
    for (entity, span, what) in needs(design) {
        let Some(table) = design.table(&entity.table) else { continue };
        if !matches!(&table.stream, Some(stream) if stream.value == StreamView::NewAndOldImages) {
            let sentence = format!("{what}, but table `{}` has no stream of new and old images", table.name.value);
            findings.push(
                Finding::new(&RULE, span, sentence)
                    .help(format!("add stream = \"new-and-old-images\" to table `{}`", table.name.value))
                    .related(table.name.span, "the table"),
            );
        }
    }
    findings
}

/// The entities whose changes something follows, with where and what.
fn needs(design: &Design) -> Vec<(&Entity, Span, String)> {
    let mut needs = Vec::new();
    for reaction in &design.reactions {
        if let Some(entity) = design.entity(&reaction.on.entity.value) {
            needs.push((entity, reaction.on.span, format!("reaction `{}` follows changes of `{}`", reaction.name.value, entity.name.value)));
        }
    }
    for entity in &design.entities {
        for counter in &entity.counters {
            for counted in counter.tallies.iter().filter_map(|tally| design.entity(&tally.entity.value)) {
                let name = format!("counter `{}` of `{}`", counter.attribute.value, entity.name.value);
                if counter.eventual {
                    needs.push((counted, counter.span, format!("{name} is eventual and follows the stream")));
                } else if expires(counted) {
                    needs.push((counted, counter.span, format!("{name} must come down when a `{}` expires", counted.name.value)));
                }
            }
        }
        if let Some(source) = entity.copy.as_ref().and_then(|copy| design.entity(&copy.source.value)).filter(|source| expires(source)) {
            needs.push((source, entity.name.span, format!("`{}` must go when its `{}` expires", entity.name.value, source.name.value)));
        }
        for attribute in entity.attributes.iter().filter(|_| entity.copy.is_none()) {
            if let Some(source) = attribute.from.as_ref().filter(|from| from.refresh).and_then(|from| design.entity(from.entity())) {
                needs.push((source, attribute.span, format!("`{}` follows changes of `{}`", attribute.name.value, source.name.value)));
            }
        }
    }
    needs
}

fn expires(entity: &Entity) -> bool {
    entity.attributes.iter().any(|attribute| attribute.kind == Type::Ttl && entity.copy.is_none())
}
