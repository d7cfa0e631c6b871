//! BatchWriteItem: puts and deletes up to 25 items.

use std::collections::BTreeMap;
use std::sync::Arc;

use dynamo::operation::{
    BatchWriteItem, BatchWriteItemReply, ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity,
    ReturnItemCollectionMetrics, WriteRequest,
};
use dynamo::{ApiError, Choice, Item, KeyValue, StoredItem};

use super::Decide;
use super::batch_get_item::DUPLICATE_KEYS;
use crate::capacity::{Detail, Units, consumed, is_asked};
use crate::catalog::{Catalog, find_table};
use crate::collection::item_collection_metrics;
use crate::commit::{Changes, Latest};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::keys::{check_index_keys, check_item_key, check_key};
use crate::layout::{ItemKey, KeyAttribute};
use crate::table::{KEY_MISMATCH, Table};
use crate::write::{Action, ITEM_BYTES_MAX, ITEM_TOO_LARGE, ItemWrite, Written, has_item_twice};

/// The most writes in one request.
const WRITES_MAX: usize = 25;

impl Engine {
    /// Puts and deletes up to 25 items. Each is written; the batch has no conditions.
    pub fn batch_write_item(&self, request: BatchWriteItem) -> Result<BatchWriteItemReply, ApiError> {
        self.commit(decide(request, &self.catalog())?)
    }
}

