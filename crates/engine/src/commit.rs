//! Writes have one owner.
//!
//! Whoever owns the commit takes the waiting tasks as a group, lets each decide against the latest state, applies what they decided as one
//! atomic batch, makes the group durable with one sync, and only then answers all of them. So every write is
//! serializable, streams have one order, a transaction is simply a larger write, and the price of durability is shared.
//!
//! Always true: a task sees everything that tasks before it decided; readers see a group only once it is as durable as the
//! engine promises; a task is answered exactly once, and never before the groups that it was decided after are durable.
//!
//! Where a commit waits for a disk, a thread of its own owns it and callers wait for its answer. While one group is on its way to the disk (the
//! thread that syncs waits for it), the next one is open: its tasks decide as they come, and it is applied when the disk is free. Where it does
//! not, handing over to a thread would cost more than the write, so the caller owns the commit itself; if another caller does so just
//! now, that one takes the task along, and nobody waits for a lock.
//!
//! Path of a write: `Committer::run` -> queue -> [`Shared::commit`] (decide, apply) -> [`Shared::settle`] (sync, publish) -> answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use bytes::Bytes;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustc_hash::FxHashMap;

use crate::catalog::{Catalog, CatalogChange};
use crate::clock::Clock;
use crate::collection;
use crate::fault::Fault;
use crate::history;
use crate::layout::{CollectionId, record_key};
use crate::metrics::Metrics;
use crate::options::{Durability, Options};
use crate::shipping::{LogPlace, LogState, Shipping};
use crate::store::{Batch, Snapshot, Space, Store, StoreError};
use crate::totals::{Totals, TotalsChange};

/// The most tasks in one group: bounds the latency of the first and the size of a batch.
const GROUP_TASKS_MAX: usize = 1024;
/// A commit has room for so many records of streams and histories; 1,024 tasks of 100 items stay far below.
const RECORDS_PER_COMMIT: u64 = 1 << 20;
/// Room for an item, two index entries and a record; more grows.
const WRITES_PER_TASK: usize = 4;
/// A group waits for writers at most for this part of what a sync takes.
const GATHERING_PART: u32 = 8;
/// And never longer than this.
const GATHERING_MAX: Duration = Duration::from_millis(1);
/// While the disk is busy, so many tasks are worth waking the thread that decides.
const TASKS_WORTH_WAKING: usize = 8;
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

/// A task that waits for its group.
trait Task: Send {
    /// Decides against the latest state; remembers its answer.
    fn decide(&mut self, latest: &Latest<'_>) -> Changes;
    /// True for a task that reads ranges, which a group with other tasks could have changed.
    fn runs_alone(&self) -> bool;
    /// Gives the answer, or the failure of the group.
    fn answer(self: Box<Self>, group: Result<(), StoreError>);
}

struct Waiting<T, D, A> {
    decide: Option<D>,
    outcome: Option<Result<T, Fault>>,
    answer: A,
    alone: bool,
}

impl<T, D, A> Task for Waiting<T, D, A>
where
    T: Send,
    D: FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send,
    A: FnOnce(Result<T, Fault>) + Send,
{
    fn decide(&mut self, latest: &Latest<'_>) -> Changes {
        let Some(decide) = self.decide.take() else { return Changes::default() };
        let (outcome, changes) = split_decision(decide(latest));
        self.outcome = Some(outcome);
        changes
    }

    fn runs_alone(&self) -> bool {
        self.alone
    }

    fn answer(self: Box<Self>, group: Result<(), StoreError>) {
        let outcome = match (group, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Err(error), _) => Err(Fault::Store(error)),
            (Ok(()), None) => Err(Fault::Store(stopping())),
        };
        (self.answer)(outcome);
    }
}

fn split_decision<T>(decision: Result<(T, Changes), Fault>) -> (Result<T, Fault>, Changes) {
    match decision {
        Ok((value, changes)) => (Ok(value), changes),
        Err(fault) => (Err(fault), Changes::default()),
    }
}

fn stopping() -> StoreError {
    StoreError::Failed { reason: "the engine is closing".into(), disk_was_full: false, source: None }
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
    wake: Condvar,
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
    /// A group is on its way to the disk.
    syncing: bool,
    closed: bool,
}

/// A group that was applied, and is to be made durable.
struct Applied {
    /// What readers see once it is. A group that changed nothing shows them nothing new.
    published: Option<Published>,
}

