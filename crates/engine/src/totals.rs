//! How many items a table or index holds and how large they are: kept exact with every commit, so that describing a table never counts.

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::layout::CollectionId;
use crate::meta::{self, MetaKey};
use crate::store::{Batch, Snapshot, Space, StoreError};

/// Items and bytes, or what is added to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TotalsChange {
    pub(crate) items: i64,
    pub(crate) bytes: i64,
}

impl TotalsChange {
    /// What replacing an entry of one size by one of another changes.
    pub(crate) fn replacing(old_bytes: Option<usize>, new_bytes: Option<usize>) -> TotalsChange {
        let bytes = |size: Option<usize>| size.map_or(0, |size| i64::try_from(size).unwrap_or(i64::MAX));
        TotalsChange {
            items: i64::from(new_bytes.is_some()) - i64::from(old_bytes.is_some()),
            bytes: bytes(new_bytes) - bytes(old_bytes),
        }
    }

    pub(crate) fn add(&mut self, other: TotalsChange) {
        self.items += other.items;
        self.bytes += other.bytes;
    }

    fn encode(self) -> Bytes {
        let mut bytes = Vec::with_capacity(16);
        bytes.extend_from_slice(&self.items.to_be_bytes());
        bytes.extend_from_slice(&self.bytes.to_be_bytes());
        Bytes::from(bytes)
    }

    fn decode(bytes: &[u8]) -> Option<TotalsChange> {
        let (items, size) = bytes.split_first_chunk()?;
        Some(TotalsChange {
            items: i64::from_be_bytes(*items),
            bytes: i64::from_be_bytes(*size.first_chunk()?),
        })
    }
}

/// The totals of all collections.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    by_collection: FxHashMap<CollectionId, TotalsChange>,
}

/// New totals of the collections that a group changed.
pub(crate) struct ChangedTotals(Vec<(CollectionId, TotalsChange)>);

impl Totals {
    /// Reads the totals of all collections.
    pub(crate) fn load(snapshot: &Snapshot) -> Result<Totals, StoreError> {
        let mut totals = Totals::default();
        for entry in meta::entries(snapshot, MetaKey::TOTALS) {
            let (key, value) = entry?;
            if let (Some(id), Some(value)) = (meta::collection_of(&key), TotalsChange::decode(&value)) {
                totals.by_collection.insert(id, value);
            }
        }
        Ok(totals)
    }

    /// True where no totals are stored: in memory, or where nothing was ever written.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_collection.is_empty()
    }

    /// The totals of a collection.
    pub(crate) fn of(&self, id: CollectionId) -> TotalsChange {
        self.by_collection.get(&id).copied().unwrap_or_default()
    }

    /// What the totals will be after these changes.
    pub(crate) fn changed(&self, mut changes: Vec<(CollectionId, TotalsChange)>) -> ChangedTotals {
        for (id, change) in &mut changes {
            change.add(self.of(*id));
        }
        ChangedTotals(changes)
    }

    /// Takes over totals that are in the store by now.
    pub(crate) fn replace(&mut self, changed: ChangedTotals) {
        self.by_collection.extend(changed.0);
    }
}

impl ChangedTotals {
    /// Adds the new totals to a batch.
    pub(crate) fn put(&self, batch: &mut Batch) {
        for (id, total) in &self.0 {
            batch.put(Space::Meta, meta::collection_key(MetaKey::TOTALS, *id), total.encode());
        }
    }
}
