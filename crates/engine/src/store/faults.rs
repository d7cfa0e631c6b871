//! Failures on demand, so that tests can see what a broken disk does to the engine.
//!
//! Always true: without a fault asked for, each check is one relaxed load.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

/// A handle to ask for failures; clones ask the same store. Nothing fails by default.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Arc<Settings>);

#[derive(Debug)]
struct Settings {
    fail_apply: AtomicBool,
    fail_sync: AtomicBool,
    free_bytes: AtomicU64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { fail_apply: false.into(), fail_sync: false.into(), free_bytes: u64::MAX.into() }
    }
}

#[cfg(test)]
impl Faults {
    /// Makes the next `apply` fail before anything is written.
    pub(crate) fn fail_next_apply(&self) {
        self.0.fail_apply.store(true, Relaxed);
    }

    /// Makes the next `sync` fail before anything is synced.
    pub(crate) fn fail_next_sync(&self) {
        self.0.fail_sync.store(true, Relaxed);
    }

    /// Lets the store believe in so many free bytes on its disk; `u64::MAX` lets it look for itself again.
    pub(crate) fn pretend_free_bytes(&self, bytes: u64) {
        self.0.free_bytes.store(bytes, Relaxed);
    }
}

impl Faults {
    pub(super) fn before_apply(&self) -> io::Result<()> {
        take(&self.0.fail_apply)
    }

    pub(super) fn before_sync(&self) -> io::Result<()> {
        take(&self.0.fail_sync)
    }

    pub(super) fn free_bytes(&self, real: u64) -> u64 {
        match self.0.free_bytes.load(Relaxed) {
            u64::MAX => real,
            pretended => pretended,
        }
    }
}

fn take(fault: &AtomicBool) -> io::Result<()> {
    if fault.load(Relaxed) && fault.swap(false, Relaxed) {
        return Err(io::Error::other("a fault that a test asked for"));
    }
    Ok(())
}
