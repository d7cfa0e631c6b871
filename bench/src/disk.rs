//! On disk: beside the storage engine used raw, with the same bytes.
//!
//! Reads: GetItem at so many items against the raw get rate of the same keys and values. Writes: PutItem with `sync`, 32 writers waiting,
//! one GSI and a stream, against raw batches of 32 of the same keys and bytes with one sync each.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dynamo::operation::{GetItem, PutItem};
use dynamo::{Operation, StoredItem};
use engine::{Durability, Engine, Options};
use fjall::{Database, Keyspace, PersistMode};

use crate::item::{item, key, shuffled};
use crate::memory::TABLE;
use crate::raw::{self, index_key, key as raw_key};
use crate::table::{heading, rate, row, versus};

const WRITERS: usize = 32;
const RUN: Duration = Duration::from_secs(6);

pub fn run(count: usize) {
    let directory = tempfile::tempdir().expect("a directory");
    println!("on disk, 1 KB items, one GSI; {count} items");
    let ours = directory.path().join("ours");
    load(&ours, count);
    let started = Instant::now();
    let engine = open(&ours, Durability::Sync);
    println!("opening {count} items: {:.0} ms", started.elapsed().as_secs_f64() * 1000.0);
    reads(&engine, &directory.path().join("raw"), count);
    drop(engine);
    writes(directory.path());
}

fn open(path: &Path, durability: Durability) -> Engine {
    Engine::open(path, Options { durability, ..Options::default() }).expect("a database")
}

fn load(path: &Path, count: usize) {
    let engine = open(path, Durability::None);
    engine.run(Operation::parse("CreateTable", TABLE.as_bytes()).expect("JSON")).expect("a table");
    let load = rate(count, |n| {
        let n = n * 7919 % count;
        engine.put_item(PutItem::new("Items", item(n))).expect("a put");
    });
    println!("loading, not synced: {load:.0}/s");
    engine.sync().expect("a sync");
    println!(
        "size on disk: {:.2} times the items",
        engine.size_on_disk_bytes().expect("a size") as f64 / (count as f64 * 1024.0)
    );
}

fn reads(engine: &Engine, path: &Path, count: usize) {
    let (database, keyspace) = raw::open(path);
    // The same bytes as ours: items and index entries.
    for n in shuffled(count) {
        let stored = StoredItem::encode(&item(n));
        keyspace.insert(raw_key(n), &**stored.as_bytes()).expect("an insert");
        keyspace.insert(index_key(n), &**stored.as_bytes()).expect("an insert");
    }
    database.persist(PersistMode::SyncAll).expect("a sync");
    heading("Monotable", "raw fjall");
    let get = |request| assert!(engine.get_item(request).expect("a get").item.is_some());
    let make = |n| GetItem::new("Items", key(n));
    let get_raw = |key: Vec<u8>| assert!(keyspace.get(key).expect("a get").is_some());
    for round in 1..=3 {
        row(&format!("GetItem, round {round}"), versus(count, (make, get), (raw_key, get_raw)));
    }
}

fn writes(directory: &Path) {
    let engine = open(&directory.join("writes"), Durability::Sync);
    let with_stream = TABLE.replacen(
        '{',
        r#"{"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},"#,
        1,
    );
    engine.run(Operation::parse("CreateTable", with_stream.as_bytes()).expect("JSON")).expect("a table");
    heading("Monotable", "raw fjall");
    let (database, keyspace) = raw::open(&directory.join("raw-writes"));
    for round in 1..=3 {
        let ours = waiting_writers(&engine, WRITERS, round);
        let theirs = raw_groups(&database, &keyspace, WRITERS, round);
        row(&format!("PutItem, 32 writers, round {round}"), (ours, theirs));
    }
    let lone = waiting_writers(&engine, 1, 9);
    let raw_lone = raw_groups(&database, &keyspace, 1, 9);
    row("PutItem, one writer", (lone, raw_lone));
    let metrics = engine.metrics();
    println!(
        "groups of {:.1} writes, {:.2} ms a sync",
        metrics.writes as f64 / metrics.groups as f64,
        metrics.sync_nanoseconds as f64 / metrics.syncs as f64 / 1e6
    );
}

fn waiting_writers(engine: &Engine, writers: usize, round: usize) -> f64 {
    let next = AtomicUsize::new(round * 10_000_000);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..writers {
            scope.spawn(|| {
                while started.elapsed() < RUN {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    engine.put_item(PutItem::new("Items", item(n))).expect("a put");
                }
            });
        }
    });
    (next.into_inner() - round * 10_000_000) as f64 / started.elapsed().as_secs_f64()
}

/// The bytes of one put: the item, its index entry, and its record in the stream (new image and keys).
fn raw_groups(database: &Database, keyspace: &Keyspace, size: usize, round: usize) -> f64 {
    let mut n = round * 10_000_000;
    let started = Instant::now();
    while started.elapsed() < RUN {
        let mut batch = database.batch();
        for _ in 0..size {
            let stored = StoredItem::encode(&item(n));
            batch.insert(keyspace, raw_key(n), &**stored.as_bytes());
            batch.insert(keyspace, index_key(n), &**stored.as_bytes());
            batch.insert(
                keyspace,
                [b"stream".to_vec(), raw_key(n)].concat(),
                [&**stored.as_bytes(), &raw_key(n)].concat(),
            );
            n += 1;
        }
        batch.commit().expect("a commit");
        database.persist(PersistMode::SyncData).expect("a sync");
    }
    (n - round * 10_000_000) as f64 / started.elapsed().as_secs_f64()
}
