//! Collections: several patterns to their end, later ones with what earlier ones found.

use std::collections::BTreeMap;

use design::{Collected, Given, Pattern, PatternKind};
use dynamo::Item;

use super::stream::Row;
use super::{all_rows, parameter};
use crate::refusal::Refusal;
use crate::service::Service;

/// The parts of a collection with their rows, in the order of the design.
pub(super) async fn parts<'s>(
    service: &'s Service,
    pattern: &'s Pattern,
    parameters: &Item,
) -> Result<Vec<(String, Vec<Row<'s>>)>, Refusal> {
    let PatternKind::Collect(parts) = &pattern.kind else { return Ok(Vec::new()) };
    let mut found: Vec<(String, Vec<Row<'s>>)> = Vec::new();
    for part in parts {
        let Some(inner) = service.design().pattern(&part.pattern.value) else { continue };
        let limit = part.limit.as_ref().map(|limit| limit.value);
        let mut rows: Vec<Row<'s>> = Vec::new();
        for given in questions(service, part, parameters, &found) {
            let rest = limit.map(|limit| limit.saturating_sub(rows.len()));
            if rest == Some(0) {
                break;
            }
            let given = parameter::checked(service.design(), &part.pattern.value, given)?;
            rows.extend(all_rows(service, inner, &given, rest).await?);
        }
        found.push((part.name.value.clone(), rows));
    }
    Ok(found)
}

/// The parameters with which a part is asked: once, or once for each item of an earlier part.
fn questions(
    service: &Service,
    part: &Collected,
    parameters: &Item,
    found: &[(String, Vec<Row<'_>>)],
) -> Vec<Item> {
    let outside = parameter::own(service.design(), &part.pattern.value, parameters);
    let earlier = references(part);
    let mut questions: Vec<Item> = Vec::new();
    let mut ask = |question: Item| {
        if !questions.contains(&question) {
            questions.push(question);
        }
    };
    // All references of one part go through its items together: they are about the same item.
    let named = earlier.values().map(|(from, _)| from.as_str()).next();
    let Some(rows) = named.and_then(|named| found.iter().find(|(name, _)| name == named)) else {
        ask(with_literals(part, outside));
        return questions;
    };
    for row in &rows.1 {
        let mut question = with_literals(part, outside.clone());
        for (parameter, (from, path)) in &earlier {
            let source = if *from == rows.0 { Some(row) } else { first(found, from) };
            if let Some(value) = source.and_then(|row| row.found.at(path)) {
                question.insert(parameter.clone(), value);
            }
        }
        // An item that lacks the attribute refers to nothing.
        if earlier.keys().all(|parameter| question.contains_key(parameter)) {
            ask(question);
        }
    }
    questions
}

fn first<'a, 's>(found: &'a [(String, Vec<Row<'s>>)], part: &str) -> Option<&'a Row<'s>> {
    found.iter().find(|(name, _)| name == part).and_then(|(_, rows)| rows.first())
}

/// The parameters that come from earlier parts, each with the part and the path in its items.
fn references(part: &Collected) -> BTreeMap<String, (String, String)> {
    let references = part.with.iter().filter_map(|entry| match &entry.value.value {
        Given::Template(template) => {
            let (from, path) = template.only_slot()?.path.split_once('.')?;
            Some((entry.name.value.clone(), (from.to_owned(), path.to_owned())))
        }
        _ => None,
    });
    references.collect()
}

fn with_literals(part: &Collected, mut given: Item) -> Item {
    for entry in &part.with {
        match &entry.value.value {
            Given::Value(value) => {
                given.insert(entry.name.value.clone(), value.clone());
            }
            Given::Template(template) => {
                // `{userId}` is a parameter of the collection under another name.
                let slot = template.only_slot().filter(|slot| !slot.path.contains('.'));
                if let Some(value) = slot.and_then(|slot| given.get(&slot.path)).cloned() {
                    given.insert(entry.name.value.clone(), value);
                }
            }
            Given::List(_) | Given::Map(_) => {}
        }
    }
    given
}
