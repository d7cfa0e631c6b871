//! What follows from changing one item: its entries in every index, its stream record, its expiry, its history, the totals and the
//! size of its item collection.
//!
//! Always true: the index entries in the store are exactly those that the items imply, as far as the index is filled. An entry is touched only if it changes.

use dynamo::StoredItem;

use crate::collection;
use crate::commit::{Changes, Latest};
use crate::fault::Fault;
use crate::history;
use crate::index_entry::IndexEntry;
use crate::layout::{ItemKey, expiry_key};
use crate::record::{Author, Record};
use crate::store::{Snapshot, Space};
use crate::table::{Index, Table};
use crate::totals::TotalsChange;

/// One item before and after a write.
pub(crate) struct ItemChange<'a> {
    pub(crate) table: &'a Table,
    pub(crate) key: &'a ItemKey,
    pub(crate) old: Option<&'a StoredItem>,
    pub(crate) new: Option<&'a StoredItem>,
}

/// Bytes that a write put into or took from an index: what capacity is counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexWork {
    pub(crate) removed_bytes: Option<usize>,
    pub(crate) written_bytes: Option<usize>,
}

impl ItemChange<'_> {
    /// Adds the change and everything that follows from it.
    pub(crate) fn add_to(
        &self,
        changes: &mut Changes,
        author: Author,
        latest: &Latest<'_>,
    ) -> Result<(), Fault> {
        if self.old == self.new {
            return Ok(());
        }
        collection::add_size(self, changes, latest)?;
        self.add_item(changes);
        for index in self.table.written_indexes().filter(|index| index.covers(self.key)) {
            self.add_index(changes, index, latest.snapshot());
        }
        self.add_expiry(changes);
        if let Some(stream) = &self.table.stream {
            let now_milliseconds = latest.now_milliseconds;
            let record =
                Record::of_change(self.table, stream.view, self.old, self.new, author, now_milliseconds);
            changes.records.extend(record.map(|record| (stream.id, record.encode())));
        }
        if let Some(history) = self.table.history {
            changes.records.push((history, history::encode(latest.history_milliseconds, self.key, self.old)));
        }
        Ok(())
    }

    fn add_item(&self, changes: &mut Changes) {
        let key = self.key.in_collection(self.table.id);
        match self.new {
            Some(item) => changes.batch.put(Space::Data, key, item.as_bytes().clone()),
            None => changes.batch.remove(Space::Data, key),
        }
        let size = |item: &StoredItem| item.size_bytes();
        changes.totals.push((self.table.id, TotalsChange::replacing(self.old.map(size), self.new.map(size))));
    }

    fn add_index(&self, changes: &mut Changes, index: &Index, snapshot: &Snapshot) {
        let old = self.old.and_then(|item| IndexEntry::of(self.table, index, item, self.key));
        let new = self.new.and_then(|item| IndexEntry::of(self.table, index, item, self.key));
        if old == new {
            return;
        }
        let size = |entry: &IndexEntry| entry.item.size_bytes();
        let change = TotalsChange::replacing(old.as_ref().map(size), new.as_ref().map(size));
        changes.totals.push((index.id, change));
        let refers = |entry: &IndexEntry| entry.refers(index, snapshot);
        match (old, new) {
            // It refers to the item before and after.
            (Some(old), Some(new)) if old.key == new.key && refers(&old) && refers(&new) => {}
            (old, new) => {
                if let Some(old) = old.filter(|old| new.as_ref().is_none_or(|new| new.key != old.key)) {
                    changes.batch.remove(Space::Data, old.key);
                }
                if let Some(new) = new {
                    let value = new.value(self.table, index, self.key, snapshot);
                    changes.batch.put(Space::Data, new.key, value);
                }
            }
        }
    }

    fn add_expiry(&self, changes: &mut Changes) {
        let Some(ttl) = &self.table.time_to_live else { return };
        let expiry = |item: Option<&StoredItem>| item.and_then(|item| expiry_seconds(item, &ttl.attribute));
        let (old, new) = (expiry(self.old), expiry(self.new));
        if old == new {
            return;
        }
        if let Some(seconds) = old {
            changes.batch.remove(Space::Data, expiry_key(ttl.id, seconds, self.key));
        }
        if let Some(seconds) = new {
            changes.batch.put(Space::Data, expiry_key(ttl.id, seconds, self.key), bytes::Bytes::new());
        }
    }

    /// What the change does to an index, in bytes.
    pub(crate) fn index_work(&self, index: &Index) -> IndexWork {
        let old = self.old.and_then(|item| IndexEntry::of(self.table, index, item, self.key));
        let new = self.new.and_then(|item| IndexEntry::of(self.table, index, item, self.key));
        if old == new {
            return IndexWork::default();
        }
        let size = |entry: &IndexEntry| entry.item.size_bytes();
        match (&old, &new) {
            // The entry stays where it is: one write of the larger.
            (Some(old), Some(new)) if old.key == new.key => {
                IndexWork { removed_bytes: None, written_bytes: Some(size(old).max(size(new))) }
            }
            _ => IndexWork { removed_bytes: old.as_ref().map(size), written_bytes: new.as_ref().map(size) },
        }
    }
}

/// The second in which an item expires: a number in the attribute, at or after the epoch.
pub(crate) fn expiry_seconds(item: &StoredItem, attribute: &str) -> Option<u64> {
    let dynamo::Shape::N(number) = item.get(attribute)?.shape() else { return None };
    let number = number.to_number();
    let seconds = u64::try_from(number.truncated_to_i64()?).ok()?;
    // Never early: an item with a fraction of a second expires when that second is over.
    Some(if number.to_i64().is_some() { seconds } else { seconds.saturating_add(1) })
}
