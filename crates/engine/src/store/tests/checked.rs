//! The check of an encrypted store while it is used: every page in use, and the log.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bytes::Bytes;

use super::super::{Batch, SealedLoad, SealedStore, Space, Store, StoreOptions};
use super::master_key;

/// Where pages begin in the data file, and what each takes (`sealed/slots.rs`).
const PAGES_START: u64 = 16_384;
const SLOT_BYTES: u64 = 4_140;

fn open(path: &Path) -> SealedStore {
    // A cache that holds everything: what is read from it is not read from the file.
    SealedStore::open(path, StoreOptions::default(), &master_key(1)).unwrap()
}

fn put(store: &dyn Store, numbers: std::ops::Range<u64>, text: &str) {
    for number in numbers {
        let mut batch = Batch::default();
        batch.put(
            Space::Data,
            format!("key-{number:06}"),
            Bytes::from(format!("{text}-{}", "v".repeat(900))),
        );
        store.apply(batch).unwrap();
    }
    store.sync().unwrap();
}

fn data(path: &Path) -> File {
    File::options().read(true).write(true).open(path.join("sealed/data")).unwrap()
}

fn pages(path: &Path) -> u64 {
    (data(path).metadata().unwrap().len() - PAGES_START) / SLOT_BYTES
}

fn slot(path: &Path, page: u64) -> Vec<u8> {
    let mut slot = vec![0; usize::try_from(SLOT_BYTES).unwrap()];
    data(path).read_exact_at(&mut slot, PAGES_START + page * SLOT_BYTES).unwrap();
    slot
}

fn write_slot(path: &Path, page: u64, slot: &[u8]) {
    data(path).write_all_at(slot, PAGES_START + page * SLOT_BYTES).unwrap();
}

#[test]
fn a_store_that_is_whole_has_no_findings_though_it_is_written_to_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    assert_eq!(store.check_files().unwrap(), Vec::<String>::new());
    put(&store, 0..2_000, "first");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                if is_over.load(Relaxed) {
                    break;
                }
                put(&store, 0..300, &format!("round {round}"));
                // What a rotation would do: such a check looks again.
                if round % 3 == 0 {
                    store.checkpoint_now().unwrap();
                }
            }
        });
        for _ in 0..5 {
            assert_eq!(store.check_files().unwrap(), Vec::<String>::new());
        }
        is_over.store(true, Relaxed);
    });
    assert_eq!(store.check_files().unwrap(), Vec::<String>::new());
}

#[test]
fn a_bit_in_a_cached_page_and_a_page_put_back_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let store = open(path);
    put(&store, 0..400, "first");
    store.checkpoint_now().unwrap();
    let old: Vec<Vec<u8>> = (0..pages(path)).map(|page| slot(path, page)).collect();
    // The second time takes new places, the third those of the first.
    for text in ["second", "third"] {
        put(&store, 0..400, text);
        store.checkpoint_now().unwrap();
    }
    assert_eq!(store.check_files().unwrap(), Vec::<String>::new());

    let (mut flips, mut returns) = (0, 0);
    for page in 0..pages(path) {
        let now = slot(path, page);
        if now.iter().all(|&byte| byte == 0) {
            continue;
        }
        let mut flipped = now.clone();
        flipped[1_000] ^= 1;
        write_slot(path, page, &flipped);
        let findings = store.check_files().unwrap();
        let is_found = !findings.is_empty();
        if is_found {
            assert!(findings[0].contains(&format!("page {}", page + 1)), "{findings:?}");
            flips += 1;
        }
        // A checkpoint of the check may have used the place again.
        if slot(path, page) == flipped {
            write_slot(path, page, &now);
        }
        let before = old.get(usize::try_from(page).unwrap()).filter(|old| old.iter().any(|&byte| byte != 0));
        if let Some(before) = before.filter(|old| is_found && **old != now) {
            write_slot(path, page, before);
            returns += usize::from(!store.check_files().unwrap().is_empty());
            write_slot(path, page, &now);
        }
    }
    assert!(flips > 50, "{flips} flips found");
    assert!(returns > 10, "{returns} old pages found");
    assert_eq!(store.check_files().unwrap(), Vec::<String>::new());
    // Nothing of that disturbed the store.
    put(&store, 400..500, "fourth");
}

#[test]
fn an_altered_log_is_found_before_it_is_needed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sealed/log");
    let store = open(directory.path());
    put(&store, 0..100, "text");
    assert_eq!(store.check_files().unwrap(), Vec::<String>::new());
    put(&store, 100..200, "text");
    let mut bytes = fs::read(&path).unwrap();
    bytes[20_000] ^= 4;
    File::options().write(true).open(&path).unwrap().write_all_at(&bytes, 0).unwrap();
    let findings = store.check_files().unwrap();
    assert!(findings.len() == 1 && findings[0].contains("the log was altered"), "{findings:?}");
}

#[test]
fn a_store_that_was_loaded_is_numbered_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("loaded");
    let mut load = SealedLoad::begin(&path, StoreOptions::default(), &*master_key(1)).unwrap();
    for number in 0..40_u64 {
        let mut batch = Batch::default();
        batch.put(Space::Data, number.to_be_bytes().to_vec(), vec![7; 1 << 20]);
        load.write(batch).unwrap();
    }
    assert!(SealedStore::open(&path, StoreOptions::default(), &master_key(1)).is_err(), "it is none yet");
    load.finish(7).unwrap();
    let store = open(&path);
    assert_eq!(store.last_commit(), 7);
    assert_eq!(store.snapshot().get(Space::Data, &39_u64.to_be_bytes()).unwrap().unwrap().len(), 1 << 20);
    put(&store, 0..10, "more");
    assert_eq!(store.last_commit(), 17);
    drop(store);
    assert_eq!(open(&path).last_commit(), 17);
}
