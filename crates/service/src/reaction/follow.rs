//! Follows the streams of the design's tables: shard by shard, parents first, from each checkpoint on.

use dynamo::operation::{
    Choice, DescribeStream, DescribeTable, GetRecords, GetShardIterator, Record, Shard, ShardIteratorType,
};
use dynamo::{ErrorKind, Item, Reply, Value};

use super::change::changes;
use super::checkpoint::{Checkpoint, ShardKey};
use super::effect::{Applied, Place, effects};
use crate::refusal::Refusal;
use crate::service::Service;
use crate::state;
use crate::write::{Plan, Sent, send};

/// Undeliverable records are kept for 30 days.
const DEAD_LETTER_SECONDS: i64 = 30 * 86_400;

/// Applies everything that the streams have now; how many records that were.
pub(super) async fn catch_up(service: &Service) -> Result<u64, Refusal> {
    let mut applied = 0;
    for (table, stream_arn) in streams(service).await? {
        applied += stream(service, &table, &stream_arn).await?;
    }
    Ok(applied)
}

/// The tables of the design that have streams, with those.
pub(super) async fn streams(service: &Service) -> Result<Vec<(String, String)>, Refusal> {
    let mut found = Vec::new();
    for (table, shape) in service.design().tables.iter().zip(&service.inner.shapes.tables) {
        if table.stream.is_none() {
            continue;
        }
        let Reply::DescribeTable(reply) = service.run(DescribeTable::new(shape.physical.clone())).await?
        else {
            return Err(Refusal::strange("DescribeTable"));
        };
        let arn = reply.table.and_then(|table| table.latest_stream_arn);
        found.extend(arn.map(|arn| (shape.physical.clone(), arn)));
    }
    Ok(found)
}

/// The shards of a stream.
pub(super) async fn shards(service: &Service, stream_arn: &str) -> Result<Vec<Shard>, Refusal> {
    let mut found = Vec::new();
    let mut request = DescribeStream { stream_arn: Some(stream_arn.to_owned()), ..DescribeStream::default() };
    loop {
        let Reply::DescribeStream(reply) = service.run(request.clone()).await? else {
            return Err(Refusal::strange("DescribeStream"));
        };
        let description = reply.stream_description.unwrap_or_default();
        found.extend(description.shards.unwrap_or_default());
        match description.last_evaluated_shard_id {
            Some(last) => request.exclusive_start_shard_id = Some(last),
            None => return Ok(found),
        }
    }
}

async fn stream(service: &Service, table: &str, stream_arn: &str) -> Result<u64, Refusal> {
    let mut waiting = shards(service, stream_arn).await?;
    let mut applied = 0;
    // A shard is worked on once its parent is finished: changes of one item stay in their order.
    while let Some(next) = waiting.iter().position(|shard| {
        !waiting.iter().any(|other| other.shard_id.is_some() && other.shard_id == shard.parent_shard_id)
    }) {
        let shard = waiting.remove(next);
        let key = ShardKey {
            table: table.to_owned(),
            stream_arn: stream_arn.to_owned(),
            shard: shard.shard_id.clone().unwrap_or_default(),
        };
        let (count, finished) = Follower { service, shard: key }.catch_up().await?;
        applied += count;
        if !finished {
            // Its children wait for the next time.
            let mut held = vec![shard.shard_id];
            while let Some(child) = waiting.iter().position(|shard| held.contains(&shard.parent_shard_id)) {
                held.push(waiting.remove(child).shard_id);
            }
        }
    }
    Ok(applied)
}

struct Follower<'s> {
    service: &'s Service,
    shard: ShardKey,
}

