//! Checkpoints: how far a shard is applied. One item for each shard, moved on in the same transaction as what it is about.

use design::ItemKey;
use dynamo::operation::TransactWriteItem;
use dynamo::{Item, Value};

use crate::refusal::Refusal;
use crate::service::Service;
use crate::state;

/// A shard of the stream of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShardKey {
    pub(super) table: String,
    pub(super) stream_arn: String,
    pub(super) shard: String,
}

/// How far a shard is applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checkpoint {
    /// The record that was worked on last; empty if none was.
    pub(super) sequence: String,
    /// How many of its effects are applied; none if all are.
    pub(super) effects: Option<u32>,
    /// True if the shard is closed and all of it is applied.
    pub(super) finished: bool,
    /// When the record was made.
    pub(super) record_milliseconds: i64,
    /// Records that could not be applied.
    pub(super) failures: u32,
}

fn place(service: &Service, shard: &ShardKey) -> ItemKey {
    // A table whose stream was turned off and on has another stream, with shards of its own.
    let label = shard.stream_arn.rsplit('/').next().unwrap_or_default();
    state::key(service, "checkpoint", &shard.table, &format!("{label}/{}", shard.shard))
}

impl Checkpoint {
    /// The checkpoint of a shard; one at its beginning if there is none.
    pub(super) async fn load(service: &Service, shard: &ShardKey) -> Result<Checkpoint, Refusal> {
        let found = crate::read::items(service, &[place(service, shard)], true).await?;
        Ok(found.into_iter().flatten().next().map(|item| Checkpoint::of(&item)).unwrap_or_default())
    }

    pub(super) fn of(item: &Item) -> Checkpoint {
        let number = |name: &str| match item.get(name) {
            Some(Value::N(number)) => number.to_string().parse::<i64>().ok(),
            _ => None,
        };
        Checkpoint {
            sequence: match item.get("sequence") {
                Some(Value::S(text)) => text.clone(),
                _ => String::new(),
            },
            effects: number("effects").and_then(|number| u32::try_from(number).ok()),
            finished: item.get("finished") == Some(&Value::Bool(true)),
            record_milliseconds: number("recordTime").unwrap_or(0),
            failures: number("failures").and_then(|number| u32::try_from(number).ok()).unwrap_or(0),
        }
    }

    fn content(&self) -> Item {
        let mut item = Item::from([
            ("sequence".to_owned(), Value::from(self.sequence.as_str())),
            ("finished".to_owned(), Value::Bool(self.finished)),
            ("recordTime".to_owned(), Value::from(self.record_milliseconds)),
            ("failures".to_owned(), Value::from(i64::from(self.failures))),
        ]);
        item.extend(self.effects.map(|effects| ("effects".to_owned(), Value::from(i64::from(effects)))));
        item
    }

    /// The action that moves a checkpoint on, if it still is where it was.
    pub(super) fn moved(&self, service: &Service, shard: &ShardKey, to: &Checkpoint) -> TransactWriteItem {
        let mut values = Item::new();
        let condition = if *self == Checkpoint::default() {
            "attribute_not_exists(pk)"
        } else {
            values.insert(":sequence".to_owned(), Value::from(self.sequence.as_str()));
            match self.effects {
                None => "#sequence = :sequence AND attribute_not_exists(effects)",
                Some(effects) => {
                    values.insert(":effects".to_owned(), Value::from(i64::from(effects)));
                    "#sequence = :sequence AND effects = :effects"
                }
            }
        };
        let mut action = state::put(&place(service, shard), to.content(), Some((condition, values)));
        if let (Some(put), true) = (&mut action.put, condition.contains('#')) {
            put.expression_attribute_names = Some([("#sequence".to_owned(), "sequence".to_owned())].into());
        }
        action
    }
}
