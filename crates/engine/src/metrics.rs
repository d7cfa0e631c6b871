//! Counts of what the engine does, cheap enough to be kept always.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::layout::CollectionId;

/// Running counts; read them with [`crate::Engine::metrics`].
#[derive(Debug, Default)]
pub struct Metrics {
    groups: AtomicU64,
    tasks: AtomicU64,
    syncs: AtomicU64,
    sync_nanoseconds: AtomicU64,
    /// For each stream that was read since the start, the place after the last record that any reader was given.
    read_to: Mutex<FxHashMap<CollectionId, u64>>,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricsSnapshot {
    /// Commit groups.
    pub groups: u64,
    /// Writes in them.
    pub writes: u64,
    /// Syncs of the disk.
    pub syncs: u64,
    /// Time spent in them.
    pub sync_nanoseconds: u64,
}

impl Metrics {
    pub(crate) fn group(&self, tasks: usize) {
        self.groups.fetch_add(1, Relaxed);
        self.tasks.fetch_add(tasks as u64, Relaxed);
    }

    pub(crate) fn sync(&self, time: Duration) {
        self.syncs.fetch_add(1, Relaxed);
        self.sync_nanoseconds.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    /// Notes that a reader was given all records of a stream before this place.
    pub(crate) fn stream_read(&self, stream: CollectionId, place: u64) {
        let mut read_to = self.read_to.lock();
        let known = read_to.entry(stream).or_default();
        *known = place.max(*known);
    }

    /// The place after the last record of a stream that any reader was given.
    pub(crate) fn stream_read_to(&self, stream: CollectionId) -> Option<u64> {
        self.read_to.lock().get(&stream).copied()
    }

    pub(crate) fn read(&self) -> MetricsSnapshot {
        MetricsSnapshot {
            groups: self.groups.load(Relaxed),
            writes: self.tasks.load(Relaxed),
            syncs: self.syncs.load(Relaxed),
            sync_nanoseconds: self.sync_nanoseconds.load(Relaxed),
        }
    }
}
