//! An encrypted store: its keys, what its files give away, what a crash and a failing disk do to it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use seal::MasterKey;

use super::super::{
    Batch, Faults, FjallStore, SealedStore, Space, Store, StoreError, StoreOptions, add_data_key, encrypt,
    key_status, rewrap,
};
use super::{copy_tree, master_key};

fn open(path: &Path) -> Result<SealedStore, StoreError> {
    SealedStore::open(path, StoreOptions::default(), &master_key(1))
}

fn open_with_faults(path: &Path) -> (SealedStore, Faults) {
    let options = StoreOptions::default();
    let faults = options.faults.clone();
    (SealedStore::open(path, options, &master_key(1)).unwrap(), faults)
}

fn key(number: u64) -> Bytes {
    format!("key-{number:06}").into()
}

fn put(store: &dyn Store, number: u64) -> Result<u64, StoreError> {
    let mut batch = Batch::default();
    batch.put(Space::Data, key(number), format!("value-{number:06}-{}", "v".repeat(990)));
    store.apply(batch)
}

fn put_durably(store: &dyn Store, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        put(store, number).unwrap();
    }
    store.sync().unwrap();
}

fn assert_has(store: &dyn Store, numbers: impl IntoIterator<Item = u64>) {
    let snapshot = store.snapshot();
    for number in numbers {
        assert!(snapshot.get(Space::Data, &key(number)).unwrap().is_some(), "{number} is missing");
    }
}

fn refusal(path: &Path, master: &Arc<dyn MasterKey>) -> String {
    SealedStore::open(path, StoreOptions::default(), master).err().unwrap().to_string()
}

#[test]
fn a_missing_key_a_wrong_key_and_a_key_too_many_are_refused_with_the_next_step() {
    let directory = tempfile::tempdir().unwrap();
    let (encrypted, plain) = (directory.path().join("encrypted"), directory.path().join("plain"));
    put_durably(&open(&encrypted).unwrap(), 0..3);
    drop(FjallStore::open(&plain, StoreOptions::default()).unwrap());

    let missing = FjallStore::open(&encrypted, StoreOptions::default()).err().unwrap();
    assert!(matches!(missing, StoreError::KeyNeeded { .. }) && missing.to_string().contains("--key-file"));
    let wrong = refusal(&encrypted, &master_key(2));
    assert!(wrong.contains(master_key(1).id()) && wrong.contains(master_key(2).id()), "{wrong}");
    let too_many = refusal(&plain, &master_key(1));
    assert!(
        too_many.contains("is not encrypted") && too_many.contains("monotable key encrypt"),
        "{too_many}"
    );
    assert_has(&open(&encrypted).unwrap(), 0..3);
}

#[test]
fn a_missing_or_altered_envelope_is_named() {
    let directory = tempfile::tempdir().unwrap();
    put_durably(&open(directory.path()).unwrap(), 0..3);
    let envelope = directory.path().join("envelope");
    let text = fs::read_to_string(&envelope).unwrap();
    let wrapped = text.find("\"wrapped\": \"").unwrap() + 20;
    let altered = if text.as_bytes()[wrapped] == b'A' { 'B' } else { 'A' };
    fs::write(&envelope, format!("{}{altered}{}", &text[..wrapped], &text[wrapped + 1..])).unwrap();
    let refused = refusal(directory.path(), &master_key(1));
    assert!(refused.contains("data key 1 of the envelope was altered"), "{refused}");
    fs::remove_file(&envelope).unwrap();
    let refused = refusal(directory.path(), &master_key(1));
    assert!(refused.contains("put back a copy"), "{refused}");
    fs::write(&envelope, text).unwrap();
    assert_has(&open(directory.path()).unwrap(), 0..3);
}

#[test]
fn what_was_synced_is_there_after_a_kill_and_writing_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let (path, image) = (directory.path().join("database"), directory.path().join("image"));
    let store = open(&path).unwrap();
    put_durably(&store, 0..100);
    copy_tree(&path, &image);
    let killed = open(&image).unwrap();
    assert_has(&killed, 0..100);
    assert_eq!(killed.last_commit(), 100);
    put_durably(&killed, 200..300);
    drop(killed);
    assert_has(&open(&image).unwrap(), (0..100).chain(200..300));
}

