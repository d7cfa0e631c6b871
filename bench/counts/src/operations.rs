//! The operations that are counted, each from the text of its request to the text of its answer.

use dynamo::Operation;
use engine::Engine;

use crate::allocations::{self, Heap};
use crate::item::{item, partition, shuffled, sort};

pub const OPERATIONS: [&str; 8] =
    ["GetItem", "PutItem", "replace", "counter", "Query", "index", "TransactWrite", "BatchWrite"];

/// How many items are there before anything is counted.
const ITEMS: usize = 1_000;
/// How many times an operation runs to be counted.
pub const TIMES: usize = 100;

const TABLE: &str = r#"{"TableName":"Items","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
{"AttributeName":"gpk","AttributeType":"S"},{"AttributeName":"gsk","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
"GlobalSecondaryIndexes":[{"IndexName":"ByStatus","KeySchema":[{"AttributeName":"gpk","KeyType":"HASH"},
{"AttributeName":"gsk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}"#;

/// A request: the name of its operation and its JSON.
type Request = (&'static str, String);

fn item_json(n: usize) -> String {
    let mut text = Vec::new();
    dynamo::write_stored_item(&dynamo::StoredItem::encode(&item(n)), &mut text);
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn key_json(n: usize) -> String {
    format!(r#"{{"pk":{{"S":"{}"}},"sk":{{"S":"{}"}}}}"#, partition(n), sort(n))
}

/// The request of an operation in its turn.
pub fn request(operation: &str, turn: usize) -> Request {
    let there = turn * 37 % ITEMS;
    let new = ITEMS + turn * 25;
    match operation {
        "GetItem" => ("GetItem", format!(r#"{{"TableName":"Items","Key":{}}}"#, key_json(there))),
        "PutItem" => ("PutItem", format!(r#"{{"TableName":"Items","Item":{}}}"#, item_json(new))),
        "replace" => {
            let (old, new) =
                (format!(r#""number":{{"N":"{there}"}}"#), format!(r#""number":{{"N":"-{turn}"}}"#));
            let item = item_json(there).replacen(&old, &new, 1);
            ("PutItem", format!(r#"{{"TableName":"Items","Item":{item}}}"#))
        }
        "counter" => (
            "UpdateItem",
            format!(
                r#"{{"TableName":"Items","Key":{},"UpdateExpression":"ADD hits :one","ExpressionAttributeValues":{{":one":{{"N":"1"}}}}}}"#,
                key_json(there)
            ),
        ),
        "Query" => (
            "Query",
            format!(
                r#"{{"TableName":"Items","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{{":p":{{"S":"{}"}}}}}}"#,
                partition(there)
            ),
        ),
        "index" => (
            "Query",
            format!(
                r#"{{"TableName":"Items","IndexName":"ByStatus","KeyConditionExpression":"gpk = :p","ExpressionAttributeValues":{{":p":{{"S":"STATUS#{there:05}"}}}}}}"#
            ),
        ),
        "TransactWrite" => {
            let put = |n| format!(r#"{{"Put":{{"TableName":"Items","Item":{}}}}}"#, item_json(n));
            let puts: Vec<String> = (new..new + 3).map(put).collect();
            ("TransactWriteItems", format!(r#"{{"TransactItems":[{}]}}"#, puts.join(",")))
        }
        "BatchWrite" => {
            let put = |n| format!(r#"{{"PutRequest":{{"Item":{}}}}}"#, item_json(n));
            let puts: Vec<String> = (new..new + 25).map(put).collect();
            ("BatchWriteItem", format!(r#"{{"RequestItems":{{"Items":[{}]}}}}"#, puts.join(",")))
        }
        other => panic!("no such operation: {other}"),
    }
}

/// Runs a request and writes its answer.
pub fn answer(engine: &Engine, (operation, json): &Request, out: &mut Vec<u8>) {
    out.clear();
    let operation = Operation::parse(operation, json.as_bytes()).expect("a request");
    engine.run(operation).expect("an answer").write_json(out);
}

/// Makes the table and its items.
pub fn fill(engine: &Engine) {
    let mut out = Vec::new();
    answer(engine, &("CreateTable", TABLE.to_owned()), &mut out);
    for n in shuffled(ITEMS) {
        let put = format!(r#"{{"TableName":"Items","Item":{}}}"#, item_json(n));
        answer(engine, &("PutItem", put), &mut out);
    }
}

/// Fills a table in memory and runs an operation so many times.
pub fn run(operation: &str, count: usize) {
    let engine = Engine::in_memory();
    fill(&engine);
    let mut out = Vec::with_capacity(1 << 20);
    // The requests are all made, however many are run, so that two runs differ in nothing else.
    let requests: Vec<Request> = (0..TIMES * 3).map(|turn| request(operation, turn)).collect();
    for request in requests.iter().take(count) {
        answer(&engine, request, &mut out);
    }
}

/// What one operation asks of the allocator, in memory.
pub fn allocations(operation: &str) -> Heap {
    let engine = Engine::in_memory();
    fill(&engine);
    let mut out = Vec::with_capacity(1 << 20);
    let requests: Vec<Request> = (0..TIMES).map(|turn| request(operation, turn)).collect();
    let before = allocations::so_far();
    for request in &requests {
        answer(&engine, request, &mut out);
    }
    let after = allocations::so_far();
    let times = TIMES as u64;
    Heap {
        allocations: (after.allocations - before.allocations).div_ceil(times),
        bytes: (after.bytes - before.bytes).div_ceil(times),
    }
}
