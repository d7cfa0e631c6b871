//! What happens while a sync lasts, with a store whose syncs last as long as a test wants.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Waker;
use std::thread::ThreadId;

use parking_lot::{Condvar, Mutex};

use super::super::{Changes, Committer};
use super::*;
use crate::fault::Fault;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::store::{Batch, FjallStore, MemoryStore, Space, Store, StoreOptions};

/// A store in memory; a sync ends when it is told to.
struct Slow {
    memory: MemoryStore,
    disk: Mutex<Disk>,
    changed: Condvar,
}

#[derive(Default)]
struct Disk {
    syncs_begun: usize,
    /// How the syncs end; until then they last.
    outcome: Option<Result<(), StoreError>>,
}

impl Slow {
    fn wait_until(&self, is_so: impl Fn(&Disk) -> bool) {
        self.changed.wait_while(&mut self.disk.lock(), |disk| !is_so(disk));
    }

    fn end_syncs(&self, outcome: Result<(), StoreError>) {
        self.disk.lock().outcome = Some(outcome);
        self.changed.notify_all();
    }
}

impl Store for Slow {
    fn snapshot(&self) -> Snapshot {
        self.memory.snapshot()
    }

    fn apply(&self, batch: Batch) -> Result<u64, StoreError> {
        self.memory.apply(batch)
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn sync(&self) -> Result<(), StoreError> {
        let mut disk = self.disk.lock();
        disk.syncs_begun += 1;
        self.changed.notify_all();
        self.changed.wait_while(&mut disk, |disk| disk.outcome.is_none());
        disk.outcome.clone().unwrap_or(Ok(()))
    }

    fn reopen(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn failure(&self) -> Option<StoreError> {
        self.disk.lock().outcome.clone().and_then(Result::err)
    }

    fn last_commit(&self) -> u64 {
        self.memory.last_commit()
    }

    fn size_bytes(&self) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// Two writers whose sync lasts (a lone one would have nobody else to let through), and eight that came while it did and were applied.
fn ten_writers(store: &Arc<Slow>) -> (Committer, Receiver<Result<(), Fault>>) {
    let committer = start(store);
    let (sender, answers) = channel();
    let write = |number: u8| {
        let decide = move |_: &super::super::Latest<'_>| {
            let mut changes = Changes::default();
            changes.batch.put(Space::Data, vec![number], vec![number]);
            Ok(((), changes))
        };
        committer.submit(decide, tell(&sender));
    };
    let owner = committer.shared.owner.lock();
    write(0);
    while !committer.shared.queue.lock().tasks.is_empty() {
        std::thread::yield_now();
    }
    write(1);
    drop(owner);
    store.wait_until(|disk| disk.syncs_begun == 1);
    (2..10).for_each(write);
    wait_until_in_line(&committer, 8);
    (committer, answers)
}

/// Waits until so many tasks are in line for the disk, which is later than when they were applied.
fn wait_until_in_line(committer: &Committer, tasks: usize) {
    while committer.shared.queue.lock().applied.as_ref().is_none_or(|group| group.tasks.len() < tasks) {
        std::thread::yield_now();
    }
}

/// An answer that is sent on. Who receives it needs nobody to wake it.
fn tell<T>(sender: &Sender<T>) -> impl FnOnce(T) -> Option<Waker> + use<T> {
    let sender = sender.clone();
    move |outcome| {
        sender.send(outcome).unwrap();
        None
    }
}

/// A write of one key, which notes the thread it is decided on.
fn put(
    key: Vec<u8>,
) -> impl FnOnce(&super::super::Latest<'_>) -> Result<(ThreadId, Changes), Fault> + Send + 'static {
    move |_| {
        let mut changes = Changes::default();
        changes.batch.put(Space::Data, key.clone(), key);
        Ok((std::thread::current().id(), changes))
    }
}

fn start(store: &Arc<Slow>) -> Committer {
    Committer::start(store.clone(), &Options::default(), Arc::new(Metrics::default())).unwrap()
}

fn slow() -> Arc<Slow> {
    Arc::new(Slow { memory: MemoryStore::new(), disk: Mutex::default(), changed: Condvar::new() })
}

#[test]
fn a_lone_caller_that_waits_commits_on_its_own_thread() {
    let store = slow();
    store.end_syncs(Ok(()));
    let committer = start(&store);
    for number in 0..3 {
        assert_eq!(committer.run(put(vec![number])).unwrap(), std::thread::current().id());
        assert!(committer.view().snapshot.get(Space::Data, &[number]).unwrap().is_some());
    }
    assert_eq!(store.disk.lock().syncs_begun, 3);
}

#[test]
fn a_caller_that_waits_joins_those_who_write_already() {
    let store = slow();
    let committer = start(&store);
    let (sender, answers) = channel();
    committer.submit(put(vec![0]), tell(&sender));
    store.wait_until(|disk| disk.syncs_begun == 1);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| committer.run(put(vec![1])).unwrap() != std::thread::current().id());
        let has_come = || {
            let queue = committer.shared.queue.lock();
            queue.open || !queue.tasks.is_empty()
        };
        while !has_come() {
            std::thread::yield_now();
        }
        store.end_syncs(Ok(()));
        assert!(waiting.join().unwrap(), "decided elsewhere");
    });
    answers.recv().unwrap().unwrap();
}