#[test]
fn pages_follow_the_log_when_it_has_grown() {
    let directory = tempfile::tempdir().unwrap();
    let (path, image) = (directory.path().join("database"), directory.path().join("image"));
    let store = open(&path).unwrap();
    for number in 0..60 {
        let mut batch = Batch::default();
        batch.put(Space::Log, key(number), vec![7; 1 << 20]);
        store.apply(batch).unwrap();
    }
    store.sync().unwrap();
    let log = fs::metadata(path.join("sealed/log")).unwrap().len();
    assert!(log < 20 << 20, "the log has {log} bytes");
    copy_tree(&path, &image);
    let killed = open(&image).unwrap();
    assert_eq!(killed.last_commit(), 60);
    let snapshot = killed.snapshot();
    assert!((0..60).all(|number| snapshot.get(Space::Log, &key(number)).unwrap().is_some()));
}

#[test]
fn a_second_opening_is_refused_until_the_store_and_its_snapshots_are_gone() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    put_durably(&store, 0..1);
    assert!(matches!(open(directory.path()), Err(StoreError::Locked { .. })));
    let snapshot = store.snapshot();
    drop(store);
    assert!(matches!(open(directory.path()), Err(StoreError::Locked { .. })));
    assert!(snapshot.get(Space::Data, &key(0)).unwrap().is_some());
    drop(snapshot);
    assert_has(&open(directory.path()).unwrap(), 0..1);
}

#[test]
fn an_interrupted_creation_is_begun_again() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()).unwrap());
    fs::remove_file(directory.path().join("monotable")).unwrap();
    fs::remove_file(directory.path().join("sealed/log")).unwrap();
    put_durably(&open(directory.path()).unwrap(), 0..1);
    assert_has(&open(directory.path()).unwrap(), 0..1);
}

#[test]
fn a_failed_write_or_sync_stops_writes_but_not_reads_until_reopened() {
    for fail in [Faults::fail_next_apply as fn(&Faults), Faults::fail_next_sync] {
        let directory = tempfile::tempdir().unwrap();
        let (store, faults) = open_with_faults(directory.path());
        put_durably(&store, 0..10);
        fail(&faults);
        let failed = put(&store, 10).and_then(|_| store.sync()).unwrap_err();
        assert!(matches!(failed, StoreError::Failed { disk_was_full: false, .. }), "{failed}");
        assert!(matches!(put(&store, 11), Err(StoreError::Failed { .. })));
        assert_has(&store, 0..10);
        let before = store.snapshot();
        store.reopen().unwrap();
        assert!(matches!(before.get(Space::Data, &key(1)), Err(StoreError::Stale)));
        assert_has(&store, 0..10);
        put_durably(&store, 20..30);
        drop((before, store));
        assert!(!directory.path().join("failed").exists());
        assert_has(&open(directory.path()).unwrap(), (0..10).chain(20..30));
    }
}

#[test]
fn a_failed_checkpoint_loses_nothing_here_or_in_the_next_process() {
    for reopens in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let (store, faults) = open_with_faults(directory.path());
        put_durably(&store, 0..10);
        faults.fail_next_sync();
        store.checkpoint_now().unwrap_err();
        assert!(matches!(put(&store, 10), Err(StoreError::Failed { .. })));
        assert_has(&store, 0..10);
        if reopens {
            store.reopen().unwrap();
            put_durably(&store, 10..20);
        }
        drop(store);
        let store = open(directory.path()).unwrap();
        assert_has(&store, 0..if reopens { 20 } else { 10 });
        put_durably(&store, 20..30);
        drop(store);
        assert_has(&open(directory.path()).unwrap(), 20..30);
    }
}

#[test]
fn a_full_disk_refuses_writes_and_resumes_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let (store, faults) = open_with_faults(directory.path());
    put_durably(&store, 0..10);
    faults.pretend_free_bytes(128 << 20);
    assert!(matches!(put(&store, 10), Err(StoreError::Full { .. })));
    assert!(store.failure().is_none());
    faults.pretend_free_bytes(u64::MAX);
    put_durably(&store, 10..20);
    assert_has(&store, 0..20);
}