/// Everything up to the decision, which is made against the latest state.
pub(super) fn decide(
    request: BatchWriteItem,
    catalog: &Catalog,
) -> Result<impl Decide<BatchWriteItemReply> + use<>, ApiError> {
    let checked = check(request)?;
    let bound = bind(checked, catalog)?;
    Ok(move |latest: &Latest<'_>| write(&bound, latest))
}

struct Checked {
    tables: Vec<(String, Vec<ItemRequest>)>,
    asked: Asked,
}

/// Exactly one of the two members of a WriteRequest.
enum ItemRequest {
    Put(StoredItem),
    Delete(Item),
}

struct Asked {
    capacity: Option<Choice<ReturnConsumedCapacity>>,
    metrics: Option<Choice<ReturnItemCollectionMetrics>>,
}

struct Bound {
    tables: Vec<BoundTable>,
    asked: Asked,
}

struct BoundTable {
    name: String,
    table: Arc<Table>,
    writes: Vec<ItemWrite>,
}

fn check(mut request: BatchWriteItem) -> Result<Checked, ApiError> {
    request.check_fields()?;
    let asked_tables = request.request_items.take().unwrap_or_default();
    if asked_tables.is_empty() {
        return Err(ApiError::validation("The requestItems parameter is required for BatchWriteItem"));
    }
    if asked_tables.values().map(Vec::len).sum::<usize>() > WRITES_MAX {
        return Err(ApiError::validation("Too many items requested for the BatchWriteItem call"));
    }
    let mut tables = Vec::with_capacity(asked_tables.len());
    for (name, requests) in asked_tables {
        let requests = requests.into_iter().map(check_request).collect::<Result<_, _>>()?;
        tables.push((name, requests));
    }
    let asked =
        Asked { capacity: request.return_consumed_capacity, metrics: request.return_item_collection_metrics };
    Ok(Checked { tables, asked })
}

fn check_request(request: WriteRequest) -> Result<ItemRequest, ApiError> {
    match (request.put_request, request.delete_request) {
        (Some(put), None) => {
            put.faults.check("Item")?;
            let item = put.item.unwrap_or_default();
            if item.size_bytes() > ITEM_BYTES_MAX {
                return Err(ApiError::validation(ITEM_TOO_LARGE));
            }
            Ok(ItemRequest::Put(item))
        }
        (None, Some(delete)) => {
            delete.faults.check("Key")?;
            Ok(ItemRequest::Delete(delete.key.unwrap_or_default()))
        }
        _ => Err(ApiError::validation(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
        )),
    }
}

fn bind(checked: Checked, catalog: &Catalog) -> Result<Bound, ApiError> {
    let mut tables = Vec::with_capacity(checked.tables.len());
    for (name, requests) in checked.tables {
        let table = find_table(catalog, Some(&name))?;
        let writes =
            requests.into_iter().map(|request| bind_write(&table, request)).collect::<Result<Vec<_>, _>>()?;
        if has_item_twice(writes.iter()) {
            return Err(ApiError::validation(DUPLICATE_KEYS));
        }
        tables.push(BoundTable { name, table, writes });
    }
    Ok(Bound { tables, asked: checked.asked })
}

fn bind_write(table: &Arc<Table>, request: ItemRequest) -> Result<ItemWrite, ApiError> {
    let (key, action) = match request {
        ItemRequest::Put(item) => {
            let key = check_batch_key(table, &item)?;
            check_index_keys(table, |name| item.get(name))?;
            (key, Action::Put(item))
        }
        ItemRequest::Delete(key) => (check_key(table, &key)?, Action::Delete),
    };
    Ok(ItemWrite { table: table.clone(), key, action, condition: None })
}

// A batch says less than a put about a key attribute that is missing or of another type. Seen on DynamoDB by others; script
// batch_write_item/rejections.txt.
fn check_batch_key(table: &Table, item: &StoredItem) -> Result<ItemKey, ApiError> {
    let has_type = |attribute: &KeyAttribute| {
        let value = item.get(&attribute.name).and_then(KeyValue::from_stored);
        value.is_some_and(|value| value.key_type() == attribute.key_type)
    };
    if !table.schema.attributes().all(has_type) {
        return Err(ApiError::validation(KEY_MISMATCH));
    }
    check_item_key(table, item)
}

fn write(bound: &Bound, latest: &Latest<'_>) -> Result<(BatchWriteItemReply, Changes), Fault> {
    let mut changes = Changes::default();
    let mut capacities = Vec::new();
    let mut metrics = BTreeMap::new();
    for table in &bound.tables {
        let written = table
            .writes
            .iter()
            .map(|write| write.decide(latest).map_err(|refusal| refusal.into_fault(false)))
            .collect::<Result<Vec<_>, _>>()?;
        for written in &written {
            written.add_to(&mut changes, latest)?;
        }
        capacities.extend(capacity_of(&table.table, &written, bound.asked.capacity.as_ref()));
        let collections = metrics_of(&written, bound.asked.metrics.as_ref(), &changes, latest)?;
        if !collections.is_empty() {
            metrics.insert(table.name.clone(), collections);
        }
    }
    let reply = BatchWriteItemReply {
        unprocessed_items: Some(BTreeMap::new()),
        item_collection_metrics: (!metrics.is_empty()).then_some(metrics),
        consumed_capacity: is_asked(bound.asked.capacity.as_ref()).then_some(capacities),
    };
    Ok((reply, changes))
}

fn capacity_of(
    table: &Table,
    written: &[Written],
    wanted: Option<&Choice<ReturnConsumedCapacity>>,
) -> Option<ConsumedCapacity> {
    if !is_asked(wanted) {
        return None;
    }
    let mut units = Units::default();
    for written in written {
        units.add(Units::of_write(&written.change(), 1.0));
    }
    consumed(wanted, table, &units, Detail::Plain)
}

fn metrics_of(
    written: &[Written],
    wanted: Option<&Choice<ReturnItemCollectionMetrics>>,
    changes: &Changes,
    latest: &Latest<'_>,
) -> Result<Vec<ItemCollectionMetrics>, Fault> {
    let mut metrics: Vec<ItemCollectionMetrics> = Vec::new();
    for written in written {
        let found = item_collection_metrics(wanted, written, changes, latest)?;
        metrics.extend(found.filter(|found| !metrics.contains(found)));
    }
    Ok(metrics)
}
