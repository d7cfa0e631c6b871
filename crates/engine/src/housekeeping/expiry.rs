//! Removes items whose time has come.
//!
//! Always true: an item is removed only if, in the commit that removes it, its attribute still says the second that is over.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use dynamo::StoredItem;

use super::{STEP_BYTES_MAX, STEP_WRITES_MAX};
use crate::change::{ItemChange, expiry_seconds};
use crate::commit::{Changes, Latest, View};
use crate::engine::Inner;
use crate::fault::Fault;
use crate::layout::{CollectionId, KeyRange, after_prefix, parse_expiry_key};
use crate::record::Author;
use crate::store::{Direction, Space, StoreError};
use crate::table::Table;

/// Items that expired longer ago than this are left alone, as DynamoDB does: so old a time is likely a mistake.
const OLDEST_SECONDS: u64 = 5 * 365 * 24 * 60 * 60;

/// Removes some items of every table that has some to remove.
pub(super) fn step(inner: &Inner) -> Result<bool, Fault> {
    let view = inner.committer.view();
    let now_seconds = u64::try_from(inner.committer.now_milliseconds() / 1000).unwrap_or_default();
    let mut worked = false;
    for table in view.catalog.readable_tables().filter(|table| table.time_to_live.is_some()) {
        let due = find_due(&view, table, now_seconds)?;
        if due.is_empty() {
            continue;
        }
        let table = table.clone();
        inner.committer.run(move |latest| remove(&table, &due, latest))?;
        worked = true;
    }
    Ok(worked)
}

/// The expiry entries whose second is over, the oldest first.
fn find_due(view: &View, table: &Table, now_seconds: u64) -> Result<Vec<Bytes>, StoreError> {
    let Some(ttl) = &table.time_to_live else { return Ok(Vec::new()) };
    let lower = second_prefix(ttl.id, now_seconds.saturating_sub(OLDEST_SECONDS));
    let range = KeyRange {
        lower: Bound::Included(Bytes::from(lower)),
        upper: Bound::Excluded(after_prefix(&second_prefix(ttl.id, now_seconds))),
    };
    let (lower, upper) = range.bounds();
    let due = view.snapshot.range(Space::Data, lower, upper, Direction::Forward);
    due.take(STEP_WRITES_MAX).map(|entry| Ok(entry?.0)).collect()
}

fn second_prefix(id: CollectionId, second: u64) -> Vec<u8> {
    let mut prefix = id.0.to_be_bytes().to_vec();
    prefix.extend_from_slice(&second.to_be_bytes());
    prefix
}

/// Removes the items of these entries if they still expire in that second.
fn remove(table: &Arc<Table>, due: &[Bytes], latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let mut changes = Changes::default();
    let Some(table) = latest.catalog.current(table) else { return Ok(((), changes)) };
    let Some(ttl) = &table.time_to_live else { return Ok(((), changes)) };
    for entry in due.iter().filter(|entry| KeyRange::of_collection(ttl.id).contains(entry)) {
        if changes.batch.size_bytes() >= STEP_BYTES_MAX {
            break;
        }
        let Some((second, key)) = parse_expiry_key(entry) else { continue };
        let item = latest.get(Space::Data, &key.in_collection(table.id))?.map(StoredItem::from_bytes);
        match item.filter(|item| expiry_seconds(item, &ttl.attribute) == Some(second)) {
            Some(item) => ItemChange { table, key: &key, old: Some(&item), new: None }.add_to(
                &mut changes,
                Author::Expiry,
                latest,
            )?,
            // Writes take their old entry along, so there is none without its item; should there be one, it goes.
            None => changes.batch.remove(Space::Data, entry.clone()),
        }
    }
    Ok(((), changes))
}
