//! Writes have one owner.
//!
//! Whoever owns the commit takes the waiting tasks as a group, lets each decide against the latest state, applies what they decided as one
//! atomic batch, makes the group durable with one sync, and only then answers all of them. So every write is
//! serializable, streams have one order, a transaction is simply a larger write, and the price of durability is shared.
//!
//! Always true: a task sees everything that tasks before it decided; readers see a group only once it is as durable as the
//! engine promises; a task is answered exactly once, and never before the groups that it was decided after are durable.
//!
//! Where a commit waits for a disk, a thread of its own owns it and callers wait for its answer; a caller that would wait anyway, and whom nobody else
//! joins, does what that thread would do, so that nobody has to be woken. While one group is on its way to the disk, the tasks of the next one decide and
//! are applied as they come; the thread that waits for the disk takes it as soon as it is done with the one before.
//!
//! Where there is no disk to wait for, handing over to a thread would cost more than the write, so the caller owns the commit itself; if another caller
//! does so just now, that one takes the task along, and nobody waits for a lock.
//!
//! Path of a write: `Committer::run` -> queue -> [`Shared::commit_tasks`] (decide, apply) -> [`Shared::settle`] (sync, publish) -> answer.

mod group;
mod pipeline;
mod task;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashMap;

use self::group::Group;
use self::pipeline::Underway;
pub(crate) use self::task::wake;
use self::task::{Task, Waiting, answer_all, stopping, take_group};
use crate::catalog::{Catalog, CatalogChange};
use crate::clock::Clock;
use crate::fault::Fault;
use crate::history;
use crate::layout::CollectionId;
use crate::metrics::Metrics;
use crate::options::{Durability, Options};
use crate::shipping::{LogPlace, LogState, Shipping};
use crate::store::{Batch, Snapshot, Space, Store, StoreError};
use crate::totals::{Totals, TotalsChange};

/// How long after a failed attempt a stopped store is tried again.
const REOPEN_PAUSE: Duration = Duration::from_millis(500);

/// What a reader sees: a snapshot of the data and the tables in it.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) snapshot: Snapshot,
}

/// The latest state, as a task of a group sees it.
pub(crate) struct Latest<'a> {
    pub(crate) catalog: &'a Arc<Catalog>,
    pub(crate) now_milliseconds: i64,
    /// The time of this commit in histories: now, or that of the commit before where the clock went back.
    pub(crate) history_milliseconds: i64,
    /// The number that the next record gets: all that was recorded before is below it.
    pub(crate) next_sequence: u64,
    pub(crate) item_collection_bytes_max: u64,
    snapshot: &'a Snapshot,
    written: &'a FxHashMap<(Space, Bytes), Option<Bytes>>,
}

impl Latest<'_> {
    /// The value stored under a key now.
    pub(crate) fn get(&self, space: Space, key: &Bytes) -> Result<Option<Bytes>, StoreError> {
        if !self.written.is_empty()
            && let Some(value) = self.written.get(&(space, key.clone()))
        {
            return Ok(value.clone());
        }
        self.snapshot.get(space, key)
    }

    /// True if a task before this one in its group wrote or removed what is under a key.
    pub(crate) fn was_touched(&self, space: Space, key: &Bytes) -> bool {
        self.written.contains_key(&(space, key.clone()))
    }

    /// The same state, for a task that leads a table to where it was: on the way there, item collections may be of any size.
    pub(crate) fn without_limits(&self) -> Latest<'_> {
        Latest { item_collection_bytes_max: u64::MAX, ..*self }
    }

    /// The state before this group: all there is for a task that runs alone.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        self.snapshot
    }
}

/// What a task wants to happen.
#[derive(Default)]
pub(crate) struct Changes {
    /// Keys to put and remove.
    pub(crate) batch: Batch,
    /// Records of streams and histories, in order; the group gives them their numbers.
    pub(crate) records: Vec<(CollectionId, Bytes)>,
    /// What is added to the totals of collections.
    pub(crate) totals: Vec<(CollectionId, TotalsChange)>,
    /// New sizes of item collections, by the key of each.
    pub(crate) collections: FxHashMap<Bytes, u64>,
    /// A changed table.
    pub(crate) catalog: Vec<CatalogChange>,
}

