//! How shipping goes, as others see it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use engine::Engine;

/// How shipping goes.
pub struct ShipStatus {
    engine: Engine,
    /// Everything up to this moment is at the destination.
    shipped_milliseconds: AtomicI64,
    backup_milliseconds: AtomicI64,
    turns: AtomicU64,
    failures: AtomicU64,
}

impl ShipStatus {
    pub(super) fn new(engine: Engine) -> ShipStatus {
        ShipStatus {
            engine,
            shipped_milliseconds: AtomicI64::new(i64::MIN),
            backup_milliseconds: AtomicI64::new(i64::MIN),
            turns: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        }
    }

    /// How far the destination is behind: what a loss of this machine would take. `None` before anything was shipped.
    pub fn lag(&self) -> Option<Duration> {
        self.since(self.shipped_milliseconds.load(Relaxed))
    }

    /// The age of the newest backup. `None` before the destination was reached, or while there is none.
    pub fn backup_age(&self) -> Option<Duration> {
        self.since(self.backup_milliseconds.load(Relaxed))
    }

    /// Turns that succeeded.
    pub fn turns(&self) -> u64 {
        self.turns.load(Relaxed)
    }

    /// Turns that failed.
    pub fn failures(&self) -> u64 {
        self.failures.load(Relaxed)
    }

    /// Bytes of the log that wait.
    pub fn waiting_bytes(&self) -> u64 {
        self.engine.log_state().map_or(0, |state| state.waiting_bytes)
    }

    /// Whether commits are made that the log has no room for.
    pub fn is_log_full(&self) -> bool {
        self.engine.log_state().is_some_and(|state| state.is_full)
    }

    pub(super) fn is_backup_due(&self, every: Duration) -> bool {
        self.backup_age().is_some_and(|age| age >= every)
    }

    pub(super) fn succeeded(&self) {
        self.turns.fetch_add(1, Relaxed);
    }

    pub(super) fn failed(&self) {
        self.failures.fetch_add(1, Relaxed);
    }

    pub(super) fn shipped(&self, time_milliseconds: i64) {
        self.shipped_milliseconds.store(time_milliseconds, Relaxed);
    }

    /// Nothing waits: everything up to now is at the destination.
    pub(super) fn quiet(&self) {
        self.shipped(self.engine.now_milliseconds());
    }

    pub(super) fn backed_up(&self, time_milliseconds: i64) {
        self.backup_milliseconds.store(time_milliseconds, Relaxed);
    }

    fn since(&self, milliseconds: i64) -> Option<Duration> {
        let passed = (milliseconds > i64::MIN).then(|| self.engine.now_milliseconds() - milliseconds)?;
        Some(Duration::from_millis(u64::try_from(passed).unwrap_or_default()))
    }
}
