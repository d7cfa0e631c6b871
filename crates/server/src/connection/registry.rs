//! All open connections: what each is doing, since when, and what it was told.
//!
//! A connection notes what it does in a few atomics of its own, without locks and timers. The registry looks at all of them
//! now and then, closes those that overran a limit, and makes room for a new one by closing the one that is idle for longest.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::task::Waker;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::limits::Limits;

/// What a connection was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Serve,
    /// Answer what was begun and take no more.
    Finish,
    /// Close at once.
    Close,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Waiting for a request.
    Idle,
    /// A request has begun; its head is not whole.
    Head,
    /// The head is whole, the body is not.
    Body,
    /// A request is being carried out or answered.
    Work,
}

/// What a connection notes about itself.
#[derive(Debug)]
pub(crate) struct Activity {
    clock: Arc<Clock>,
    order: AtomicU8,
    phase: AtomicU8,
    /// When the phase began.
    since: AtomicU32,
    /// When the client stopped reading its answer; 0 while it reads.
    unread_since: AtomicU32,
    in_flight: AtomicU32,
    is_http2: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// Milliseconds since the start, as of the last look at the connections.
#[derive(Debug)]
struct Clock {
    start: Instant,
    now: AtomicU32,
}

impl Clock {
    fn now(&self) -> u32 {
        self.now.load(Relaxed)
    }

    fn advance(&self) -> u32 {
        // Never 0, which means "not at all".
        let now = u32::try_from(self.start.elapsed().as_millis()).unwrap_or(u32::MAX).max(1);
        self.now.store(now, Relaxed);
        now
    }
}

/// Ends a request when it is dropped.
pub(crate) struct Busy<'a>(&'a Activity);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

impl Activity {
    fn new(clock: Arc<Clock>) -> Activity {
        Activity {
            order: AtomicU8::new(Order::Serve as u8),
            phase: AtomicU8::new(Phase::Idle as u8),
            since: AtomicU32::new(clock.now()),
            unread_since: AtomicU32::new(0),
            in_flight: AtomicU32::new(0),
            is_http2: AtomicBool::new(false),
            waker: Mutex::new(None),
            clock,
        }
    }

    /// A request begins: its head is whole.
    pub(crate) fn begin(&self) -> Busy<'_> {
        self.in_flight.fetch_add(1, Relaxed);
        self.enter(Phase::Work);
        Busy(self)
    }

    /// The body of a request is awaited.
    pub(crate) fn reads_body(&self) {
        self.enter(Phase::Body);
    }

    /// The request is whole.
    pub(crate) fn works(&self) {
        self.enter(Phase::Work);
    }

    /// The client has said something that is not yet a request.
    pub(super) fn reads_head(&self) {
        self.enter(Phase::Head);
    }

    /// A request has begun with what came after the last one.
    pub(super) fn goes_on_with_head(&self) {
        if self.phase() == Phase::Work {
            self.enter(Phase::Head);
        }
    }

    /// Bytes were read.
    pub(super) fn hears(&self) {
        // On HTTP/2 bytes may be anything; a request that does not come to its end is bounded by its body's limit.
        if self.phase() == Phase::Idle && !self.is_http2.load(Relaxed) {
            self.enter(Phase::Head);
        }
    }

    /// There is nothing to read.
    pub(super) fn waits(&self) {
        if self.phase() == Phase::Work && self.in_flight.load(Relaxed) == 0 {
            self.enter(Phase::Idle);
        }
    }

    /// Bytes were written, or could not be.
    pub(super) fn writes(&self, is_pending: bool) {
        let since = self.unread_since.load(Relaxed);
        if is_pending && since == 0 {
            self.unread_since.store(self.clock.now().max(1), Relaxed);
        } else if !is_pending && since != 0 {
            self.unread_since.store(0, Relaxed);
        }
    }

    pub(super) fn speaks_http2(&self) {
        self.is_http2.store(true, Relaxed);
        self.enter(Phase::Work);
    }

    pub(super) fn order(&self) -> Order {
        match self.order.load(Relaxed) {
            0 => Order::Serve,
            1 => Order::Finish,
            _ => Order::Close,
        }
    }

    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Relaxed);
        self.since.store(self.clock.now(), Relaxed);
    }

    fn phase(&self) -> Phase {
        match self.phase.load(Relaxed) {
            0 => Phase::Idle,
            1 => Phase::Head,
            2 => Phase::Body,
            _ => Phase::Work,
        }
    }

    /// Gives an order and wakes the connection to hear it. An order is never taken back.
    fn tell(&self, order: Order) {
        self.order.fetch_max(order as u8, Relaxed);
        if let Some(waker) = self.waker.lock().as_ref() {
            waker.wake_by_ref();
        }
    }

    /// Whether nobody waits for an answer on it.
    fn can_be_spared(&self) -> bool {
        self.phase() != Phase::Work && self.order() == Order::Serve && self.in_flight.load(Relaxed) <= 1
    }

    /// Whether it has taken longer than it may.
    fn is_overdue(&self, now: u32, limits: &Limits) -> bool {
        let longer = |since: u32, limit: Duration| u128::from(now.saturating_sub(since)) > limit.as_millis();
        let unread = self.unread_since.load(Relaxed);
        let since = self.since.load(Relaxed);
        (unread != 0 && longer(unread, limits.unread))
            || match self.phase() {
                Phase::Idle => longer(since, limits.idle),
                Phase::Head => longer(since, limits.head),
                // The body has a timer of its own, where it needs one, so that the client can be told.
                Phase::Body => longer(since, limits.body + limits.head),
                Phase::Work => false,
            }
    }
}