impl Changes {
    fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.records.is_empty() && self.catalog.is_empty()
    }
}

/// Takes writes, and shows readers the state.
pub(crate) struct Committer {
    shared: Arc<Shared>,
    /// The thread that owns the commit, where one does.
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    durability: Durability,
    item_collection_bytes_max: u64,
    /// The latest time that a commit had.
    history_milliseconds: AtomicI64,
    owner: Mutex<Owner>,
    queue: Mutex<Queue>,
    /// There is something to decide, or the disk is free.
    wake: Condvar,
    /// There is something to sync.
    disk: Condvar,
    /// What readers see. In memory only the catalog: a snapshot kept here would make every write copy.
    published: ArcSwap<Published>,
    totals: Mutex<Totals>,
    /// How long a sync takes, by the last one.
    sync_nanoseconds: AtomicU64,
    metrics: Arc<Metrics>,
}

struct Published {
    catalog: Arc<Catalog>,
    snapshot: Option<Snapshot>,
}

#[derive(Default)]
struct Queue {
    tasks: Vec<Box<dyn Task>>,
    /// The commit thread is to be woken once so many wait.
    wanted: usize,
    /// How many wrote at the same time the last time anybody did.
    writers: usize,
    /// The commit thread has tasks that are not applied yet.
    open: bool,
    /// What was applied and goes to the disk next.
    applied: Option<Underway>,
    /// A group is on its way to the disk.
    syncing: bool,
    /// How many wait until the disk has nothing to do.
    waiting_for_disk: usize,
    /// No task is taken any more.
    closed: bool,
    /// Nothing is applied any more.
    ended: bool,
    /// Nothing is synced any more.
    lost_disk: bool,
}

impl Queue {
    /// A group is on its way to the disk, or next in line for it.
    fn uses_disk(&self) -> bool {
        self.syncing || self.applied.is_some()
    }
}

/// The state that only the owner of the commit touches.
struct Owner {
    catalog: Arc<Catalog>,
    last_reopen: Option<Instant>,
    last_sync: Instant,
    /// The log of commits, while it is kept.
    shipping: Option<Shipping>,
}

/// Everything that is committed at one moment, and is on disk.
pub(crate) struct Moment {
    pub(crate) snapshot: Snapshot,
    pub(crate) commit: u64,
    pub(crate) time_milliseconds: i64,
    /// The place in the log of commits after all that the snapshot holds, if the log is kept.
    pub(crate) place: Option<LogPlace>,
}

