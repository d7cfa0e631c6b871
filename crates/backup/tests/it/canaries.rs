//! What the files of a sealed backup give away, while they are made and after: none of a thousand canaries in names, keys and values,
//! neither in chunks, nor in the parts of the log, nor in what is there for a moment only.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use engine::{Durability, Engine, Options};
use monotable_backup::{Address, ShipSettings, Shipper};
use seal::MasterKey;
use serde_json::json;

use crate::bench::{key, run};
use crate::shipping::wait_for;

const CANARIES: usize = 1_000;
/// Each canary begins so. It is found in any part of a file or its name, whatever stands around it.
const CANARY: &str = "canary-3c8e55";

fn files(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The files that have a canary in them, as it is or compressed as a whole.
fn telling(path: &Path) -> Vec<PathBuf> {
    let has = |bytes: &[u8]| memchr::memmem::find(bytes, CANARY.as_bytes()).is_some();
    let tells = |path: &PathBuf| {
        has(path.to_string_lossy().as_bytes()) || has(&std::fs::read(path).unwrap_or_default())
    };
    files(path).into_iter().filter(tells).collect()
}

fn fill(engine: &Engine, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let item = json!({
            "pk": { "S": format!("{CANARY}-key-{number}") },
            format!("{CANARY}-name"): { "S": format!("{CANARY}-value-{number}") },
        });
        run(engine, "PutItem", json!({ "TableName": format!("{CANARY}-table"), "Item": item }));
    }
}

/// Ships a database into which canaries are written, and returns the folders of both.
fn shipped(folder: &Path, key: Option<Arc<dyn MasterKey>>) -> (usize, Vec<PathBuf>) {
    let options = Options { durability: Durability::None, key: key.clone(), ..Options::default() };
    let engine = Engine::open(folder.join("data"), options).unwrap();
    crate::bench::make_table(&engine, &format!("{CANARY}-table"));
    fill(&engine, 0..CANARIES / 2);
    let address = Address::new(folder.join("backups").to_str().unwrap());
    let settings = ShipSettings { every: Duration::from_millis(5), ..ShipSettings::default() };
    let (is_over, looks) = (AtomicBool::new(false), AtomicUsize::new(0));
    let found = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut found = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                found.extend(telling(folder));
                looks.fetch_add(1, Ordering::Relaxed);
            }
            found
        });
        let shipper = Shipper::start(engine.clone(), address, key, settings).unwrap();
        wait_for(|| shipper.status().backup_age().is_some());
        for part in 0..10 {
            let first = CANARIES / 2 + part * (CANARIES / 20);
            fill(&engine, first..first + CANARIES / 20);
            let turns = shipper.status().turns();
            wait_for(|| shipper.status().turns() > turns + 1);
        }
        // However busy the machine is, the files were looked through some times while they were written.
        wait_for(|| looks.load(Ordering::Relaxed) > 2);
        drop(shipper);
        is_over.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    let parts = files(&folder.join("backups/log")).len();
    (parts, [found, telling(folder)].concat())
}

#[test]
fn no_canary_is_found_in_a_sealed_backup_or_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let (parts, found) = shipped(folder.path(), Some(Arc::new(key())));
    assert!(parts > 5, "the log has {parts} files");
    assert_eq!(found, Vec::<PathBuf>::new());
}

#[test]
fn canaries_are_found_in_a_plain_backup_and_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let (_, found) = shipped(folder.path(), None);
    let is_found_in = |name: &str| found.iter().any(|path| path.starts_with(folder.path().join(name)));
    assert!(is_found_in("data") && is_found_in("backups/log"), "{found:?}");
}