impl Follower<'_> {
    /// Applies what a shard has now: how many records, and whether the shard is finished.
    async fn catch_up(&self) -> Result<(u64, bool), Refusal> {
        // What is stored lags behind what is done while records have no effects.
        let mut noted = Checkpoint::load(self.service, &self.shard).await?;
        if noted.finished {
            return Ok((0, true));
        }
        let mut at = noted.clone();
        let mut applied = 0;
        let mut iterator = self.iterator(&noted).await?;
        while let Some(place) = iterator {
            let Reply::GetRecords(reply) =
                self.service.run(GetRecords { shard_iterator: Some(place), limit: None }).await?
            else {
                return Err(Refusal::strange("GetRecords"));
            };
            for record in &reply.records {
                let Some(next) = self.record(record, &at, &mut noted).await? else {
                    // Somebody else is at work here.
                    return Ok((applied, false));
                };
                at = next;
                applied += 1;
            }
            at.finished = reply.next_shard_iterator.is_none();
            if noted != at && !self.note(&noted, &at).await? {
                return Ok((applied, false));
            }
            if at.finished {
                return Ok((applied, true));
            }
            noted = at.clone();
            iterator = if reply.records.is_empty() { None } else { reply.next_shard_iterator };
        }
        Ok((applied, false))
    }

    async fn iterator(&self, checkpoint: &Checkpoint) -> Result<Option<String>, Refusal> {
        let from = |kind: ShardIteratorType, sequence: Option<String>| GetShardIterator {
            stream_arn: Some(self.shard.stream_arn.clone()),
            shard_id: Some(self.shard.shard.clone()),
            shard_iterator_type: Some(Choice::Known(kind)),
            sequence_number: sequence,
            timestamp: None,
        };
        let sequence = Some(checkpoint.sequence.clone()).filter(|sequence| !sequence.is_empty());
        let kind = match (&sequence, checkpoint.effects) {
            (None, _) => ShardIteratorType::TrimHorizon,
            (Some(_), None) => ShardIteratorType::AfterSequenceNumber,
            (Some(_), Some(_)) => ShardIteratorType::AtSequenceNumber,
        };
        let reply = match self.service.run(from(kind, sequence)).await {
            Err(error) if error.kind == ErrorKind::TrimmedDataAccess => {
                let (table, shard) = (&self.shard.table, &self.shard.shard);
                tracing::error!(
                    table,
                    shard,
                    "records were trimmed before they were applied: verify the design"
                );
                self.service.run(from(ShardIteratorType::TrimHorizon, None)).await?
            }
            other => other?,
        };
        let Reply::GetShardIterator(reply) = reply else { return Err(Refusal::strange("GetShardIterator")) };
        Ok(reply.shard_iterator)
    }

    /// Applies the effects of a record; where the checkpoint is then, or none if somebody else moved it.
    async fn record(
        &self,
        record: &Record,
        before: &Checkpoint,
        noted: &mut Checkpoint,
    ) -> Result<Option<Checkpoint>, Refusal> {
        let stream = record.dynamodb.clone().unwrap_or_default();
        let sequence = stream.sequence_number.unwrap_or_default();
        let done = if before.sequence == sequence { before.effects.unwrap_or(0) } else { 0 };
        let mut at = Checkpoint {
            sequence: sequence.clone(),
            effects: Some(done),
            finished: false,
            record_milliseconds: stream.approximate_creation_date_time.map_or(0, |time| time.milliseconds),
            failures: before.failures,
        };
        let list = effects(self.service, changes(self.service, &self.shard.table, record));
        let count = u32::try_from(list.len()).unwrap_or(u32::MAX);
        for (number, effect) in (0..).zip(&list).skip(usize::try_from(done).unwrap_or(0)) {
            let mut to = at.clone();
            to.effects = Some(number + 1).filter(|effects| *effects < count);
            let place = Place { shard: &self.shard, sequence: &sequence, number };
            match effect.apply(self.service, &place, noted, &to).await {
                Ok(Applied::Noted) => *noted = to.clone(),
                Ok(Applied::Nothing) => {}
                Ok(Applied::Overtaken) => return Ok(None),
                Err(refusal) if is_passing(&refusal) => return Err(refusal),
                Err(refusal) => {
                    to.failures += 1;
                    if !self.bury(&place, noted, &to, &refusal).await? {
                        return Ok(None);
                    }
                    *noted = to.clone();
                }
            }
            at = to;
        }
        at.effects = None;
        Ok(Some(at))
    }

    /// Moves the checkpoint on by itself. False if somebody else moved it.
    async fn note(&self, from: &Checkpoint, to: &Checkpoint) -> Result<bool, Refusal> {
        for attempt in 0..self.service.options().attempts_max {
            match send(self.service, Plan::default(), vec![from.moved(self.service, &self.shard, to)]).await?
            {
                Sent::Done => return Ok(true),
                Sent::ExtraFailed => return Ok(false),
                Sent::Lost => crate::backoff::pause(self.service, attempt).await,
            }
        }
        Err(Refusal::Busy)
    }

    /// Keeps what can never be applied among the dead letters, and goes on.
    async fn bury(
        &self,
        place: &Place<'_>,
        from: &Checkpoint,
        to: &Checkpoint,
        refusal: &Refusal,
    ) -> Result<bool, Refusal> {
        tracing::warn!(record = place.name(), %refusal, "a reaction failed");
        let now_milliseconds = self.service.now_milliseconds();
        let sort = format!("{}/{}", design::iso_milliseconds(now_milliseconds), place.name());
        let letter = state::key(self.service, "dead-letter", "all", &sort);
        let content = Item::from([
            ("what".to_owned(), Value::from("reaction")),
            ("name".to_owned(), Value::S(place.name())),
            ("error".to_owned(), Value::S(refusal.to_string())),
            (
                state::EXPIRES.to_owned(),
                Value::from(now_milliseconds.div_euclid(1_000) + DEAD_LETTER_SECONDS),
            ),
        ]);
        for attempt in 0..self.service.options().attempts_max {
            let actions =
                vec![state::put(&letter, content.clone(), None), from.moved(self.service, &self.shard, to)];
            match send(self.service, Plan::default(), actions).await? {
                Sent::Done => return Ok(true),
                Sent::ExtraFailed => return Ok(false),
                Sent::Lost => crate::backoff::pause(self.service, attempt).await,
            }
        }
        Err(Refusal::Busy)
    }
}

/// True if trying again later may work.
fn is_passing(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::Busy => true,
        Refusal::Backend(error) => error.kind != ErrorKind::Validation,
        _ => false,
    }
}
