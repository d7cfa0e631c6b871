//! What an index holds of an item.
//!
//! An entry holds a copy of what the index projects, so that a query reads neighbours. Where that is the whole of a larger item, the
//! entry refers to the item instead: the item is written once, and an update that leaves the key of the entry alone does not touch the
//! index. In memory a copy shares the bytes of the item, so nothing is gained by a reference, and there is none.
//!
//! ```text
//! copy       what is projected, as items are stored; it never begins with 0, which would be an item of no bytes
//! reference  0  id and hash of the item's key  length of the rest of that key (2 bytes): the key of the entry ends with it
//! ```
//!
//! Always true: an entry refers exactly if [`IndexEntry::refers`] says so of the item as it is now.

use bytes::Bytes;
use dynamo::StoredItem;

use crate::layout::{ItemKey, index_entry_key};
use crate::store::{Snapshot, Space, StoreError};
use crate::table::{Entries, Index, Projection, Table};

/// A larger item is not copied into an entry. A copy costs its bytes in the journal, in memory and in each merge; a reference costs a
/// look-up for each item that a query answers (docs/decisions/0075).
const COPIED_BYTES_MAX: usize = 512;

const REFERENCE: u8 = 0;

/// An entry of an index: where it is and what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub(crate) key: Bytes,
    pub(crate) item: StoredItem,
}

impl IndexEntry {
    /// The entry that an item has in an index, if it has one.
    pub(crate) fn of(
        table: &Table,
        index: &Index,
        item: &StoredItem,
        item_key: &ItemKey,
    ) -> Option<IndexEntry> {
        let key = index_entry_key(index.id, &index.schema, item, item_key)?;
        Some(IndexEntry { key, item: projected(table, index, item) })
    }

    /// Whether the entry refers to its item instead of holding a copy.
    pub(crate) fn refers(&self, index: &Index, snapshot: &Snapshot) -> bool {
        index.entries == Entries::MayRefer
            && index.projection == Projection::All
            && self.item.size_bytes() > COPIED_BYTES_MAX
            && !snapshot.shares_values()
    }

    /// The value to store under the key.
    pub(crate) fn value(
        &self,
        table: &Table,
        index: &Index,
        item_key: &ItemKey,
        snapshot: &Snapshot,
    ) -> Bytes {
        if self.refers(index, snapshot) { reference(table, item_key) } else { self.item.as_bytes().clone() }
    }
}

/// The size of the entry that an item has in an index; nothing if it has none.
pub(crate) fn projected_size(table: &Table, index: &Index, item: &StoredItem) -> usize {
    let is_indexed = index.schema.attributes().all(|attribute| item.get(&attribute.name).is_some());
    match &index.projection {
        _ if !is_indexed => 0,
        Projection::All => item.size_bytes(),
        _ => projected(table, index, item).size_bytes(),
    }
}

fn projected(table: &Table, index: &Index, item: &StoredItem) -> StoredItem {
    let is_key = |name: &[u8]| table.schema.contains(name) || index.schema.contains(name);
    match &index.projection {
        Projection::All => item.clone(),
        Projection::KeysOnly => item.filtered(is_key),
        Projection::Include(names) => {
            item.filtered(|name| is_key(name) || names.iter().any(|included| included.as_bytes() == name))
        }
    }
}

fn reference(table: &Table, item_key: &ItemKey) -> Bytes {
    let (head, rest) = item_key.split_in_collection(table.id);
    let rest_bytes =
        u16::try_from(rest.len()).expect("a key has at most some 6 KB: 2 KB and 1 KB, and zeros escaped");
    let mut value = Vec::with_capacity(1 + head.len() + 2);
    value.push(REFERENCE);
    value.extend_from_slice(&head);
    value.extend_from_slice(&rest_bytes.to_be_bytes());
    Bytes::from(value)
}

/// The item that is stored under a key, or that the entry there shows.
pub(crate) fn shown_item(snapshot: &Snapshot, key: &[u8], value: Bytes) -> Result<StoredItem, StoreError> {
    if value.first() != Some(&REFERENCE) {
        return Ok(StoredItem::from_bytes(value));
    }
    let item_key =
        referred_key(key, &value).ok_or_else(|| StoreError::corrupt("an index entry cannot be read"))?;
    let item = snapshot.get(Space::Data, &item_key)?;
    item.map(StoredItem::from_bytes)
        .ok_or_else(|| StoreError::corrupt("an index entry refers to an item that is not there"))
}

/// The key of the item that an entry refers to.
fn referred_key(key: &[u8], reference: &[u8]) -> Option<Vec<u8>> {
    let (head, rest_bytes) = reference.get(1..)?.split_last_chunk()?;
    let rest_start = key.len().checked_sub(usize::from(u16::from_be_bytes(*rest_bytes)))?;
    Some([head, key.get(rest_start..)?].concat())
}

#[cfg(test)]
mod tests;
