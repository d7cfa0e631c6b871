//! Single operations on a table of items of 1 KB with one index.
//!
//! Item n lies in the partition n / 20, and in the index under the key n / 20. Beside them are a few wide partitions, for pages of 1 MB.

use crate::item::{item, partition, sort};
use crate::load::{Numbers, Request, Workload};
pub use crate::memory::TABLE;

/// How many different contents items have, beside their keys.
const BODIES: usize = 50;
/// How many versions a request with an item has.
const VERSIONS: usize = 16;
/// Items in a wide partition: more than a page of 1 MB holds.
pub const WIDTH: u64 = 1_250;
/// Items in all wide partitions.
pub const WIDE_ITEMS: u64 = 4 * WIDTH;

/// The workload that needs the wide partitions.
pub const PAGE: &str = "Query page of 1 MB";

const KEY: &str = r#"{"pk":{"S":"USER#<n/20:8>"},"sk":{"S":"ORDER#<n:10>"}}"#;

/// An item with the contents of one number; its keys have marks for the number of the operation, and so many more.
pub fn item_with_marks(body: usize, more: usize) -> String {
    in_partition(body, more, &format!("USER#<n+{more}/20:8>"), &format!("GROUP#<n+{more}/20:8>"))
}

/// The same in another partition of the table and of the index.
pub fn in_partition(body: usize, more: usize, table: &str, index: &str) -> String {
    let body = body % BODIES;
    let stored = dynamo::StoredItem::encode(&item(body));
    let mut text = Vec::new();
    dynamo::write_stored_item(&stored, &mut text);
    let text = String::from_utf8(text).expect("JSON is UTF-8");
    text.replacen(&sort(body), &format!("ORDER#<n+{more}:10>"), 1)
        .replacen(&partition(body), table, 1)
        .replacen(&format!("STATUS#{:05}", body % 50_021), index, 1)
        .replacen(&format!("2026-01-01T00:00:{body:09}"), &format!("2026-01-01T00:00:<n+{more}:9>"), 1)
}

fn batch(version: usize, item: impl Fn(usize, usize) -> String) -> String {
    let put = |more| format!(r#"{{"PutRequest":{{"Item":{}}}}}"#, item(version * 25 + more, more));
    let puts: Vec<String> = (0..25).map(put).collect();
    format!(r#"{{"RequestItems":{{"Items":[{}]}}}}"#, puts.join(","))
}

/// Writes the items that the table starts with, in their order.
pub fn filling() -> Workload {
    let request = Request::versions("BatchWriteItem", 2, |version| batch(version, item_with_marks));
    Workload::of_one("filling", Numbers::New { each: 25 }, request)
}

/// Writes the wide partitions.
pub fn wide() -> Workload {
    let item = |body, more| {
        let (table, index) = (format!("WIDE#<n+{more}/{WIDTH}:8>"), format!("HALL#<n+{more}/20:8>"));
        in_partition(body, more, &table, &index)
    };
    let request = Request::versions("BatchWriteItem", 2, |version| batch(version, item));
    Workload::of_one("filling wide partitions", Numbers::New { each: 25 }, request)
}

/// GetItem of any of so many items.
pub fn get_item(items: u64) -> Workload {
    let body = format!(r#"{{"TableName":"Items","Key":{KEY}}}"#);
    Workload::of_one("GetItem", Numbers::Uniform(items), Request::dynamodb("GetItem", &body))
        .expecting(r#""attribute0""#)
}

/// PutItem of new items.
pub fn put_item() -> Workload {
    let body = |version| format!(r#"{{"TableName":"Items","Item":{}}}"#, item_with_marks(version, 0));
    Workload::of_one("PutItem", Numbers::New { each: 1 }, Request::versions("PutItem", VERSIONS, body))
}

/// Query of the items of a wide partition, so many.
pub fn query_of(name: &'static str, limit: u64) -> Workload {
    let values = format!(r#"{{":p":{{"S":"WIDE#<n%{}:8>"}}}}"#, WIDE_ITEMS / WIDTH);
    let body = format!(
        r#"{{"TableName":"Items","Limit":{limit},"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{values}}}"#
    );
    Workload::of_one(name, Numbers::Uniform(WIDE_ITEMS), Request::dynamodb("Query", &body))
        .expecting("LastEvaluatedKey")
}

/// All of them: those that read first, so that they meet the table as it was filled.
pub fn workloads(items: u64) -> Vec<Workload> {
    let existing = || Numbers::Uniform(items);
    let query = |name, numbers, body: &str| Workload::of_one(name, numbers, Request::dynamodb("Query", body));
    vec![
        get_item(items),
        query(
            "Query of 20",
            existing(),
            r#"{"TableName":"Items","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"USER#<n/20:8>"}}}"#,
        )
        .expecting("attribute0"),
        query(
            "Query of 20, index",
            existing(),
            r#"{"TableName":"Items","IndexName":"ByStatus","Limit":20,"KeyConditionExpression":"gpk = :p","ExpressionAttributeValues":{":p":{"S":"GROUP#<n/20:8>"}}}"#,
        )
        .expecting("attribute0"),
        query_of(PAGE, 2_000),
        Workload::of_one("Scan of 1 MB, filtered", existing(), scan(items)),
        Workload::of_one(
            "Update counter",
            existing(),
            Request::dynamodb(
                "UpdateItem",
                &format!(
                    r#"{{"TableName":"Items","Key":{KEY},"UpdateExpression":"ADD hits :one","ExpressionAttributeValues":{{":one":{{"N":"1"}}}}}}"#
                ),
            ),
        ),
        put_item(),
        Workload::of_one("TransactWrite of 3", Numbers::New { each: 3 }, Request::versions("TransactWriteItems", VERSIONS, transaction)),
        Workload::of_one(
            "BatchWrite of 25",
            Numbers::New { each: 25 },
            Request::versions("BatchWriteItem", 4, |version| batch(version, item_with_marks)),
        ),
    ]
}

/// A page from the beginning of the table, of which a tenth is wanted.
fn scan(items: u64) -> Request {
    let body = format!(
        r#"{{"TableName":"Items","FilterExpression":"gsk BETWEEN :a AND :b","ExpressionAttributeValues":{{":a":{{"S":"2026-01-01T00:00:<n:9>"}},":b":{{"S":"2026-01-01T00:00:<n+{}:9>"}}}}}}"#,
        items / 10
    );
    Request::dynamodb("Scan", &body)
}

fn transaction(version: usize) -> String {
    let put = |more| {
        format!(r#"{{"Put":{{"TableName":"Items","Item":{}}}}}"#, item_with_marks(version * 3 + more, more))
    };
    let puts: Vec<String> = (0..3).map(put).collect();
    format!(r#"{{"TransactItems":[{}]}}"#, puts.join(","))
}
