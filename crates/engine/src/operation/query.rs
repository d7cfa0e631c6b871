//! Query: reads items of one partition in the order of their sort keys.

use std::ops::Bound;

use bytes::Bytes;
use dynamo::operation::{Query, QueryReply};
use dynamo::{ApiError, Item, KeyValue, StoredValue};
use expression::{
    Condition, KeyCondition, KeyConditionError, KeyConditions, KeyRange as SortRange, Projection,
};

use crate::catalog::Catalog;
use crate::engine::Engine;
use crate::expressions::{ReadParameters, attributes_to_get, check_start_key_values, key_conditions};
use crate::keys::{check_key_size, check_not_empty};
use crate::layout::{KeyAttribute, KeyRange, KeySchema, after_prefix, partition_prefix_of};
use crate::page::PageRequest;
use crate::reading::{Answer, INVALID_START, Reading, Source, check_select};
use crate::store::Direction;

impl Engine {
    /// Reads items of one partition in the order of their sort keys.
    pub fn query(&self, request: Query) -> Result<QueryReply, ApiError> {
        let checked = check(request)?;
        let view = self.view();
        let bound = bind(checked, &view.catalog)?;
        let answer = self.read(&view, |view| bound.read(view))?;
        Ok(reply(answer))
    }
}

struct Checked {
    request: Query,
    keys: KeyConditions,
    start_key: Option<Item>,
    filter: Option<Condition>,
    is_legacy_filter: bool,
    projection: Option<Projection>,
}

fn check(mut request: Query) -> Result<Checked, ApiError> {
    request.check_fields()?;
    let parameters = ReadParameters {
        filter_name: "QueryFilter",
        legacy_filter: request.query_filter.take(),
        conditional_operator: request.conditional_operator.take(),
        attributes_to_get: request.attributes_to_get.take(),
        filter: request.filter_expression.as_deref(),
        projection: request.projection_expression.as_deref(),
        names: request.expression_attribute_names.as_ref(),
        values: request.expression_attribute_values.as_ref(),
        faults: &request.faults,
    };
    parameters
        .check(Some(request.key_condition_expression.is_some()), Some(request.key_conditions.is_some()))?;
    let legacy_filter = parameters.bind_legacy_filter()?;
    let attributes_to_get = attributes_to_get(parameters.attributes_to_get.as_ref())?;
    check_start_key_values(&request.faults)?;
    check_select(
        request.select.as_ref(),
        parameters.projection.is_some(),
        parameters.attributes_to_get.is_some(),
        request.index_name.is_some(),
    )?;
    request.faults.check("KeyConditions")?;
    let mut expressions = parameters.expressions()?;
    let key_expression = expressions.key_condition(request.key_condition_expression.as_deref())?;
    let filter = expressions.filter(parameters.filter)?;
    let projection = expressions.projection(parameters.projection)?.or(attributes_to_get);
    expressions.finish()?;
    let keys = key_conditions(key_expression.as_ref(), request.key_conditions.as_ref())?;
    // KeyConditions are counted at once; those of an expression with the keys of the table.
    let is_too_many =
        request.key_conditions.is_some() && request.index_name.is_none() && keys.names().count() > 2;
    if keys.names().next().is_none() || is_too_many {
        return Err(KeyConditionError::None.into());
    }
    let start_key = request.exclusive_start_key.take();
    let is_legacy_filter = legacy_filter.is_some();
    Ok(Checked { request, keys, start_key, filter: filter.or(legacy_filter), is_legacy_filter, projection })
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
        if !source.has_start_key_length(start_key) {
            return Err(ApiError::validation(INVALID_START));
        }
        check_start_key(&source, start_key, &checked.keys)?;
    }
    let schema = source.schema();
    let keys = checked.keys.resolve(&expression_schema(schema))?;
    check_sizes(schema, &keys)?;
    let partition = Partition::new(&source, &keys);
    let direction = match request.scan_index_forward {
        Some(false) => Direction::Reverse,
        _ => Direction::Forward,
    };
    let range = match &checked.start_key {
        Some(start_key) => partition.start_after(&source, start_key, direction)?,
        None => partition.range(),
    };
    if let Some(filter) = &checked.filter {
        check_filter(&source, filter, checked.is_legacy_filter)?;
    }
    let limit = request.limit.map(|limit| usize::try_from(limit).unwrap_or(1));
    Reading::new(
        source,
        PageRequest { range, direction, limit },
        checked.filter,
        checked.projection,
        request.select.as_ref(),
        request.consistent_read,
        request.return_consumed_capacity,
    )
}