/// All open connections.
pub(crate) struct Registry {
    clock: Arc<Clock>,
    open: Mutex<HashMap<u64, Arc<Activity>>>,
    next: AtomicU64,
    closed: Notify,
}

/// A connection's place in the registry, which it leaves when it is dropped.
pub(crate) struct Entry {
    registry: Arc<Registry>,
    id: u64,
    activity: Arc<Activity>,
}

impl Entry {
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Remembers how to wake the connection.
    pub(super) fn wake_by(&self, waker: &Waker) {
        let mut known = self.activity.waker.lock();
        if !known.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *known = Some(waker.clone());
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.registry.open.lock().remove(&self.id);
        self.registry.closed.notify_one();
    }
}

impl Registry {
    pub(crate) fn new() -> Arc<Registry> {
        let clock = Arc::new(Clock { start: Instant::now(), now: AtomicU32::new(1) });
        Arc::new(Registry { clock, open: Mutex::default(), next: AtomicU64::new(0), closed: Notify::new() })
    }

    /// Enters a new connection.
    pub(crate) fn enter(self: &Arc<Registry>) -> Entry {
        let id = self.next.fetch_add(1, Relaxed);
        let activity = Arc::new(Activity::new(self.clock.clone()));
        self.open.lock().insert(id, activity.clone());
        Entry { registry: self.clone(), id, activity }
    }

    /// How many connections are open.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Closes what has taken longer than it may.
    pub(crate) fn sweep(&self, limits: &Limits) {
        let now = self.clock.advance();
        let overdue: Vec<_> =
            self.open.lock().values().filter(|activity| activity.is_overdue(now, limits)).cloned().collect();
        for activity in overdue {
            activity.tell(Order::Close);
        }
    }

    /// Closes the connection that can best be spared: the one idle for longest, then the slowest to send its request. False
    /// where all are at work.
    pub(crate) fn make_room(&self) -> bool {
        let open = self.open.lock();
        let sparable = open.iter().filter(|(_, activity)| activity.can_be_spared());
        // The clock is coarse: of those that are idle since the same moment the oldest goes.
        let spared = sparable
            .min_by_key(|(id, activity)| (activity.phase() as u8, activity.since.load(Relaxed), **id));
        let Some(spared) = spared.map(|(_, activity)| activity.clone()) else { return false };
        drop(open);
        spared.tell(Order::Close);
        true
    }

    /// Waits until a connection was closed since the last call, or a moment has passed. There is one waiter at a time.
    pub(crate) async fn closed(&self) {
        let _ = tokio::time::timeout(Duration::from_millis(50), self.closed.notified()).await;
    }

    /// Tells all connections to finish and waits for them; after the limit they are closed.
    pub(crate) async fn drain(&self, limit: Duration) {
        let end = tokio::time::Instant::now() + limit;
        self.tell_all(Order::Finish);
        while self.count() > 0 && tokio::time::Instant::now() < end {
            self.closed().await;
        }
        self.tell_all(Order::Close);
        for _ in 0..20 {
            if self.count() == 0 {
                break;
            }
            self.closed().await;
        }
    }

    fn tell_all(&self, order: Order) {
        let all: Vec<_> = self.open.lock().values().cloned().collect();
        for activity in all {
            activity.tell(order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { head: Duration::from_millis(1), idle: Duration::from_mins(1), ..Limits::default() }
    }

    fn wait(registry: &Registry) {
        std::thread::sleep(Duration::from_millis(5));
        registry.clock.advance();
    }

    #[test]
    fn room_is_made_by_closing_what_is_idle_for_longest() {
        let registry = Registry::new();
        let (busy, first, second) = (registry.enter(), registry.enter(), registry.enter());
        let _request = busy.activity.begin();
        wait(&registry);
        second.activity.reads_body();
        assert!(registry.make_room());
        assert_eq!(first.activity.order(), Order::Close);
        assert!(registry.make_room());
        assert_eq!(second.activity.order(), Order::Close);
        assert!(!registry.make_room());
        assert_eq!(busy.activity.order(), Order::Serve);
    }

    #[test]
    fn a_head_that_takes_too_long_is_closed_and_an_idle_connection_is_not() {
        let registry = Registry::new();
        let (slow, idle) = (registry.enter(), registry.enter());
        slow.activity.hears();
        wait(&registry);
        registry.sweep(&limits());
        assert_eq!(slow.activity.order(), Order::Close);
        assert_eq!(idle.activity.order(), Order::Serve);
    }

    #[test]
    fn further_bytes_of_a_head_do_not_give_it_more_time() {
        let registry = Registry::new();
        let slow = registry.enter();
        slow.activity.hears();
        wait(&registry);
        slow.activity.hears();
        registry.sweep(&limits());
        assert_eq!(slow.activity.order(), Order::Close);
    }

    #[test]
    fn an_answered_request_leaves_the_connection_idle() {
        let registry = Registry::new();
        let entry = registry.enter();
        drop(entry.activity.begin());
        entry.activity.waits();
        assert_eq!(entry.activity.phase(), Phase::Idle);
        drop(entry);
        assert_eq!(registry.count(), 0);
    }
}
