//! Where a commit waits for a disk: one thread decides and applies, the other makes durable and answers (docs/decisions/0004 and 0071).

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;

use super::group::Group;
use super::task::{GROUP_TASKS_MAX, Task, answer_all, stopping, take_group};
use super::{Owner, Published, Queue, Shared};
use crate::store::{Snapshot, StoreError};

/// A group waits for writers at most for this part of what a sync takes.
const GATHERING_PART: u32 = 8;
/// And never longer than this.
const GATHERING_MAX: Duration = Duration::from_millis(1);
/// Conditions may lie within themselves hundreds of times, and are evaluated on the stack. Only what is used costs memory.
const STACK_BYTES: usize = 16 << 20;
/// While the disk is busy, so many tasks are worth waking the thread that decides.
const TASKS_WORTH_WAKING: usize = 8;

/// A group that was applied and is on its way to the disk, with those who wait for it.
#[derive(Default)]
pub(super) struct Underway {
    /// What readers see once it is durable. A group that changed nothing shows them nothing new.
    published: Option<Published>,
    tasks: Vec<Box<dyn Task>>,
}

impl Underway {
    /// Takes along what was applied after it.
    fn append(&mut self, mut later: Underway) {
        self.published = later.published.or(self.published.take());
        self.tasks.append(&mut later.tasks);
    }
}

/// Starts the thread that owns the commit, and beside it the one that waits for the disk. The second ends with the first.
pub(super) fn spawn_owner(shared: &Arc<Shared>) -> Result<JoinHandle<()>, StoreError> {
    let failed =
        |source| StoreError::Io { doing: "starting a thread that commits", source: Arc::new(source) };
    let syncing = shared.clone();
    let syncer = std::thread::Builder::new().name("monotable-sync".to_owned());
    let syncer = syncer.spawn(move || syncing.sync_groups()).map_err(failed)?;
    let owning = shared.clone();
    let owner = std::thread::Builder::new().name("monotable-commit".to_owned()).stack_size(STACK_BYTES);
    let owner = owner.spawn(move || {
        owning.own();
        // A panic of the thread has been reported by then; there is nothing left to answer.
        let _ = syncer.join();
    });
    owner.map_err(failed)
}

impl Shared {
    /// The life of the commit thread.
    fn own(&self) {
        let _closing = CloseOnExit(self);
        loop {
            let mut queue = self.queue.lock();
            self.gather(&mut queue);
            if queue.tasks.is_empty() {
                return;
            }
            let tasks = take_group(&mut queue.tasks);
            queue.open = true;
            drop(queue);
            let mut owner = self.owner.lock();
            let group = self.commit_tasks(&mut owner, tasks);
            // Under the lock of the owner: whoever has it next finds all that was applied in line.
            let lone = self.hand_over(group);
            drop(owner);
            if let Some(group) = lone {
                self.finish(group);
            }
        }
    }

    /// Commits a task on the thread of its caller, which would wait for it anyway, if nobody else writes: waking the threads that commit and sync,
    /// and then the caller, can take as long as the disk. Gives the task back otherwise.
    pub(super) fn commit_for_caller(&self, task: Box<dyn Task>) -> Option<Box<dyn Task>> {
        let Some(mut owner) = self.owner.try_lock() else { return Some(task) };
        let mut queue = self.queue.lock();
        let is_busy = queue.open || queue.uses_disk() || queue.writers > 1 || !queue.tasks.is_empty();
        // Who has to be told that the engine is closing, or may have to open the store again, is not in a hurry.
        if is_busy || queue.closed || self.store.failure().is_some() {
            return Some(task);
        }
        queue.syncing = true;
        drop(queue);
        let disk = FreeOnExit(self);
        let mut tasks = vec![task];
        let applied = self.apply(&mut owner, &self.store.snapshot(), &mut tasks);
        drop(owner);
        self.metrics.group(tasks.len());
        let outcome = applied.and_then(|published| self.settle(published));
        drop(disk);
        answer_all(tasks, &outcome);
        self.prepare();
        None
    }

    /// Waits for tasks. While the disk is busy, until they are worth deciding; while it has nothing to do, a moment for as many as there were
    /// writers: those who have just been answered come back at once with their next write, and each that misses this sync waits for two.
    fn gather(&self, queue: &mut MutexGuard<'_, Queue>) {
        let mut has_waited_for_disk = false;
        while !queue.closed && (queue.uses_disk() || queue.tasks.is_empty()) {
            has_waited_for_disk = queue.uses_disk();
            queue.wanted = if has_waited_for_disk { TASKS_WORTH_WAKING } else { 1 };
            if queue.tasks.len() >= queue.wanted {
                return;
            }
            self.wake.wait(queue);
        }
        if has_waited_for_disk {
            return;
        }
        let sync_time = Duration::from_nanos(self.sync_nanoseconds.load(Relaxed));
        let until = Instant::now() + (sync_time / GATHERING_PART).min(GATHERING_MAX);
        queue.wanted = queue.writers.min(GROUP_TASKS_MAX);
        while queue.tasks.len() < queue.wanted && !queue.closed && !queue.uses_disk() {
            if self.wake.wait_until(queue, until).timed_out() {
                break;
            }
        }
    }

    /// Lets tasks decide and applies what they decided; then those that have come meanwhile, as long as the disk has nothing to do. Those for
    /// whom that fails are told at once.
    fn commit_tasks(&self, owner: &mut Owner, tasks: Vec<Box<dyn Task>>) -> Underway {
        let mut group = Underway::default();
        let mut snapshot = self.ready(owner);
        let mut next = Some(tasks);
        while let Some(mut tasks) = next {
            match snapshot.and_then(|snapshot| self.apply(owner, &snapshot, &mut tasks)) {
                Ok(published) => group.append(Underway { published, tasks }),
                Err(error) => answer_all(tasks, &Err(error)),
            }
            next = self.more_before_sync(&group.tasks);
            // A store that fails now is not opened again before everybody in this group was told.
            snapshot = self.store.failure().map_or_else(|| Ok(self.store.snapshot()), Err);
        }
        group
    }

