//! Writes: bound until enough is known, sent, and tried again from fresh reads when others were faster.
//!
//! Always true: what was read and mattered is in a condition of the write. So a condition that fails on an item that is not as it was read
//! means a lost race, which is tried again; any other that fails is an answer, and is reported by name.

mod alone;
pub(crate) mod chunk;
pub(crate) mod given;
pub(crate) mod outcome;
mod refuse;
mod send;

use design::{Bound, ItemKey, Known, PlannedWrite, Write};
use dynamo::Item;

use crate::answer::{Entity, Written};
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::shape::Found;

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

/// What a write did.
#[derive(Default)]
pub(crate) struct Done<'s> {
    /// The items that its steps made or changed, as they are afterwards.
    pub(crate) items: Vec<Left<'s>>,
    /// True if it had been done before.
    pub(crate) repeated: bool,
}

/// What a write left of one item.
#[derive(Clone)]
pub(crate) enum Left<'s> {
    /// As it stands in the table: it is answered without becoming a tree.
    Stored(Found<'s>),
    /// As it is answered.
    Told(Entity),
}

impl From<Written> for Done<'_> {
    fn from(written: Written) -> Self {
        Done { items: written.items.into_iter().map(Left::Told).collect(), repeated: written.repeated }
    }
}

impl From<Left<'_>> for Entity {
    fn from(left: Left<'_>) -> Entity {
        match left {
            Left::Stored(found) => found.answered(&[]),
            Left::Told(entity) => entity,
        }
    }
}

impl From<Done<'_>> for Written {
    fn from(done: Done<'_>) -> Written {
        Written { items: done.items.into_iter().map(Entity::from).collect(), repeated: done.repeated }
    }
}

/// Carries out a write; with an idempotency key, once.
pub(crate) async fn carry_out<'s>(
    service: &'s Service,
    write: Write<'_>,
    idempotency_key: Option<String>,
) -> Result<Done<'s>, Refusal> {
    match (write, idempotency_key) {
        (Write::Create { entity, attributes }, None) => {
            let declared = service.entity(entity)?;
            if design::makes_alone(service.design(), declared) {
                return alone::create(service, declared, attributes).await;
            }
            attempts(service, &Write::Create { entity, attributes }).await
        }
        (write, None) => match alone::change(service, &write).await? {
            Some(done) => Ok(done),
            None => attempts(service, &write).await,
        },
        (write, Some(key)) => outcome::once(service, &write, &key).await,
    }
}

async fn attempts<'s>(service: &'s Service, write: &Write<'_>) -> Result<Done<'s>, Refusal> {
    let seed = service.options().random.bytes();
    for attempt in 0..service.options().attempts_max {
        let ids = Ids::new(&seed, service.now_milliseconds());
        let mut plan = plan(service, write, &ids).await?;
        let items = left(service, &mut plan.writes);
        match send(service, plan, Vec::new()).await? {
            Sent::Done => return Ok(Done { items, repeated: false }),
            Sent::Lost | Sent::ExtraFailed => crate::backoff::pause(service, attempt).await,
        }
    }
    Err(Refusal::Busy)
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

/// Takes the items that steps leave out of their writes.
fn left<'s>(service: &'s Service, writes: &mut [PlannedWrite]) -> Vec<Left<'s>> {
    let left = writes.iter_mut().filter_map(|write| {
        let stored = write.after.take()?;
        let entity = service.design().entity(&write.entity)?;
        service.inner.shapes.of_entity(service.design(), entity, stored).map(Left::Stored)
    });
    left.collect()
}