#[test]
fn all_that_was_applied_during_a_sync_shares_the_next_one() {
    let store = slow();
    let (committer, answers) = ten_writers(&store);
    let (sender, later_answers) = channel();
    for number in 10..18 {
        committer.submit(put(vec![number]), tell(&sender));
    }
    wait_until_in_line(&committer, 16);
    assert!(answers.try_recv().is_err() && later_answers.try_recv().is_err(), "told before the sync");
    store.end_syncs(Ok(()));
    let later_answers = later_answers.iter().take(8).map(|outcome| outcome.map(drop));
    answers.iter().take(10).chain(later_answers).for_each(|outcome| outcome.unwrap());
    assert_eq!(store.disk.lock().syncs_begun, 2);
    assert!(committer.view().snapshot.get(Space::Data, &[17]).unwrap().is_some());
}

#[test]
fn what_was_applied_is_made_durable_before_the_committer_ends() {
    let store = slow();
    let (committer, answers) = ten_writers(&store);
    std::thread::scope(|scope| {
        let ending = scope.spawn(move || drop(committer));
        store.end_syncs(Ok(()));
        ending.join().unwrap();
    });
    assert_eq!(answers.iter().flatten().count(), 10);
}

#[test]
fn everybody_sees_what_they_wrote_whoever_committed_it() {
    let store = slow();
    store.end_syncs(Ok(()));
    let committer = start(&store);
    std::thread::scope(|scope| {
        for writer in 0..4_u8 {
            let committer = &committer;
            scope.spawn(move || {
                for round in 0..2_000_u16 {
                    let key = [&[writer][..], &round.to_be_bytes()].concat();
                    committer.run(put(key.clone())).unwrap();
                    let seen = committer.view().snapshot.get(Space::Data, &key).unwrap();
                    assert!(seen.is_some(), "writer {writer}, round {round}");
                    // Now and then nobody else writes.
                    if round % 64 == u16::from(writer) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            });
        }
    });
}

#[test]
fn what_was_shown_stays_shown_when_callers_and_the_commit_thread_take_turns() {
    let store = slow();
    store.end_syncs(Ok(()));
    let committer = start(&store);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Who does not wait is always served by the commit thread.
        scope.spawn(|| {
            let (sender, answers) = channel();
            while !is_over.load(Relaxed) {
                committer.submit(put(vec![1]), tell(&sender));
                answers.recv().unwrap().unwrap();
            }
        });
        for round in 0..20_000_u32 {
            let key = round.to_be_bytes().to_vec();
            committer.run(put(key.clone())).unwrap();
            for _ in 0..20 {
                let seen = committer.view().snapshot.get(Space::Data, &key).unwrap();
                if seen.is_none() {
                    is_over.store(true, Relaxed);
                    panic!("what round {round} wrote is gone again");
                }
            }
        }
        is_over.store(true, Relaxed);
    });
}

