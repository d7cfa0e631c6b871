//! Effects: what a change does, each in a transaction with the checkpoint that says it is done.

use design::{PlannedWrite, Write};

use super::change::{Change, is_meant};
use super::checkpoint::{Checkpoint, ShardKey};
use super::{event, refresh};
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::state;
use crate::write::{Plan, Sent, bind, plan, send};

/// What a change does.
pub(super) enum Effect<'s> {
    /// Eventual counters; for what expired, everything.
    Consequences(Change),
    /// Copies of an attribute follow it.
    Refresh(design::Refresh),
    /// The steps of a reaction.
    Steps(&'s design::Reaction, Change),
    /// An event for a web hook.
    Hook(&'s design::Reaction, Change),
}

/// Everything that a change does, in the order in which it is done. It follows from the change and the design alone, so a worker that takes over finds the same
/// list.
pub(super) fn effects(service: &Service, changes: Vec<Change>) -> Vec<Effect<'_>> {
    let mut effects = Vec::new();
    for change in changes {
        let meant = service
            .design()
            .reactions
            .iter()
            .filter(|reaction| is_meant(service.design(), &reaction.on, &change));
        let meant = meant.collect::<Vec<_>>();
        effects.push(Effect::Consequences(change.clone()));
        effects.extend(design::refreshes(service.design(), &change.item).into_iter().map(Effect::Refresh));
        let steps = meant.iter().filter(|reaction| !reaction.steps.is_empty());
        effects.extend(steps.map(|reaction| Effect::Steps(reaction, change.clone())));
        let hooks = meant.iter().filter(|reaction| reaction.hook.is_some());
        effects.extend(hooks.map(|reaction| Effect::Hook(reaction, change.clone())));
    }
    effects
}

/// Where an effect is applied: the shard, the record, and its number in the record.
pub(super) struct Place<'a> {
    pub(super) shard: &'a ShardKey,
    pub(super) sequence: &'a str,
    pub(super) number: u32,
}

impl Place<'_> {
    /// A name that no other effect has.
    pub(super) fn name(&self) -> String {
        format!("{}:{}:{}", self.shard.shard, self.sequence, self.number)
    }
}

/// What came of applying an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// It is applied, and the checkpoint says so.
    Noted,
    /// There was nothing to write, so the checkpoint is where it was.
    Nothing,
    /// Somebody else moved the checkpoint.
    Overtaken,
}

impl Effect<'_> {
    /// Applies the effect and moves the checkpoint on.
    pub(super) async fn apply(
        &self,
        service: &Service,
        place: &Place<'_>,
        from: &Checkpoint,
        to: &Checkpoint,
    ) -> Result<Applied, Refusal> {
        let moved = || from.moved(service, place.shard, to);
        // The ids of an effect are the same when it is tried again.
        let seed = state::digest(&[place.shard.stream_arn.as_bytes(), place.name().as_bytes()]);
        for attempt in 0..service.options().attempts_max {
            let ids = Ids::new(&seed, service.now_milliseconds());
            let (plan, mut extra) = match self {
                Effect::Refresh(found) => {
                    refresh::apply(service, found).await?;
                    return Ok(Applied::Nothing);
                }
                Effect::Consequences(change) => (consequences(service, change, &ids).await?, Vec::new()),
                Effect::Steps(reaction, change) => {
                    let write = Write::Reaction { name: &reaction.name.value, change: &change.item };
                    (plan(service, &write, &ids).await?, Vec::new())
                }
                Effect::Hook(reaction, change) => {
                    (Plan::default(), event::queued(service, reaction, change, place).into_iter().collect())
                }
            };
            if plan.writes.is_empty() && extra.is_empty() {
                return Ok(Applied::Nothing);
            }
            extra.push(moved());
            match send_all(service, plan, extra).await? {
                Sent::Done => return Ok(Applied::Noted),
                Sent::ExtraFailed => return Ok(Applied::Overtaken),
                Sent::Lost => crate::backoff::pause(service, attempt).await,
            }
        }
        Err(Refusal::Busy)
    }
}

async fn consequences(service: &Service, change: &Change, ids: &Ids) -> Result<Plan, Refusal> {
    let mut plan = bind(service, |known| {
        let bound = service.with_context(ids, |context| {
            design::consequences(service.design(), &change.item, change.expired, known, context)
        });
        Ok(bound)
    })
    .await?;
    if change.expired {
        keep_copies(service, change, ids, &mut plan).await?;
    }
    Ok(plan)
}

/// An item that expired may have been made again since: then its copies are those of the new one, and stay.
async fn keep_copies(service: &Service, change: &Change, ids: &Ids, plan: &mut Plan) -> Result<(), Refusal> {
    let deletes = plan.writes.iter().any(|write| write.action.delete.is_some());
    let (Some(old), true) = (&change.item.old, deletes) else { return Ok(()) };
    let entity = service.entity(&change.item.entity)?;
    let place = service.with_context(ids, |context| design::item_key(service.design(), entity, old, context));
    let Some(place) = place else { return Ok(()) };
    let found = crate::read::items(service, &[place], true).await?;
    let Some(stored) = found.into_iter().flatten().next() else { return Ok(()) };
    let again = design::logical_item(service.design(), entity, &stored);
    let implied = service
        .with_context(ids, |context| design::implied(service.design(), &entity.name.value, &again, context));
    plan.writes.retain(|write| {
        write.action.delete.is_none() || !implied.copies.iter().any(|copy| copy.key == write.key)
    });
    Ok(())
}

/// Sends writes with the checkpoint. Those that do not fit one transaction go before it in parts; since they have the same ids when they are sent
/// again, a part that is there already is one that was sent before.
async fn send_all(
    service: &Service,
    plan: Plan,
    extra: Vec<dynamo::operation::TransactWriteItem>,
) -> Result<Sent, Refusal> {
    let Plan { writes, read } = plan;
    // Checkpoint and event go with the last part.
    let writes_max = service.backend().capabilities().transaction_actions.saturating_sub(extra.len()).max(1);
    let mut parts = writes.chunks(writes_max).map(<[PlannedWrite]>::to_vec).collect::<Vec<_>>();
    let last = parts.pop().unwrap_or_default();
    for writes in parts {
        match send(service, Plan { writes, read: read.clone() }, Vec::new()).await {
            Ok(Sent::Done) | Err(Refusal::Exists { .. }) => {}
            other => return other,
        }
    }
    send(service, Plan { writes: last, read }, extra).await
}
