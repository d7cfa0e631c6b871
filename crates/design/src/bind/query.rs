//! Patterns with their parameters: the requests that answer them.

use std::collections::BTreeMap;

use dynamo::operation::{BatchGetItem, GetItem, KeysAndAttributes, Operation, Query as QueryRequest};
use dynamo::{Item, KeyType, Value};

use super::item::{item_key, physical_name};
use super::placeholders::Placeholders;
use super::value::{coerced, fill, formatted as written};
use super::{Context, Problem};
use crate::check::CheckedDesign;
use crate::condition::{Condition, Operand};
use crate::model::{Attribute, Design, Order, Pattern, PatternKind};
use crate::query::{Asked, Query, Test, aligned, formatted};
use crate::template::{Format, Piece, Slot, Template};

/// Which page of an answer is wanted.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// How many items are read at most; the pattern's own limit if none is given.
    pub limit: Option<usize>,
    /// Where the page before ended, one for each request; empty for the first page.
    pub after: Vec<Option<Item>>,
}

/// The requests that answer a query pattern: one, or one for each shard if the shard is not given.
pub fn bind_query(
    design: &CheckedDesign,
    pattern: &Pattern,
    parameters: &Item,
    page: &Page,
    context: &Context<'_>,
) -> Result<Vec<Operation>, Vec<Problem>> {
    let Some(query) = Query::read(design, pattern) else { return Ok(Vec::new()) };
    let known = design.parameters(&pattern.name.value);
    let mut given = Item::new();
    let mut problems = Vec::new();
    for parameter in known {
        match parameters.get(&parameter.name) {
            Some(value) => {
                let value = coerced(&parameter.kind, value.clone());
                problems.extend(super::value::problem(
                    &parameter.kind,
                    &parameter.name,
                    &value,
                    &design.delimiters,
                ));
                given.insert(parameter.name.clone(), value);
            }
            None if parameter.optional => {}
            None => problems.push(Problem::invalid(&parameter.name, "is missing")),
        }
    }
    for name in parameters.keys().filter(|name| !known.iter().any(|parameter| parameter.name == **name)) {
        problems.push(Problem::invalid(name, format!("is not a parameter of {}", pattern.name.value)));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let shards =
        known.iter().find(|parameter| parameter.shards.is_some() && !given.contains_key(&parameter.name));
    let scopes = match shards {
        Some(parameter) => {
            let count = parameter.shards.unwrap_or(1);
            (0..count)
                .map(|shard| {
                    let mut scope = given.clone();
                    scope.insert(parameter.name.clone(), Value::from(i64::from(shard)));
                    scope
                })
                .collect()
        }
        None => vec![given],
    };
    let requests = scopes.iter().enumerate().map(|(number, scope)| {
        let after = page.after.get(number).cloned().flatten();
        request(design, &query, scope, page.limit, after, context)
    });
    requests
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| vec![Problem::invalid(&pattern.name.value, "a parameter does not fit its key")])
}

fn request(
    design: &Design,
    query: &Query<'_>,
    scope: &Item,
    limit: Option<usize>,
    after: Option<Item>,
    context: &Context<'_>,
) -> Option<Operation> {
    let table_name = physical_name(design, design.table(query.table)?, context.variables);
    let pattern = query.pattern;
    let consistent =
        pattern.consistent.as_ref().map(|consistent| consistent.value).filter(|consistent| *consistent);
    if query.index.is_none() && query.is_exact() && pattern.filter.is_none() {
        let key = query.asked.iter().map(|asked| {
            let operand = asked.test.operands().into_iter().next()?;
            Some((asked.attribute.name.value.clone(), key_value(design, query, asked, operand, scope)?))
        });
        let mut get = GetItem::new(table_name, key.collect::<Option<Item>>()?);
        get.consistent_read = consistent;
        return Some(get.into());
    }
    let mut placeholders = Placeholders::default();
    let parts =
        query.asked.iter().map(|asked| asked_expression(&mut placeholders, design, query, asked, scope));
    let condition = parts.collect::<Option<Vec<_>>>()?.join(" AND ");
    let filter = match &pattern.filter {
        Some(filter) => Some(filter_expression(&mut placeholders, &filter.condition, scope)?),
        None => None,
    };
    let select =
        pattern.select.iter().map(|path| placeholders.dotted(&path.value)).collect::<Vec<_>>().join(", ");
    let limit = limit.or_else(|| pattern.limit.as_ref().map(|limit| limit.value));
    let request = QueryRequest {
        index_name: query.index.map(str::to_owned),
        limit: limit.and_then(|limit| i32::try_from(limit).ok()),
        exclusive_start_key: after,
        consistent_read: consistent,
        scan_index_forward: pattern
            .order
            .as_ref()
            .filter(|order| order.value == Order::Descending)
            .map(|_| false),
        filter_expression: filter,
        projection_expression: (!select.is_empty()).then_some(select),
        expression_attribute_names: placeholders.names_or_none(),
        expression_attribute_values: placeholders.values_or_none(),
        ..QueryRequest::new(table_name, condition)
    };
    Some(request.into())
}

fn filter_expression(placeholders: &mut Placeholders, filter: &Condition, scope: &Item) -> Option<String> {
    placeholders.condition(filter, scope)
}

