//! Patterns: asked with GET, parameters in the query, answered a page at a time.

use bytes::Bytes;
use design::{Parameter, Pattern, PatternKind, Type};
use dynamo::{Item, Value};
use http::{Request, StatusCode};

use super::entity::write_entity;
use super::problem::ProblemDetails;
use super::{Outcome, body, json, json_answer, query, value};
use crate::answer::{Answer, PageRequest};
use crate::service::Service;

/// Parameters that every pattern has. One of the pattern's own with the same name comes first.
const LIMIT: &str = "limit";
const CURSOR: &str = "cursor";

/// Answers a pattern.
pub(crate) async fn ask(service: &Service, pattern: &Pattern, request: &Request<Bytes>) -> Outcome {
    let (parameters, page) = read(service, pattern, query::parameters(request.uri().query())?)?;
    let asked = crate::ask::found(service, pattern, parameters, page).await?;
    let selected = crate::ask::selected(pattern);
    let parts = asked.parts.iter().map(|(name, items)| (name.as_str(), items.as_slice())).collect::<Vec<_>>();
    let body = bytes_of(pattern, &asked.items, &parts, asked.cursor.as_deref(), |found, out| {
        found.write_json(&selected, out);
    });
    Ok(json_answer(StatusCode::OK, body))
}

fn read(
    service: &Service,
    pattern: &Pattern,
    given: Vec<(String, String)>,
) -> Result<(Item, PageRequest), ProblemDetails> {
    let known = service.design().parameters(&pattern.name.value);
    let mut item = Item::new();
    let mut page = PageRequest::default();
    let mut problems = Vec::new();
    for (name, text) in given {
        let declared = known.iter().find(|parameter| parameter.name == name);
        match (declared, name.as_str()) {
            (Some(parameter), _) => {
                if !add(&mut item, parameter, &text) {
                    problems.push(body::invalid(&name, "is given twice"));
                }
            }
            (None, LIMIT) => match limit(service, pattern, &text) {
                Ok(limit) => page.limit = Some(limit),
                Err(message) => problems.push(body::invalid(LIMIT, message)),
            },
            (None, CURSOR) => page.cursor = Some(text),
            (None, _) => problems.push(body::invalid(&name, unknown(&name, pattern, known))),
        }
    }
    if problems.is_empty() {
        return Ok((item, page));
    }
    // What is missing is named together with what is wrong.
    let missing = known.iter().filter(|known| !known.optional && !item.contains_key(&known.name));
    problems.extend(missing.map(|missing| body::invalid(&missing.name, "is missing")));
    Err(ProblemDetails::invalid(problems))
}

/// Adds a parameter; lists grow by one each time. False if it is there already.
fn add(item: &mut Item, parameter: &Parameter, text: &str) -> bool {
    match &parameter.kind {
        Type::List(element) => {
            let list = item.entry(parameter.name.clone()).or_insert_with(|| Value::L(Vec::new()));
            if let Value::L(list) = list {
                list.push(value::from_text(element, text));
            }
            true
        }
        kind => item.insert(parameter.name.clone(), value::from_text(kind, text)).is_none(),
    }
}

fn limit(service: &Service, pattern: &Pattern, text: &str) -> Result<u32, String> {
    let max = service.limits(&pattern.name.value).map_or(u32::MAX, |limits| limits.max);
    let number = text.parse::<u32>().ok().filter(|number| (1..=max).contains(number));
    number.ok_or_else(|| format!("is not a whole number from 1 to {max}"))
}

fn unknown(name: &str, pattern: &Pattern, known: &[Parameter]) -> String {
    let names = known.iter().map(|parameter| parameter.name.as_str()).chain([LIMIT, CURSOR]);
    match design::nearest(name, names) {
        Some(near) => format!("is not a parameter of {}; did you mean `{near}`?", pattern.name.value),
        None => format!("is not a parameter of {}", pattern.name.value),
    }
}

/// The answer of a pattern as JSON.
pub(crate) fn answer_bytes(pattern: &Pattern, answer: &Answer) -> Vec<u8> {
    let parts = answer.parts.iter().map(|part| (part.name.as_str(), part.items.as_slice()));
    let parts = parts.collect::<Vec<_>>();
    bytes_of(pattern, &answer.items, &parts, answer.cursor.as_deref(), write_entity)
}

fn bytes_of<T>(
    pattern: &Pattern,
    items: &[T],
    parts: &[(&str, &[T])],
    cursor: Option<&str>,
    write: impl Fn(&T, &mut Vec<u8>),
) -> Vec<u8> {
    let mut out = Vec::new();
    if matches!(pattern.kind, PatternKind::Collect(_)) {
        out.extend_from_slice(b"{\"parts\":{");
        for (place, (name, items)) in parts.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            json::write_text(name, &mut out);
            out.push(b':');
            json::write_list(*items, &mut out, &write);
        }
        out.push(b'}');
    } else {
        out.extend_from_slice(b"{\"items\":");
        json::write_list(items, &mut out, &write);
    }
    if let Some(cursor) = cursor {
        out.extend_from_slice(b",\"cursor\":");
        json::write_text(cursor, &mut out);
    }
    out.push(b'}');
    out
}
