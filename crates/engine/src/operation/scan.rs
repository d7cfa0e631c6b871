//! Scan: reads all items of a table or index, page by page.

use dynamo::operation::{Scan, ScanReply};
use dynamo::{ApiError, Choice, Item};
use expression::{Condition, Projection};

use crate::catalog::Catalog;
use crate::engine::Engine;
use crate::expressions::{ReadParameters, attributes_to_get, check_start_key_values};
use crate::layout::KeyRange;
use crate::page::PageRequest;
use crate::reading::{Answer, INVALID_START, Reading, Source, check_select, check_whole};
use crate::store::Direction;
use crate::table::KEY_MISMATCH;

impl Engine {
    /// Reads all items of a table or index, page by page.
    pub fn scan(&self, request: Scan) -> Result<ScanReply, ApiError> {
        let checked = check(request)?;
        let view = self.view();
        let bound = bind(checked, &view.catalog)?;
        let answer = self.read(&view, |view| bound.read(view))?;
        Ok(reply(answer))
    }
}

struct Checked {
    request: Scan,
    start_key: Option<Item>,
    filter: Option<Condition>,
    projection: Option<Projection>,
}

fn check(mut request: Scan) -> Result<Checked, ApiError> {
    request.check_fields()?;
    let parameters = ReadParameters {
        filter_name: "ScanFilter",
        legacy_filter: request.scan_filter.take(),
        conditional_operator: request.conditional_operator.take(),
        attributes_to_get: request.attributes_to_get.take(),
        filter: request.filter_expression.as_deref(),
        projection: request.projection_expression.as_deref(),
        names: request.expression_attribute_names.as_ref(),
        values: request.expression_attribute_values.as_ref(),
        faults: &request.faults,
    };
    parameters.check(None, None)?;
    // Scan looks at AttributesToGet before its filter; Query does it after.
    let attributes_to_get = attributes_to_get(parameters.attributes_to_get.as_ref())?;
    let legacy_filter = parameters.bind_legacy_filter()?;
    check_start_key_values(&request.faults)?;
    check_segments(&request)?;
    check_select(
        request.select.as_ref(),
        parameters.projection.is_some(),
        parameters.attributes_to_get.is_some(),
        request.index_name.is_some(),
    )?;
    let mut expressions = parameters.expressions()?;
    let filter = expressions.filter(parameters.filter)?;
    let projection = expressions.projection(parameters.projection)?.or(attributes_to_get);
    expressions.finish()?;
    let start_key = request.exclusive_start_key.take();
    Ok(Checked { request, start_key, filter: filter.or(legacy_filter), projection })
}

fn check_segments(request: &Scan) -> Result<(), ApiError> {
    match (request.segment, request.total_segments) {
        (Some(_), None) => Err(ApiError::validation(
            "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
        )),
        (None, Some(_)) => Err(ApiError::validation(
            "The Segment parameter is required but was not present in the request when parameter TotalSegments is present",
        )),
        (Some(segment), Some(total)) if segment >= total => Err(ApiError::validation(format!(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: {segment} is not \
             less than TotalSegments: {total}"
        ))),
        _ => Ok(()),
    }
}

fn bind(checked: Checked, catalog: &Catalog) -> Result<Reading, ApiError> {
    let request = checked.request;
    let source = Source::find(
        catalog,
        request.table_name.as_deref(),
        request.index_name.as_deref(),
        request.consistent_read,
    )?;
    if let Some(start_key) = &checked.start_key {
        check_start_key(&source, start_key)?;
    }
    check_whole(&source, request.select.as_ref().and_then(Choice::known))?;
    let range = match (request.segment, request.total_segments) {
        (Some(segment), Some(total)) => {
            KeyRange::of_segment(source.collection(), segment.unsigned_abs(), total.unsigned_abs())
        }
        _ => KeyRange::of_collection(source.collection()),
    };
    let range = match checked.start_key {
        Some(start_key) => start_after(&source, range, &start_key, &request)?,
        None => range,
    };
    let limit = request.limit.map(|limit| usize::try_from(limit).unwrap_or(1));
    let page = PageRequest { range, direction: Direction::Forward, limit };
    Reading::new(
        source,
        page,
        checked.filter,
        checked.projection,
        request.select.as_ref(),
        request.consistent_read,
        request.return_consumed_capacity,
    )
}

fn check_start_key(source: &Source, start_key: &Item) -> Result<(), ApiError> {
    let is_index = source.index().is_some();
    if !source.has_start_key_length(start_key) {
        let mismatch = || format!("{INVALID_START}: {KEY_MISMATCH}");
        return Err(ApiError::validation(if is_index { INVALID_START.to_owned() } else { mismatch() }));
    }
    if is_index { source.check_start_key(start_key, source.schema().attributes()) } else { Ok(()) }
}

fn start_after(
    source: &Source,
    range: KeyRange,
    start_key: &Item,
    request: &Scan,
) -> Result<KeyRange, ApiError> {
    let position = source.start_position(start_key)?;
    if !range.contains(&position) {
        return Err(ApiError::validation(format!(
            "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct \
             Segment. TotalSegments: {} Segment: {}",
            request.total_segments.unwrap_or(1),
            request.segment.unwrap_or(0)
        )));
    }
    Ok(range.after(position))
}

fn reply(answer: Answer) -> ScanReply {
    ScanReply {
        items: answer.items,
        count: answer.count,
        scanned_count: answer.scanned_count,
        last_evaluated_key: answer.last_evaluated_key,
        consumed_capacity: answer.consumed_capacity,
    }
}