fn asked_expression(
    placeholders: &mut Placeholders,
    design: &Design,
    query: &Query<'_>,
    asked: &Asked<'_>,
    scope: &Item,
) -> Option<String> {
    let name = &asked.attribute.name.value;
    let placeholder = placeholders.name(name);
    let mut value = |operand: &Operand| {
        let value = key_value(design, query, asked, operand, scope)?;
        Some(placeholders.value(name, value))
    };
    Some(match asked.test {
        Test::Equal(operand) => format!("{placeholder} = {}", value(operand)?),
        Test::BeginsWith(operand) => format!("begins_with({placeholder}, {})", value(operand)?),
        Test::Compare(comparator, operand) => {
            format!("{placeholder} {} {}", comparator.symbol(), value(operand)?)
        }
        Test::Between(low, high) => {
            let low = value(low)?;
            format!("{placeholder} BETWEEN {low} AND {}", value(high)?)
        }
    })
}

/// The value that is asked for: literals as they are, parameters as the entities in the answer write them.
fn key_value(
    design: &Design,
    query: &Query<'_>,
    asked: &Asked<'_>,
    operand: &Operand,
    scope: &Item,
) -> Option<Value> {
    let template = match operand {
        Operand::Text(template, _) => template,
        Operand::Number(number, _) => return Some(Value::N(*number)),
        _ => return None,
    };
    if asked.attribute.key_type != KeyType::S {
        return fill(template, scope);
    }
    let own = query.answer(design).into_iter().find_map(|entity| {
        let part = entity.key_in(query.index)?.part(&asked.attribute.name.value)?;
        part.choices
            .iter()
            .find_map(|choice| Some(formatted(template, &aligned(template, &choice.template.value)?)))
    });
    let template = own.unwrap_or_else(|| template.clone());
    let pieces = template.pieces.into_iter().map(|piece| match piece {
        // The parameter is the shard itself, not a value to find the shard of.
        Piece::Slot(Slot { path, format: Format::Shard(count), at }) => {
            let width = u8::try_from(Format::shard_digits(count)).unwrap_or(1);
            Piece::Slot(Slot { path, format: Format::Padded(width), at })
        }
        other => other,
    });
    let template = Template { pieces: pieces.collect() };
    match template.only_slot() {
        Some(slot) => Some(Value::S(written(scope.get(&slot.path)?, Format::Plain)?)),
        None => fill(&template, scope),
    }
}

/// The request for one item by its key, or for several: then each slot of the key is a list, and the n-th key has the n-th
/// element of each.
pub fn bind_get(
    design: &CheckedDesign,
    pattern: &Pattern,
    parameters: &Item,
    context: &Context<'_>,
) -> Result<Vec<Operation>, Vec<Problem>> {
    let PatternKind::Get { entity, batch } = &pattern.kind else { return Ok(Vec::new()) };
    let Some(entity) = design.entity(&entity.value) else { return Ok(Vec::new()) };
    let missing = entity
        .identity()
        .into_iter()
        .filter(|slot| super::value::at(parameters, slot).is_none() && entity.constant(slot).is_none());
    let missing = missing.map(|slot| Problem::invalid(slot, "is missing")).collect::<Vec<_>>();
    if !missing.is_empty() {
        return Err(missing);
    }
    let consistent =
        pattern.consistent.as_ref().map(|consistent| consistent.value).filter(|consistent| *consistent);
    let Some(batch) = batch else {
        let problems = entity.attributes.iter().filter_map(|attribute: &Attribute| {
            let value = parameters.get(&attribute.name.value)?;
            super::value::problem(&attribute.kind, &attribute.name.value, value, &design.delimiters)
        });
        let problems = problems.collect::<Vec<_>>();
        if !problems.is_empty() {
            return Err(problems);
        }
        let Some(key) = item_key(design, entity, parameters, context) else { return Ok(Vec::new()) };
        let mut get = GetItem::new(key.table, key.key);
        get.consistent_read = consistent;
        return Ok(vec![get.into()]);
    };
    let keys =
        rows(parameters).iter().filter_map(|row| item_key(design, entity, row, context)).collect::<Vec<_>>();
    if keys.len() > batch.value {
        return Err(vec![Problem::invalid(&pattern.name.value, format!("takes up to {} keys", batch.value))]);
    }
    let Some(table) = keys.first().map(|key| key.table.clone()) else { return Ok(Vec::new()) };
    let keys = KeysAndAttributes {
        keys: Some(keys.into_iter().map(|key| key.key).collect()),
        consistent_read: consistent,
        ..KeysAndAttributes::default()
    };
    let request =
        BatchGetItem { request_items: Some(BTreeMap::from([(table, keys)])), ..BatchGetItem::default() };
    Ok(vec![request.into()])
}

/// Lists by name as a list of items.
fn rows(parameters: &Item) -> Vec<Item> {
    let length = parameters
        .values()
        .map(|value| if let Value::L(list) = value { list.len() } else { 1 })
        .max()
        .unwrap_or(0);
    let row = |number: usize| {
        let values = parameters.iter().filter_map(|(name, value)| match value {
            Value::L(list) => Some((name.clone(), list.get(number)?.clone())),
            one => Some((name.clone(), one.clone())),
        });
        values.collect()
    };
    (0..length).map(row).collect()
}