/// A group on its way to the disk, with those who wait for it.
struct Underway {
    applied: Applied,
    tasks: Vec<Box<dyn Task>>,
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
            published: ArcSwap::from_pointee(Published { catalog, snapshot: kept }),
            totals: Mutex::new(totals),
            sync_nanoseconds: AtomicU64::new(0),
            metrics,
        });
        let thread = matches!(durability, Durability::Sync).then(|| spawn_owner(&shared)).transpose()?;
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
    /// waiting for a disk.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static,
        answer: impl FnOnce(Result<T, Fault>) + Send + 'static,
    ) {
        if self.thread.is_some() {
            return self.enqueue(decide, answer, false);
        }
        let owner = self.shared.owner.try_lock();
        match owner {
            Some(mut owner) => {
                let outcome = self.shared.commit_one(&mut owner, decide);
                drop(owner);
                answer(outcome);
            }
            None => self.enqueue(decide, answer, false),
        }
        self.shared.commit_waiting();
    }

    /// Hands a task to the owner's thread and waits for its outcome. Should the thread die, the caller is told.
    fn wait_for<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static,
        alone: bool,
    ) -> Result<T, Fault> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        // A caller that went away does not want the answer.
        self.enqueue(decide, move |outcome| drop(sender.send(outcome)), alone);
        receiver.recv().unwrap_or_else(|_| Err(Fault::Store(stopping())))
    }

    fn enqueue<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static,
        answer: impl FnOnce(Result<T, Fault>) + Send + 'static,
        alone: bool,
    ) {
        let task = Box::new(Waiting { decide: Some(decide), outcome: None, answer, alone });
        let mut queue = self.shared.queue.lock();
        if queue.closed {
            drop(queue);
            return task.answer(Err(stopping()));
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

/// Starts the thread that owns the commit, and beside it the one that waits for the disk. The second ends with the first.
fn spawn_owner(shared: &Arc<Shared>) -> Result<JoinHandle<()>, StoreError> {
    let failed =
        |source| StoreError::Io { doing: "starting a thread that commits", source: Arc::new(source) };
    let (sender, receiver) = sync_channel(1);
    let syncing = shared.clone();
    let syncer = std::thread::Builder::new().name("monotable-sync".to_owned());
    let syncer = syncer.spawn(move || syncing.sync_groups(&receiver)).map_err(failed)?;
    let owning = shared.clone();
    let owner = std::thread::Builder::new().name("monotable-commit".to_owned());
    let owner = owner.spawn(move || {
        owning.own(sender);
        // A panic of the thread has been reported by then; there is nothing left to answer.
        let _ = syncer.join();
    });
    owner.map_err(failed)
}

impl Shared {
    /// The life of the commit thread.
    fn own(&self, disk: SyncSender<Underway>) {
        let _closing = CloseOnExit(self);
        let mut writers = 0;
        loop {
            let mut queue = self.queue.lock();
            self.gather(&mut queue, writers);
            if queue.tasks.is_empty() {
                return;
            }
            let group = take_group(&mut queue.tasks);
            drop(queue);
            let group = self.commit_while_syncing(&mut self.owner.lock(), group);
            // Those who wait on are writers, too.
            writers = group.tasks.len() + self.queue.lock().tasks.len();
            self.hand_over(group, writers, &disk);
        }
    }

    /// Waits for the first task, and then, where the disk has nothing to do, a moment for as many as there were writers: those who have just
    /// been answered come back at once with their next write, and each that misses this sync waits for two.
    fn gather(&self, queue: &mut MutexGuard<'_, Queue>, writers: usize) {
        queue.wanted = 1;
        while queue.tasks.is_empty() && !queue.closed {
            self.wake.wait(queue);
        }
        let sync_time = Duration::from_nanos(self.sync_nanoseconds.load(Relaxed));
        let until = Instant::now() + (sync_time / GATHERING_PART).min(GATHERING_MAX);
        queue.wanted = writers.min(GROUP_TASKS_MAX);
        while queue.tasks.len() < queue.wanted && !queue.closed && !queue.syncing {
            if self.wake.wait_until(queue, until).timed_out() {
                break;
            }
        }
    }

    /// Lets the tasks of a group decide, and those that come while the disk is busy with the group before; applies them all.
    fn commit_while_syncing(&self, owner: &mut Owner, tasks: Vec<Box<dyn Task>>) -> Decided {
        let snapshot = match self.ready(owner) {
            Ok(snapshot) => snapshot,
            Err(error) => return Decided { tasks, applied: Err(error) },
        };
        let mut group = Group::new(self, owner, tasks.len().max(2));
        let mut decided = Vec::with_capacity(tasks.len());
        let mut next = Some(tasks);
        while let Some(tasks) = next {
            for mut task in tasks {
                let changes = task.decide(&group.latest(&snapshot));
                group.take(changes);
                decided.push(task);
            }
            next = self.more_while_syncing(&decided);
        }
        drop(snapshot);
        Decided { applied: group.apply(), tasks: decided }
    }

    /// The tasks that join an open group; none once the disk is free, or once the group is to be closed.
    fn more_while_syncing(&self, group: &[Box<dyn Task>]) -> Option<Vec<Box<dyn Task>>> {
        let room = GROUP_TASKS_MAX.saturating_sub(group.len());
        let mut queue = self.queue.lock();
        loop {
            let first_alone = queue.tasks.iter().position(|task| task.runs_alone());
            let joining = first_alone.unwrap_or(queue.tasks.len()).min(room);
            let is_full = room == 0 || first_alone == Some(0) || group.iter().any(|task| task.runs_alone());
            if is_full || (!queue.syncing && joining == 0) {
                return None;
            }
            if joining >= TASKS_WORTH_WAKING || !queue.syncing {
                let rest = queue.tasks.split_off(joining);
                return Some(std::mem::replace(&mut queue.tasks, rest));
            }
            queue.wanted = TASKS_WORTH_WAKING;
            self.wake.wait(&mut queue);
        }
    }

    /// Passes a group on to the thread that waits for the disk. A lone writer has nobody who could use the time, so its group is made durable here.
    fn hand_over(&self, group: Decided, writers: usize, disk: &SyncSender<Underway>) {
        let applied = match group.applied {
            Ok(applied) => applied,
            Err(error) => return answer_all(group.tasks, &Err(error)),
        };
        self.metrics.group(group.tasks.len());
        let mut queue = self.queue.lock();
        if writers <= 1 && !queue.syncing {
            drop(queue);
            let outcome = self.settle(applied);
            return answer_all(group.tasks, &outcome);
        }
        self.wait_for_disk(&mut queue);
        queue.syncing = true;
        drop(queue);
        if let Err(lost) = disk.send(Underway { applied, tasks: group.tasks }) {
            self.queue.lock().syncing = false;
            answer_all(lost.0.tasks, &Err(stopping()));
        }
    }

    fn wait_for_disk(&self, queue: &mut MutexGuard<'_, Queue>) {
        while queue.syncing {
            self.wake.wait(queue);
        }
    }

    /// The life of the thread that waits for the disk.
    fn sync_groups(&self, groups: &Receiver<Underway>) {
        for Underway { applied, tasks } in groups {
            let outcome = {
                let _free = FreeOnExit(self);
                self.settle(applied)
            };
            answer_all(tasks, &outcome);
        }
    }

    /// Makes a group durable and shows it to readers.
    fn settle(&self, applied: Applied) -> Result<(), StoreError> {
        let Some(published) = applied.published else {
            // It was decided after groups that may have failed since.
            return self.store.failure().map_or(Ok(()), Err);
        };
        let started = Instant::now();
        self.store.sync()?;
        let time = started.elapsed();
        self.sync_nanoseconds.store(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        self.metrics.sync(time);
        self.published.store(Arc::new(published));
        Ok(())
    }

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

    fn publish(&self, owner: &Owner) {
        let snapshot = self.durability.is_on_disk().then(|| self.store.snapshot());
        if snapshot.is_some() || !Arc::ptr_eq(&self.published.load().catalog, &owner.catalog) {
            self.published.store(Arc::new(Published { catalog: owner.catalog.clone(), snapshot }));
        }
    }
}

/// A group whose tasks have decided, and what became of it.
struct Decided {
    tasks: Vec<Box<dyn Task>>,
    applied: Result<Applied, StoreError>,
}

/// Says that the disk is free again when a group has been there, however that ended.
struct FreeOnExit<'a>(&'a Shared);

impl Drop for FreeOnExit<'_> {
    fn drop(&mut self) {
        self.0.queue.lock().syncing = false;
        self.0.wake.notify_all();
    }
}

/// Refuses further tasks when the commit thread ends, however it ends, so that nobody waits for it in vain.
struct CloseOnExit<'a>(&'a Shared);

