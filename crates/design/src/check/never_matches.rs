//! A pattern whose answer is always empty.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::Entity;
use crate::query::{Asked, Query};
use crate::resolve::condition_span;

pub(crate) const RULE: Rule = Rule {
    code: "D014",
    title: "a pattern that can never match",
    family: Family::Impossible,
    severity: Severity::Error,
    why: "No entity writes keys of the form that the pattern asks for. The query is valid, costs money and answers nothing, for ever.",
    wrong: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\nGSI1 = { GSI1PK = \"USER#{userId}\", GSI1SK = \"ORDER#{createdAt}\" }\n\n\
         [entity.Order.attributes]\norderId   = \"ulid\"\nuserId    = \"key\"\ncreatedAt = \"created\"\n\n\
         [pattern.orders-of-user]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"USER#{userId}\" AND begins_with(GSI1SK, \"ORDERS#\")'\n"
    ),
    right: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\nGSI1 = { GSI1PK = \"USER#{userId}\", GSI1SK = \"ORDER#{createdAt}\" }\n\n\
         [entity.Order.attributes]\norderId   = \"ulid\"\nuserId    = \"key\"\ncreatedAt = \"created\"\n\n\
         [pattern.orders-of-user]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"USER#{userId}\" AND begins_with(GSI1SK, \"ORDER#\")'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (query, answer) in context.sound_queries() {
        let name = &query.pattern.name.value;
        if answer.is_empty() {
            findings.push(never(context, query));
            continue;
        }
        for meant in &query.pattern.returns {
            if !answer.iter().any(|entity| entity.name.value == meant.value) {
                let sentence = format!("pattern `{name}` can never return `{}`: no key of it matches", meant.value);
                findings.push(Finding::new(&RULE, meant.span, sentence).help(format!("it returns {}", list(answer))));
            }
        }
    }
    findings
}

fn never(context: &Context<'_>, query: &Query<'_>) -> Finding {
    let place = query.index.unwrap_or(query.table);
    let name = &query.pattern.name.value;
    let asked = culprit(context, query);
    let span = condition_span(context.source, query.condition, asked.map_or((0, query.condition.text.len()), |asked| asked.at));
    let what = asked.map_or("that", |asked| asked.attribute.name.value.as_str());
    let sentence = format!("pattern `{name}` can never match: no entity writes such a `{what}` to `{place}`");
    let written = written(context, query);
    let help = if written.is_empty() {
        format!("no entity has a key in `{place}`; give one the key {place} = {{ … }}")
    } else {
        format!("written are {}; give an entity the key that is asked for, or ask for one of these", written.join("; "))
    };
    Finding::new(&RULE, span, sentence).help(help)
}

/// The condition that no entity meets, given that it meets those before.
fn culprit<'q>(context: &Context<'_>, query: &'q Query<'_>) -> Option<&'q Asked<'q>> {
    (1..=query.asked.len()).find_map(|count| {
        let first = Query { asked: query.asked.iter().take(count).copied().collect(), ..query.clone() };
        let none = !context.design.entities_of(query.table).any(|entity| first.matches(context.design, entity));
        if none { query.asked.get(count - 1) } else { None }
    })
}

/// What entities write to the index, in the form `Entity: GSI1PK = "…", GSI1SK = "…"`.
fn written(context: &Context<'_>, query: &Query<'_>) -> Vec<String> {
    let entities = context.design.entities_of(query.table).filter_map(|entity| {
        let key = entity.key_in(query.index)?;
        let parts = key.parts.iter().flat_map(|part| {
            part.choices.iter().map(|choice| format!("{} = \"{}\"", part.attribute.value, choice.template.value))
        });
        Some(format!("{}: {}", entity.name.value, parts.collect::<Vec<_>>().join(", ")))
    });
    entities.take(6).collect()
}

fn list(entities: &[&Entity]) -> String {
    entities.iter().map(|entity| format!("`{}`", entity.name.value)).collect::<Vec<_>>().join(", ")
}
