//! Where bytes live: ordered keys and values, written in atomic batches and read from snapshots.
//!
//! Always true:
//! - A batch is seen whole or not at all, by snapshots and after a crash alike.
//! - A snapshot never changes. Readers never wait for the writer.
//! - What was applied before a successful `sync` is there after any crash. Nothing else is promised.
//! - After a failed `apply` or `sync` no write is accepted until `reopen` succeeds: a batch appended behind a torn
//!   one would be cut off with it when the database is next opened. Reads go on meanwhile.
//! - Nothing outside this folder names the storage crate.
//!
//! Path of a write: `Batch` -> `apply` (in memory) -> `flush` (in the operating system's buffers) or `sync` (on disk).
//! Path of a read: `snapshot` -> `get` or `range`.

mod batch;
mod commits;
mod directory;
mod error;
mod faults;
mod fjall;
mod key;
mod memory;
mod sealed;
mod table_keys;

#[cfg(test)]
mod tests;

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;

pub(crate) use batch::Batch;
#[cfg(test)]
pub(crate) use batch::{KEY_BYTES_MAX, Write};
pub(crate) use error::StoreError;
pub(crate) use faults::Faults;
pub(crate) use fjall::{FjallStore, Load, StoreOptions};
pub(crate) use memory::MemoryStore;
pub(crate) use sealed::{SealedLoad, SealedStore, add_data_key, encrypt, key_status, rewrap};
pub(crate) use table_keys::{Missing, TableKeyId, TableKeys, data_key_of, key_of};

/// The few ordered spaces of keys. Tables share them, told apart by an id at the front of every key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Space {
    /// Items, index entries and TTL entries.
    Data,
    /// Stream records: appended at one end, removed by age at the other.
    Log,
    /// Catalog, counters and idempotency tokens.
    Meta,
}

/// Which end of a range comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Smallest key first.
    Forward,
    /// Largest key first.
    Reverse,
}

/// A place to keep bytes. There is one writer at a time (the commit thread) and any number of readers.
pub(crate) trait Store: Send + Sync {
    /// Everything applied so far, frozen.
    fn snapshot(&self) -> Snapshot;

    /// Applies all of a batch, visible to every later snapshot but not yet durable, and returns its commit number.
    /// An empty batch is no commit.
    ///
    /// After an error other than `Full` the batch may or may not come back with `reopen`; after `Full` it never does.
    fn apply(&self, batch: Batch) -> Result<u64, StoreError>;

    /// Returns once the operating system has everything applied so far: a crash of the process no longer takes it.
    fn flush(&self) -> Result<(), StoreError>;

    /// Returns once everything applied so far is on disk.
    fn sync(&self) -> Result<(), StoreError>;

    /// Makes the next syncs cheaper, if that is due. To be called after those who waited for a sync were answered.
    fn prepare(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Starts again from what is on disk, so that writes are accepted again after a failure.
    ///
    /// Snapshots taken before it answer `Stale` once it has succeeded. If it fails, reads go on as before and it can
    /// be tried again.
    fn reopen(&self) -> Result<(), StoreError>;

    /// Why writes are refused, if they are. Notices failures of background work, too.
    fn failure(&self) -> Option<StoreError>;

    /// The number of the last commit applied: 0 in a new store, then one more with every batch.
    fn last_commit(&self) -> u64;

    /// Removes what was replaced and only snapshots from before this one could see, once there is none of them left. What cannot be removed
    /// stays until it is tried again.
    fn forget_before(&self, _shown: &Snapshot) {}

    /// What the store takes on disk.
    fn size_bytes(&self) -> Result<u64, StoreError>;

    /// Does one small step of a rotation of data keys, if one is under way, and says whether there is more to do.
    fn keep_keys(&self) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// How many pages of how many were looked at, while a rotation of data keys is under way.
    fn key_rotation(&self) -> Option<(u64, u64)> {
        None
    }

    /// The number of the data key that seals now; 0 where nothing is sealed.
    fn data_key(&self) -> u32 {
        0
    }

    /// Reads all files and compares them with their checksums; returns what is wrong with which. What is only in memory has no
    /// files.
    fn check_files(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
}

/// A frozen view of a store. Cloning it costs one reference count.
#[derive(Clone)]
pub(crate) enum Snapshot {
    /// Of a store in memory.
    Memory(memory::MemorySnapshot),
    /// Of a store on disk.
    Disk(fjall::FjallSnapshot),
    /// Of an encrypted store.
    Sealed(sealed::SealedSnapshot),
}

impl Snapshot {
    /// True once the store was opened again: every read answers `Stale`.
    pub(crate) fn is_stale(&self) -> bool {
        match self {
            Snapshot::Memory(_) => false,
            Snapshot::Disk(snapshot) => snapshot.is_stale(),
            Snapshot::Sealed(snapshot) => snapshot.is_stale(),
        }
    }

    /// True where values of the same bytes lie in one place however often they are stored.
    pub(crate) fn shares_values(&self) -> bool {
        matches!(self, Snapshot::Memory(_))
    }

    /// The keys of single tables, where the store has a place for them.
    pub(crate) fn table_keys(&self) -> Option<&Arc<TableKeys>> {
        match self {
            Snapshot::Memory(_) | Snapshot::Disk(_) => None,
            Snapshot::Sealed(snapshot) => Some(snapshot.table_keys()),
        }
    }

    /// The same view, but values that are sealed with the key of a table stay sealed: they can be copied, removed and counted
    /// without that key.
    #[must_use]
    pub(crate) fn unopened(&self) -> Snapshot {
        match self {
            Snapshot::Sealed(snapshot) => Snapshot::Sealed(snapshot.unopened()),
            plain => plain.clone(),
        }
    }

    /// The value stored under a key.
    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        match self {
            Snapshot::Memory(snapshot) => Ok(snapshot.get(space, key)),
            Snapshot::Disk(snapshot) => snapshot.get(space, key),
            Snapshot::Sealed(snapshot) => snapshot.get(space, key),
        }
    }

    /// The entries between two bounds, read as they are asked for. An inverted range is empty.
    pub(crate) fn range(
        &self,
        space: Space,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        direction: Direction,
    ) -> Range<'_> {
        if is_empty_range(lower, upper) {
            return Range::Empty;
        }
        match self {
            Snapshot::Memory(snapshot) => Range::Memory(snapshot.range(space, lower, upper, direction)),
            Snapshot::Disk(snapshot) => Range::Disk(snapshot.range(space, lower, upper, direction)),
            Snapshot::Sealed(snapshot) => {
                Range::Sealed(Box::new(snapshot.range(space, lower, upper, direction)))
            }
        }
    }
}

/// The entries of a range, in its direction.
pub(crate) enum Range<'a> {
    /// Of bounds that leave nothing between them.
    Empty,
    /// Of a store in memory.
    Memory(memory::MemoryRange<'a>),
    /// Of a store on disk.
    Disk(fjall::FjallRange<'a>),
    /// Of an encrypted store.
    Sealed(Box<sealed::SealedRange<'a>>),
}

impl Iterator for Range<'_> {
    type Item = Result<(Bytes, Bytes), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Range::Empty => None,
            Range::Memory(range) => range.next().map(Ok),
            Range::Disk(range) => range.next(),
            Range::Sealed(range) => range.next(),
        }
    }
}

/// Ordered maps differ in what they make of such bounds (some panic), so they never see them.
fn is_empty_range(lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> bool {
    match (lower, upper) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
        (
            Bound::Included(lower) | Bound::Excluded(lower),
            Bound::Included(upper) | Bound::Excluded(upper),
        ) => lower >= upper,
    }
}
