//! Item collections: the items of one partition in a table with local indexes, together with their entries in these.
//!
//! Always true: a change to an item changes the size of its collection in the same commit. A size that is not stored is
//! counted from what is there: the collection is empty, or was last written before sizes were kept.
//!
//! Path of a size: `add_size` (when an item changes) -> `Changes` -> the meta space; `size_bytes` reads it back.

use bytes::Bytes;
use dynamo::operation::{ItemCollectionMetrics, ReturnItemCollectionMetrics};
use dynamo::{ApiError, Choice, ErrorKind, StoredItem};

use crate::change::ItemChange;
use crate::commit::{Changes, Latest};
use crate::fault::Fault;
use crate::index_entry::{projected_size, shown_item};
use crate::layout::{CollectionId, KeyRange, KeySource as _, partition_prefix_of};
use crate::meta::{self, MetaKey};
use crate::page::key_attributes;
use crate::store::{Direction, Snapshot, Space, StoreError};
use crate::table::Table;
use crate::write::Written;

/// The largest item collection.
pub(crate) const BYTES_MAX: u64 = 10 * BYTES_PER_GB;

const BYTES_PER_GB: u64 = 1 << 30;

/// Adds what a change does to the size of its collection. A collection that is too large may only shrink.
pub(crate) fn add_size(
    change: &ItemChange<'_>,
    changes: &mut Changes,
    latest: &Latest<'_>,
) -> Result<(), Fault> {
    let Some(key) = size_key(change.table, change.new.or(change.old)) else { return Ok(()) };
    let size = |item: Option<&StoredItem>| item.map_or(0, |item| collected_bytes(change.table, item));
    let (old, new) = (size(change.old), size(change.new));
    if old == new {
        return Ok(());
    }
    let total = (stored_bytes(change.table, &key, changes, latest)? + new).saturating_sub(old);
    if new > old && total > latest.item_collection_bytes_max {
        return Err(too_large().into());
    }
    changes.collections.insert(key, total);
    Ok(())
}

/// An item with its entries in local indexes.
fn collected_bytes(table: &Table, item: &StoredItem) -> u64 {
    let entries = table.local_indexes().map(|index| projected_size(table, index, item));
    (item.size_bytes() + entries.sum::<usize>()) as u64
}

/// Where the size of an item's collection stands; only tables with local indexes have collections.
fn size_key(table: &Table, item: Option<&StoredItem>) -> Option<Bytes> {
    table.local_indexes().next()?;
    let item = item?;
    let values = table.schema.partition.iter().filter_map(|attribute| item.key_value(&attribute.name));
    Some(meta::key(MetaKey::COLLECTION_BYTES, &partition_prefix_of(table.id, values)))
}

/// The size with everything that this task and those before it decided.
fn stored_bytes(
    table: &Table,
    key: &Bytes,
    changes: &Changes,
    latest: &Latest<'_>,
) -> Result<u64, StoreError> {
    if let Some(bytes) = changes.collections.get(key) {
        return Ok(*bytes);
    }
    match latest.get(Space::Meta, key)?.as_ref().and_then(decode) {
        Some(bytes) => Ok(bytes),
        // A task of this group emptied the collection; the snapshot from before the group does not know.
        None if latest.was_touched(Space::Meta, key) => Ok(0),
        None => count_bytes(table, key, latest.snapshot()),
    }
}

fn count_bytes(table: &Table, key: &[u8], snapshot: &Snapshot) -> Result<u64, StoreError> {
    let ids = std::iter::once(table.id).chain(table.local_indexes().map(|index| index.id));
    let mut bytes = 0;
    for id in ids {
        let range = KeyRange::of_prefix(&in_collection(key, id));
        let (lower, upper) = range.bounds();
        for entry in snapshot.range(Space::Data, lower, upper, Direction::Forward) {
            let (key, value) = entry?;
            bytes += shown_item(snapshot, &key, value)?.size_bytes() as u64;
        }
    }
    Ok(bytes)
}

/// The start of the keys that a table or local index has in the partition that the key of a size is about.
fn in_collection(key: &[u8], id: CollectionId) -> Vec<u8> {
    let id = id.0.to_be_bytes();
    let partition = key.get(1 + id.len()..).unwrap_or_default();
    [&id[..], partition].concat()
}

/// A size as it is stored; none for an empty collection, so that nothing is left of it.
pub(crate) fn encode(bytes: u64) -> Option<Bytes> {
    (bytes > 0).then(|| Bytes::copy_from_slice(&bytes.to_be_bytes()))
}

fn decode(stored: &Bytes) -> Option<u64> {
    stored.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

fn too_large() -> ApiError {
    ApiError::new(ErrorKind::ItemCollectionSizeLimitExceeded, "Collection size exceeded.")
}

/// The answer to ReturnItemCollectionMetrics, after the write was added to the changes.
pub(crate) fn item_collection_metrics(
    wanted: Option<&Choice<ReturnItemCollectionMetrics>>,
    written: &Written,
    changes: &Changes,
    latest: &Latest<'_>,
) -> Result<Option<ItemCollectionMetrics>, Fault> {
    let is_wanted = wanted.is_some_and(|wanted| *wanted == ReturnItemCollectionMetrics::Size);
    let Some(item) = written.new.as_ref().or(written.old.as_ref()).filter(|_| is_wanted) else {
        return Ok(None);
    };
    let Some(key) = size_key(&written.table, Some(item)) else { return Ok(None) };
    let gigabytes = stored_bytes(&written.table, &key, changes, latest)? / BYTES_PER_GB;
    let names = written.table.schema.partition.iter().map(|attribute| attribute.name.as_str());
    Ok(Some(ItemCollectionMetrics {
        item_collection_key: Some(key_attributes(item, names)),
        size_estimate_range_gb: Some(vec![as_float(gigabytes), as_float(gigabytes + 1)]),
    }))
}

fn as_float(gigabytes: u64) -> f64 {
    f64::from(u32::try_from(gigabytes).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
