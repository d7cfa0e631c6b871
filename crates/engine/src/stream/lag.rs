//! How far the readers of streams are behind.
//!
//! Nothing is kept for a reader, so what is known is the furthest place that any of them was given since the engine started. The
//! lag is the age of the oldest record that nobody was given yet: zero where all were, unknown where nobody reads.

use std::time::Duration;

use dynamo::ApiError;

use super::{KnownStream, first_record_from, streams};
use crate::commit::View;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::layout::KeyRange;
use crate::record::record_time_milliseconds;
use crate::store::{Direction, Space, StoreError};

/// A stream at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamMetrics {
    /// Its table.
    pub table_name: String,
    /// Its label, which tells the streams of one table apart.
    pub label: String,
    /// The age of the oldest record that is kept, if there is one.
    pub oldest_record_age: Option<Duration>,
    /// The age of the newest record, if there is one.
    pub newest_record_age: Option<Duration>,
    /// The age of the oldest record that no reader was given since the engine started; zero if there is none, nothing if nobody
    /// has read.
    pub read_lag: Option<Duration>,
}

impl Engine {
    /// All streams, with the ages of their records and how far their readers are behind.
    pub fn stream_metrics(&self) -> Result<Vec<StreamMetrics>, ApiError> {
        let view = self.view();
        self.read(&view, |view| {
            let known = streams(&view.catalog);
            let metrics = known.iter().map(|stream| self.metrics_of(stream, view));
            // Of a stream that is sealed with a missing key nothing can be told.
            let metrics = metrics.filter(|metrics| !matches!(metrics, Err(StoreError::TableKey { .. })));
            metrics.collect::<Result<Vec<_>, StoreError>>().map_err(Fault::Store)
        })
    }

    fn metrics_of(&self, stream: &KnownStream, view: &View) -> Result<StreamMetrics, StoreError> {
        let id = stream.stream.id;
        let now_milliseconds = self.inner.committer.now_milliseconds();
        let age =
            |time: i64| Duration::from_millis(now_milliseconds.saturating_sub(time).try_into().unwrap_or(0));
        let range = KeyRange::of_collection(id);
        let (lower, upper) = range.bounds();
        let newest = view.snapshot.range(Space::Log, lower, upper, Direction::Reverse).next().transpose()?;
        let oldest = first_record_from(id, 0, &view.snapshot)?;
        let read_lag = match self.inner.metrics.stream_read_to(id) {
            Some(place) => {
                let unread = first_record_from(id, place, &view.snapshot)?;
                Some(unread.map_or(Duration::ZERO, |(_, time)| age(time)))
            }
            None => None,
        };
        Ok(StreamMetrics {
            table_name: stream.table_name.clone(),
            label: stream.label(),
            oldest_record_age: oldest.map(|(_, time)| age(time)),
            newest_record_age: newest.and_then(|(_, record)| record_time_milliseconds(&record)).map(age),
            read_lag,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, simple_table};

    #[test]
    fn the_lag_is_the_age_of_the_oldest_record_that_nobody_was_given() {
        let bench = Bench::in_memory();
        let mut table = simple_table("Orders");
        table["StreamSpecification"] = json!({"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"});
        let arn = bench.ok("CreateTable", &table)["TableDescription"]["LatestStreamArn"].clone();
        let metrics = || bench.engine.stream_metrics().unwrap().remove(0);
        assert_eq!(
            (metrics().oldest_record_age, metrics().newest_record_age, metrics().read_lag),
            (None, None, None)
        );

        bench.put("Orders", &json!({"pk": {"S": "a"}}));
        bench.clock.advance_milliseconds(5_000);
        bench.put("Orders", &json!({"pk": {"S": "b"}}));
        bench.clock.advance_milliseconds(1_000);
        assert_eq!(metrics().oldest_record_age, Some(Duration::from_secs(6)));
        assert_eq!(metrics().newest_record_age, Some(Duration::from_secs(1)));
        assert_eq!(metrics().read_lag, None);

        let shard = bench.ok("DescribeStream", &json!({"StreamArn": arn}));
        let shard = &shard["StreamDescription"]["Shards"][0]["ShardId"];
        let iterator = json!({"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"});
        let iterator = bench.ok("GetShardIterator", &iterator);
        let page = bench.ok("GetRecords", &json!({"ShardIterator": iterator["ShardIterator"], "Limit": 1}));
        assert_eq!(metrics().read_lag, Some(Duration::from_secs(1)));
        bench.ok("GetRecords", &json!({"ShardIterator": page["NextShardIterator"]}));
        assert_eq!(metrics().read_lag, Some(Duration::ZERO));
    }
}
