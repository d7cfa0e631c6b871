//! Time comes from outside, so that expiry, retention and tokens are tested without waiting.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Milliseconds since the epoch.
    fn now_milliseconds(&self) -> i64;
}

/// The time of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_milliseconds(&self) -> i64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
    }
}

/// A clock that stands still until it is moved: for tests.
#[derive(Debug)]
pub struct ManualClock {
    milliseconds: AtomicI64,
}

impl ManualClock {
    /// A clock that shows this time.
    pub fn at_milliseconds(milliseconds: i64) -> ManualClock {
        ManualClock { milliseconds: AtomicI64::new(milliseconds) }
    }

    /// Moves the clock.
    pub fn advance_milliseconds(&self, milliseconds: i64) {
        self.milliseconds.fetch_add(milliseconds, Ordering::SeqCst);
    }

    /// Moves the clock by whole seconds.
    pub fn advance_seconds(&self, seconds: i64) {
        self.advance_milliseconds(seconds * 1000);
    }
}

impl Clock for ManualClock {
    fn now_milliseconds(&self) -> i64 {
        self.milliseconds.load(Ordering::SeqCst)
    }
}
