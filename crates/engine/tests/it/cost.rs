//! What encryption costs: the same work on a plain database, on an encrypted one, and on one whose table has a key of its own, in turns, as
//! ratios within one run; without and with point-in-time recovery.
//!
//! `cargo test --release -p monotable-engine --test it cost -- --ignored --nocapture`

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use dynamo::operation::{GetItem, PutItem};
use dynamo::{Item, Number, Operation, Value};
use monotable_engine::{Durability, Engine, Options};

use crate::crash::{ENCRYPTED, KEYED, PLAIN, key_of, table_keys_of};
use crate::history::switch_on_for;

const ITEMS: u64 = 100_000;
const RUN: Duration = Duration::from_millis(500);
const ROUNDS: u32 = 8;
const PARTITION_ITEMS: u64 = 20;

fn open(path: &Path, durability: Durability) -> Engine {
    let (key, table_keys) = (key_of(path), table_keys_of(path));
    let options = Options { durability, key, table_keys, housekeeping: None, ..Options::default() };
    Engine::open(path, options).unwrap()
}

fn key(number: u64) -> Item {
    let partition = Value::from(format!("customer-{:012}", number / PARTITION_ITEMS));
    let sort = Value::N(Number::parse(&(number % PARTITION_ITEMS).to_string()).unwrap());
    Item::from([("pk".to_owned(), partition), ("sk".to_owned(), sort)])
}

/// Puts an item that is like no other: what changes nothing is not written.
fn put(engine: &Engine, number: u64) {
    static PUTS: AtomicU64 = AtomicU64::new(0);
    let mut item = key(number);
    item.insert("text".to_owned(), Value::from(format!("{:0900}", PUTS.fetch_add(1, Relaxed))));
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

/// A page of about 1 MB, from a place of its own.
fn scan(engine: &Engine, number: u64) {
    let request = format!(
        r#"{{"TableName":"Items","Select":"COUNT","Limit":1000,"Segment":{},"TotalSegments":97}}"#,
        number % 97
    );
    engine.run(Operation::parse("Scan", request.as_bytes()).unwrap()).unwrap();
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
    let create = r#"{"TableName":"Items","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],"SSESpecification":{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"first"}}"#;
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

/// What a plain database reached, and what of it the others did.
fn print(what: &str, [plain, encrypted, keyed]: [f64; 3]) {
    println!("{what:40} {plain:>10.0} {:>10.2} {:>10.2}", encrypted / plain, keyed / plain);
}

type Work = fn(&Engine, u64);

/// Does something in turns, so that what else the machine does falls on all of them.
fn measure(what: &str, engines: &[Engine; 3], threads: usize, work: Work) {
    let mut sums = [0.0; 3];
    for _ in 0..ROUNDS {
        for (engine, sum) in engines.iter().zip(&mut sums) {
            *sum += rate(threads, &AtomicU64::new(0), |number| work(engine, number));
        }
    }
    print(what, sums.map(|sum| sum / f64::from(ROUNDS)));
}

#[test]
#[ignore = "measures for two minutes, and means something in a release build only"]
fn what_encryption_costs() {
    let directory = tempfile::tempdir().unwrap();
    let paths = [PLAIN, ENCRYPTED, KEYED].map(|name| directory.path().join(name));
    println!("{:40} {:>10} {:>10} {:>10}", "", "plain, /s", "encrypted", "table key");
    print("load, not synced, 1 thread", [0, 1, 2].map(|at| load(&paths[at])));
    let engines = [0, 1, 2].map(|at| open(&paths[at], Durability::Sync));
    let works: [(&str, usize, Work); 6] = [
        ("put, synced, 1 writer", 1, put_scattered),
        ("put, synced, 32 writers", 32, put_scattered),
        ("get, 1 thread", 1, get),
        ("get, 2 threads", 2, get),
        ("query of 20, 1 thread", 1, query),
        ("scan of a page of 1 MB, 1 thread", 1, scan),
    ];
    for (what, threads, work) in works {
        measure(what, &engines, threads, work);
    }
    let sizes = [0, 1, 2].map(|at| engines[at].size_on_disk_bytes().unwrap() as f64 / ITEMS as f64);
    print("bytes on disk for each item", sizes);
    engines.iter().for_each(|engine| switch_on_for(engine, "Items").unwrap());
    for (what, threads) in [("with recovery: put, 1 writer", 1), ("with recovery: put, 32 writers", 32)] {
        measure(what, &engines, threads, put_scattered);
    }
}
