//! Tasks: what waits to decide, and to be answered.

use std::task::Waker;

use super::{Changes, Latest};
use crate::fault::Fault;
use crate::store::StoreError;

/// The most tasks in one group: bounds the latency of the first and the size of a batch.
pub(super) const GROUP_TASKS_MAX: usize = 1024;

/// A task that waits for its group.
pub(super) trait Task: Send {
    /// Decides against the latest state; remembers its answer.
    fn decide(&mut self, latest: &Latest<'_>) -> Changes;
    /// True for a task that reads ranges, which a group with other tasks could have changed.
    fn runs_alone(&self) -> bool;
    /// Gives the answer, or the failure of the group. Returns whom to wake when the whole group has been answered.
    fn answer(self: Box<Self>, group: Result<(), StoreError>) -> Option<Waker>;
}

/// A task with the one who waits for its answer.
pub(super) struct Waiting<T, D, A> {
    pub(super) decide: Option<D>,
    pub(super) outcome: Option<Result<T, Fault>>,
    pub(super) answer: A,
    pub(super) alone: bool,
}

impl<T, D, A> Task for Waiting<T, D, A>
where
    T: Send,
    D: FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send,
    A: FnOnce(Result<T, Fault>) -> Option<Waker> + Send,
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

    fn answer(self: Box<Self>, group: Result<(), StoreError>) -> Option<Waker> {
        let outcome = match (group, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Err(error), _) => Err(Fault::Store(error)),
            (Ok(()), None) => Err(Fault::Store(stopping())),
        };
        (self.answer)(outcome)
    }
}

fn split_decision<T>(decision: Result<(T, Changes), Fault>) -> (Result<T, Fault>, Changes) {
    match decision {
        Ok((value, changes)) => (Ok(value), changes),
        Err(fault) => (Err(fault), Changes::default()),
    }
}

pub(super) fn stopping() -> StoreError {
    StoreError::Failed { reason: "the engine is closing".into(), disk_was_full: false, source: None }
}

/// The tasks that go together: all that wait, but a task that runs alone has a group to itself.
pub(super) fn take_group(waiting: &mut Vec<Box<dyn Task>>) -> Vec<Box<dyn Task>> {
    let alone = waiting.iter().position(|task| task.runs_alone());
    let count = match alone {
        Some(0) => 1,
        Some(index) => index,
        None => waiting.len(),
    };
    let rest = waiting.split_off(count.min(GROUP_TASKS_MAX));
    std::mem::replace(waiting, rest)
}

/// Answers a group, and then wakes each of those once who wait for any of it: waking is a call of the operating system.
pub(super) fn answer_all(tasks: Vec<Box<dyn Task>>, outcome: &Result<(), StoreError>) {
    let mut sleepers = Sleepers::default();
    for task in tasks {
        sleepers.add(task.answer(outcome.clone()));
    }
}

/// Wakes who sleeps until it was answered.
pub(crate) fn wake(sleeper: Option<Waker>) {
    if let Some(sleeper) = sleeper {
        sleeper.wake();
    }
}

/// Those who are woken at the end, also where an answer panics.
#[derive(Default)]
struct Sleepers(Vec<Waker>);

impl Sleepers {
    fn add(&mut self, sleeper: Option<Waker>) {
        if let Some(sleeper) = sleeper
            && !self.0.iter().any(|other| other.will_wake(&sleeper))
        {
            self.0.push(sleeper);
        }
    }
}

impl Drop for Sleepers {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::task::Wake;

    use parking_lot::Mutex;

    use super::*;

    /// Counts its answers, and notes how many there were whenever it is woken.
    #[derive(Default)]
    struct Sleeper {
        answers: AtomicUsize,
        wakings: Mutex<Vec<usize>>,
    }

    impl Wake for Sleeper {
        fn wake(self: Arc<Sleeper>) {
            self.wakings.lock().push(self.answers.load(SeqCst));
        }
    }

    fn task_of(sleeper: &Arc<Sleeper>) -> Box<dyn Task> {
        let sleeper = sleeper.clone();
        task(move || {
            sleeper.answers.fetch_add(1, SeqCst);
            Some(Waker::from(sleeper))
        })
    }

    fn task(answer: impl FnOnce() -> Option<Waker> + Send + 'static) -> Box<dyn Task> {
        let decide = Some(|_: &Latest<'_>| Ok(((), Changes::default())));
        let answer = |_: Result<(), Fault>| answer();
        Box::new(Waiting { decide, outcome: None, answer, alone: false })
    }

    #[test]
    fn who_sleeps_is_woken_once_for_a_whole_group_and_after_its_last_answer() {
        let (first, second) = (Arc::<Sleeper>::default(), Arc::<Sleeper>::default());
        let tasks = [&first, &second, &first, &second, &first].map(task_of);
        answer_all(tasks.into(), &Ok(()));
        assert_eq!(*first.wakings.lock(), [3]);
        assert_eq!(*second.wakings.lock(), [2]);
    }

    #[test]
    fn who_was_answered_is_woken_though_the_next_answer_panics() {
        let sleeper = Arc::<Sleeper>::default();
        let tasks = vec![task_of(&sleeper), task(|| panic!("an answer that fails"))];
        assert!(catch_unwind(AssertUnwindSafe(|| answer_all(tasks, &Ok(())))).is_err());
        assert_eq!(*sleeper.wakings.lock(), [1]);
    }
}
