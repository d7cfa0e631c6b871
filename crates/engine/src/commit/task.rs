//! Tasks: what waits to decide, and to be answered.

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
    /// Gives the answer, or the failure of the group.
    fn answer(self: Box<Self>, group: Result<(), StoreError>);
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

pub(super) fn answer_all(tasks: Vec<Box<dyn Task>>, outcome: &Result<(), StoreError>) {
    for task in tasks {
        task.answer(outcome.clone());
    }
}