#[test]
fn the_master_key_is_replaced_at_once_also_under_an_open_store() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    put_durably(&store, 0..10);
    rewrap(directory.path(), &*master_key(1), &*master_key(2)).unwrap();
    assert!(!store.keep_keys().unwrap());
    put_durably(&store, 10..20);
    drop(store);
    assert!(refusal(directory.path(), &master_key(1)).contains("give that one"));
    let store = SealedStore::open(directory.path(), StoreOptions::default(), &master_key(2)).unwrap();
    assert_has(&store, 0..20);
}

#[test]
fn a_new_data_key_takes_over_all_pages_under_an_open_store() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    put_durably(&store, 0..2_000);
    assert!(!store.keep_keys().unwrap());
    add_data_key(directory.path(), &*master_key(1)).unwrap();
    let mut steps = 0;
    while store.keep_keys().unwrap() {
        steps += 1;
        put_durably(&store, 3_000 + steps..3_001 + steps);
        assert_has(&store, (0..2_000).step_by(97));
    }
    assert!(steps > 2, "{steps} steps");
    let (_, data_keys) = key_status(directory.path()).unwrap().unwrap();
    let [(2, pages)] = data_keys[..] else { panic!("{data_keys:?}") };
    assert!(pages > 500, "{pages} pages");
    drop(store);
    let store = open(directory.path()).unwrap();
    assert_has(&store, (0..2_000).chain(3_001..3_000 + steps));
    assert!(!store.keep_keys().unwrap());
}

#[test]
fn a_rotation_that_was_cut_off_goes_on_after_opening() {
    let directory = tempfile::tempdir().unwrap();
    let (path, image) = (directory.path().join("database"), directory.path().join("image"));
    let store = open(&path).unwrap();
    put_durably(&store, 0..2_000);
    drop(store);
    let store = open(&path).unwrap();
    add_data_key(&path, &*master_key(1)).unwrap();
    assert!(store.keep_keys().unwrap());
    copy_tree(&path, &image);
    let (_, data_keys) = key_status(&image).unwrap().unwrap();
    assert!(data_keys.len() == 2 && data_keys.iter().all(|(_, pages)| *pages > 0), "{data_keys:?}");
    let killed = open(&image).unwrap();
    assert_has(&killed, 0..2_000);
    while killed.keep_keys().unwrap() {}
    assert_has(&killed, 0..2_000);
    drop(killed);
    let (_, data_keys) = key_status(&image).unwrap().unwrap();
    assert_eq!(data_keys.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [2]);
    assert_has(&open(&image).unwrap(), 0..2_000);
}

#[test]
fn a_plain_database_is_encrypted_with_everything_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let plain = FjallStore::open(directory.path(), StoreOptions::default()).unwrap();
    put_durably(&plain, 0..3_000);
    drop(plain);
    // What a first attempt left that was cut off.
    fs::create_dir(directory.path().join("encrypting")).unwrap();
    fs::create_dir(directory.path().join("sealed")).unwrap();
    let mut copied = 0;
    encrypt(directory.path(), StoreOptions::default(), &master_key(1), |count| copied = count).unwrap();
    assert_eq!(copied, 3_000);
    assert!(!directory.path().join("fjall").exists() && !directory.path().join("encrypting").exists());
    let store = open(directory.path()).unwrap();
    assert_eq!(store.last_commit(), 3_000);
    assert_has(&store, 0..3_000);
    put_durably(&store, 3_000..3_010);
    assert_eq!(store.last_commit(), 3_010);
}

#[test]
fn the_plain_files_of_an_encrypted_database_are_removed_when_that_was_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    put_durably(&open(directory.path()).unwrap(), 0..3);
    fs::create_dir(directory.path().join("fjall")).unwrap();
    assert_has(&open(directory.path()).unwrap(), 0..3);
    assert!(!directory.path().join("fjall").exists());
}
