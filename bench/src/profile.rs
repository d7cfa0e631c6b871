//! One operation of ours alone, again and again, for a profiler to look at.

use dynamo::operation::{GetItem, Put, PutItem, Query, TransactWriteItem, TransactWriteItems};
use dynamo::{Item, Operation, Value};
use engine::Engine;

use crate::item::{item, key, partition, shuffled};
use crate::memory::TABLE;
use crate::table::rate;

pub fn run(what: &str, count: usize) {
    let engine = Engine::in_memory();
    engine.run(Operation::parse("CreateTable", TABLE.as_bytes()).expect("JSON")).expect("a table");
    let mut items: Vec<Item> = shuffled(count).map(item).collect();
    let put = rate(count, |_| {
        engine.put_item(PutItem::new("Items", items.pop().expect("one for each"))).expect("a put");
    });
    println!("put {put:.0}/s");
    for _ in 0..20 {
        match what {
            "get" => gets(&engine, count),
            "query" => queries(&engine, count),
            "transact" => transactions(&engine, count / 3),
            "replace" => replaces(&engine, count),
            _ => return,
        }
    }
}

fn gets(engine: &Engine, count: usize) {
    let mut keys: Vec<Item> = shuffled(count).map(key).collect();
    let get = rate(count, |_| {
        let request = GetItem::new("Items", keys.pop().expect("one for each"));
        assert!(engine.get_item(request).expect("a get").item.is_some());
    });
    println!("get {get:.0}/s");
}

fn transactions(engine: &Engine, count: usize) {
    let mut requests: Vec<_> = (0..count)
        .map(|n| {
            let actions = [0, 1, 2].map(|k| TransactWriteItem {
                put: Some(Put {
                    item: Some(item(n * 3 + k).into()),
                    table_name: Some("Items".to_owned()),
                    ..Put::default()
                }),
                ..TransactWriteItem::default()
            });
            TransactWriteItems { transact_items: Some(actions.into()), ..TransactWriteItems::default() }
        })
        .collect();
    let transactions = rate(count, |_| {
        engine.transact_write_items(requests.pop().expect("one for each")).expect("a transaction");
    });
    println!("transact {transactions:.0}/s");
}

fn replaces(engine: &Engine, count: usize) {
    let mut items: Vec<Item> = shuffled(count).map(item).collect();
    let put = rate(count, |_| {
        engine.put_item(PutItem::new("Items", items.pop().expect("one for each"))).expect("a put");
    });
    println!("replace {put:.0}/s");
}

fn queries(engine: &Engine, count: usize) {
    let mut numbers = shuffled(count).cycle();
    let query = rate(count, |_| {
        let value = Value::from(partition(numbers.next().expect("endless")));
        let request = Query {
            table_name: Some("Items".to_owned()),
            key_condition_expression: Some("pk = :p".to_owned()),
            expression_attribute_values: Some(Item::from([(":p".to_owned(), value)])),
            ..Query::default()
        };
        assert_eq!(engine.query(request).expect("a query").count, 20);
    });
    println!("query {query:.0}/s");
}
