//! In memory, in this process, one thread: beside dynoxide.

use dynamo::operation::{GetItem, PutItem, Query};
use dynamo::{Item, Value};
use dynoxide::Database;
use dynoxide::actions::{get_item::GetItemRequest, put_item::PutItemRequest, query::QueryRequest};
use dynoxide::types::AttributeValue;
use engine::Engine;

use crate::item::{item, key, partition, shuffled};
use crate::table::{heading, rate, row};

pub const TABLE: &str = r#"{"TableName":"Items","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
{"AttributeName":"gpk","AttributeType":"S"},{"AttributeName":"gsk","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
"GlobalSecondaryIndexes":[{"IndexName":"ByStatus","KeySchema":[{"AttributeName":"gpk","KeyType":"HASH"},
{"AttributeName":"gsk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}"#;

type TheirItem = std::collections::HashMap<String, AttributeValue>;

pub fn run(count: usize) {
    let ours = Engine::in_memory();
    ours.run(dynamo::Operation::parse("CreateTable", TABLE.as_bytes()).expect("JSON")).expect("a table");
    let theirs = Database::memory().expect("a database");
    theirs.create_table(serde_json::from_str(TABLE).expect("JSON")).expect("a table");
    let their_count = count / 5;
    println!("in memory, one thread, 1 KB items, one GSI; {count} items ({their_count} for dynoxide)");
    heading("Monotable", "dynoxide 3.2");

    let mut items: Vec<Item> = shuffled(count).map(item).collect();
    let put = rate(count, |_| {
        let request = PutItem { table_name: name(), item: items.pop(), ..PutItem::default() };
        ours.put_item(request).expect("a put");
    });
    let mut items: Vec<TheirItem> = shuffled(their_count).map(|n| their_item(item(n))).collect();
    let their_put = rate(their_count, |_| {
        let item = items.pop().expect("one for each");
        let request = PutItemRequest { table_name: "Items".to_owned(), item, ..PutItemRequest::default() };
        theirs.put_item(request).expect("a put");
    });
    row("PutItem", put, their_put);
    gets(&ours, &theirs, count, their_count);
    queries(&ours, &theirs, count, their_count);
}

fn gets(ours: &Engine, theirs: &Database, count: usize, their_count: usize) {
    let mut keys: Vec<Item> = shuffled(count).map(key).collect();
    let get = rate(count, |_| {
        let request = GetItem { table_name: name(), key: keys.pop(), ..GetItem::default() };
        assert!(ours.get_item(request).expect("a get").item.is_some());
    });
    let mut keys: Vec<TheirItem> = shuffled(their_count).map(|n| their_item(key(n))).collect();
    let their_get = rate(their_count, |_| {
        let key = keys.pop().expect("one for each");
        let request = GetItemRequest { table_name: "Items".to_owned(), key, ..GetItemRequest::default() };
        assert!(theirs.get_item(request).expect("a get").item.is_some());
    });
    row("GetItem", get, their_get);
}

fn queries(ours: &Engine, theirs: &Database, count: usize, their_count: usize) {
    let request = |n: usize| Query {
        table_name: name(),
        key_condition_expression: Some("pk = :p".to_owned()),
        expression_attribute_values: Some(Item::from([(":p".to_owned(), Value::from(partition(n)))])),
        ..Query::default()
    };
    let queries = count / 20;
    let mut numbers = shuffled(count).cycle();
    let query = rate(queries * 4, |_| {
        let reply = ours.query(request(numbers.next().expect("endless"))).expect("a query");
        assert_eq!(reply.count, 20);
    });
    let mut numbers = shuffled(their_count).cycle();
    let their_query = rate(their_count / 20, |_| {
        let value = AttributeValue::S(partition(numbers.next().expect("endless")));
        let request = QueryRequest {
            table_name: "Items".to_owned(),
            key_condition_expression: Some("pk = :p".to_owned()),
            expression_attribute_values: Some([(":p".to_owned(), value)].into()),
            ..QueryRequest::default()
        };
        assert_eq!(theirs.query(request).expect("a query").count, 20);
    });
    row("Query of 20", query, their_query);
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
