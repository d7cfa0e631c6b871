//! Writes have one owner.
//!
//! Whoever owns the commit takes the waiting tasks as a group, lets each decide against the latest state, applies what they decided as one
//! atomic batch, makes the group durable with one sync, and only then answers all of them. So every write is
//! serializable, streams have one order, a transaction is simply a larger write, and the price of durability is shared.
//!
//! Always true: a task sees everything that tasks before it decided; readers see a group only once it is as durable as the
//! engine promises; a task is answered exactly once.
//!
//! Where a commit waits for a disk, a thread of its own owns it and callers wait for its answer. Where it does
//! not, handing over to a thread would cost more than the write, so the caller owns the commit itself.
//!
//! Path of a write: `Committer::run` -> queue -> [`Shared::commit`] (decide, apply, sync, publish) -> answer.

use std::sync::Arc;
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
use crate::layout::{CollectionId, record_key};
use crate::metrics::Metrics;
use crate::options::{Durability, Options};
use crate::shipping::{LogPlace, LogState, Shipping};
use crate::store::{Batch, Snapshot, Space, Store, StoreError};
use crate::totals::{Totals, TotalsChange};

/// The most tasks in one group: bounds the latency of the first and the size of a batch.
const GROUP_TASKS_MAX: usize = 1024;
/// A commit has room for so many stream records; 1,024 tasks of 100 items stay far below.
const RECORDS_PER_COMMIT: u64 = 1 << 20;
/// Room for an item, two index entries and a record; more grows.
const WRITES_PER_TASK: usize = 4;
/// A group waits for writers at most for this part of what a sync takes.
const GATHERING_PART: u32 = 8;
/// And never longer than this.
const GATHERING_MAX: Duration = Duration::from_millis(1);
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
    /// Stream records, in order; the group gives them their numbers.
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
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    durability: Durability,
    item_collection_bytes_max: u64,
    owner: Mutex<Owner>,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// What readers see. In memory only the catalog: a snapshot kept here would make every write copy.
    published: ArcSwap<Published>,
    totals: Mutex<Totals>,
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
    closed: bool,
}

/// The state that only the owner of the commit touches.
struct Owner {
    catalog: Arc<Catalog>,
    last_reopen: Option<Instant>,
    last_sync: Instant,
    /// How long a sync takes, by the last one.
    sync_time: Duration,
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
        let kept = durability.is_on_disk().then_some(snapshot);
        let shared = Arc::new(Shared {
            store,
            clock: options.clock.clone(),
            durability,
            item_collection_bytes_max: options.item_collection_bytes_max,
            owner: Mutex::new(Owner {
                catalog: catalog.clone(),
                last_reopen: None,
                last_sync: Instant::now(),
                sync_time: Duration::ZERO,
                shipping: None,
            }),
            queue: Mutex::default(),
            wake: Condvar::new(),
            published: ArcSwap::from_pointee(Published { catalog, snapshot: kept }),
            totals: Mutex::new(totals),
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

    /// Why writes are refused now, if they are.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        self.shared.store.failure()
    }

    /// What the store takes on disk.
    pub(crate) fn size_on_disk_bytes(&self) -> Result<u64, StoreError> {
        self.shared.store.size_bytes()
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
        if self.thread.is_none() {
            answer(self.shared.commit_own(decide));
        } else {
            self.enqueue(decide, answer, false);
        }
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
            self.shared.wake.notify_one();
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

fn spawn_owner(shared: &Arc<Shared>) -> Result<JoinHandle<()>, StoreError> {
    let shared = shared.clone();
    let spawned = std::thread::Builder::new().name("monotable-commit".to_owned()).spawn(move || shared.own());
    spawned.map_err(|source| StoreError::Io { doing: "starting the commit thread", source: Arc::new(source) })
}

impl Shared {
    /// The life of the commit thread.
    fn own(&self) {
        let _closing = CloseOnExit(self);
        let mut writers = 0;
        loop {
            let mut queue = self.queue.lock();
            self.gather(&mut queue, writers);
            if queue.tasks.is_empty() {
                return;
            }
            let group = take_group(&mut queue.tasks);
            // Those who wait on are writers, too.
            writers = group.len() + queue.tasks.len();
            drop(queue);
            self.commit(&mut self.owner.lock(), group);
            writers = writers.max(self.queue.lock().tasks.len());
        }
    }

    /// Waits for the first task, and then a moment for as many as there were writers: those who have just been answered come
    /// back at once with their next write, and each that misses this sync waits for two.
    fn gather(&self, queue: &mut MutexGuard<'_, Queue>, writers: usize) {
        queue.wanted = 1;
        while queue.tasks.is_empty() && !queue.closed {
            self.wake.wait(queue);
        }
        let moment = (self.owner.lock().sync_time / GATHERING_PART).min(GATHERING_MAX);
        let until = Instant::now() + moment;
        queue.wanted = writers.min(GROUP_TASKS_MAX);
        while queue.tasks.len() < queue.wanted && !queue.closed {
            if self.wake.wait_until(queue, until).timed_out() {
                break;
            }
        }
    }

    /// Decides, applies, syncs and answers a group.
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
        let mut owner = self.owner.lock();
        let snapshot = self.ready(&mut owner)?;
        let mut group = Group::new(self, &mut owner, 1);
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

    fn make_durable(&self, owner: &mut Owner) -> Result<(), StoreError> {
        let due = match self.durability {
            Durability::Sync => true,
            Durability::Interval(interval) => owner.last_sync.elapsed() >= interval,
            Durability::None | Durability::InMemory => false,
        };
        if !due {
            return self.store.flush();
        }
        let started = Instant::now();
        self.store.sync()?;
        owner.last_sync = Instant::now();
        owner.sync_time = started.elapsed();
        self.metrics.sync(owner.sync_time);
        Ok(())
    }

    fn publish(&self, owner: &Owner) {
        let snapshot = self.durability.is_on_disk().then(|| self.store.snapshot());
        if snapshot.is_some() || !Arc::ptr_eq(&self.published.load().catalog, &owner.catalog) {
            self.published.store(Arc::new(Published { catalog: owner.catalog.clone(), snapshot }));
        }
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
        Group {
            now_milliseconds: shared.clock.now_milliseconds(),
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
    fn finish(mut self) -> Result<(), StoreError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let totals = self.shared.totals.lock().changed(std::mem::take(&mut self.totals));
        // In memory nobody reads them again.
        if self.shared.durability.is_on_disk() {
            totals.put(&mut self.batch);
        }
        let commit = self.shared.store.last_commit() + 1;
        let shipping =
            self.owner.shipping.map(|shipping| shipping.log(&mut self.batch, commit, self.now_milliseconds));
        self.shared.store.apply(self.batch)?;
        self.shared.make_durable(self.owner)?;
        self.owner.shipping = shipping;
        self.shared.totals.lock().replace(totals);
        self.owner.catalog = self.catalog;
        self.shared.publish(self.owner);
        Ok(())
    }
}
