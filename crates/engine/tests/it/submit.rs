//! Writes handed in from many threads at once, without waiting for each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use dynamo::Operation;
use monotable_engine::{Durability, Engine, Options};

const THREADS: usize = 8;
const WRITES: usize = 400;

fn parse(name: &str, json: &str) -> Operation {
    Operation::parse(name, json.as_bytes()).unwrap()
}

/// Every thread adds to one counter again and again, and every other write of it waits for its answer, as callers of [`Engine::run`] do.
fn count_from_many_threads(engine: &Engine) {
    let table = r#"{"TableName":"Counters","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}"#;
    engine.run(parse("CreateTable", table)).unwrap();
    let add = r#"{"TableName":"Counters","Key":{"id":{"S":"a"}},"UpdateExpression":"ADD n :one",
        "ExpressionAttributeValues":{":one":{"N":"1"}}}"#;
    let answers = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for number in 0..WRITES {
                    if number % 2 == 0 {
                        let answers = answers.clone();
                        engine.submit(parse("UpdateItem", add), move |outcome| {
                            outcome.unwrap();
                            answers.fetch_add(1, SeqCst);
                            None
                        });
                    } else {
                        engine.run(parse("UpdateItem", add)).unwrap();
                        answers.fetch_add(1, SeqCst);
                    }
                }
            });
        }
    });
    let patience = Instant::now() + Duration::from_secs(30);
    while answers.load(SeqCst) < THREADS * WRITES && Instant::now() < patience {
        std::thread::yield_now();
    }
    assert_eq!(answers.load(SeqCst), THREADS * WRITES, "each write is answered, and once");
    let get = parse("GetItem", r#"{"TableName":"Counters","Key":{"id":{"S":"a"}},"ConsistentRead":true}"#);
    let mut json = Vec::new();
    engine.run(get).unwrap().write_json(&mut json);
    let expected = format!(r#""n":{{"N":"{}"}}"#, THREADS * WRITES);
    assert!(String::from_utf8_lossy(&json).contains(&expected), "{}", String::from_utf8_lossy(&json));
}

#[test]
fn in_memory_every_write_is_answered_once_and_counts() {
    count_from_many_threads(&Engine::in_memory());
}

#[test]
fn on_disk_without_waiting_for_it_every_write_is_answered_once_and_counts() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options { durability: Durability::None, ..Options::default() };
    count_from_many_threads(&Engine::open(directory.path(), options).unwrap());
}

#[test]
fn on_disk_every_write_is_answered_once_and_counts() {
    let directory = tempfile::tempdir().unwrap();
    count_from_many_threads(&Engine::open(directory.path(), Options::default()).unwrap());
}
