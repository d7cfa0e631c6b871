//! Writes: bound until enough is known, sent, and tried again from fresh reads when others were faster.
//!
//! Always true: what was read and mattered is in a condition of the write. So a condition that fails on an item that is not as it was read
//! means a lost race, which is tried again; any other that fails is an answer, and is reported by name.

pub(crate) mod chunk;
pub(crate) mod given;
pub(crate) mod outcome;
mod refuse;
mod send;

use design::{Bound, ItemKey, Known, PlannedWrite, Write};
use dynamo::operation::{Choice, Operation, ReturnValues};
use dynamo::{ErrorKind, Item, Reply};

use crate::answer::{Entity, Written};
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::shape;

pub(crate) use refuse::problems;
pub(crate) use send::{Sent, send};

/// How often binding may ask for more before it must be done. Chains of references are short.
const ROUNDS_MAX: usize = 50;

/// Writes that are ready to be sent, and what they depend on.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) writes: Vec<PlannedWrite>,
    /// The items that were read for them, as they were.
    pub(crate) read: Vec<(ItemKey, Option<Item>)>,
}

/// Carries out a write; with an idempotency key, once.
pub(crate) async fn carry_out(
    service: &Service,
    write: Write<'_>,
    idempotency_key: Option<String>,
) -> Result<Written, Refusal> {
    match idempotency_key {
        None => attempts(service, &write).await,
        Some(key) => outcome::once(service, &write, &key).await,
    }
}

async fn attempts(service: &Service, write: &Write<'_>) -> Result<Written, Refusal> {
    if let Some(written) = unread(service, write).await? {
        return Ok(written);
    }
    let seed = service.options().random.bytes();
    for attempt in 0..service.options().attempts_max {
        let ids = Ids::new(&seed, service.now_milliseconds());
        let mut plan = plan(service, write, &ids).await?;
        let items = left(service, &mut plan.writes);
        match send(service, plan, Vec::new()).await? {
            Sent::Done => return Ok(Written { items, repeated: false }),
            Sent::Lost | Sent::ExtraFailed => crate::backoff::pause(service, attempt).await,
        }
    }
    Err(Refusal::Busy)
}

/// Carries out a write for which nothing must be known: one request, and the database says what it left. None if it is not such a write, or
/// if others were in its way.
async fn unread(service: &Service, write: &Write<'_>) -> Result<Option<Written>, Refusal> {
    let ids = Ids::new(&[0; 32], service.now_milliseconds());
    let planned = service.with_context(&ids, |context| design::bind_unread(service.design(), write, context));
    let Some(mut planned) = planned else { return Ok(None) };
    let Some(mut request) = design::requests(std::slice::from_mut(&mut planned), None) else {
        return Ok(None);
    };
    if let Operation::UpdateItem(update) = &mut request {
        update.return_values = Some(Choice::Known(ReturnValues::AllNew));
    }
    let entity = service.entity(&planned.entity)?;
    match service.run(request).await {
        Ok(Reply::UpdateItem(reply)) => {
            let stored = reply.attributes.ok_or_else(|| Refusal::strange("UpdateItem"))?;
            let item = shape::entity(service.design(), entity, stored.decode());
            Ok(Some(Written { items: vec![item], repeated: false }))
        }
        Ok(_) => Ok(Some(Written::default())),
        Err(error) => match error.kind {
            ErrorKind::ConditionalCheckFailed => {
                let message = format!("there is no such {}", planned.entity);
                Err(Refusal::NotFound { name: planned.entity, message })
            }
            ErrorKind::TransactionConflict | ErrorKind::ProvisionedThroughputExceeded => Ok(None),
            _ => Err(error.into()),
        },
    }
}

/// Binds a write, reading what it must know.
pub(crate) async fn plan(service: &Service, write: &Write<'_>, ids: &Ids) -> Result<Plan, Refusal> {
    bind(service, |known| {
        service.with_context(ids, |context| {
            design::bind_write(service.design(), write, known, context)
                .map_err(|found| problems(service.design(), write, found))
        })
    })
    .await
}

/// Binds something, reading what it must know.
pub(crate) async fn bind(
    service: &Service,
    mut bound: impl FnMut(&Known) -> Result<Bound, Refusal>,
) -> Result<Plan, Refusal> {
    let mut known = Known::default();
    let mut read = Vec::new();
    for _ in 0..ROUNDS_MAX {
        match bound(&known)? {
            Bound::Write(writes) => return Ok(Plan { writes, read }),
            Bound::Read(keys) => {
                let items = crate::read::items(service, &keys, true).await?;
                for (key, item) in keys.into_iter().zip(items) {
                    read.push((key.clone(), item.clone()));
                    known.item(key, item);
                }
            }
            Bound::Ask { pattern, parameters } => {
                let items = Box::pin(crate::ask::to_the_end(service, &pattern, parameters.clone())).await?;
                known.answer(pattern, parameters, items);
            }
        }
    }
    Err(Refusal::Internal("a write never knows enough".to_owned()))
}

/// Takes the items that steps leave out of their writes, as they are answered.
pub(crate) fn left(service: &Service, writes: &mut [PlannedWrite]) -> Vec<Entity> {
    let left = writes.iter_mut().filter_map(|write| {
        let entity = service.design().entity(&write.entity)?;
        Some(shape::entity(service.design(), entity, write.after.take()?))
    });
    left.collect()
}
