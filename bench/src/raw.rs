//! The storage engine used raw: the ceiling of what the disk and its library can give, without tables, conditions, JSON or HTTP.
//!
//! The bytes are those of ours: an item and its entry in the index, under keys as long and as scattered. Reads run on as many threads as
//! there are cores. Writes are grouped as 32 waiting clients allow: 32 operations, one sync.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dynamo::StoredItem;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::item::{item, partition, shuffled, sort};

/// Operations in a group.
const GROUP: usize = 32;

pub fn open(path: &Path) -> (Database, Keyspace) {
    let database = Database::builder(path).cache_size(256 << 20).open().expect("a database");
    let keyspace = database.keyspace("items", KeyspaceCreateOptions::default).expect("a keyspace");
    (database, keyspace)
}

/// What stands before the keys of a partition: a hash comes first, as in ours.
fn prefix(n: usize) -> String {
    let hash = (n as u64 / 20).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    format!("{hash:08x}{}\0\0", partition(n))
}

pub fn key(n: usize) -> Vec<u8> {
    format!("{}{}\0\0", prefix(n), sort(n)).into_bytes()
}

pub fn index_key(n: usize) -> Vec<u8> {
    [b"index".to_vec(), key(n)].concat()
}

/// Operations per second of what can be told raw, by the names of the workloads.
pub fn measure(scratch: &Path, items: usize, time: Duration) -> Vec<(&'static str, f64)> {
    let directory =
        tempfile::Builder::new().prefix("monotable-bench-").tempdir_in(scratch).expect("a directory");
    let (database, keyspace) = open(directory.path());
    for n in shuffled(items) {
        let stored = StoredItem::encode(&item(n));
        keyspace.insert(key(n), &**stored.as_bytes()).expect("an insert");
        keyspace.insert(index_key(n), &**stored.as_bytes()).expect("an insert");
    }
    database.persist(PersistMode::SyncAll).expect("a sync");
    let get = |n: usize| assert!(keyspace.get(key(n % items)).expect("a get").is_some());
    let query = |n: usize| {
        let found = keyspace.prefix(prefix(n % items)).map(|entry| entry.value().expect("a value"));
        assert_eq!(found.count(), 20);
    };
    let write = |items_of_one, reads| groups(&database, &keyspace, items_of_one, reads, items, time);
    vec![
        ("GetItem", reads(time, get)),
        ("Query of 20", reads(time, query)),
        ("Update counter", write(1, true)),
        ("PutItem", write(1, false)),
        ("TransactWrite of 3", write(3, false)),
        ("BatchWrite of 25", write(25, false)),
    ]
}

fn reads(time: Duration, read: impl Fn(usize) + Sync) -> f64 {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (count, started) = (AtomicU64::new(0), Instant::now());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (count, read) = (&count, &read);
            scope.spawn(move || {
                let mut n = thread;
                while started.elapsed() < time {
                    for _ in 0..100 {
                        n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        read(n >> 33);
                    }
                    count.fetch_add(100, Ordering::Relaxed);
                }
            });
        }
    });
    count.into_inner() as f64 / started.elapsed().as_secs_f64()
}

/// Groups of operations that write so many items each, on items that are read before or on new ones.
fn groups(
    database: &Database,
    keyspace: &Keyspace,
    each: usize,
    reads: bool,
    items: usize,
    time: Duration,
) -> f64 {
    let stored: Vec<_> = (0..64).map(|n| StoredItem::encode(&item(n))).collect();
    let (mut operations, mut new, started) = (0, items * (each + 1), Instant::now());
    while started.elapsed() < time {
        let mut batch = database.batch();
        for _ in 0..GROUP {
            for _ in 0..each {
                new += 1;
                let n = if reads { new * 7919 % items } else { new };
                if reads {
                    assert!(keyspace.get(key(n)).expect("a get").is_some());
                }
                let bytes = stored[n % stored.len()].as_bytes();
                batch.insert(keyspace, key(n), &**bytes);
                batch.insert(keyspace, index_key(n), &**bytes);
            }
        }
        batch.commit().expect("a commit");
        database.persist(PersistMode::SyncData).expect("a sync");
        operations += GROUP;
    }
    operations as f64 / started.elapsed().as_secs_f64()
}

/// How long the disk takes to sync what was just written to a file, in microseconds: the median of many.
pub fn sync_microseconds(scratch: &Path) -> f64 {
    use std::io::Write as _;
    let mut file = tempfile::tempfile_in(scratch).expect("a file");
    let bytes = [7; 2400];
    let mut times: Vec<f64> = (0..301)
        .map(|_| {
            file.write_all(&bytes).expect("a write");
            let started = Instant::now();
            file.sync_data().expect("a sync");
            started.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
