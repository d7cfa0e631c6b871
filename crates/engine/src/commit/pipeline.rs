//! Where a commit waits for a disk: one thread decides and applies, the other makes durable and answers (docs/decisions/0004).

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
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
struct Underway {
    /// What readers see once it is durable. A group that changed nothing shows them nothing new.
    published: Option<Published>,
    tasks: Vec<Box<dyn Task>>,
}

/// Starts the thread that owns the commit, and beside it the one that waits for the disk. The second ends with the first.
pub(super) fn spawn_owner(shared: &Arc<Shared>) -> Result<JoinHandle<()>, StoreError> {
    let failed =
        |source| StoreError::Io { doing: "starting a thread that commits", source: Arc::new(source) };
    let (sender, receiver) = sync_channel(1);
    let syncing = shared.clone();
    let syncer = std::thread::Builder::new().name("monotable-sync".to_owned());
    let syncer = syncer.spawn(move || syncing.sync_groups(&receiver)).map_err(failed)?;
    let owning = shared.clone();
    let owner = std::thread::Builder::new().name("monotable-commit".to_owned()).stack_size(STACK_BYTES);
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
        loop {
            let mut queue = self.queue.lock();
            self.gather(&mut queue);
            if queue.tasks.is_empty() {
                return;
            }
            let group = take_group(&mut queue.tasks);
            queue.open = true;
            drop(queue);
            let group = self.commit_while_syncing(&mut self.owner.lock(), group);
            self.hand_over(group, &disk);
        }
    }

    /// Commits a task on the thread of its caller, which would wait for it anyway, if nobody else writes: waking the threads that commit and sync,
    /// and then the caller, can take as long as the disk. Gives the task back otherwise.
    pub(super) fn commit_for_caller(&self, task: Box<dyn Task>) -> Option<Box<dyn Task>> {
        let Some(mut owner) = self.owner.try_lock() else { return Some(task) };
        let mut queue = self.queue.lock();
        let is_busy = queue.open || queue.syncing || queue.writers > 1 || !queue.tasks.is_empty();
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

    /// Waits for the first task, and then, where the disk has nothing to do, a moment for as many as there were writers: those who have just
    /// been answered come back at once with their next write, and each that misses this sync waits for two.
    fn gather(&self, queue: &mut MutexGuard<'_, Queue>) {
        queue.wanted = 1;
        while queue.tasks.is_empty() && !queue.closed {
            self.wake.wait(queue);
        }
        let sync_time = Duration::from_nanos(self.sync_nanoseconds.load(Relaxed));
        let until = Instant::now() + (sync_time / GATHERING_PART).min(GATHERING_MAX);
        queue.wanted = queue.writers.min(GROUP_TASKS_MAX);
        while queue.tasks.len() < queue.wanted && !queue.closed && !queue.syncing {
            if self.wake.wait_until(queue, until).timed_out() {
                break;
            }
        }
    }

    /// Lets the tasks of a group decide and applies what they decided; then those that come while the disk is busy with the group before.
    /// Those for whom that fails are told at once.
    fn commit_while_syncing(&self, owner: &mut Owner, tasks: Vec<Box<dyn Task>>) -> Underway {
        let mut group = Underway { published: None, tasks: Vec::new() };
        let mut snapshot = self.ready(owner);
        let mut next = Some(tasks);
        while let Some(mut tasks) = next {
            match snapshot.and_then(|snapshot| self.apply(owner, &snapshot, &mut tasks)) {
                Ok(published) => {
                    group.published = published.or(group.published);
                    group.tasks.append(&mut tasks);
                }
                Err(error) => answer_all(tasks, &Err(error)),
            }
            next = self.more_while_syncing(&group.tasks);
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
            self.wait_awhile_for_disk(&mut queue);
        }
    }

    /// Passes a group on to the thread that waits for the disk. A lone writer has nobody who could use the time, so its group is made durable here.
    fn hand_over(&self, group: Underway, disk: &SyncSender<Underway>) {
        let mut queue = self.queue.lock();
        // Those who wait on are writers, too.
        queue.writers = group.tasks.len() + queue.tasks.len();
        if group.tasks.is_empty() {
            queue.open = false;
            return;
        }
        self.metrics.group(group.tasks.len());
        let is_lone = queue.writers <= 1 && !queue.syncing;
        self.wait_for_disk(&mut queue);
        (queue.open, queue.syncing) = (false, true);
        drop(queue);
        if is_lone {
            return self.finish(group);
        }
        if let Err(lost) = disk.send(group) {
            self.queue.lock().syncing = false;
            answer_all(lost.0.tasks, &Err(stopping()));
        }
    }

    pub(super) fn wait_for_disk(&self, queue: &mut MutexGuard<'_, Queue>) {
        while queue.syncing {
            self.wait_awhile_for_disk(queue);
        }
    }

    fn wait_awhile_for_disk(&self, queue: &mut MutexGuard<'_, Queue>) {
        queue.waiting_for_disk += 1;
        self.wake.wait(queue);
        queue.waiting_for_disk -= 1;
    }

    /// The life of the thread that waits for the disk.
    fn sync_groups(&self, groups: &Receiver<Underway>) {
        for group in groups {
            self.finish(group);
        }
    }

    /// Makes a group durable and answers it.
    fn finish(&self, group: Underway) {
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

/// Says that the disk is free again when a group has been there, however that ended.
struct FreeOnExit<'a>(&'a Shared);

impl Drop for FreeOnExit<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.syncing = false;
        // The commit thread need not hear of it while it waits for something to do.
        let is_awaited = queue.waiting_for_disk > 0 || !queue.tasks.is_empty();
        drop(queue);
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
        queue.closed = true;
        let left = std::mem::take(&mut queue.tasks);
        drop(queue);
        answer_all(left, &Err(stopping()));
    }
}

#[cfg(test)]
mod tests;