impl Committer {
    /// Starts on a store, from what is in it.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        options: &Options,
        metrics: Arc<Metrics>,
    ) -> Result<Committer, StoreError> {
        let durability = options.durability;
        let snapshot = store.snapshot();
        let catalog = Arc::new(Catalog::load(&snapshot)?);
        catalog.keys.open_all(options.table_keys.as_deref(), options.clock.now_milliseconds());
        let totals = Totals::load(&snapshot)?;
        let history_milliseconds = history::latest_milliseconds(&catalog, &snapshot)?;
        let kept = durability.is_on_disk().then_some(snapshot);
        let shared = Arc::new(Shared {
            store,
            clock: options.clock.clone(),
            durability,
            item_collection_bytes_max: options.item_collection_bytes_max,
            history_milliseconds: AtomicI64::new(history_milliseconds),
            owner: Mutex::new(Owner {
                catalog: catalog.clone(),
                last_reopen: None,
                last_sync: Instant::now(),
                shipping: None,
            }),
            queue: Mutex::default(),
            wake: Condvar::new(),
            disk: Condvar::new(),
            published: ArcSwap::from_pointee(Published { catalog, snapshot: kept }),
            totals: Mutex::new(totals),
            sync_nanoseconds: AtomicU64::new(0),
            metrics,
        });
        let thread =
            matches!(durability, Durability::Sync).then(|| pipeline::spawn_owner(&shared)).transpose()?;
        Ok(Committer { shared, thread })
    }

    /// What readers see now.
    pub(crate) fn view(&self) -> View {
        let published = self.shared.published.load();
        // Between opening the store again and publishing what came back, the published snapshot is gone.
        let snapshot = published.snapshot.clone().filter(|snapshot| !snapshot.is_stale());
        View {
            catalog: published.catalog.clone(),
            snapshot: snapshot.unwrap_or_else(|| self.shared.store.snapshot()),
        }
    }

    /// The tables that readers see now.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.shared.published.load().catalog.clone()
    }

    /// Items and bytes of a collection now.
    pub(crate) fn totals_of(&self, id: CollectionId) -> TotalsChange {
        self.shared.totals.lock().of(id)
    }

    /// The time, from the engine's clock.
    pub(crate) fn now_milliseconds(&self) -> i64 {
        self.shared.clock.now_milliseconds()
    }

    /// The time that a commit would have now: never before that of one that was made.
    pub(crate) fn history_milliseconds(&self) -> i64 {
        self.shared.history_milliseconds()
    }

    /// Looks at the latest times of all histories again: one can be read now that could not be before.
    pub(crate) fn learn_history(&self) -> Result<(), StoreError> {
        let view = self.view();
        let latest = history::latest_milliseconds(&view.catalog, &view.snapshot)?;
        self.shared.history_milliseconds.fetch_max(latest, Relaxed);
        Ok(())
    }

    /// Why writes are refused now, if they are.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        self.shared.store.failure()
    }

    /// The store underneath, to be looked at.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.shared.store.clone()
    }

    /// What the store takes on disk.
    pub(crate) fn size_on_disk_bytes(&self) -> Result<u64, StoreError> {
        self.shared.store.size_bytes()
    }

    /// Does one small step of a rotation of data keys, and says whether there is more to do.
    pub(crate) fn keep_keys(&self) -> Result<bool, StoreError> {
        self.shared.store.keep_keys()
    }

    /// How far a rotation of data keys is.
    pub(crate) fn key_rotation(&self) -> Option<(u64, u64)> {
        self.shared.store.key_rotation()
    }

    /// Lets a task decide and waits until its group is as durable as promised.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        if self.thread.is_none() {
            return self.shared.commit_own(decide);
        }
        self.wait_for(decide, false)
    }

    /// As [`Committer::run`], for a task that reads ranges of the latest state: it forms a group by itself.
    pub(crate) fn run_alone<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        if self.thread.is_none() {
            return self.shared.commit_own(decide);
        }
        self.wait_for(decide, true)
    }

    /// Lets a task decide and calls `answer` once its group is as durable as promised; does not wait where that means
    /// waiting for a disk. Whom `answer` returns is woken once the whole group was answered.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static,
        answer: impl FnOnce(Result<T, Fault>) -> Option<Waker> + Send + 'static,
    ) {
        if self.thread.is_some() {
            return self.enqueue(decide, answer, false);
        }
        let owner = self.shared.owner.try_lock();
        match owner {
            Some(mut owner) => {
                let outcome = self.shared.commit_one(&mut owner, decide);
                drop(owner);
                wake(answer(outcome));
            }
            None => self.enqueue(decide, answer, false),
        }
        self.shared.commit_waiting();
    }

    /// Commits a task here if nobody else writes; else hands it to the owner's thread and waits for its outcome. Should the thread die, the caller
    /// is told.
    fn wait_for<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static,
        alone: bool,
    ) -> Result<T, Fault> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let answer = move |outcome| {
            // A caller that went away does not want the answer.
            drop(sender.send(outcome));
            None
        };
        let task = Box::new(Waiting { decide: Some(decide), outcome: None, answer, alone });
        if let Some(task) = self.shared.commit_for_caller(task) {
            self.enqueue_task(task);
        }
        receiver.recv().unwrap_or_else(|_| Err(Fault::Store(stopping())))
    }

    fn enqueue<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static,
        answer: impl FnOnce(Result<T, Fault>) -> Option<Waker> + Send + 'static,
        alone: bool,
    ) {
        self.enqueue_task(Box::new(Waiting { decide: Some(decide), outcome: None, answer, alone }));
    }

    fn enqueue_task(&self, task: Box<dyn Task>) {
        let mut queue = self.shared.queue.lock();
        if queue.closed {
            drop(queue);
            return wake(task.answer(Err(stopping())));
        }
        queue.tasks.push(task);
        let is_awaited = queue.tasks.len() >= queue.wanted;
        drop(queue);
        if is_awaited {
            self.shared.wake.notify_all();
        }
    }

    /// Waits for the group under way, makes everything durable and freezes it.
    pub(crate) fn freeze(&self) -> Result<Moment, StoreError> {
        if !self.shared.durability.is_on_disk() {
            return Err(StoreError::InMemory);
        }
        let mut owner = self.shared.owner.lock();
        // After it there is nothing in the store that a later opening could lack.
        self.shared.store.sync()?;
        let now = self.now_milliseconds();
        let frozen = owner.shipping.as_mut().map(|shipping| shipping.freeze(now));
        Ok(Moment {
            snapshot: self.shared.store.snapshot(),
            commit: self.shared.store.last_commit(),
            time_milliseconds: frozen.map_or(now, |(time, _)| time),
            place: frozen.map(|(_, place)| place),
        })
    }

    /// Has every group add a record to the log of commits from now on, of at most so many bytes and no earlier than this time.
    pub(crate) fn start_shipping(&self, bytes_max: u64, not_before: i64) -> Result<(), StoreError> {
        if !self.shared.durability.is_on_disk() {
            return Err(StoreError::InMemory);
        }
        let mut owner = self.shared.owner.lock();
        // What is on its way to the disk is shown to readers before what is added here.
        self.shared.wait_for_disk(&mut self.shared.queue.lock());
        let snapshot = self.shared.ready(&mut owner)?;
        let last_commit = self.shared.store.last_commit();
        let mut shipping = Shipping::resume(&snapshot, last_commit, bytes_max, not_before)?;
        if shipping.needs_mark() {
            let mut batch = Batch::default();
            shipping = shipping.log(&mut batch, last_commit + 1, self.now_milliseconds());
            self.shared.store.apply(batch)?;
            self.shared.store.sync()?;
            self.shared.publish(&owner);
        }
        owner.shipping = Some(shipping);
        Ok(())
    }

    /// Ends the log of commits.
    pub(crate) fn stop_shipping(&self) {
        self.shared.owner.lock().shipping = None;
    }

    /// How the log of commits stands, if it is kept.
    pub(crate) fn log_state(&self) -> Option<LogState> {
        self.shared.owner.lock().shipping.as_ref().map(Shipping::state)
    }

    /// Notes that the log of commits has been shortened up to this byte of it.
    pub(crate) fn log_forgotten(&self, bytes: u64) {
        if let Some(shipping) = &mut self.shared.owner.lock().shipping {
            shipping.forgotten(bytes);
        }
    }

    /// Lets the store remove what only earlier snapshots than the latest could see, if nobody writes just now; those who do show readers a later
    /// one soon.
    pub(crate) fn forget(&self) {
        let Some(owner) = self.shared.owner.try_lock() else { return };
        if self.shared.queue.lock().uses_disk() || self.shared.store.failure().is_some() {
            return;
        }
        let shown = self.shared.publish(&owner);
        drop(owner);
        if let Some(snapshot) = shown {
            self.shared.store.forget_before(&snapshot);
        }
    }

    /// Makes everything written so far durable, whatever the engine promises.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        self.shared.store.sync()
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.shared.queue.lock().closed = true;
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by then; there is nothing left to answer.
            let _ = thread.join();
        }
        // Best effort: what `interval` and `none` promise holds without it.
        let _ = self.shared.store.sync();
    }
}