/// DynamoDB looks at the start key and at the condition attribute by attribute: a missing condition on the partition
/// key is reported before anything that is wrong with the sort key of the start key.
fn check_start_key(source: &Source, start_key: &Item, keys: &KeyConditions) -> Result<(), ApiError> {
    let schema = source.schema();
    source.check_start_key(start_key, &schema.partition)?;
    let is_named = |attribute: &KeyAttribute| keys.names().any(|name| name == attribute.name);
    if !schema.partition.iter().all(is_named) {
        keys.resolve(&expression_schema(schema))?;
    }
    source.check_start_key(start_key, &schema.sort)
}

/// The keys that conditions on all partition key attributes, and perhaps on some of the sort key, leave to be read.
pub(crate) fn partition_range(source: &Source, conditions: &KeyConditions) -> Result<KeyRange, ApiError> {
    let keys = conditions.resolve(&expression_schema(source.schema()))?;
    check_sizes(source.schema(), &keys)?;
    Ok(Partition::new(source, &keys).range())
}

fn expression_schema(schema: &KeySchema) -> expression::KeySchema<'_> {
    expression::KeySchema {
        partition: names_and_types(&schema.partition),
        sort: names_and_types(&schema.sort),
    }
}

fn names_and_types(attributes: &[KeyAttribute]) -> Vec<(&str, dynamo::KeyType)> {
    attributes.iter().map(|attribute| (attribute.name.as_str(), attribute.key_type)).collect()
}

/// Key values that no item can have are refused on reads too: those that are empty, and those that are too long.
fn check_sizes(schema: &KeySchema, keys: &KeyCondition) -> Result<(), ApiError> {
    let equal = schema.partition.iter().zip(&keys.partition).chain(schema.sort.iter().zip(&keys.sort));
    for (attribute, value) in equal {
        if let Some(value) = KeyValue::from_stored(value.as_ref()) {
            check_not_empty(attribute, value)?;
        }
    }
    let range = keys.range.iter().flat_map(SortRange::values).flatten();
    let sort = schema.sort.iter().zip(keys.sort.iter());
    let ranged = schema
        .sort
        .get(keys.sort.len())
        .into_iter()
        .flat_map(|attribute| range.clone().map(move |value| (attribute, value)));
    for (attribute, value) in schema.partition.iter().zip(&keys.partition).chain(sort).chain(ranged) {
        if let Some(value) = KeyValue::from_stored(value.as_ref()) {
            check_key_size(schema, attribute, value)?;
        }
    }
    Ok(())
}

/// A filter sees what the key condition has left; on the keys themselves there is nothing left to filter.
fn check_filter(source: &Source, filter: &Condition, is_legacy: bool) -> Result<(), ApiError> {
    let paths = filter.paths();
    let is_filtered = |name: &str| paths.iter().any(|path| &*path.root == name);
    match source.schema().attributes().find(|attribute| is_filtered(&attribute.name)) {
        Some(attribute) => Err(ApiError::validation(format!(
            "{} can only contain non-primary key attributes: Primary key attribute: {}",
            if is_legacy { "QueryFilter" } else { "Filter Expression" },
            attribute.name
        ))),
        None => Ok(()),
    }
}

/// The part of one partition that a query reads: a prefix, and bounds of what follows it.
struct Partition {
    prefix: Vec<u8>,
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
    is_limited: bool,
}

impl Partition {
    fn new(source: &Source, keys: &KeyCondition) -> Partition {
        let partition = keys.partition.iter().filter_map(|value| KeyValue::from_stored(value.as_ref()));
        let prefix = partition_prefix_of(source.collection(), partition);
        let mut equal = Vec::new();
        for value in keys.sort.iter().filter_map(|value| KeyValue::from_stored(value.as_ref())) {
            value.encode(&mut equal);
        }
        let is_limited = !equal.is_empty() || keys.range.is_some();
        let (lower, upper) = sort_bounds(&equal, keys.range.as_ref());
        Partition { prefix, lower, upper, is_limited }
    }

