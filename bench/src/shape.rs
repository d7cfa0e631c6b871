//! How costs grow: a transaction of three against three writes, a table with many indexes against the entries a write changes, opening an
//! empty database.

use std::time::Instant;

use dynamo::operation::{Put, PutItem, TransactWriteItem, TransactWriteItems};
use dynamo::{Item, Operation, Value};
use engine::{Durability, Engine, Options};

use crate::item::item;
use crate::memory::TABLE;
use crate::table::{heading, rate, row, versus};

pub fn run() {
    transactions();
    indexes();
    opening();
}

fn transactions() {
    println!("a transaction of 3 against 3 puts");
    heading("as transaction", "as 3 puts");
    let in_memory = Engine::in_memory();
    let directory = tempfile::tempdir().expect("a directory");
    let on_disk = Engine::open(directory.path(), Options::default()).expect("a database");
    for (what, engine, count) in [("in memory", in_memory, 30_000), ("on disk, sync", on_disk, 1_000)] {
        engine.run(Operation::parse("CreateTable", TABLE.as_bytes()).expect("JSON")).expect("a table");
        let three = |n: usize, place: usize| [0, 1, 2].map(|k| item(place + n * 3 + k));
        let make = |n| {
            let actions = three(n, 0).map(|item| TransactWriteItem {
                put: Some(Put {
                    item: Some(item.into()),
                    table_name: Some("Items".to_owned()),
                    ..Put::default()
                }),
                ..TransactWriteItem::default()
            });
            TransactWriteItems { transact_items: Some(actions.into()), ..TransactWriteItems::default() }
        };
        let run = |request| drop(engine.transact_write_items(request).expect("a transaction"));
        let make_puts = |n| three(n, 10_000_000).map(|item| PutItem::new("Items", item));
        let run_puts = |puts: [PutItem; 3]| {
            for put in puts {
                engine.put_item(put).expect("a put");
            }
        };
        row(what, versus(count, (make, run), (make_puts, run_puts)));
    }
}

fn indexes() {
    println!("a put into a table with 20 GSIs, by how many of them it changes");
    for (entries, microseconds) in puts_by_entries() {
        println!("{entries:>4} entries {microseconds:>10.2} µs");
    }
}

/// Microseconds of a put into a table with 20 indexes, by how many of them it changes. They take turns.
pub fn puts_by_entries() -> Vec<(usize, f64)> {
    const COUNT: usize = 2_000;
    const TURNS: usize = 15;
    let engine = Engine::in_memory();
    engine.run(Operation::parse("CreateTable", with_indexes(20).as_bytes()).expect("JSON")).expect("a table");
    let entries = [0, 1, 5, 10, 20];
    let mut times = [const { Vec::new() }; 5];
    for turn in 0..TURNS {
        for (entries, times) in entries.iter().zip(&mut times) {
            let mut items: Vec<Item> = (0..COUNT).map(|n| with_entries(*entries, turn * COUNT + n)).collect();
            let puts = rate(COUNT, |_| {
                engine.put_item(PutItem::new("Items", items.pop().expect("one for each"))).expect("a put");
            });
            times.push(1e6 / puts);
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    entries.into_iter().zip(times.map(median)).collect()
}

fn with_entries(entries: usize, n: usize) -> Item {
    let mut item = Item::from([("pk".to_owned(), Value::from(format!("{entries}-{n}")))]);
    for index in 0..entries {
        item.insert(format!("g{index}"), Value::from(format!("{n}")));
    }
    item
}

fn with_indexes(count: usize) -> String {
    let definitions: Vec<_> =
        (0..count).map(|n| format!(r#"{{"AttributeName":"g{n}","AttributeType":"S"}}"#)).collect();
    let indexes: Vec<_> = (0..count)
        .map(|n| {
            format!(
                r#"{{"IndexName":"Index{n}","KeySchema":[{{"AttributeName":"g{n}","KeyType":"HASH"}}],"Projection":{{"ProjectionType":"KEYS_ONLY"}}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"TableName":"Items","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{{"AttributeName":"pk","AttributeType":"S"}},{}],
        "KeySchema":[{{"AttributeName":"pk","KeyType":"HASH"}}],"GlobalSecondaryIndexes":[{}]}}"#,
        definitions.join(","),
        indexes.join(",")
    )
}

fn opening() {
    let mut times: Vec<f64> = (0..11)
        .map(|_| {
            let directory = tempfile::tempdir().expect("a directory");
            let started = Instant::now();
            let engine = Engine::open(
                directory.path(),
                Options { durability: Durability::Sync, ..Options::default() },
            );
            let time = started.elapsed().as_secs_f64() * 1000.0;
            drop(engine.expect("a database"));
            time
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "opening an empty directory: median {:.1} ms, worst {:.1} ms",
        times[times.len() / 2],
        times[times.len() - 1]
    );
}
