//! What a history costs a write: tables with and without recovery, written to in turns.
//!
//! `cargo test --release -p monotable-engine --test it cost_of_a_history -- --ignored --nocapture` prints it.

use std::time::{Duration, Instant};

use dynamo::operation::{CreateTable, PutItem};
use dynamo::{Item, KeyType, StoredItem, Value};
use monotable_engine::{Durability, Engine, Options};

use super::switch_on_for;

const ITEMS: usize = 2_000;
const ROUNDS: usize = 20;

#[test]
#[ignore = "a measurement"]
fn cost_of_a_history() {
    for durability in [Durability::InMemory, Durability::None, Durability::Sync] {
        let directory = tempfile::tempdir().unwrap();
        let options = Options { durability, housekeeping: None, ..Options::default() };
        let engine = match durability {
            Durability::InMemory => Engine::in_memory_with(options),
            _ => Engine::open(directory.path(), options).unwrap(),
        };
        for table in ["plain", "recoverable"] {
            engine.create_table(CreateTable::new(table, ("pk", KeyType::S), None)).unwrap();
        }
        switch_on_for(&engine, "recoverable").unwrap();
        // The first round makes the items, the others replace them.
        let (mut plain, mut recoverable) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            plain.push(write(&engine, "plain", round, durability));
            recoverable.push(write(&engine, "recoverable", round, durability));
        }
        let made = recoverable[0].as_secs_f64() / plain[0].as_secs_f64();
        let median = |times: &mut [Duration]| {
            times.sort();
            times[times.len() / 2].as_secs_f64()
        };
        let replaced = median(&mut recoverable[1..]) / median(&mut plain[1..]);
        let each = median(&mut plain[1..]) * 1e6 / count(durability) as f64;
        println!(
            "{durability:?}: new items {made:.2}, replaced {replaced:.2} (1 is {each:.1} µs for an item of 1 KB)"
        );
    }
}

fn count(durability: Durability) -> usize {
    if durability == Durability::Sync { ITEMS / 10 } else { ITEMS }
}

fn write(engine: &Engine, table: &str, round: usize, durability: Durability) -> Duration {
    let requests: Vec<PutItem> = (0..count(durability))
        .map(|number| PutItem {
            table_name: Some(table.to_owned()),
            item: Some(StoredItem::from(Item::from([
                ("pk".to_owned(), Value::from(format!("item-{number}"))),
                ("round".to_owned(), Value::from(round as i64)),
                ("pad".to_owned(), Value::from("p".repeat(1_000))),
            ]))),
            ..PutItem::default()
        })
        .collect();
    let started = Instant::now();
    for request in requests {
        engine.put_item(request).unwrap();
    }
    started.elapsed()
}