    /// The range of keys in the store.
    fn range(&self) -> KeyRange {
        let joined = |suffix: &Vec<u8>| Bytes::from([&*self.prefix, suffix].concat());
        KeyRange {
            lower: match &self.lower {
                Bound::Included(suffix) => Bound::Included(joined(suffix)),
                Bound::Excluded(suffix) => Bound::Excluded(joined(suffix)),
                Bound::Unbounded => Bound::Included(Bytes::copy_from_slice(&self.prefix)),
            },
            upper: match &self.upper {
                Bound::Included(suffix) => Bound::Included(joined(suffix)),
                Bound::Excluded(suffix) => Bound::Excluded(joined(suffix)),
                Bound::Unbounded => Bound::Excluded(after_prefix(&self.prefix)),
            },
        }
    }

    /// The position that a start key would have in this partition.
    fn moved_here(&self, source: &Source, start_key: &Item, position: &Bytes) -> Bytes {
        let values = source.schema().partition.iter().filter_map(|attribute| start_key.get(&attribute.name));
        let own_prefix = partition_prefix_of(source.collection(), values.filter_map(KeyValue::from_value));
        let suffix = position.strip_prefix(&*own_prefix).unwrap_or_default();
        Bytes::from([&*self.prefix, suffix].concat())
    }

    /// The range from a start key on. The start key lies in the range, or the client has mixed up its queries.
    fn start_after(
        &self,
        source: &Source,
        start_key: &Item,
        direction: Direction,
    ) -> Result<KeyRange, ApiError> {
        let position = source.start_position(start_key)?;
        let range = self.range();
        if !self.is_limited && !position.starts_with(&self.prefix) {
            return Err(ApiError::validation(
                "The provided starting key is outside query boundaries based on provided conditions",
            ));
        }
        if self.is_limited && !range.contains(&self.moved_here(source, start_key, &position)) {
            return Err(ApiError::validation(
                "The provided starting key does not match the range key predicate",
            ));
        }
        if !position.starts_with(&self.prefix) {
            return Err(ApiError::validation("The query can return at most one row and cannot be restarted"));
        }
        Ok(match direction {
            Direction::Forward => range.after(position),
            Direction::Reverse => range.before(position),
        })
    }
}

/// The bounds that a condition on the sort key sets on what follows the partition: `equal` is the encoded start of it.
fn sort_bounds(equal: &[u8], range: Option<&SortRange>) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let encoded = |value: &StoredValue| {
        let mut bytes = equal.to_vec();
        if let Some(value) = KeyValue::from_stored(value.as_ref()) {
            value.encode(&mut bytes);
        }
        bytes
    };
    let prefixed = |value: &StoredValue| {
        let mut bytes = equal.to_vec();
        if let Some(value) = KeyValue::from_stored(value.as_ref()) {
            value.encode_prefix(&mut bytes);
        }
        bytes
    };
    let first = || start_of(equal);
    let last = || end_of(equal);
    match range {
        None => (first(), last()),
        Some(SortRange::Lt(value)) => (first(), Bound::Excluded(encoded(value))),
        Some(SortRange::Le(value)) => (first(), end_of(&encoded(value))),
        Some(SortRange::Gt(value)) => (Bound::Included(after_prefix(&encoded(value)).to_vec()), last()),
        Some(SortRange::Ge(value)) => (Bound::Included(encoded(value)), last()),
        Some(SortRange::Between(low, high)) => (Bound::Included(encoded(low)), end_of(&encoded(high))),
        Some(SortRange::BeginsWith(value)) => {
            let prefix = prefixed(value);
            (start_of(&prefix), end_of(&prefix))
        }
    }
}

fn start_of(prefix: &[u8]) -> Bound<Vec<u8>> {
    if prefix.is_empty() { Bound::Unbounded } else { Bound::Included(prefix.to_vec()) }
}

fn end_of(prefix: &[u8]) -> Bound<Vec<u8>> {
    let after = after_prefix(prefix);
    // Nothing comes after a prefix of FF bytes alone but the end of the partition.
    if after.is_empty() { Bound::Unbounded } else { Bound::Excluded(after.to_vec()) }
}

fn reply(answer: Answer) -> QueryReply {
    QueryReply {
        items: answer.items,
        count: answer.count,
        scanned_count: answer.scanned_count,
        last_evaluated_key: answer.last_evaluated_key,
        consumed_capacity: answer.consumed_capacity,
    }
}
