//! The mixes of YCSB, with its popular items (zipfian, 0.99), on the table of items.
//!
//! A: half reads, half updates. B: 95 reads, 5 updates. C: reads. D: 95 reads of what came last, 5 inserts. E: 95 short scans of up to a hundred
//! items (a Query from a sort key on), 5 inserts. F: half reads, half reads followed by a write of the same item, counted as one operation.

use super::items::{WIDE_ITEMS, WIDTH, in_partition, item_with_marks};
use crate::load::{Kind, Numbers, Request, Workload, Zipf};

const KEY: &str = r#"{"pk":{"S":"USER#<n/20:8>"},"sk":{"S":"ORDER#<n:10>"}}"#;
const VERSIONS: usize = 16;
/// The mix that needs the wide partitions.
pub const SHORT_SCANS: &str = "YCSB E";

pub fn workloads(items: u64) -> Vec<Workload> {
    let popular = || Numbers::Popular(Zipf::new(items));
    let reads = |share| Kind::new(share, popular(), vec![read()]);
    let updates = |share| Kind::new(share, popular(), vec![update()]);
    vec![
        Workload::new("YCSB C", vec![reads(100)]),
        Workload::new("YCSB B", vec![reads(95), updates(5)]),
        Workload::new("YCSB A", vec![reads(50), updates(50)]),
        Workload::new("YCSB F", vec![reads(50), Kind::new(50, popular(), vec![read(), update()])]),
        Workload::new(
            "YCSB D",
            vec![
                Kind::new(95, Numbers::Latest(Zipf::new(items)), vec![read()]),
                Kind::new(5, Numbers::New { each: 1 }, vec![insert()]),
            ],
        ),
        Workload::new(
            SHORT_SCANS,
            vec![
                Kind::new(95, Numbers::Popular(Zipf::new(WIDE_ITEMS)), vec![scan()]),
                Kind::new(5, Numbers::New { each: 1 }, vec![insert_wide()]),
            ],
        ),
    ]
}

fn read() -> Request {
    Request::dynamodb("GetItem", &format!(r#"{{"TableName":"Items","Key":{KEY}}}"#))
}

/// One of the item's attributes gets another text.
fn update() -> Request {
    Request::versions("UpdateItem", VERSIONS, |version| {
        let text = format!("{version:02} of those that are written ").repeat(5);
        format!(
            r#"{{"TableName":"Items","Key":{KEY},"UpdateExpression":"SET attribute0 = :t","ExpressionAttributeValues":{{":t":{{"S":"{text}"}}}}}}"#
        )
    })
}

fn insert() -> Request {
    Request::versions("PutItem", VERSIONS, |version| {
        format!(r#"{{"TableName":"Items","Item":{}}}"#, item_with_marks(version, 0))
    })
}

fn insert_wide() -> Request {
    let partition = format!("WIDE#<n%{}:8>", WIDE_ITEMS / WIDTH);
    Request::versions("PutItem", VERSIONS, |version| {
        format!(r#"{{"TableName":"Items","Item":{}}}"#, in_partition(version, 0, &partition, "HALL#<n/20:8>"))
    })
}

/// From one up to a hundred items, all numbers as often.
fn scan() -> Request {
    Request::versions("Query", 100, |version| {
        format!(
            r#"{{"TableName":"Items","Limit":{},"KeyConditionExpression":"pk = :p AND sk >= :s","ExpressionAttributeValues":{{":p":{{"S":"WIDE#<n/{WIDTH}:8>"}},":s":{{"S":"ORDER#<n:10>"}}}}}}"#,
            version + 1
        )
    })
}