impl Shared {
    /// Decides, applies and answers a group where nobody waits for a disk.
    fn commit(&self, owner: &mut Owner, mut tasks: Vec<Box<dyn Task>>) {
        let snapshot = match self.ready(owner) {
            Ok(snapshot) => snapshot,
            Err(error) => return answer_all(tasks, &Err(error)),
        };
        let mut group = Group::new(self, owner, tasks.len());
        for task in &mut tasks {
            let changes = task.decide(&group.latest(&snapshot));
            group.take(changes);
        }
        drop(snapshot);
        let outcome = group.finish();
        self.metrics.group(tasks.len());
        answer_all(tasks, &outcome);
    }

    /// Commits one task on the caller's thread.
    fn commit_own<T>(
        &self,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault>,
    ) -> Result<T, Fault> {
        let outcome = self.commit_one(&mut self.owner.lock(), decide);
        self.commit_waiting();
        outcome
    }

    /// Commits what was left to whoever owned the commit. Everybody who gives up the ownership calls it: a task is either queued before this
    /// looks, or its caller finds the commit without an owner.
    fn commit_waiting(&self) {
        loop {
            if self.queue.lock().tasks.is_empty() {
                return;
            }
            let Some(mut owner) = self.owner.try_lock() else { return };
            let group = take_group(&mut self.queue.lock().tasks);
            if !group.is_empty() {
                self.commit(&mut owner, group);
            }
        }
    }

