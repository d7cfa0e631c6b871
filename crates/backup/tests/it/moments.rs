//! Every moment of a history can be had again, with whole transactions.
//!
//! `MONOTABLE_MOMENTS` asks for more moments than a few.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::Engine;
use monotable_backup::{BackupError, ShipSettings, Shipper};
use serde_json::json;

use crate::bench::{Bench, START, make_table, put, run};
use crate::random::Random;
use crate::shipping::wait_for;

const MOMENTS: usize = 25;

/// Items by table and key, with their version; and the sums of transactions.
type Model = BTreeMap<(String, String), String>;

fn model_of(engine: &Engine) -> Model {
    let mut model = Model::new();
    let tables = run(engine, "ListTables", json!({}))["TableNames"].clone();
    for table in tables.as_array().unwrap() {
        let found = run(engine, "Scan", json!({ "TableName": table }));
        assert!(found.get("LastEvaluatedKey").is_none());
        for item in found["Items"].as_array().unwrap() {
            let key = (table.as_str().unwrap().to_owned(), item["pk"]["S"].as_str().unwrap().to_owned());
            model.insert(key, item.to_string());
        }
    }
    model
}

#[test]
fn every_moment_of_a_history_can_be_had_again() {
    let count = std::env::var("MONOTABLE_MOMENTS").map_or(MOMENTS, |text| text.parse().unwrap());
    let seed = Random::new_seed();
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let bench = Bench::new();
    make_table(&bench.engine, "TableA");
    make_table(&bench.engine, "TableB");
    let settings = ShipSettings { every: Duration::from_millis(5), ..ShipSettings::default() };
    let mut shipper =
        Some(Shipper::start(bench.engine.clone(), bench.address(), None, settings.clone()).unwrap());
    wait_for(|| shipper.as_ref().unwrap().status().backup_age().is_some());
    // What was there at the end of each millisecond.
    let mut history: Vec<(i64, Model)> = Vec::new();
    for step in 0..count as u64 * 4 {
        bench.clock.advance_milliseconds(1 + random.below(2000) as i64);
        for _ in 0..1 + random.below(4) {
            write(&bench.engine, &mut random, step);
        }
        if random.once_in(10) {
            std::thread::sleep(Duration::from_millis(15));
        }
        if random.once_in(40) {
            // The server is started again, sometimes with a new backup.
            drop(shipper.take());
            let backup_every = if random.once_in(2) { Duration::ZERO } else { settings.backup_every };
            let settings = ShipSettings { backup_every, ..settings.clone() };
            shipper = Some(Shipper::start(bench.engine.clone(), bench.address(), None, settings).unwrap());
        }
        let now = engine::Clock::now_milliseconds(&*bench.clock);
        history.push((now, model_of(&bench.engine)));
    }
    drop(shipper);
    assert!(bench.verify(None).unwrap().is_good());
    let last = history.last().unwrap().0;
    for moment in 0..count {
        // Freezing moves the log's clock by a millisecond, so moments close to a write are off by that at most.
        let index = random.below(history.len());
        let (from, model) = &history[index];
        let until = history.get(index + 1).map_or(last, |(next, _)| next - 1);
        let at = from + (until - from) * 3 / 4 + 1;
        if at <= *from + 50 || at > until {
            continue;
        }
        let to = format!("moment-{moment}");
        match bench.restore(&to, Some(at), None) {
            Ok(_) => assert_eq!(model_of(&bench.restored(&to)), *model, "at {at}, step {index}"),
            Err(error) => panic!("at {at}, step {index}: {error}"),
        }
        std::fs::remove_dir_all(bench.path(&to)).unwrap();
    }
    let future = bench.restore("future", Some(last + 1_000_000), None).unwrap_err();
    assert!(matches!(future, BackupError::NotCovered { .. }), "{future}");
    let past = bench.restore("past", Some(START - 1), None).unwrap_err();
    assert!(matches!(past, BackupError::TooEarly { .. }), "{past}");
}

fn write(engine: &Engine, random: &mut Random, step: u64) {
    let number = random.below(30) as u64;
    match random.below(6) {
        0 => {
            let key = json!({ "pk": { "S": format!("order {number}") } });
            run(engine, "DeleteItem", json!({ "TableName": "TableA", "Key": key }));
        }
        1 | 2 => {
            // In both tables or in none.
            let put = |table: &str| {
                let item =
                    json!({ "pk": { "S": format!("both {number}") }, "step": { "N": step.to_string() } });
                json!({ "Put": { "TableName": table, "Item": item } })
            };
            run(engine, "TransactWriteItems", json!({ "TransactItems": [put("TableA"), put("TableB")] }));
        }
        3 => put(engine, "TableA", number, step, 64),
        _ => put(engine, "TableB", number, step, 64),
    }
}
