//! Fills indexes and expiry lists that were added to a table with items.
//!
//! Always true: an index that is being filled holds exactly the entries of the items up to the place that the catalog remembers. A step
//! reads the items after it, adds their entries and moves the place in one commit; writes to items before it keep their entries as
//! always, writes to items after it leave the index alone. So nothing is counted twice, and after a crash it goes on where it was.

use std::sync::Arc;

use bytes::Bytes;
use dynamo::StoredItem;

use super::{STEP_BYTES_MAX, STEP_WRITES_MAX};
use crate::catalog::CatalogChange;
use crate::change::expiry_seconds;
use crate::commit::{Changes, Latest};
use crate::engine::Inner;
use crate::fault::Fault;
use crate::index_entry::IndexEntry;
use crate::layout::{CollectionId, ItemKey, KeyRange, expiry_key};
use crate::store::{Direction, Snapshot, Space, StoreError};
use crate::table::{Index, IndexState, Table, TimeToLive};
use crate::totals::TotalsChange;

/// Fills a little of everything that is being filled.
pub(super) fn step(inner: &Inner) -> Result<bool, Fault> {
    let catalog = inner.committer.catalog();
    let mut worked = false;
    for table in catalog.readable_tables().filter(|table| table.is_filling()) {
        let table = table.clone();
        inner.committer.run_alone(move |latest| fill(&table, latest))?;
        worked = true;
    }
    Ok(worked)
}

/// One step: of an index, or of the expiry list once all indexes are full.
fn fill(table: &Arc<Table>, latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let mut changes = Changes::default();
    let Some(table) = latest.catalog.current(table) else { return Ok(((), changes)) };
    let mut next = Table::clone(table);
    let creating = next.indexes.iter_mut().find(|index| index.state == IndexState::Creating);
    if let Some(index) = creating {
        fill_index(table, index, latest.snapshot(), &mut changes)?;
    } else if let Some(ttl) = next.time_to_live.as_mut().filter(|ttl| ttl.filling) {
        fill_expiry(table, ttl, latest.snapshot(), &mut changes)?;
    } else {
        return Ok(((), changes));
    }
    changes.catalog.push(CatalogChange::Put(Arc::new(next)));
    Ok(((), changes))
}

fn fill_index(
    table: &Table,
    index: &mut Index,
    snapshot: &Snapshot,
    changes: &mut Changes,
) -> Result<(), StoreError> {
    let page = items_after(table.id, index.filled_to.as_ref(), snapshot)?;
    for (key, item) in &page.items {
        // An item whose attribute has another type than the index's key is left out, as DynamoDB does.
        let Some(entry) = IndexEntry::of(table, index, item, key) else { continue };
        changes.totals.push((index.id, TotalsChange::replacing(None, Some(entry.item.size_bytes()))));
        let value = entry.value(table, index, key, snapshot);
        changes.batch.put(Space::Data, entry.key, value);
    }
    if page.is_last {
        (index.state, index.filled_to) = (IndexState::Active, None);
    } else {
        index.filled_to = page.last_key();
    }
    Ok(())
}

fn fill_expiry(
    table: &Table,
    ttl: &mut TimeToLive,
    snapshot: &Snapshot,
    changes: &mut Changes,
) -> Result<(), StoreError> {
    let page = items_after(table.id, ttl.filled_to.as_ref(), snapshot)?;
    for (key, item) in &page.items {
        // Putting an entry that a write has put already changes nothing.
        if let Some(second) = expiry_seconds(item, &ttl.attribute) {
            changes.batch.put(Space::Data, expiry_key(ttl.id, second, key), Bytes::new());
        }
    }
    if page.is_last {
        (ttl.filling, ttl.filled_to) = (false, None);
    } else {
        ttl.filled_to = page.last_key();
    }
    Ok(())
}

/// Some items of a table, in the order of the store.
pub(super) struct Page {
    pub(super) items: Vec<(ItemKey, StoredItem)>,
    pub(super) is_last: bool,
}

impl Page {
    pub(super) fn last_key(&self) -> Option<ItemKey> {
        self.items.last().map(|(key, _)| key.clone())
    }
}

/// The next items of a collection, as many as make a step.
pub(super) fn items_after(
    id: CollectionId,
    after: Option<&ItemKey>,
    snapshot: &Snapshot,
) -> Result<Page, StoreError> {
    items_within(id, after, (STEP_WRITES_MAX, STEP_BYTES_MAX), snapshot)
}

/// The next items of a collection: at most so many, and about so many bytes.
pub(super) fn items_within(
    id: CollectionId,
    after: Option<&ItemKey>,
    limits: (usize, usize),
    snapshot: &Snapshot,
) -> Result<Page, StoreError> {
    let (entries, is_last) = entries_within(id, after, limits, snapshot)?;
    let items = entries.into_iter().map(|(key, value)| (key, StoredItem::from_bytes(value))).collect();
    Ok(Page { items, is_last })
}

/// The next entries of a collection as they are stored, and whether they are the last.
pub(super) fn entries_within(
    id: CollectionId,
    after: Option<&ItemKey>,
    (items_max, bytes_max): (usize, usize),
    snapshot: &Snapshot,
) -> Result<(Vec<(ItemKey, Bytes)>, bool), StoreError> {
    let all = KeyRange::of_collection(id);
    let range = match after {
        Some(key) => all.after(key.in_collection(id)),
        None => all,
    };
    let (lower, upper) = range.bounds();
    let mut items = Vec::new();
    let mut bytes = 0;
    for entry in snapshot.range(Space::Data, lower, upper, Direction::Forward) {
        if items.len() >= items_max || bytes >= bytes_max {
            return Ok((items, false));
        }
        let (key, value) = entry?;
        bytes += value.len();
        items.push((ItemKey::of_stored_key(&key), value));
    }
    Ok((items, true))
}
