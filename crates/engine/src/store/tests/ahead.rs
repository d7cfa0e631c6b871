//! Zeros ahead of the journal: they make syncs cheaper and change nothing else.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::super::{Batch, FjallStore, Space, Store, StoreError, StoreOptions};
use super::copy_tree;

fn open(path: &Path) -> FjallStore {
    FjallStore::open(path, StoreOptions::default()).unwrap()
}

fn key(number: u64) -> Bytes {
    format!("key-{number:06}").into()
}

fn value(number: u64, bytes: usize) -> Vec<u8> {
    vec![u8::try_from(number % 255).unwrap() + 1; bytes]
}

/// What a write and everything after it is: applied, synced, prepared for the next.
fn write(store: &FjallStore, number: u64, bytes: usize) {
    let mut batch = Batch::default();
    batch.put(Space::Data, key(number), value(number, bytes));
    batch.remove(Space::Meta, key(number));
    store.apply(batch).unwrap();
    store.sync().unwrap();
    store.prepare().unwrap();
}

fn assert_has(store: &FjallStore, numbers: std::ops::Range<u64>, bytes: usize) {
    let snapshot = store.snapshot();
    for number in numbers {
        let found = snapshot.get(Space::Data, &key(number)).unwrap();
        assert_eq!(found.as_deref(), Some(&value(number, bytes)[..]), "{number}");
    }
}

fn journal(path: &Path) -> PathBuf {
    let names = fs::read_dir(path.join("fjall")).unwrap().map(|entry| entry.unwrap().path());
    let number = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<u64>().ok();
    names.filter(|path| path.extension().is_some_and(|end| end == "jnl")).max_by_key(number).unwrap()
}

/// The journal up to its last byte that is not zero. Journals here are short, most of the file is never written.
fn content(journal: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    File::open(journal).unwrap().take(4 << 20).read_to_end(&mut bytes).unwrap();
    bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
    bytes
}

fn taken_bytes(journal: &Path) -> u64 {
    fs::metadata(journal).unwrap().blocks() * 512
}

/// Where the file system takes a new block for each write, nothing is written ahead.
fn writes_in_place(path: &Path) -> bool {
    let helps = super::super::fjall::writes_in_place(&File::open(path).unwrap());
    if !helps {
        eprintln!("skipped: the file system of {} is not one to write ahead on", path.display());
    }
    helps
}

#[test]
fn blocks_are_taken_ahead_and_the_journal_reads_as_before() {
    let directory = tempfile::tempdir().unwrap();
    if !writes_in_place(directory.path()) {
        return;
    }
    let store = open(directory.path());
    let journal = journal(directory.path());
    let length = fs::metadata(&journal).unwrap().len();
    assert_eq!(taken_bytes(&journal), 0, "an empty database stays small");
    for number in 0..40 {
        let mut batch = Batch::default();
        batch.put(Space::Data, key(number), value(number, 70_000));
        store.apply(batch).unwrap();
        store.sync().unwrap();
        let before = content(&journal);
        store.prepare().unwrap();
        assert!(content(&journal) == before, "after {number}");
        assert!(taken_bytes(&journal) > before.len() as u64 + (100 << 10), "after {number}");
    }
    assert_eq!(fs::metadata(&journal).unwrap().len(), length);
    assert!(taken_bytes(&journal) < 5 << 20);
}

#[test]
fn where_the_journal_ends_is_known() {
    let directory = tempfile::tempdir().unwrap();
    if !writes_in_place(directory.path()) {
        return;
    }
    let store = open(directory.path());
    for number in 0..30 {
        write(&store, number, 1 + usize::try_from(number * number * 37).unwrap());
        assert_eq!(store.journal_written(), content(&journal(directory.path())).len() as u64, "{number}");
    }
}

#[test]
fn a_journal_that_was_opened_again_grows_as_it_did() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for number in 0..20 {
        write(&store, number, 1_000);
    }
    drop(store);
    let store = open(directory.path());
    for number in 20..40 {
        write(&store, number, 1_000);
        let length = fs::metadata(journal(directory.path())).unwrap().len();
        assert_eq!(length, content(&journal(directory.path())).len() as u64);
    }
    drop(store);
    assert_has(&open(directory.path()), 0..40, 1_000);
}

#[test]
fn a_batch_lost_in_prepared_blocks_is_cut_off_and_the_others_are_there() {
    let directory = tempfile::tempdir().unwrap();
    let (path, image) = (directory.path().join("database"), directory.path().join("image"));
    let store = open(&path);
    for number in 0..20 {
        write(&store, number, 3_000);
    }
    let synced = content(&journal(&path)).len();
    let mut batch = Batch::default();
    batch.put(Space::Data, key(20), value(20, 30_000));
    store.apply(batch).unwrap();
    store.flush().unwrap();
    // A loss of power leaves any of its sectors as they were: zeros.
    for sector in [0, 7, 31] {
        let _ = fs::remove_dir_all(&image);
        copy_tree(&path, &image);
        let mut bytes = fs::read(journal(&image)).unwrap();
        let begin = (synced / 512 + sector) * 512;
        bytes[begin.max(synced)..begin + 512].fill(0);
        fs::write(journal(&image), bytes).unwrap();
        let found = open(&image);
        assert_has(&found, 0..20, 3_000);
        assert_eq!(found.last_commit(), 20, "sector {sector}");
    }
}

#[test]
fn journals_change_while_zeros_are_written_ahead_and_nothing_is_lost() {
    const WRITES: u64 = 1_100;
    const BYTES: usize = 100 << 10;
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let first = journal(directory.path());
    for number in 0..WRITES {
        write(&store, number, BYTES);
    }
    assert_ne!(journal(directory.path()), first, "a second journal was begun");
    assert_has(&store, 0..WRITES, BYTES);
    // Nothing is flushed when it is closed, so the journals are read again.
    drop(store);
    assert_has(&open(directory.path()), 0..WRITES, BYTES);
}

#[test]
fn a_stopped_store_prepares_nothing_until_it_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default();
    let faults = options.faults.clone();
    let store = FjallStore::open(directory.path(), options).unwrap();
    write(&store, 0, 1_000);
    faults.fail_next_sync();
    store.sync().unwrap_err();
    assert!(matches!(store.prepare(), Err(StoreError::Failed { .. })));
    store.reopen().unwrap();
    for number in 1..10 {
        write(&store, number, 1_000);
    }
    drop(store);
    assert_has(&open(directory.path()), 0..10, 1_000);
}

#[test]
fn a_disk_that_is_nearly_full_is_not_filled_with_zeros() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default();
    let faults = options.faults.clone();
    let store = FjallStore::open(directory.path(), options).unwrap();
    let mut batch = Batch::default();
    batch.put(Space::Data, key(0), value(0, 1_000));
    store.apply(batch).unwrap();
    store.sync().unwrap();
    faults.pretend_free_bytes(1 << 20);
    store.prepare().unwrap();
    assert!(taken_bytes(&journal(directory.path())) <= 16 << 10);
}

#[test]
fn a_large_group_does_not_wait_for_zeros() {
    let directory = tempfile::tempdir().unwrap();
    if !writes_in_place(directory.path()) {
        return;
    }
    let store = open(directory.path());
    write(&store, 0, 120_000);
    let journal = journal(directory.path());
    assert!(taken_bytes(&journal) < content(&journal).len() as u64 + (16 << 10));
    write(&store, 1, 60_000);
    assert!(taken_bytes(&journal) > content(&journal).len() as u64 + (100 << 10));
}
