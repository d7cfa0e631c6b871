//! The work that happens by itself: removing what expired, filling new indexes, trimming streams, histories and tokens, emptying what
//! was deleted, filling restored tables and backups, writing exports, sealing pages again with a new data key and values with those of tables,
//! removing files that were replaced.
//! Each step is a small commit like any other, so clients are never held up for long, and a step that was cut off by a
//! crash is simply done again.
//!
//! Always true: looking for work costs one key for each table with expiry, each stream, each history and the tokens, however many items there are.

mod copy;
mod expiry;
mod export;
mod fill;
mod purge;
mod table_keys;
#[cfg(test)]
mod tests;
mod trim;

use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::commit::Changes;
use crate::engine::Inner;
use crate::fault::Fault;
use crate::store::StoreError;

pub(crate) use table_keys::KeyHouse;

/// A thread that keeps house in intervals, and at once when asked.
pub(crate) struct Housekeeper {
    signal: Arc<(Mutex<Signal>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Signal {
    stop: bool,
    work: bool,
}

impl Housekeeper {
    /// Starts the thread. It holds no handle of the engine, and what all handles share only during a step.
    pub(crate) fn start(inner: Weak<Inner>, interval: Duration) -> Option<Housekeeper> {
        let signal = Arc::new((Mutex::new(Signal::default()), Condvar::new()));
        let waiting = signal.clone();
        let thread = std::thread::Builder::new()
            .name("monotable-house".to_owned())
            .spawn(move || live(&inner, &waiting, interval))
            .ok()?;
        Some(Housekeeper { signal, thread: Some(thread) })
    }

    /// Asks for work now rather than at the end of the interval.
    pub(crate) fn wake(&self) {
        self.signal.0.lock().work = true;
        self.signal.1.notify_one();
    }
}

fn live(inner: &Weak<Inner>, signal: &(Mutex<Signal>, Condvar), interval: Duration) {
    loop {
        let mut state = signal.0.lock();
        if !state.stop && !state.work {
            signal.1.wait_for(&mut state, interval);
        }
        if state.stop {
            return;
        }
        state.work = false;
        drop(state);
        let Some(inner) = inner.upgrade() else { return };
        // A failure is reported by the store to every writer; housekeeping tries again after the interval.
        if inner.keep_house_once().unwrap_or_default() {
            signal.0.lock().work = true;
        }
    }
}

impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.signal.0.lock().stop = true;
        self.signal.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by then.
            let _ = thread.join();
        }
    }
}

impl Inner {
    /// Does all work that is due.
    pub(crate) fn keep_house(&self) -> Result<(), Fault> {
        while self.keep_house_once()? {}
        Ok(())
    }

    /// Does one small step of each kind of work; says whether there was any, and so may be more.
    pub(crate) fn keep_house_once(&self) -> Result<bool, Fault> {
        // A store that a full disk stopped is opened again by the next commit, even if that changes nothing.
        if self.committer.store().failure().is_some() {
            self.committer.run_alone(|_| Ok(((), Changes::default())))?;
        }
        let mut worked = self.keep_keys_once()?;
        for step in [expiry::step, fill::step, trim::step, purge::step, copy::step, export::step] {
            worked |= match step(self) {
                // What needs the key of a table waits until that is there again.
                Err(Fault::Store(StoreError::TableKey { .. })) => false,
                outcome => outcome?,
            };
        }
        self.committer.forget();
        Ok(worked)
    }

    /// Does one small step of what keys need.
    pub(crate) fn keep_keys_once(&self) -> Result<bool, Fault> {
        Ok(self.committer.keep_keys()? | table_keys::step(self)?)
    }
}

/// Writes of one step: enough to be quick, few enough that a client's write hardly waits.
const STEP_WRITES_MAX: usize = 500;
/// Bytes of one step.
const STEP_BYTES_MAX: usize = 1 << 20;
