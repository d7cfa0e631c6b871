//! What is left when the power goes: of what was written after the last sync, any part may have reached the disk, page by page
//! and in any order.

use std::fs;
use std::path::{Path, PathBuf};

use dynamo::operation::PutItem;
use dynamo::{Item, Value};
use monotable_engine::{Durability, Engine, Options};

use crate::crash::workload::{LEDGER, Place, TABLES};
use crate::random::Random;
use crate::requests::scan_all;
use crate::verify::{verify_stream, verify_table};

const PAGE_BYTES: usize = 4096;

/// Whatever part of the last write is missing, the database opens with everything that was synced before.
#[test]
fn a_last_write_of_which_pages_are_missing_takes_nothing_else_along() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("database");
    let engine = open(&path);
    engine.create_table(TABLES[LEDGER].create()).unwrap();
    put(&engine, 0, 500);
    engine.sync().unwrap();
    let synced = fs::read(journal(&path)).unwrap();
    put(&engine, 1, 60_000);
    let image = directory.path().join("image");
    copy_tree(&path, &image);
    let full = fs::read(journal(&image)).unwrap();
    drop(engine);
    let first = full.iter().zip(&synced).position(|(left, right)| left != right).unwrap_or(synced.len());
    let last = full.iter().rposition(|&byte| byte != 0).unwrap();
    let mut random = Random::new(7);
    for number in 0..60 {
        let torn = tear(&full, &synced, first..=last, number, &mut random);
        fs::write(journal(&image), torn).unwrap();
        let trial = directory.path().join("trial");
        let _ = fs::remove_dir_all(&trial);
        copy_tree(&image, &trial);
        let found = check(&trial).unwrap_or_else(|error| panic!("trial {number}: {error}"));
        assert!(found.contains(&0), "trial {number}: {found:?}");
    }
}

/// The journal with some of the pages as they were at the last sync: zeros, or cut off.
fn tear(
    full: &[u8],
    synced: &[u8],
    unsynced: std::ops::RangeInclusive<usize>,
    number: usize,
    random: &mut Random,
) -> Vec<u8> {
    let mut torn = full.to_vec();
    let pages: Vec<usize> = (unsynced.start() / PAGE_BYTES..=unsynced.end() / PAGE_BYTES).collect();
    for (place, page) in pages.iter().enumerate() {
        // First each page alone, then any of them.
        let is_missing = if number < pages.len() { place == number } else { random.once_in(2) };
        if is_missing {
            for byte in page * PAGE_BYTES..((page + 1) * PAGE_BYTES).min(torn.len()) {
                torn[byte] = synced.get(byte).copied().unwrap_or(0);
            }
        }
    }
    torn
}

/// Opens what is left and returns which items there are.
fn check(path: &Path) -> Result<Vec<u64>, String> {
    let engine = Engine::open(path, options()).map_err(|error| error.to_string())?;
    let items = verify_table(&engine, &TABLES[LEDGER])?;
    verify_stream(&engine, &TABLES[LEDGER], &items)?;
    put(&engine, 9, 10);
    let found = scan_all(&engine, TABLES[LEDGER].name, None).map_err(|error| error.to_string())?;
    drop(engine);
    let engine = Engine::open(path, options()).map_err(|error| format!("opened again: {error}"))?;
    let again = scan_all(&engine, TABLES[LEDGER].name, None).map_err(|error| error.to_string())?;
    if again != found {
        return Err(format!("opened again there is {again:?}"));
    }
    Ok(found.iter().map(|item| number_of(&item["sk"])).collect())
}

fn number_of(value: &Value) -> u64 {
    match value {
        Value::N(number) => number.to_string().parse().unwrap(),
        other => panic!("{other:?} is no number"),
    }
}

fn options() -> Options {
    Options { durability: Durability::None, housekeeping: None, reserve_bytes: 0, ..Options::default() }
}

fn open(path: &Path) -> Engine {
    Engine::open(path, options()).unwrap()
}

fn put(engine: &Engine, sort: u64, pad_bytes: usize) {
    let mut item: Item = Place::new(LEDGER, "a", sort).key();
    item.insert("pad".to_owned(), Value::from("p".repeat(pad_bytes)));
    let table_name = Some(TABLES[LEDGER].name.to_owned());
    engine.put_item(PutItem { table_name, item: Some(item.into()), ..PutItem::default() }).unwrap();
}

fn journal(path: &Path) -> PathBuf {
    let entries = fs::read_dir(path.join("fjall")).unwrap().map(|entry| entry.unwrap().path());
    let mut journals: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "jnl")).collect();
    journals.sort();
    journals.pop().unwrap()
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.metadata().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
