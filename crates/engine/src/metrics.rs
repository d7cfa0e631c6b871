//! Counts of what the engine does, cheap enough to be kept always.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Running counts; read them with [`crate::Engine::metrics`].
#[derive(Debug, Default)]
pub struct Metrics {
    groups: AtomicU64,
    tasks: AtomicU64,
    syncs: AtomicU64,
    sync_nanoseconds: AtomicU64,
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

    pub(crate) fn read(&self) -> MetricsSnapshot {
        MetricsSnapshot {
            groups: self.groups.load(Relaxed),
            writes: self.tasks.load(Relaxed),
            syncs: self.syncs.load(Relaxed),
            sync_nanoseconds: self.sync_nanoseconds.load(Relaxed),
        }
    }
}
