//! What broken and full disks do to the engine.
//!
//! A child process runs a fixed script of writes, alone and in transactions, with index changes, expiry and a reopening. At each
//! sync and each write to a file of the database, in turn, something goes wrong: the process ends before or after a sync, a sync
//! or write fails, a write is cut short, or there is no space left. The engine promises, and the child checks: a write that
//! failed is refused with ServiceUnavailable, reads go on, and nothing more is written until the database is opened again, or
//! until there is space again. The parent checks what is left: everything acknowledged, nothing torn, nothing refused.

mod disk;
mod full_disk;
mod power_loss;
mod script;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::crash::process::Child;
use crate::crash::tracker::Tracker;
use crate::crash::workload::TABLES;
use crate::crash::{ENCRYPTED, KEYED, PLAIN, open};
use crate::random::Random;
use crate::requests::describe;
use crate::verify::{Items, verify_stream, verify_table};
use disk::Fault;

const CHILD: &str = "faults::script::child_that_runs_the_script";
/// Children that wait for a disk leave the processor to others.
const CHILDREN_AT_ONCE: usize = 4;

#[test]
fn a_process_that_ends_at_any_sync_leaves_what_was_acknowledged() {
    check_at_every(PLAIN, Fault::EndBeforeSync);
    check_at_every(PLAIN, Fault::EndAfterSync);
}

#[test]
fn an_encrypted_database_keeps_the_same_promises_at_every_sync() {
    for fault in [Fault::EndBeforeSync, Fault::EndAfterSync, Fault::FailSync] {
        check_at_every(ENCRYPTED, fault);
    }
}

#[test]
fn tables_with_keys_of_their_own_keep_the_same_promises_at_every_sync() {
    for fault in [Fault::EndBeforeSync, Fault::FailSync] {
        check_at_every(KEYED, fault);
    }
}

/// A write in eleven of them, another one in each run, or all of them where `MONOTABLE_ALL_FAULTS` is set.
#[test]
fn an_encrypted_database_keeps_the_same_promises_at_writes() {
    for fault in [Fault::FailWrite, Fault::CutWrite, Fault::ShortWrite] {
        check_at_every(ENCRYPTED, fault);
    }
}

#[test]
fn an_encrypted_database_on_a_full_disk_goes_on_when_there_is_space_again() {
    check_at_every(ENCRYPTED, Fault::NoSpace);
}

#[test]
fn a_sync_that_fails_stops_writes_until_the_database_is_opened_again() {
    check_at_every(PLAIN, Fault::FailSync);
}

#[test]
fn a_write_that_fails_stops_writes_until_the_database_is_opened_again() {
    check_at_every(PLAIN, Fault::FailWrite);
    check_at_every(PLAIN, Fault::CutWrite);
}

#[test]
fn a_write_that_takes_two_calls_is_a_write() {
    check_at_every(PLAIN, Fault::ShortWrite);
}

#[test]
fn a_full_disk_stops_writes_until_there_is_space_again() {
    check_at_every(PLAIN, Fault::NoSpace);
}

/// Runs the script once for each place where the fault can happen.
fn check_at_every(name: &'static str, fault: Fault) {
    let places = fault.places(&counts(name));
    assert!(places > 20, "the script has only {places} places for {fault:?}");
    let is_sparse =
        name == ENCRYPTED && fault.is_at_writes() && std::env::var_os("MONOTABLE_ALL_FAULTS").is_none();
    let stride = if is_sparse { 11 } else { 1 };
    let next = AtomicUsize::new(1 + Random::new(Random::new_seed()).below(stride));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..CHILDREN_AT_ONCE {
            scope.spawn(|| {
                while let Some(place) =
                    Some(next.fetch_add(stride, Ordering::Relaxed)).filter(|&place| place <= places)
                {
                    if let Err(failure) = check_at(name, fault, place) {
                        failures.lock().unwrap().push(format!("{fault:?} at {place} of {places}: {failure}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// Syncs and writes of the script where nothing goes wrong.
fn counts(name: &str) -> disk::Counts {
    let directory = tempfile::tempdir().unwrap();
    let reports = run_script(directory.path().join(name), Fault::Nothing, 0).unwrap();
    let counts = reports.iter().find_map(|report| disk::Counts::parse(report));
    counts.expect("the script reports its counts at its end")
}

fn check_at(name: &str, fault: Fault, place: usize) -> Result<(), String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    let reports = run_script(path.clone(), fault, place)?;
    let result = check(path, &reports);
    result.map_err(|difference| {
        let kept = directory.keep();
        format!("{difference}\n  reports: {reports:?}\n  left in {}", kept.display())
    })
}

fn run_script(path: PathBuf, fault: Fault, place: usize) -> Result<Vec<String>, String> {
    let variables = [(disk::FAULT, fault.name().to_owned()), (disk::PLACE, place.to_string())];
    let (status, reports) = Child::start(CHILD, &path, &variables).wait();
    let broken: Vec<&String> = reports.iter().filter(|report| report.starts_with("broken")).collect();
    if !broken.is_empty() {
        return Err(format!("{broken:?}\n  reports: {reports:?}"));
    }
    if !fault.ends_process() && reports.last().is_none_or(|report| report != "end") {
        return Err(format!("the child ended with {status}\n  reports: {reports:?}"));
    }
    Ok(reports)
}

/// Opens what is left and compares it with what was reported.
fn check(path: PathBuf, reports: &[String]) -> Result<(), String> {
    let mut tracker = Tracker::new(script::EXPIRY_SECONDS);
    tracker.take(reports);
    let engine = open(&path).map_err(|error| error.to_string())?;
    engine.keep_house().map_err(|error| error.to_string())?;
    let mut tables = Vec::new();
    for table in &TABLES {
        if describe(&engine, table.name).is_err() {
            tables.push(Items::new());
            continue;
        }
        let items = verify_table(&engine, table)?;
        verify_stream(&engine, table, &items)?;
        tables.push(items);
    }
    tracker.settle(&tables)
}
