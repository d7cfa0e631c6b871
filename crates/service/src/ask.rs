//! Patterns: from parameters and a cursor to a page of items.
//!
//! Path of a question: parameters are checked -> `streams` makes the requests -> `page` merges what they find in order -> items are shaped,
//! and where the page ended becomes a cursor. A collection asks other patterns to their end.

mod apply;
mod collect;
mod page;
mod parameter;
mod stream;

use design::{Apply, Order, Pattern, PatternKind};
use dynamo::{Item, Value};

use crate::answer::{Answer, Limits, PageRequest, Part};
use crate::cursor::{Belongs, Positions};
use crate::refusal::Refusal;
use crate::service::Service;
use crate::shape::Found;

use stream::Row;

/// Items in a page when neither caller nor pattern say.
const LIMIT_DEFAULT: u32 = 100;
/// Most items in a page when the pattern does not say.
const LIMIT_MAX: u32 = 1_000;

/// How many items a page of a pattern has.
pub(crate) fn limits(pattern: &Pattern) -> Limits {
    let number = |limit: &Option<design::Placed<usize>>| {
        limit.as_ref().and_then(|limit| u32::try_from(limit.value).ok())
    };
    let default = number(&pattern.limit).or(number(&pattern.max_limit)).unwrap_or(LIMIT_DEFAULT);
    Limits { default, max: number(&pattern.max_limit).unwrap_or(LIMIT_MAX).max(default) }
}

/// What a pattern finds.
pub(crate) struct Asked<'s> {
    /// The items of one page; none for a collection.
    pub(crate) items: Vec<Found<'s>>,
    /// The parts of a collection.
    pub(crate) parts: Vec<(String, Vec<Found<'s>>)>,
    /// Where the next page begins.
    pub(crate) cursor: Option<String>,
}

/// Answers a pattern, page by page, with items as trees.
pub(crate) async fn ask(
    service: &Service,
    name: &str,
    parameters: Item,
    request: PageRequest,
) -> Result<Answer, Refusal> {
    let Some(pattern) = service.design().pattern(name) else { return Err(Refusal::unknown("pattern", name)) };
    let asked = found(service, pattern, parameters, request).await?;
    let selected = selected(pattern);
    let answered =
        |found: Vec<Found<'_>>| found.into_iter().map(|found| found.answered(&selected)).collect::<Vec<_>>();
    let parts = asked.parts.into_iter().map(|(name, found)| Part { name, items: answered(found) });
    Ok(Answer { parts: parts.collect(), items: answered(asked.items), cursor: asked.cursor })
}

/// Answers a pattern, page by page.
pub(crate) async fn found<'s>(
    service: &'s Service,
    pattern: &'s Pattern,
    parameters: Item,
    request: PageRequest,
) -> Result<Asked<'s>, Refusal> {
    let name = &pattern.name.value;
    let parameters = parameter::checked(service.design(), name, parameters)?;
    let items = |rows: Vec<Row<'s>>| rows.into_iter().map(|row| row.found).collect::<Vec<_>>();
    if matches!(pattern.kind, PatternKind::Collect(_)) {
        if request.cursor.is_some() {
            return Err(Refusal::Cursor);
        }
        let parts = collect::parts(service, pattern, &parameters).await?;
        let parts = parts.into_iter().map(|(name, rows)| (name, items(rows))).collect();
        return Ok(Asked { items: Vec::new(), parts, cursor: None });
    }
    let limit = limit_of(pattern, request.limit)?;
    let belongs = Belongs {
        secret: &service.options().secret,
        design: &service.design().name,
        pattern: name,
        parameters: &parameters,
    };
    let positions = request.cursor.map(|cursor| belongs.open(&cursor)).transpose()?.unwrap_or_default();
    let (rows, next) = page(service, pattern, &parameters, limit, positions).await?;
    let cursor = next.map(|next| belongs.seal(&next));
    Ok(Asked { items: items(rows), parts: Vec::new(), cursor })
}

/// The attributes that a pattern selects; empty for all of them.
pub(crate) fn selected(pattern: &Pattern) -> Vec<&str> {
    pattern.select.iter().filter_map(|path| path.value.split('.').next()).collect()
}

fn limit_of(pattern: &Pattern, asked: Option<u32>) -> Result<usize, Refusal> {
    let limits = limits(pattern);
    let limit = asked.unwrap_or(limits.default);
    if limit == 0 || limit > limits.max {
        return Err(Refusal::invalid("limit", format!("is not between 1 and {}", limits.max)));
    }
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

/// All items that a pattern finds, whole: for writes that depend on them. Parts of a collection follow each other.
pub(crate) async fn to_the_end(
    service: &Service,
    name: &str,
    parameters: Item,
) -> Result<Vec<Item>, Refusal> {
    let Some(pattern) = service.design().pattern(name) else { return Err(Refusal::unknown("pattern", name)) };
    let parameters = parameter::checked(service.design(), name, parameters)?;
    if matches!(pattern.kind, PatternKind::Collect(_)) {
        let parts = collect::parts(service, pattern, &parameters).await?;
        return Ok(parts.into_iter().flat_map(|(_, rows)| rows).map(|row| row.found.into_tree()).collect());
    }
    let rows = all_rows(service, pattern, &parameters, None).await?;
    Ok(rows.into_iter().map(|row| row.found.into_tree()).collect())
}

/// The rows of a pattern to its end, or up to a limit.
async fn all_rows<'s>(
    service: &'s Service,
    pattern: &'s Pattern,
    parameters: &Item,
    limit: Option<usize>,
) -> Result<Vec<Row<'s>>, Refusal> {
    let mut found = Vec::new();
    let mut positions = Positions::new();
    loop {
        let wanted = limit.unwrap_or(usize::MAX).saturating_sub(found.len()).min(LIMIT_MAX as usize);
        let (rows, next) = page(service, pattern, parameters, wanted, positions).await?;
        found.extend(rows);
        match next {
            Some(next) if limit.is_none_or(|limit| found.len() < limit) => positions = next,
            _ => return Ok(found),
        }
    }
}

/// One page of a pattern that is not a collection.
async fn page<'s>(
    service: &'s Service,
    pattern: &'s Pattern,
    parameters: &Item,
    limit: usize,
    positions: Positions,
) -> Result<(Vec<Row<'s>>, Option<Positions>), Refusal> {
    let (inner, by, apply): (Vec<&Pattern>, Option<&str>, Option<&Apply>) = match &pattern.kind {
        PatternKind::Merge { patterns, by, apply } => {
            let inner = patterns.iter().filter_map(|name| service.design().pattern(&name.value));
            (inner.collect(), Some(by.value.as_str()), apply.as_ref())
        }
        _ => (vec![pattern], None, None),
    };
    let (streams, mark) = stream::streams(service, &inner, parameters, by, positions).await?;
    let descending = pattern.order.as_ref().is_some_and(|order| order.value == Order::Descending);
    let (mut rows, next) = page::Page { service, limit, descending, mark, apply }.read(streams).await?;
    if let Some(apply) = apply.filter(|apply| by != Some(apply.on.value.as_str())) {
        apply::complete(service, apply, parameters, &mut rows).await?;
    }
    Ok((rows, next))
}

/// The order of two values in a sort key.
fn order(left: &[Value], right: &[Value]) -> std::cmp::Ordering {
    let encoded = |values: &[Value]| {
        let mut bytes = Vec::new();
        for value in values {
            if let Some(value) = dynamo::KeyValue::from_value(value) {
                value.encode(&mut bytes);
            }
        }
        bytes
    };
    encoded(left).cmp(&encoded(right))
}
