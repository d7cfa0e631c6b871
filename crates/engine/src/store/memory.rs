//! A store in memory: persistent ordered maps, for tests and throw-away servers.
//!
//! Always true: a snapshot shares all nodes with the maps and costs a few reference counts. A write changes nodes in
//! place unless a living snapshot shares them; then it copies the path from the root to the entry, once. So writing is
//! fastest when snapshots are let go before the next batch is applied.

mod tree;

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;
use tree::{Tree, TreeRange};

use super::{Batch, Direction, Snapshot, Space, Store, StoreError};

/// A store that is gone when it is dropped.
#[derive(Default)]
pub(crate) struct MemoryStore {
    maps: RwLock<Arc<Maps>>,
}

#[derive(Default, Clone)]
struct Maps {
    data: Tree,
    log: Tree,
    meta: Tree,
    last_commit: u64,
}

impl Maps {
    fn of(&self, space: Space) -> &Tree {
        match space {
            Space::Data => &self.data,
            Space::Log => &self.log,
            Space::Meta => &self.meta,
        }
    }

    fn of_mut(&mut self, space: Space) -> &mut Tree {
        match space {
            Space::Data => &mut self.data,
            Space::Log => &mut self.log,
            Space::Meta => &mut self.meta,
        }
    }
}

impl MemoryStore {
    /// An empty store.
    pub(crate) fn new() -> MemoryStore {
        MemoryStore::default()
    }
}

impl Store for MemoryStore {
    fn snapshot(&self) -> Snapshot {
        Snapshot::Memory(MemorySnapshot { maps: self.maps.read().clone() })
    }

    fn apply(&self, batch: Batch) -> Result<u64, StoreError> {
        let mut maps = self.maps.write();
        let maps = Arc::make_mut(&mut maps);
        maps.last_commit += u64::from(!batch.is_empty());
        for write in batch {
            let map = maps.of_mut(write.space);
            match write.value {
                Some(value) => map.insert(write.key, value),
                None => map.remove(&write.key),
            }
        }
        Ok(maps.last_commit)
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn sync(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn reopen(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn failure(&self) -> Option<StoreError> {
        None
    }

    fn last_commit(&self) -> u64 {
        self.maps.read().last_commit
    }

    fn size_bytes(&self) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// A frozen view of the maps.
#[derive(Clone)]
pub(crate) struct MemorySnapshot {
    maps: Arc<Maps>,
}

impl MemorySnapshot {
    pub(super) fn get(&self, space: Space, key: &[u8]) -> Option<Bytes> {
        self.maps.of(space).get(key).cloned()
    }

    pub(super) fn range(
        &self,
        space: Space,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        direction: Direction,
    ) -> MemoryRange<'_> {
        MemoryRange(self.maps.of(space).range(lower, upper, direction == Direction::Reverse))
    }
}

/// The entries of a range of a map.
pub(crate) struct MemoryRange<'a>(TreeRange<'a>);

impl Iterator for MemoryRange<'_> {
    type Item = (Bytes, Bytes);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.clone(), value.clone()))
    }
}