#[test]
fn what_was_replaced_is_forgotten_while_nobody_writes() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(FjallStore::open(directory.path(), StoreOptions::default()).unwrap());
    let committer =
        Committer::start(store.clone(), &Options::default(), Arc::new(Metrics::default())).unwrap();
    for number in 0..3 {
        let replace = move |_: &super::super::Latest<'_>| {
            let mut changes = Changes::default();
            changes.batch.put(Space::Data, vec![1], vec![number; 500_000]);
            Ok(((), changes))
        };
        committer.run(replace).unwrap();
        store.flush_to_table();
    }
    store.merge_all_tables();
    let merged_bytes = store.size_bytes().unwrap();
    let owner = committer.shared.owner.lock();
    committer.forget();
    assert_eq!(store.size_bytes().unwrap(), merged_bytes, "somebody writes");
    drop(owner);
    committer.forget();
    let bytes = store.size_bytes().unwrap();
    assert!(bytes + 400_000 < merged_bytes, "{bytes} of {merged_bytes} are left");
    let seen = committer.view().snapshot.get(Space::Data, &[1]).unwrap();
    assert_eq!(seen.unwrap(), vec![2; 500_000]);
}

#[test]
fn a_decision_that_panics_on_its_callers_thread_leaves_the_commit_free() {
    let store = slow();
    store.end_syncs(Ok(()));
    let committer = start(&store);
    let panics =
        |_: &super::super::Latest<'_>| -> Result<((), Changes), Fault> { panic!("as it was asked to") };
    let outcome = catch_unwind(AssertUnwindSafe(|| committer.run(panics)));
    assert!(outcome.is_err());
    assert_eq!(committer.run(put(vec![1])).unwrap(), std::thread::current().id());
}

#[test]
fn a_lone_caller_whose_sync_fails_is_told() {
    let store = slow();
    let failure = StoreError::Failed { reason: "no space".into(), disk_was_full: false, source: None };
    let committer = start(&store);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| committer.run(put(vec![1])).is_err());
        store.wait_until(|disk| disk.syncs_begun == 1);
        assert_eq!(committer.view().snapshot.get(Space::Data, &[1]).unwrap(), None, "nobody is shown it");
        store.end_syncs(Err(failure));
        assert!(waiting.join().unwrap());
    });
    assert_eq!(committer.view().snapshot.get(Space::Data, &[1]).unwrap(), None, "not even afterwards");
}

#[test]
fn what_comes_during_a_sync_is_applied_meanwhile_and_answered_after_its_own() {
    let store = slow();
    let (committer, answers) = ten_writers(&store);
    assert!(answers.try_recv().is_err(), "nobody is told before anything is durable");
    let key = [9_u8];
    assert_eq!(committer.view().snapshot.get(Space::Data, &key).unwrap(), None, "nor shown it");
    store.end_syncs(Ok(()));
    for _ in 0..10 {
        answers.recv().unwrap().unwrap();
    }
    assert_eq!(store.disk.lock().syncs_begun, 2);
    assert!(committer.view().snapshot.get(Space::Data, &key).unwrap().is_some());
}

#[test]
fn what_was_applied_during_a_sync_that_fails_fails_with_it() {
    let store = slow();
    let (_committer, answers) = ten_writers(&store);
    // A full disk would let the store be opened again: not before these were told.
    store.end_syncs(Err(StoreError::Failed { reason: "no space".into(), disk_was_full: true, source: None }));
    for _ in 0..10 {
        answers.recv().unwrap().unwrap_err();
    }
}