    /// Commits one task.
    fn commit_one<T>(
        &self,
        owner: &mut Owner,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault>,
    ) -> Result<T, Fault> {
        let snapshot = self.ready(owner)?;
        let mut group = Group::new(self, owner, 1);
        let decision = decide(&group.latest(&snapshot));
        drop(snapshot);
        let (value, changes) = decision?;
        group.take(changes);
        group.finish()?;
        self.metrics.group(1);
        Ok(value)
    }

    /// The latest state, if the store takes writes: a store that stopped because its disk was full is opened again once there is
    /// space. A store that stopped for another reason stays stopped until somebody looks at it.
    fn ready(&self, owner: &mut Owner) -> Result<Snapshot, StoreError> {
        let Some(failure) = self.store.failure() else { return Ok(self.store.snapshot()) };
        let waited = owner.last_reopen.is_none_or(|last| last.elapsed() >= REOPEN_PAUSE);
        if !(waited && matches!(failure, StoreError::Failed { disk_was_full: true, .. })) {
            return Err(failure);
        }
        owner.last_reopen = Some(Instant::now());
        // What is still on its way was applied to the store as it was before, and is answered before it is opened again.
        self.wait_for_disk(&mut self.queue.lock());
        self.store.reopen()?;
        // Nobody was told about the group that failed, so whatever of it came back is the truth now.
        let snapshot = self.store.snapshot();
        owner.catalog = Arc::new(Catalog::load(&snapshot)?);
        *self.totals.lock() = Totals::load(&snapshot)?;
        if let Some(shipping) = owner.shipping {
            owner.shipping = Some(shipping.resume_again(&snapshot, self.store.last_commit())?);
        }
        self.publish(owner);
        Ok(snapshot)
    }

    fn history_milliseconds(&self) -> i64 {
        self.clock.now_milliseconds().max(self.history_milliseconds.load(Relaxed))
    }

    /// Makes what was applied as durable as promised, where nobody waits for a disk each time.
    fn make_durable(&self, owner: &mut Owner) -> Result<(), StoreError> {
        match self.durability {
            Durability::Interval(interval) if owner.last_sync.elapsed() < interval => {
                return self.store.flush();
            }
            Durability::Sync | Durability::Interval(_) => {}
            Durability::None | Durability::InMemory => return self.store.flush(),
        }
        let started = Instant::now();
        self.store.sync()?;
        owner.last_sync = Instant::now();
        self.metrics.sync(started.elapsed());
        Ok(())
    }

    /// Shows readers all that was applied; returns the snapshot that they see, where there is one.
    fn publish(&self, owner: &Owner) -> Option<Snapshot> {
        let snapshot = self.durability.is_on_disk().then(|| self.store.snapshot());
        if snapshot.is_some() || !Arc::ptr_eq(&self.published.load().catalog, &owner.catalog) {
            let published = Published { catalog: owner.catalog.clone(), snapshot: snapshot.clone() };
            self.published.store(Arc::new(published));
        }
        snapshot
    }
}
