//! Sends planned writes, and says what a failure means.

use design::PlannedWrite;
use dynamo::operation::{TransactWriteItem, TransactWriteItems};
use dynamo::{ApiError, ErrorKind, Operation, StoredItem};

use super::Plan;
use super::refuse;
use crate::refusal::Refusal;
use crate::service::Service;

/// One transaction has at most so many actions.
pub(crate) fn actions_max(service: &Service) -> usize {
    service.backend().capabilities().transaction_actions
}

/// What came of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Everything is written.
    Done,
    /// Nothing is written, because something that was read has changed, or others write the same items now.
    Lost,
    /// Nothing is written, because the condition of an extra action failed.
    ExtraFailed,
}

/// Sends the writes of a plan, with extra actions in the same transaction.
pub(crate) async fn send(
    service: &Service,
    mut plan: Plan,
    extra: Vec<TransactWriteItem>,
) -> Result<Sent, Refusal> {
    let Some(request) = request(&mut plan.writes, extra) else { return Ok(Sent::Done) };
    match service.run(request).await {
        Ok(_) => Ok(Sent::Done),
        Err(error) => failed(service, &plan, error),
    }
}

/// The request for some writes and extra actions: a single write by itself.
fn request(writes: &mut [PlannedWrite], extra: Vec<TransactWriteItem>) -> Option<Operation> {
    if extra.is_empty() {
        return design::requests(writes, None);
    }
    let actions = writes.iter_mut().map(|write| std::mem::take(&mut write.action)).chain(extra).collect();
    let request = TransactWriteItems { transact_items: Some(actions), ..TransactWriteItems::default() };
    Some(request.into())
}

fn failed(service: &Service, plan: &Plan, error: ApiError) -> Result<Sent, Refusal> {
    let failed = match error.kind {
        ErrorKind::ConditionalCheckFailed => vec![(0, error.item.as_ref())],
        ErrorKind::TransactionCanceled => {
            let reasons = error.reasons.iter().enumerate();
            let failed = reasons.filter(|(_, reason)| reason.code == "ConditionalCheckFailed");
            let failed = failed.map(|(number, reason)| (number, reason.item.as_ref())).collect::<Vec<_>>();
            if failed.is_empty() && error.reasons.iter().any(|reason| PASSING.contains(&reason.code)) {
                return Ok(Sent::Lost);
            }
            failed
        }
        ErrorKind::TransactionConflict
        | ErrorKind::TransactionInProgress
        | ErrorKind::ProvisionedThroughputExceeded => return Ok(Sent::Lost),
        _ => return Err(error.into()),
    };
    let refused = error.reasons.iter().find(|reason| reason.code == "ValidationError");
    if let Some(message) = refused.and_then(|reason| reason.message.clone()) {
        return Err(Refusal::invalid("request", message));
    }
    if failed.iter().any(|(number, _)| *number >= plan.writes.len()) {
        return Ok(Sent::ExtraFailed);
    }
    let failed = failed.iter().filter_map(|(number, item)| Some((plan.writes.get(*number)?, *item)));
    let failed = failed.collect::<Vec<_>>();
    if failed.iter().any(|(write, item)| has_changed(plan, write, *item)) {
        return Ok(Sent::Lost);
    }
    match failed.first() {
        Some((write, _)) => Err(refuse::failed_write(service.design(), write)),
        None => Err(Refusal::Backend(error)),
    }
}

/// Reasons that say nothing about the write itself.
const PASSING: [&str; 3] = ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];

/// True if an item was read for a write and is another now.
fn has_changed(plan: &Plan, write: &PlannedWrite, now: Option<&StoredItem>) -> bool {
    let read = plan.read.iter().find(|(key, _)| *key == write.key);
    read.is_some_and(|(_, item)| *item != now.map(StoredItem::decode))
}
