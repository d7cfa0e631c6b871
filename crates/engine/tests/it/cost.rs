//! What encryption costs: the same work on a plain and on an encrypted database, in turns, as ratios within one run.
//!
//! `cargo test --release -p monotable-engine --test it cost -- --ignored --nocapture`

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use dynamo::operation::{GetItem, PutItem};
use dynamo::{Item, Number, Operation, Value};
use monotable_engine::{Durability, Engine, Options};

use crate::crash::{ENCRYPTED, PLAIN, key_of};

const ITEMS: u64 = 100_000;
const RUN: Duration = Duration::from_millis(500);
const ROUNDS: u32 = 8;
const PARTITION_ITEMS: u64 = 20;

fn open(path: &Path, durability: Durability) -> Engine {
    let options = Options { durability, key: key_of(path), housekeeping: None, ..Options::default() };
    Engine::open(path, options).unwrap()
}

fn key(number: u64) -> Item {
    let partition = Value::from(format!("customer-{:012}", number / PARTITION_ITEMS));
    let sort = Value::N(Number::parse(&(number % PARTITION_ITEMS).to_string()).unwrap());
    Item::from([("pk".to_owned(), partition), ("sk".to_owned(), sort)])
}

fn put(engine: &Engine, number: u64) {
    let mut item = key(number);
    item.insert("text".to_owned(), Value::from("x".repeat(900)));
    engine.put_item(PutItem { table_name: table(), item: Some(item.into()), ..PutItem::default() }).unwrap();
}

fn table() -> Option<String> {
    Some("Items".to_owned())
}

/// Scatters numbers, each once.
fn scattered(number: u64) -> u64 {
    number * 7_919 % ITEMS
}

fn get(engine: &Engine, number: u64) {
    let request = GetItem { table_name: table(), key: Some(key(scattered(number))), ..GetItem::default() };
    assert!(engine.get_item(request).unwrap().item.is_some());
}

fn query(engine: &Engine, number: u64) {
    let partition = scattered(number) / PARTITION_ITEMS;
    let request = format!(
        r#"{{"TableName":"Items","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{{":p":{{"S":"customer-{partition:012}"}}}}}}"#
    );
    engine.run(Operation::parse("Query", request.as_bytes()).unwrap()).unwrap();
}

/// How often something is done in a second, by so many threads.
fn rate(threads: usize, next: &AtomicU64, work: impl Fn(u64) + Sync) -> f64 {
    let (start, begun) = (Instant::now(), next.load(Relaxed));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while start.elapsed() < RUN {
                    work(next.fetch_add(1, Relaxed));
                }
            });
        }
    });
    (next.load(Relaxed) - begun) as f64 / start.elapsed().as_secs_f64()
}

/// Makes a database with all items, and returns how many were written in a second.
fn load(path: &Path) -> f64 {
    let create = r#"{"TableName":"Items","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}]}"#;
    let engine = open(path, Durability::None);
    engine.run(Operation::parse("CreateTable", create.as_bytes()).unwrap()).unwrap();
    let start = Instant::now();
    for number in 0..ITEMS {
        put(&engine, scattered(number));
    }
    engine.sync().unwrap();
    ITEMS as f64 / start.elapsed().as_secs_f64()
}

fn put_scattered(engine: &Engine, number: u64) {
    put(engine, scattered(number));
}

fn print(what: &str, [plain, encrypted]: [f64; 2]) {
    println!("{what:32} {plain:>10.0} {encrypted:>10.0} {:>6.2}", encrypted / plain);
}

type Work = fn(&Engine, u64);

#[test]
#[ignore = "measures for a minute, and means something in a release build only"]
fn what_encryption_costs() {
    let directory = tempfile::tempdir().unwrap();
    let paths = [PLAIN, ENCRYPTED].map(|name| directory.path().join(name));
    println!("{:32} {:>10} {:>10} {:>6}", "each second", "plain", "encrypted", "ratio");
    print("load, not synced, 1 thread", [load(&paths[0]), load(&paths[1])]);
    let engines = [0, 1].map(|at| open(&paths[at], Durability::Sync));
    let works: [(&str, usize, Work); 5] = [
        ("put, synced, 1 writer", 1, put_scattered),
        ("put, synced, 32 writers", 32, put_scattered),
        ("get, 1 thread", 1, get),
        ("get, 2 threads", 2, get),
        ("query of 20, 1 thread", 1, query),
    ];
    for (what, threads, work) in works {
        // In turns, so that what else the machine does falls on both.
        let mut sums = [0.0; 2];
        for _ in 0..ROUNDS {
            for (engine, sum) in engines.iter().zip(&mut sums) {
                *sum += rate(threads, &AtomicU64::new(0), |number| work(engine, number));
            }
        }
        print(what, sums.map(|sum| sum / f64::from(ROUNDS)));
    }
    let sizes = [0, 1].map(|at| engines[at].size_on_disk_bytes().unwrap() as f64 / ITEMS as f64);
    print("bytes on disk for each item", sizes);
}
