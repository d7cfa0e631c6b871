//! How far the streams are applied, and what could not be: what `monotable reactions` shows.

use dynamo::operation::{Choice, GetRecords, GetShardIterator, Query, ShardIteratorType};
use dynamo::{Item, Reply, Value};

use super::checkpoint::{Checkpoint, ShardKey};
use super::{follow, hook};
use crate::refusal::Refusal;
use crate::service::Service;
use crate::state;

/// How many dead letters are shown.
const LETTERS_MAX: i32 = 100;

/// How far the reactions of a design are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReactionStatus {
    /// The shards of the tables' streams that are not finished.
    pub shards: Vec<ShardStatus>,
    /// Events that wait for being delivered, the next one first: the first hundred.
    pub waiting: Vec<WaitingEvent>,
    /// What could not be applied or delivered, oldest first: the first hundred.
    pub dead_letters: Vec<DeadLetter>,
}

/// How far a shard is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardStatus {
    /// The table, by its name in DynamoDB.
    pub table: String,
    /// The shard.
    pub shard: String,
    /// How old the first record is that is not applied; none if all are.
    pub lag_milliseconds: Option<i64>,
    /// Effects that went to the dead letters.
    pub failures: u32,
}

/// An event that was not delivered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingEvent {
    /// The id of the event.
    pub id: String,
    /// Where it goes.
    pub url: String,
    /// How often it was sent in vain.
    pub attempts: i64,
    /// Why the last attempt failed.
    pub error: Option<String>,
}

/// Something that could not be applied or delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// `reaction` or `event`.
    pub what: String,
    /// The record it comes from.
    pub name: String,
    /// Why not.
    pub error: String,
    /// The event, if it is one.
    pub body: Option<String>,
}

pub(super) async fn status(service: &Service) -> Result<ReactionStatus, Refusal> {
    let mut status = ReactionStatus::default();
    for (table, stream_arn) in follow::streams(service).await? {
        for shard in follow::shards(service, &stream_arn).await? {
            let shard = shard.shard_id.unwrap_or_default();
            let key = ShardKey { table: table.clone(), stream_arn: stream_arn.clone(), shard };
            let checkpoint = Checkpoint::load(service, &key).await?;
            if checkpoint.finished {
                continue;
            }
            let lag_milliseconds = lag(service, &key, &checkpoint).await?;
            let failures = checkpoint.failures;
            status.shards.push(ShardStatus {
                table: table.clone(),
                shard: key.shard,
                lag_milliseconds,
                failures,
            });
        }
    }
    status.waiting = hook::waiting(service, None).await?.iter().map(hook::shown).collect();
    status.dead_letters = dead_letters(service).await?;
    Ok(status)
}

/// The age of the first record after a checkpoint.
async fn lag(service: &Service, key: &ShardKey, checkpoint: &Checkpoint) -> Result<Option<i64>, Refusal> {
    let sequence = Some(checkpoint.sequence.clone()).filter(|sequence| !sequence.is_empty());
    let kind = match (&sequence, checkpoint.effects) {
        (None, _) => ShardIteratorType::TrimHorizon,
        (_, None) => ShardIteratorType::AfterSequenceNumber,
        (_, Some(_)) => ShardIteratorType::AtSequenceNumber,
    };
    let request = GetShardIterator {
        stream_arn: Some(key.stream_arn.clone()),
        shard_id: Some(key.shard.clone()),
        shard_iterator_type: Some(Choice::Known(kind)),
        sequence_number: sequence,
        timestamp: None,
    };
    let Reply::GetShardIterator(reply) = service.run(request).await? else {
        return Err(Refusal::strange("GetShardIterator"));
    };
    let request = GetRecords { shard_iterator: reply.shard_iterator, limit: Some(1) };
    let Reply::GetRecords(reply) = service.run(request).await? else {
        return Err(Refusal::strange("GetRecords"));
    };
    let first = reply.records.into_iter().next().and_then(|record| record.dynamodb);
    let made = first.and_then(|record| record.approximate_creation_date_time);
    Ok(made.map(|made| service.now_milliseconds().saturating_sub(made.milliseconds).max(0)))
}

async fn dead_letters(service: &Service) -> Result<Vec<DeadLetter>, Refusal> {
    let key = state::key(service, "dead-letter", "all", "");
    let partition = key.key.get(state::PARTITION).cloned().unwrap_or(Value::Null);
    let query = Query {
        expression_attribute_values: Some(Item::from([(":p".to_owned(), partition)])),
        limit: Some(LETTERS_MAX),
        ..Query::new(key.table, "pk = :p")
    };
    let Reply::Query(reply) = service.run(query).await? else { return Err(Refusal::strange("Query")) };
    let letter = |item: Item| {
        let text = |name: &str| match item.get(name) {
            Some(Value::S(text)) => Some(text.clone()),
            _ => None,
        };
        DeadLetter {
            what: text("what").unwrap_or_default(),
            name: text("name").unwrap_or_default(),
            error: text("error").unwrap_or_default(),
            body: text("body"),
        }
    };
    Ok(reply.items.unwrap_or_default().iter().map(|item| letter(item.decode())).collect())
}
