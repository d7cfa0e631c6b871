//! A plain database whose files were damaged: flipped bits, zeroed pages, cut ends. Whatever is asked of it, the answer is right or
//! an error.
//!
//! `MONOTABLE_DAMAGES=10000 cargo test -p monotable-engine --lib check::damage -- --nocapture` does it more often.

mod database;
mod places;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::testing::findings;
use database::{Depth, answers, make, open};
use places::{Damage, Files, Random};

const TRIALS: usize = 200;
/// Restores take longer than questions, so they are tried less often.
const RESTORED_ONCE_IN: usize = 8;

/// What became of the trials of one kind of place.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    refused_to_open: usize,
    refused_to_answer: usize,
    found_by_the_check: usize,
    harmless: usize,
}

impl Seen {
    fn noticed(self) -> usize {
        self.refused_to_open + self.refused_to_answer + self.found_by_the_check
    }

    fn add(&mut self, other: Seen) {
        self.refused_to_open += other.refused_to_open;
        self.refused_to_answer += other.refused_to_answer;
        self.found_by_the_check += other.found_by_the_check;
        self.harmless += other.harmless;
    }
}

#[test]
fn damage_is_an_error_or_makes_no_difference() {
    let trials = std::env::var("MONOTABLE_DAMAGES").map_or(TRIALS, |text| text.parse().unwrap());
    let original = folder();
    let expected = make(original.path());
    let files = Files::read(original.path());
    let start = u64::from(std::process::id());
    println!("seed {start}, {} bytes in {} files", files.bytes(), files.count());
    let next = AtomicUsize::new(0);
    let seen = Mutex::new(BTreeMap::<&'static str, Seen>::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(trial) = Some(next.fetch_add(1, Relaxed)).filter(|trial| *trial < trials) {
                    let damage = files.damage(&mut Random(start + trial as u64));
                    let outcome = attempt(&files, &damage, &expected, trial);
                    let outcome = outcome.unwrap_or_else(|wrong| panic!("trial {trial}, {damage}: {wrong}"));
                    seen.lock().unwrap().entry(damage.kind).or_default().add(outcome);
                }
            });
        }
    });
    judge(trials, &seen.into_inner().unwrap());
}

fn judge(trials: usize, all: &BTreeMap<&'static str, Seen>) {
    println!("{trials} trials");
    for (kind, seen) in all {
        println!("{kind:>20}: {seen:?}");
    }
    for kind in places::KINDS {
        let seen = all.get(kind).copied().unwrap_or_default();
        assert!(seen.noticed() + seen.harmless > 0, "no {kind} was damaged");
        // What belongs to us cannot be damaged unnoticed; a lock may, and what the storage crate does not read of its own.
        let may_be_harmless = [places::OTHER, places::KEYSPACES].contains(&kind);
        assert!(may_be_harmless || seen.harmless == 0, "{kind}: {seen:?}");
    }
}

/// A place for many small copies: memory, where there is such a place.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Damages a copy and asks it everything.
fn attempt(files: &Files, damage: &Damage, expected: &[Vec<u8>], trial: usize) -> Result<Seen, String> {
    let directory = folder();
    files.write(directory.path(), damage);
    let depth = if trial.is_multiple_of(RESTORED_ONCE_IN) { Depth::WithRestores } else { Depth::Questions };
    let outcome = catch_unwind(AssertUnwindSafe(|| ask(directory.path(), expected, depth)));
    outcome.unwrap_or_else(|_| Err("it panicked".to_owned()))
}

fn ask(path: &Path, expected: &[Vec<u8>], depth: Depth) -> Result<Seen, String> {
    let Ok(bench) = open(path) else {
        return Ok(Seen { refused_to_open: 1, ..Seen::default() });
    };
    let found = findings(&bench.engine);
    if let Some(panic) = found.iter().find(|finding| finding.contains("panic")) {
        return Err(panic.clone());
    }
    match answers(&bench, depth) {
        Err(_) => Ok(Seen { refused_to_answer: 1, ..Seen::default() }),
        Ok(answers) => {
            let wrong = answers.iter().zip(expected).position(|(answer, expected)| answer != expected);
            match wrong {
                Some(number) => {
                    Err(format!("answer {number} is wrong: {}", String::from_utf8_lossy(&answers[number])))
                }
                None if found.is_empty() => Ok(Seen { harmless: 1, ..Seen::default() }),
                None => Ok(Seen { found_by_the_check: 1, ..Seen::default() }),
            }
        }
    }
}

/// All files below a directory, by their paths in it.
fn list(root: &Path, directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.metadata().unwrap().is_dir() {
            files.extend(list(root, &entry.path()));
        } else {
            files.push(entry.path().strip_prefix(root).unwrap().to_owned());
        }
    }
    files.sort();
    files
}
