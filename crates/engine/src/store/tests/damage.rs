//! What altered files do to an encrypted database: they are noticed, or change nothing. Never a wrong answer, never a panic.
//!
//! `MONOTABLE_DAMAGES=10000 cargo test -p monotable-engine --lib damage` tries more of them.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::super::{Batch, Direction, SealedStore, Space, Store, StoreError, StoreOptions};
use super::{copy_tree, master_key};

const DAMAGES: usize = 150;
const SLOT_BYTES: usize = 4_140;
const PAGES_START: usize = 16_384;

type Content = BTreeMap<Bytes, Bytes>;

fn open(path: &Path) -> Result<SealedStore, StoreError> {
    SealedStore::open(path, StoreOptions { cache_bytes: 1 << 20, ..StoreOptions::default() }, &master_key(1))
}

/// A database that was closed, and one whose process was killed with some of its commits in the log only.
fn databases(directory: &Path) -> ([PathBuf; 2], Content) {
    let [closed, killed] = ["closed", "killed"].map(|name| directory.join(name));
    let mut content = Content::new();
    let mut write = |store: &SealedStore, range: std::ops::Range<u64>| {
        for number in range {
            let (key, value) = (Bytes::from(format!("key-{number:04}")), Bytes::from(vec![b'v'; 300]));
            let mut batch = Batch::default();
            batch.put(Space::Data, key.clone(), value.clone());
            store.apply(batch).unwrap();
            content.insert(key, value);
        }
        store.sync().unwrap();
    };
    let store = open(&closed).unwrap();
    write(&store, 0..400);
    drop(store);
    let store = open(&closed).unwrap();
    write(&store, 400..500);
    copy_tree(&closed, &killed);
    ([closed, killed], content)
}

struct Damager {
    state: u64,
}

impl Damager {
    fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % limit.max(1) as u64).unwrap()
    }

    /// Alters one of the files, and says how.
    fn alter(&mut self, database: &Path) -> String {
        let name = ["data", "data", "data", "log", "log", "mark"][self.below(6)];
        let path = database.join("sealed").join(name);
        let mut bytes = fs::read(&path).unwrap();
        // Most of the data file has never been written to.
        let written = bytes.iter().rposition(|&byte| byte != 0).map_or(1, |last| last + 1);
        let place = self.below(written);
        let what = match self.below(if name == "data" { 6 } else { 4 }) {
            0 | 1 => {
                bytes[place] ^= 1 << self.below(8);
                format!("bit at {place}")
            }
            2 => {
                let end = (place + 1 + self.below(4_096)).min(bytes.len());
                bytes[place..end].fill(0);
                format!("zeros from {place} to {end}")
            }
            3 => {
                bytes.truncate(place);
                format!("cut at {place}")
            }
            4 => {
                let count = written.saturating_sub(PAGES_START).div_ceil(SLOT_BYTES).max(1);
                let slots = [0; 2].map(|_| PAGES_START + self.below(count) * SLOT_BYTES);
                let [first, second] = slots.map(|start| bytes[start..start + SLOT_BYTES].to_vec());
                bytes[slots[0]..slots[0] + SLOT_BYTES].copy_from_slice(&second);
                bytes[slots[1]..slots[1] + SLOT_BYTES].copy_from_slice(&first);
                format!("pages exchanged at {slots:?}")
            }
            _ => {
                let start = PAGES_START + place.saturating_sub(PAGES_START) / SLOT_BYTES * SLOT_BYTES;
                let end = (start + SLOT_BYTES).min(bytes.len());
                bytes[start..end].fill(0);
                format!("page of zeros at {start}")
            }
        };
        fs::write(&path, bytes).unwrap();
        format!("{name}: {what}")
    }
}

