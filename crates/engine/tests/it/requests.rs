//! Reading everything there is of a table, an index or a stream, page by page.

use dynamo::operation::{
    DescribeStream, DescribeTable, GetRecords, GetShardIterator, OperationType, Record, Scan,
    ShardIteratorType, TableDescription,
};
use dynamo::{ApiError, Item};
use monotable_engine::Engine;

/// All items of a table, or entries of an index, in the order of the scan.
pub(crate) fn scan_all(engine: &Engine, table: &str, index: Option<&str>) -> Result<Vec<Item>, ApiError> {
    let mut items = Vec::new();
    let mut start = None;
    loop {
        let page = engine.scan(Scan {
            table_name: Some(table.to_owned()),
            index_name: index.map(str::to_owned),
            exclusive_start_key: start,
            ..Scan::default()
        })?;
        items.extend(page.items.unwrap_or_default().iter().map(dynamo::StoredItem::decode));
        start = page.last_evaluated_key;
        if start.is_none() {
            return Ok(items);
        }
    }
}

/// A table as it is described.
pub(crate) fn describe(engine: &Engine, table: &str) -> Result<TableDescription, ApiError> {
    let reply = engine.describe_table(DescribeTable { table_name: Some(table.to_owned()) })?;
    Ok(reply.table.unwrap())
}

/// What a stream record tells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) kind: OperationType,
    pub(crate) keys: Item,
    pub(crate) old: Option<Item>,
    pub(crate) new: Option<Item>,
    pub(crate) by_expiry: bool,
    pub(crate) second: i64,
}

impl Change {
    fn of(record: &Record) -> Change {
        let stream = record.dynamodb.as_ref().unwrap();
        let image = |image: &Option<dynamo::StoredItem>| image.as_ref().map(dynamo::StoredItem::decode);
        Change {
            kind: record.event_name.unwrap(),
            keys: image(&stream.keys).unwrap(),
            old: image(&stream.old_image),
            new: image(&stream.new_image),
            by_expiry: record.user_identity.is_some(),
            second: stream.approximate_creation_date_time.unwrap().milliseconds / 1000,
        }
    }
}

/// All changes that the stream of a table still has; none for a table without a stream.
pub(crate) fn stream_all(engine: &Engine, table: &str) -> Result<Vec<Change>, ApiError> {
    let Some(arn) = describe(engine, table)?.latest_stream_arn else { return Ok(Vec::new()) };
    let request = DescribeStream { stream_arn: Some(arn.clone()), ..DescribeStream::default() };
    let shards = engine.describe_stream(request)?.stream_description.unwrap().shards.unwrap();
    let mut changes = Vec::new();
    let mut last_number = String::new();
    for shard in shards {
        let mut iterator = engine
            .get_shard_iterator(GetShardIterator {
                stream_arn: Some(arn.clone()),
                shard_id: shard.shard_id,
                shard_iterator_type: Some(ShardIteratorType::TrimHorizon.into()),
                ..GetShardIterator::default()
            })?
            .shard_iterator;
        while let Some(place) = iterator {
            let reply = engine.get_records(GetRecords { shard_iterator: Some(place), limit: None })?;
            for record in &reply.records {
                let number = record.dynamodb.as_ref().unwrap().sequence_number.clone().unwrap();
                assert!(last_number < number, "{last_number} comes before {number}");
                last_number = number;
                changes.push(Change::of(record));
            }
            iterator = reply.next_shard_iterator.filter(|_| !reply.records.is_empty());
        }
    }
    Ok(changes)
}
