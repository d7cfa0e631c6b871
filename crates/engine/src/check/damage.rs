//! A database whose files were damaged: flipped bits, zeroed pages, cut ends. Whatever is asked of it, the answer is right or an error.
//!
//! `cargo test -p monotable-engine --lib ten_thousand -- --ignored` does it more often.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::tests::{fill, findings};
use crate::clock::ManualClock;
use crate::engine::Engine;
use crate::options::Options;
use crate::store::{FjallStore, StoreOptions};
use crate::testing::{Bench, START_MILLISECONDS};

const PAGE_BYTES: usize = 4096;

#[test]
fn damage_is_an_error_or_makes_no_difference() {
    damage(300);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_damages_are_errors_or_make_no_difference() {
    damage(10_000);
}

/// What became of the trials of one file.
#[derive(Clone, Debug, Default)]
struct Seen {
    refused_to_open: usize,
    refused_to_answer: usize,
    found_by_the_check: usize,
    harmless: usize,
    last_refusal: String,
}

fn damage(trials: usize) {
    let original = tempfile::tempdir().unwrap();
    let expected = make(original.path());
    let mut files = Vec::new();
    list(original.path(), original.path(), &mut files);
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut all = BTreeMap::<PathBuf, Seen>::new();
    for trial in 0..trials {
        let directory = tempfile::tempdir().unwrap();
        let (damaged, what) = choose(&files, original.path(), &mut random);
        copy(&files, original.path(), directory.path(), &damaged.0);
        fs::write(directory.path().join(&damaged.0), &damaged.1).unwrap();
        let of_file = all.entry(damaged.0).or_default();
        let outcome = catch_unwind(AssertUnwindSafe(|| ask(directory.path(), &expected, of_file)));
        let wrong = outcome.unwrap_or_else(|_| Err("it panicked".to_owned())).err();
        assert_eq!(wrong, None, "trial {trial}, {what}");
    }
    println!("{trials} trials: {all:#?}");
    let noticed = |seen: &Seen| seen.refused_to_open + seen.refused_to_answer + seen.found_by_the_check;
    assert!(all.values().map(noticed).sum::<usize>() > trials / 2, "{all:#?}");
}

/// A database with tables of several ages, a journal, and everything that a table can have; returns what it answers.
fn make(path: &Path) -> Vec<Value> {
    let options = StoreOptions { reserve_bytes: 0, ..StoreOptions::default() };
    let store = Arc::new(FjallStore::open(path, options).unwrap());
    let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS));
    let engine = Engine::start(store.clone(), engine_options(&clock)).unwrap();
    let bench = Bench { engine, clock };
    for round in 0..4 {
        fill(&bench, round);
        if round < 3 {
            store.flush_to_table();
        }
    }
    drop(store);
    drop(bench);
    // The journal begins as 64 MB of zeros; opening it again leaves what is in it.
    let answers = answers(&open(path).unwrap()).unwrap();
    // And once more, so that what answering does is done.
    drop(open(path).unwrap());
    answers
}

fn engine_options(clock: &Arc<ManualClock>) -> Options {
    Options { clock: clock.clone(), housekeeping: None, reserve_bytes: 0, ..Options::default() }
}

fn open(path: &Path) -> Result<Bench, String> {
    let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS + 1_000_000));
    let options = Options { cache_bytes: 1 << 20, ..engine_options(&clock) };
    let engine = Engine::open(path, options).map_err(|error| error.to_string())?;
    Ok(Bench { engine, clock })
}

/// Everything that can be asked.
fn answers(bench: &Bench) -> Result<Vec<Value>, String> {
    let ask = |name: &str, request: Value| bench.run(name, &request).map_err(|error| error.to_string());
    let mut answers = vec![
        ask("DescribeTable", json!({ "TableName": "Orders" }))?,
        ask("Scan", json!({ "TableName": "Orders" }))?,
        ask("Scan", json!({ "TableName": "Orders", "IndexName": "byDay" }))?,
        ask("ListBackups", json!({ "BackupType": "ALL" }))?,
    ];
    for number in 0..30 {
        let key = json!({ "pk": { "S": format!("item-{number}") } });
        answers.push(ask("GetItem", json!({ "TableName": "Orders", "Key": key }))?);
    }
    let stream = answers[0]["Table"]["LatestStreamArn"].clone();
    let described = ask("DescribeStream", json!({ "StreamArn": stream }))?;
    let shard = described["StreamDescription"]["Shards"][0]["ShardId"].clone();
    let start = json!({ "StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON" });
    let iterator = ask("GetShardIterator", start)?["ShardIterator"].clone();
    answers.push(ask("GetRecords", json!({ "ShardIterator": iterator }))?["Records"].clone());
    Ok(answers)
}

fn ask(path: &Path, expected: &[Value], seen: &mut Seen) -> Result<(), String> {
    let bench = match open(path) {
        Ok(bench) => bench,
        Err(reason) => {
            seen.refused_to_open += 1;
            seen.last_refusal = reason.replace(&*path.to_string_lossy(), "");
            return Ok(());
        }
    };
    match answers(&bench) {
        Err(_) => seen.refused_to_answer += 1,
        Ok(answers) if answers == expected => {
            if findings(&bench.engine).is_empty() {
                seen.harmless += 1;
            } else {
                seen.found_by_the_check += 1;
            }
        }
        Ok(answers) => {
            let wrong = answers.iter().zip(expected).find(|(answer, expected)| answer != expected);
            return Err(format!("a wrong answer: {wrong:?}"));
        }
    }
    Ok(())
}

/// All files below a directory, by their paths in it.
fn list(root: &Path, directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.metadata().unwrap().is_dir() {
            list(root, &entry.path(), files);
        } else {
            files.push(entry.path().strip_prefix(root).unwrap().to_owned());
        }
    }
    files.sort();
}

fn copy(files: &[PathBuf], from: &Path, to: &Path, except: &Path) {
    for file in files {
        fs::create_dir_all(to.join(file).parent().unwrap()).unwrap();
        if file != except {
            fs::copy(from.join(file), to.join(file)).unwrap();
        }
    }
}

/// A file and its content after some damage, and what that was.
fn choose(files: &[PathBuf], root: &Path, random: &mut Random) -> ((PathBuf, Vec<u8>), String) {
    loop {
        let file = &files[random.below(files.len())];
        let mut bytes = fs::read(root.join(file)).unwrap();
        if bytes.is_empty() {
            continue;
        }
        let place = random.below(bytes.len());
        let what = match random.below(4) {
            0 => {
                bytes.truncate(place);
                "cut off"
            }
            1 => {
                let begin = place / PAGE_BYTES * PAGE_BYTES;
                let end = (begin + PAGE_BYTES).min(bytes.len());
                bytes[begin..end].fill(0);
                "a page of zeros"
            }
            _ => {
                bytes[place] ^= 1 << random.below(8);
                "a flipped bit"
            }
        };
        return ((file.clone(), bytes), format!("{what} at {place} in {}", file.display()));
    }
}

/// Random numbers that a seed repeats.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}