    /// Lets tasks decide, and applies what they decided.
    fn apply(
        &self,
        owner: &mut Owner,
        snapshot: &Snapshot,
        tasks: &mut [Box<dyn Task>],
    ) -> Result<Option<Published>, StoreError> {
        let mut group = Group::new(self, owner, tasks.len());
        for task in tasks {
            let changes = task.decide(&group.latest(snapshot));
            group.take(changes);
        }
        group.apply()
    }

    /// The tasks that have come and can share the next sync; none once the disk is busy, which is when there is time to wait for more.
    fn more_before_sync(&self, group: &[Box<dyn Task>]) -> Option<Vec<Box<dyn Task>>> {
        let mut queue = self.queue.lock();
        let is_full = group.len() >= GROUP_TASKS_MAX || group.iter().any(|task| task.runs_alone());
        if queue.uses_disk() || queue.tasks.is_empty() || is_full {
            return None;
        }
        Some(take_group(&mut queue.tasks))
    }

    /// Puts a group in line for the disk. A lone writer has nobody who could use the time, so its group is given back, to be made durable by the caller.
    fn hand_over(&self, group: Underway) -> Option<Underway> {
        let mut queue = self.queue.lock();
        queue.open = false;
        if group.tasks.is_empty() {
            return None;
        }
        if queue.lost_disk {
            drop(queue);
            answer_all(group.tasks, &Err(stopping()));
            return None;
        }
        if group.tasks.len() + queue.tasks.len() <= 1 && !queue.uses_disk() {
            begin_sync(&mut queue, &group);
            return Some(group);
        }
        queue.applied.get_or_insert_default().append(group);
        if !queue.syncing {
            self.disk.notify_one();
        }
        // A disk that cannot keep up holds back those who write.
        while queue.applied.as_ref().is_some_and(|applied| applied.tasks.len() >= GROUP_TASKS_MAX) {
            self.wait_awhile_for_disk(&mut queue);
        }
        None
    }

    pub(super) fn wait_for_disk(&self, queue: &mut MutexGuard<'_, Queue>) {
        while queue.uses_disk() {
            self.wait_awhile_for_disk(queue);
        }
    }

    fn wait_awhile_for_disk(&self, queue: &mut MutexGuard<'_, Queue>) {
        queue.waiting_for_disk += 1;
        self.wake.wait(queue);
        queue.waiting_for_disk -= 1;
    }

    /// The life of the thread that waits for the disk.
    fn sync_groups(&self) {
        let _lost = LoseDiskOnExit(self);
        while let Some(group) = self.next_applied() {
            self.finish(group);
        }
    }

    /// Waits for the next group that was applied and for the disk to be free; none once there will be no more.
    fn next_applied(&self) -> Option<Underway> {
        let mut queue = self.queue.lock();
        loop {
            if !queue.syncing
                && let Some(group) = queue.applied.take()
            {
                begin_sync(&mut queue, &group);
                return Some(group);
            }
            if queue.ended && queue.applied.is_none() {
                return None;
            }
            self.disk.wait(&mut queue);
        }
    }

    /// Makes a group durable and answers it.
    fn finish(&self, group: Underway) {
        self.metrics.group(group.tasks.len());
        let outcome = {
            let _free = FreeOnExit(self);
            self.settle(group.published)
        };
        answer_all(group.tasks, &outcome);
        self.prepare();
    }

    /// Gets ready for the next group, now that nobody waits for this one.
    fn prepare(&self) {
        // A failure stops the store, which the next group is told.
        let _ = self.store.prepare();
    }

    /// Makes a group durable and shows it to readers.
    fn settle(&self, published: Option<Published>) -> Result<(), StoreError> {
        let Some(published) = published else {
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
}

/// The disk is busy with a group from now on; [`FreeOnExit`] says when that is over.
fn begin_sync(queue: &mut Queue, group: &Underway) {
    queue.syncing = true;
    // Those who wait on are writers, too.
    queue.writers = group.tasks.len() + queue.tasks.len();
}

/// Says that the disk is free again when a group has been there, however that ended.
struct FreeOnExit<'a>(&'a Shared);

impl Drop for FreeOnExit<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.syncing = false;
        let has_next = queue.applied.is_some();
        // The commit thread need not hear of it while it has nothing to do, or while the disk goes on at once.
        let is_awaited = queue.waiting_for_disk > 0 || (!has_next && !queue.tasks.is_empty());
        if !has_next {
            queue.wanted = 1;
        }
        drop(queue);
        if has_next {
            self.0.disk.notify_one();
        }
        if is_awaited {
            self.0.wake.notify_all();
        }
    }
}

/// Refuses further tasks when the commit thread ends, however it ends, so that nobody waits for it in vain.
struct CloseOnExit<'a>(&'a Shared);

impl Drop for CloseOnExit<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        (queue.closed, queue.ended) = (true, true);
        let left = std::mem::take(&mut queue.tasks);
        drop(queue);
        self.0.disk.notify_one();
        answer_all(left, &Err(stopping()));
    }
}

/// Refuses what was applied when the thread that syncs ends, however it ends.
struct LoseDiskOnExit<'a>(&'a Shared);

impl Drop for LoseDiskOnExit<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.lost_disk = true;
        let left = queue.applied.take().unwrap_or_default();
        drop(queue);
        self.0.wake.notify_all();
        answer_all(left.tasks, &Err(stopping()));
    }
}

#[cfg(test)]
mod tests;
