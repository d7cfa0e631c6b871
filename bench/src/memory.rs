//! In memory, in this process, one thread: beside dynoxide.

use dynamo::operation::{GetItem, PutItem, Query};
use dynamo::{Item, Value};
use dynoxide::Database;
use dynoxide::actions::{get_item::GetItemRequest, put_item::PutItemRequest, query::QueryRequest};
use dynoxide::types::AttributeValue;
use engine::Engine;

use crate::item::{item, key, partition};
use crate::table::{heading, row, versus};

pub const TABLE: &str = r#"{"TableName":"Items","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
{"AttributeName":"gpk","AttributeType":"S"},{"AttributeName":"gsk","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
"GlobalSecondaryIndexes":[{"IndexName":"ByStatus","KeySchema":[{"AttributeName":"gpk","KeyType":"HASH"},
{"AttributeName":"gsk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}"#;

type TheirItem = std::collections::HashMap<String, AttributeValue>;

/// Rates of one operation: its name, ours and theirs.
pub type Rates = (&'static str, f64, f64);

pub fn run(count: usize) {
    println!("in memory, one thread, 1 KB items, one GSI, {count} items on both sides, in turns");
    heading("Monotable", "dynoxide 3.2");
    for (what, ours, theirs) in measure(count) {
        row(what, (ours, theirs));
    }
}

/// Both sides in turns, on so many items.
pub fn measure(count: usize) -> Vec<Rates> {
    let ours = Engine::in_memory();
    ours.run(dynamo::Operation::parse("CreateTable", TABLE.as_bytes()).expect("JSON")).expect("a table");
    let theirs = Database::memory().expect("a database");
    theirs.create_table(serde_json::from_str(TABLE).expect("JSON")).expect("a table");
    vec![puts(&ours, &theirs, count), gets(&ours, &theirs, count), queries(&ours, &theirs, count)]
}

fn rates(what: &'static str, (ours, theirs): (f64, f64)) -> Rates {
    (what, ours, theirs)
}

fn puts(ours: &Engine, theirs: &Database, count: usize) -> Rates {
    // A tree becomes a request's item within the time that is measured: both sides begin with a tree.
    let make = |n| (name(), item(n));
    let put = |(table_name, item): (Option<String>, Item)| {
        let request = PutItem { table_name, item: Some(item.into()), ..PutItem::default() };
        drop(ours.put_item(request).expect("a put"));
    };
    let make_theirs = |n| PutItemRequest {
        table_name: "Items".to_owned(),
        item: their_item(item(n)),
        ..PutItemRequest::default()
    };
    let put_theirs = |request| drop(theirs.put_item(request).expect("a put"));
    rates("PutItem", versus(count, (make, put), (make_theirs, put_theirs)))
}

fn gets(ours: &Engine, theirs: &Database, count: usize) -> Rates {
    let make = |n| GetItem { table_name: name(), key: Some(key(n)), ..GetItem::default() };
    let get = |request| assert!(ours.get_item(request).expect("a get").item.is_some());
    let make_theirs = |n| GetItemRequest {
        table_name: "Items".to_owned(),
        key: their_item(key(n)),
        ..GetItemRequest::default()
    };
    let get_theirs = |request| assert!(theirs.get_item(request).expect("a get").item.is_some());
    rates("GetItem", versus(count, (make, get), (make_theirs, get_theirs)))
}

fn queries(ours: &Engine, theirs: &Database, count: usize) -> Rates {
    let make = |n| Query {
        table_name: name(),
        key_condition_expression: Some("pk = :p".to_owned()),
        expression_attribute_values: Some(Item::from([(":p".to_owned(), Value::from(partition(n)))])),
        ..Query::default()
    };
    let query = |request| assert_eq!(ours.query(request).expect("a query").count, 20);
    let make_theirs = |n| QueryRequest {
        table_name: "Items".to_owned(),
        key_condition_expression: Some("pk = :p".to_owned()),
        expression_attribute_values: Some([(":p".to_owned(), AttributeValue::S(partition(n)))].into()),
        ..QueryRequest::default()
    };
    let query_theirs = |request| assert_eq!(theirs.query(request).expect("a query").count, 20);
    rates("Query of 20", versus(count / 5, (make, query), (make_theirs, query_theirs)))
}

fn name() -> Option<String> {
    Some("Items".to_owned())
}

fn their_item(item: Item) -> TheirItem {
    let value = |value| match value {
        Value::S(text) => AttributeValue::S(text),
        Value::N(number) => AttributeValue::N(number.to_string()),
        _ => unreachable!("the item has texts and a number"),
    };
    item.into_iter().map(|(name, content)| (name, value(content))).collect()
}