impl Drop for CloseOnExit<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.closed = true;
        let left = std::mem::take(&mut queue.tasks);
        drop(queue);
        answer_all(left, &Err(stopping()));
    }
}

/// The tasks that go together: all that wait, but a task that runs alone has a group to itself.
fn take_group(waiting: &mut Vec<Box<dyn Task>>) -> Vec<Box<dyn Task>> {
    let alone = waiting.iter().position(|task| task.runs_alone());
    let count = match alone {
        Some(0) => 1,
        Some(index) => index,
        None => waiting.len(),
    };
    let rest = waiting.split_off(count.min(GROUP_TASKS_MAX));
    std::mem::replace(waiting, rest)
}

fn answer_all(tasks: Vec<Box<dyn Task>>, outcome: &Result<(), StoreError>) {
    for task in tasks {
        task.answer(outcome.clone());
    }
}

/// A group while its tasks decide.
struct Group<'a> {
    shared: &'a Shared,
    owner: &'a mut Owner,
    now_milliseconds: i64,
    history_milliseconds: i64,
    batch: Batch,
    /// What earlier tasks wrote; kept only where a later task can ask.
    written: FxHashMap<(Space, Bytes), Option<Bytes>>,
    shows_writes: bool,
    catalog: Arc<Catalog>,
    /// One for each collection; a group touches few.
    totals: Vec<(CollectionId, TotalsChange)>,
    next_sequence: u64,
}

