//! BatchGetItem: reads up to 100 items by their keys.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dynamo::operation::{BatchGetItem, BatchGetItemReply, KeysAndAttributes};
use dynamo::{ApiError, Item, StoredItem};
use expression::Projection;

use crate::capacity::{Detail, ReadKind, Units, consumed, read_units};
use crate::catalog::{Catalog, find_table};
use crate::commit::View;
use crate::engine::Engine;
use crate::expressions::{Expressions, attributes_to_get};
use crate::fault::Fault;
use crate::keys::check_key;
use crate::layout::ItemKey;
use crate::parameters::Parameters;
use crate::store::Space;
use crate::table::Table;

/// The most keys in one request.
const KEYS_MAX: usize = 100;
/// An answer holds at most so many bytes of items; keys beyond are unprocessed.
const REPLY_BYTES_MAX: usize = 16 << 20;

/// Said of a batch that names an item twice.
pub(super) const DUPLICATE_KEYS: &str = "Provided list of item keys contains duplicates";

impl Engine {
    /// Reads up to 100 items by their keys.
    pub fn batch_get_item(&self, request: BatchGetItem) -> Result<BatchGetItemReply, ApiError> {
        let checked = check(request)?;
        let view = self.view();
        let bound = bind(checked, &view.catalog)?;
        let found = self.read(&view, |view| read(&bound, view))?;
        Ok(reply(&bound, found))
    }
}

struct Checked {
    request: BatchGetItem,
    tables: Vec<CheckedTable>,
}

struct CheckedTable {
    name: String,
    asked: KeysAndAttributes,
    projection: Option<Projection>,
}

struct Bound {
    request: BatchGetItem,
    tables: Vec<BoundTable>,
}

struct BoundTable {
    name: String,
    table: Arc<Table>,
    asked: KeysAndAttributes,
    keys: Vec<ItemKey>,
    projection: Option<Projection>,
}

struct Found {
    items: Vec<StoredItem>,
    units: f64,
    unprocessed: Vec<Item>,
}

fn check(mut request: BatchGetItem) -> Result<Checked, ApiError> {
    request.check_fields()?;
    let asked = request.request_items.take().unwrap_or_default();
    if asked.is_empty() {
        return Err(ApiError::validation("The requestItems parameter is required for BatchGetItem"));
    }
    let keys: usize = asked.values().map(|asked| asked.keys.as_ref().map_or(0, Vec::len)).sum();
    if keys > KEYS_MAX {
        return Err(ApiError::validation("Too many items requested for the BatchGetItem call"));
    }
    let tables = asked.into_iter().map(|(name, asked)| check_table(name, asked)).collect::<Result<_, _>>()?;
    Ok(Checked { request, tables })
}

fn check_table(name: String, mut asked: KeysAndAttributes) -> Result<CheckedTable, ApiError> {
    Parameters {
        expressions: &[("ProjectionExpression", asked.projection_expression.is_some())],
        legacy: &[("AttributesToGet", asked.attributes_to_get.is_some())],
        names: asked.expression_attribute_names.is_some(),
        values: false,
    }
    .check()?;
    asked.faults.check("Keys")?;
    let mut expressions = Expressions::new(asked.expression_attribute_names.as_ref(), None, &asked.faults)?;
    let projection = expressions.projection(asked.projection_expression.as_deref())?;
    expressions.finish()?;
    let projection = match projection {
        Some(projection) => Some(projection),
        None => attributes_to_get(asked.attributes_to_get.as_ref())?,
    };
    let keys = asked.keys.as_deref().unwrap_or_default();
    if keys.iter().enumerate().any(|(place, key)| keys.iter().take(place).any(|other| other == key)) {
        return Err(ApiError::validation(DUPLICATE_KEYS));
    }
    asked.faults = dynamo::Faults::default();
    Ok(CheckedTable { name, asked, projection })
}

fn bind(checked: Checked, catalog: &Catalog) -> Result<Bound, ApiError> {
    let tables =
        checked.tables.into_iter().map(|table| bind_table(table, catalog)).collect::<Result<_, _>>()?;
    Ok(Bound { request: checked.request, tables })
}

fn bind_table(checked: CheckedTable, catalog: &Catalog) -> Result<BoundTable, ApiError> {
    let table = find_table(catalog, Some(&checked.name))?;
    let asked_keys = checked.asked.keys.as_deref().unwrap_or_default();
    let keys = asked_keys.iter().map(|key| check_key(&table, key)).collect::<Result<Vec<_>, _>>()?;
    if keys.iter().collect::<BTreeSet<_>>().len() < keys.len() {
        return Err(ApiError::validation(DUPLICATE_KEYS));
    }
    Ok(BoundTable { name: checked.name, table, asked: checked.asked, keys, projection: checked.projection })
}

fn read(bound: &Bound, view: &View) -> Result<Vec<Found>, Fault> {
    let mut left_bytes = REPLY_BYTES_MAX;
    bound.tables.iter().map(|table| read_table(table, view, &mut left_bytes)).collect()
}

fn read_table(bound: &BoundTable, view: &View, left_bytes: &mut usize) -> Result<Found, Fault> {
    let mut found =
        Found { items: Vec::with_capacity(bound.keys.len()), units: 0.0, unprocessed: Vec::new() };
    let kind = ReadKind::of(bound.asked.consistent_read);
    let asked_keys = bound.asked.keys.as_deref().unwrap_or_default();
    for (key, asked) in bound.keys.iter().zip(asked_keys) {
        let stored = view.snapshot.get(Space::Data, &key.in_collection(bound.table.id))?;
        let Some(item) = stored.map(StoredItem::from_bytes) else {
            found.units += read_units(0, kind);
            continue;
        };
        let Some(left) = left_bytes.checked_sub(item.size_bytes()) else {
            *left_bytes = 0;
            found.unprocessed.push(asked.clone());
            continue;
        };
        *left_bytes = left;
        found.units += read_units(item.size_bytes(), kind);
        found.items.push(match &bound.projection {
            Some(projection) => projection.apply(&item),
            None => item,
        });
    }
    Ok(found)
}

fn reply(bound: &Bound, found: Vec<Found>) -> BatchGetItemReply {
    let wanted = bound.request.return_consumed_capacity.as_ref();
    let mut responses = BTreeMap::new();
    let mut unprocessed = BTreeMap::new();
    let mut capacities = Vec::new();
    for (bound, found) in bound.tables.iter().zip(found) {
        let units = Units::of_table(found.units);
        capacities.extend(consumed(wanted, &bound.table, &units, Detail::Plain));
        if !found.unprocessed.is_empty() {
            let rest = KeysAndAttributes { keys: Some(found.unprocessed), ..bound.asked.clone() };
            unprocessed.insert(bound.name.clone(), rest);
        }
        responses.insert(bound.name.clone(), found.items);
    }
    BatchGetItemReply {
        responses: Some(responses),
        unprocessed_keys: Some(unprocessed),
        consumed_capacity: crate::capacity::is_asked(wanted).then_some(capacities),
    }
}
