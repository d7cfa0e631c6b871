//! How fast the stores are. Run with
//! `cargo test --release -p monotable-engine figures -- --ignored --nocapture --test-threads 1`.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures for people"
)]

use std::{
    hint::black_box,
    ops::Bound,
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;

use super::{Batch, Direction, FjallStore, MemoryStore, Snapshot, Space, Store, StoreOptions};

const KEY_BYTES: usize = 60;

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn key(number: u64) -> Bytes {
    let mut state = number;
    format!("table-0001#{:016x}#{number:032}", random(&mut state)).into()
}

fn rate(count: u64, elapsed: Duration) -> String {
    format!("{:>9.0}/s", count as f64 / elapsed.as_secs_f64())
}

fn put_each(store: &dyn Store, count: u64, value: &Bytes, hold_snapshot: bool) -> Duration {
    let keys: Vec<Bytes> = (0..count).map(key).collect();
    let start = Instant::now();
    let mut held = None;
    for key in keys {
        let mut batch = Batch::with_capacity(1);
        batch.put(Space::Data, key, value.clone());
        store.apply(batch).unwrap();
        if hold_snapshot {
            held = Some(store.snapshot());
        }
    }
    black_box(held);
    start.elapsed()
}

/// Keys of entries that exist, side by side: looking for them must not cost more than finding them.
fn random_keys(count: u64, rounds: u64) -> Vec<u8> {
    let mut state = 7;
    (0..rounds).flat_map(|_| key(random(&mut state) % count)).collect()
}

fn get_each(snapshot: &Snapshot, count: u64, rounds: u64) -> Duration {
    let keys = random_keys(count, rounds);
    let start = Instant::now();
    for key in keys.chunks(KEY_BYTES) {
        assert!(black_box(snapshot.get(Space::Data, key).unwrap()).is_some());
    }
    start.elapsed()
}

fn range_each(snapshot: &Snapshot, count: u64, rounds: u64, direction: Direction) -> Duration {
    let keys = random_keys(count, rounds);
    let start = Instant::now();
    for key in keys.chunks(KEY_BYTES) {
        let (lower, upper) = match direction {
            Direction::Forward => (Bound::Included(key), Bound::Unbounded),
            Direction::Reverse => (Bound::Unbounded, Bound::Included(key)),
        };
        for entry in snapshot.range(Space::Data, lower, upper, direction).take(20) {
            black_box(entry.unwrap());
        }
    }
    start.elapsed()
}

fn print_reads(name: &str, snapshot: &Snapshot, count: u64, rounds: u64) {
    println!("{name}: gets               {}", rate(rounds, get_each(snapshot, count, rounds)));
    let rounds = rounds / 10;
    for direction in [Direction::Forward, Direction::Reverse] {
        let elapsed = range_each(snapshot, count, rounds, direction);
        println!("{name}: ranges of 20 {direction:?} {}", rate(rounds, elapsed));
    }
}

#[test]
#[ignore = "measures"]
fn figures_in_memory() {
    let count = 100_000;
    assert_eq!(key(1).len(), KEY_BYTES);
    for value_bytes in [16, 1_000] {
        let value = Bytes::from(vec![1; value_bytes]);
        let store = MemoryStore::new();
        println!("memory {value_bytes} B: puts      {}", rate(count, put_each(&store, count, &value, false)));
        println!("memory {value_bytes} B: puts over {}", rate(count, put_each(&store, count, &value, false)));
        println!(
            "memory {value_bytes} B: puts, snapshot of each kept {}",
            rate(count, put_each(&store, count, &value, true))
        );
        print_reads("memory", &store.snapshot(), count, 1_000_000);
    }
}

fn open(path: &Path) -> FjallStore {
    FjallStore::open(path, StoreOptions::default()).unwrap()
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all[all.len() / 2]
}

#[test]
#[ignore = "measures"]
fn figures_open_empty() {
    let directory = tempfile::tempdir_in(".").unwrap();
    let (mut create, mut close, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..31 {
        let path = directory.path().join(round.to_string());
        let start = Instant::now();
        let store = open(&path);
        create.push(start.elapsed());
        let start = Instant::now();
        drop(store);
        close.push(start.elapsed());
        let start = Instant::now();
        let store = open(&path);
        again.push(start.elapsed());
        drop(store);
    }
    println!("disk: create {:?} (worst {:?})", median(create.clone()), create.iter().max().unwrap());
    println!("disk: close {:?}, open again {:?}", median(close), median(again));
}

#[test]
#[ignore = "measures"]
fn figures_on_disk() {
    let directory = tempfile::tempdir_in(".").unwrap();
    let store = open(directory.path());
    let count = 300_000;
    let value =
        Bytes::from((0..1_000_u64).map(|byte| (random(&mut byte.clone()) % 64) as u8).collect::<Vec<_>>());
    println!("disk: puts, not synced   {}", rate(count, put_each(&store, count, &value, false)));
    store.sync().unwrap();
    print_reads("disk", &store.snapshot(), count, 200_000);
    for group in [1, 32] {
        print_durable(&store, group, &value);
    }
    println!("disk: {} MB", store.size_bytes().unwrap() >> 20);
    drop(store);
    let start = Instant::now();
    drop(open(directory.path()));
    println!("disk: open and close again {:?}", start.elapsed());
}

fn print_durable(store: &FjallStore, group: u64, value: &Bytes) {
    let mut number = 1_000_000;
    let mut each = Vec::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        let mut batch = Batch::with_capacity(32);
        for _ in 0..group {
            number += 1;
            batch.put(Space::Data, key(number), value.clone());
        }
        let begin = Instant::now();
        store.apply(batch).unwrap();
        store.sync().unwrap();
        each.push(begin.elapsed());
    }
    let elapsed = start.elapsed();
    each.sort();
    let at = |share: f64| each[((each.len() - 1) as f64 * share) as usize];
    println!(
        "disk: durable groups of {group}: {} items, p50 {:?}, p99 {:?}, p99.9 {:?}, worst {:?}",
        rate(each.len() as u64 * group, elapsed),
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
}