impl<'a> Group<'a> {
    fn new(shared: &'a Shared, owner: &'a mut Owner, tasks: usize) -> Group<'a> {
        let now_milliseconds = shared.clock.now_milliseconds();
        Group {
            now_milliseconds,
            history_milliseconds: now_milliseconds.max(shared.history_milliseconds.load(Relaxed)),
            batch: if tasks > 1 { Batch::with_capacity(tasks * WRITES_PER_TASK) } else { Batch::default() },
            written: FxHashMap::default(),
            shows_writes: tasks > 1,
            catalog: owner.catalog.clone(),
            totals: Vec::new(),
            next_sequence: (shared.store.last_commit() + 1) * RECORDS_PER_COMMIT,
            shared,
            owner,
        }
    }

    fn latest<'b>(&'b self, snapshot: &'b Snapshot) -> Latest<'b> {
        Latest {
            catalog: &self.catalog,
            now_milliseconds: self.now_milliseconds,
            history_milliseconds: self.history_milliseconds,
            next_sequence: self.next_sequence,
            item_collection_bytes_max: self.shared.item_collection_bytes_max,
            snapshot,
            written: &self.written,
        }
    }

    fn take(&mut self, mut changes: Changes) {
        if changes.is_empty() {
            return;
        }
        for (key, bytes) in changes.collections {
            match collection::encode(bytes) {
                Some(bytes) => changes.batch.put(Space::Meta, key, bytes),
                None => changes.batch.remove(Space::Meta, key),
            }
        }
        if self.shows_writes {
            let shown =
                changes.batch.iter().map(|write| ((write.space, write.key.clone()), write.value.clone()));
            self.written.extend(shown);
        }
        if !self.shows_writes && self.batch.is_empty() {
            self.batch = changes.batch;
        } else {
            self.batch.append(changes.batch);
        }
        for (stream, record) in changes.records {
            self.batch.put(Space::Log, record_key(stream, self.next_sequence), record);
            self.next_sequence += 1;
        }
        for (id, change) in changes.totals {
            match self.totals.iter_mut().find(|(known, _)| *known == id) {
                Some((_, total)) => total.add(change),
                None => self.totals.push((id, change)),
            }
        }
        if !changes.catalog.is_empty() {
            let mut catalog = Catalog::clone(&self.catalog);
            for change in changes.catalog {
                catalog.apply(change, &mut self.batch);
            }
            self.catalog = Arc::new(catalog);
        }
    }

    /// Applies the group, makes it durable and shows it to readers.
    fn finish(self) -> Result<(), StoreError> {
        let (shared, owner) = self.apply_batch()?;
        let Some(owner) = owner else { return Ok(()) };
        shared.make_durable(owner)?;
        shared.publish(owner);
        Ok(())
    }

    /// Applies the group, and keeps what readers see of it once it is durable.
    fn apply(self) -> Result<Applied, StoreError> {
        let (shared, owner) = self.apply_batch()?;
        let published = owner.map(|owner| Published {
            catalog: owner.catalog.clone(),
            snapshot: Some(shared.store.snapshot()),
        });
        Ok(Applied { published })
    }

    /// Applies the group. The owner is given back if there was something to apply.
    fn apply_batch(mut self) -> Result<(&'a Shared, Option<&'a mut Owner>), StoreError> {
        if self.batch.is_empty() {
            return Ok((self.shared, None));
        }
        let totals = self.shared.totals.lock().changed(std::mem::take(&mut self.totals));
        // In memory nobody reads them again.
        if self.shared.durability.is_on_disk() {
            totals.put(&mut self.batch);
        }
        let commit = self.shared.store.last_commit() + 1;
        let shipping =
            self.owner.shipping.map(|shipping| shipping.log(&mut self.batch, commit, self.now_milliseconds));
        // Even if the commit fails: it may come back when the store is opened again.
        self.shared.history_milliseconds.store(self.history_milliseconds, Relaxed);
        self.shared.store.apply(self.batch)?;
        self.owner.shipping = shipping;
        self.shared.totals.lock().replace(totals);
        self.owner.catalog = self.catalog;
        Ok((self.shared, Some(self.owner)))
    }
}