fn read_all(path: &Path) -> Result<Content, StoreError> {
    let store = open(path)?;
    let snapshot = store.snapshot();
    let range = snapshot.range(Space::Data, Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    range.collect()
}

#[test]
fn altered_files_are_noticed_or_change_nothing() {
    let damages = std::env::var("MONOTABLE_DAMAGES").map_or(DAMAGES, |text| text.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let (databases, content) = databases(directory.path());
    let state = if damages == DAMAGES { 7 } else { u64::from_be_bytes(seal::random_bytes().unwrap()) };
    println!("seed {state}");
    let mut hand = Damager { state };
    let (mut noticed, mut harmless) = (0, 0);
    for number in 0..damages {
        let trial = directory.path().join("trial");
        let _ = fs::remove_dir_all(&trial);
        copy_tree(&databases[number % 2], &trial);
        let what = hand.alter(&trial);
        match read_all(&trial) {
            Ok(found) => {
                assert!(found == content, "damage {number}, {what}: {} entries", found.len());
                harmless += 1;
            }
            Err(StoreError::Corrupt { .. }) => noticed += 1,
            Err(error) => panic!("damage {number}, {what}: {error}"),
        }
    }
    println!("{noticed} noticed, {harmless} harmless");
    assert!(noticed > damages / 4, "{noticed} of {damages} were noticed");
}

#[test]
fn an_older_data_file_log_or_mark_put_back_is_noticed() {
    for name in ["data", "log"] {
        let directory = tempfile::tempdir().unwrap();
        let (path, old) = (directory.path().join("database"), directory.path().join("old"));
        let store = open(&path).unwrap();
        let put = |number: u64| {
            let mut batch = Batch::default();
            batch.put(Space::Data, format!("key-{number}"), "value");
            store.apply(batch).unwrap();
            store.sync().unwrap();
        };
        put(1);
        copy_tree(&path, &old);
        put(2);
        if name == "data" {
            store.checkpoint_now().unwrap();
        }
        put(3);
        let now = directory.path().join("now");
        copy_tree(&path, &now);
        fs::copy(old.join("sealed").join(name), now.join("sealed").join(name)).unwrap();
        let error = open(&now).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("missing") || error.contains("came back"), "{name}: {error:?}");
    }
}

#[test]
fn pages_put_back_as_they_once_were_are_found_by_a_check() {
    let directory = tempfile::tempdir().unwrap();
    let [path, old, trial] = ["database", "old", "trial"].map(|name| directory.path().join(name));
    let write = |store: &SealedStore, round: u8| {
        for number in 0..300 {
            let mut batch = Batch::default();
            batch.put(Space::Data, format!("key-{number:04}"), vec![round; 500]);
            store.apply(batch).unwrap();
        }
    };
    for round in 0..6 {
        write(&open(&path).unwrap(), round);
        if round == 3 {
            copy_tree(&path, &old);
        }
    }
    let options = StoreOptions::default();
    SealedStore::check(&path, &options, &*master_key(1)).unwrap();
    let [now, then] = [&path, &old].map(|path| fs::read(path.join("sealed/data")).unwrap());
    let pages = (PAGES_START..now.len().min(then.len()) - SLOT_BYTES).step_by(SLOT_BYTES);
    let (mut found, mut unused) = (0, 0);
    for place in pages.map(|start| start..start + SLOT_BYTES) {
        let is_written = |bytes: &[u8]| bytes[place.clone()].iter().any(|&byte| byte != 0);
        if now[place.clone()] == then[place.clone()] || !is_written(&now) || !is_written(&then) {
            continue;
        }
        let _ = fs::remove_dir_all(&trial);
        copy_tree(&path, &trial);
        let mut mixed = now.clone();
        mixed[place.clone()].copy_from_slice(&then[place]);
        fs::write(trial.join("sealed/data"), mixed).unwrap();
        match SealedStore::check(&trial, &options, &*master_key(1)) {
            Err(StoreError::Corrupt { .. }) => found += 1,
            Ok(()) => {
                assert!(read_all(&trial).unwrap().values().all(|value| value[..] == [5; 500]));
                unused += 1;
            }
            Err(error) => panic!("{error}"),
        }
        if found + unused == 40 {
            break;
        }
    }
    println!("{found} found, {unused} not in use");
    assert!(found > 5, "{found} found, {unused} not in use");
}
