//! What a killed process leaves of a backup, of pruning, of shipping and of a restore.
//!
//! A child tells what it is doing and how far that is. When it has got as far as chance says, it is killed within a few milliseconds; its
//! last report says where the kill landed, and most of them must have landed inside.
//!
//! `MONOTABLE_BACKUP_KILLS=200` asks for more kills than a few.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::{Engine, ManualClock};
use monotable_backup::{
    Address, BackupError, Create, Destination, Keep, Restore, ShipSettings, Shipper, create, prune, restore,
    verify,
};
use serde_json::json;

use crate::bench::{START, entries, make_table, open, put, quiet, run, transact};
use crate::child::{Child, folder, report};
use crate::random::Random;

const KILLS: usize = 6;
/// After the part of the work that chance chose, the child lives on for less than this.
const REST_MILLISECONDS: usize = 8;
/// Each part of the work takes at least as long, so that a kill can land in it.
const PART: Duration = Duration::from_millis(3);
/// A database of this many items is backed up in about a dozen parts.
const ITEMS: u64 = 3_000;

fn kills() -> usize {
    std::env::var("MONOTABLE_BACKUP_KILLS").map_or(KILLS, |text| text.parse().unwrap())
}

/// How many kills must have landed inside: three of four, or half of a few, which chance may do with as it likes.
fn wanted(kills: usize) -> usize {
    if kills < 50 { kills / 2 } else { kills * 3 / 4 }
}

/// Starts a child and kills it a moment after so many reports of this kind of work, or after its end. Returns all reports.
fn live_and_die(test: &str, folder: &Path, random: &mut Random, work: &str, reports: usize) -> Vec<String> {
    let child = Child::start(test, folder);
    let mut left = reports;
    child.wait_for(|report| {
        left -= usize::from(report.starts_with(work));
        left == 0 || report.strip_prefix("ended").is_some_and(|ended| ended.trim_start() == work)
    });
    std::thread::sleep(Duration::from_millis(random.below(REST_MILLISECONDS) as u64));
    child.kill()
}

/// The last number that was acknowledged.
fn acknowledged(reports: &[String]) -> u64 {
    let numbers = reports.iter().filter_map(|report| report.strip_prefix("acknowledged "));
    numbers.map(|number| number.parse().unwrap()).next_back().unwrap_or(0)
}

/// Whether the last thing that was told of is this work.
fn is_inside(reports: &[String], work: &str) -> bool {
    reports.last().is_some_and(|report| report.starts_with(work))
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_milliseconds(START))
}

fn address(folder: &Path) -> Address {
    Address::new(folder.join("backups").to_str().unwrap())
}

/// What is there verifies, whatever was interrupted, and restores to a database.
fn check_whole(folder: &Path) -> Option<Engine> {
    let destination = match Destination::open(&address(folder), None) {
        Err(BackupError::NoBackup { .. }) => return None,
        destination => destination.unwrap(),
    };
    let verified = verify(&destination, None, &quiet).unwrap();
    assert!(verified.is_good(), "{:?}", verified.findings);
    let directory = folder.join("restored");
    let _ = std::fs::remove_dir_all(&directory);
    let work = Restore { directory: &directory, id: None, at_milliseconds: None };
    restore(&destination, work, &quiet).unwrap();
    Some(open(&directory, &clock()))
}

#[test]
fn a_killed_backup_leaves_the_ones_before_it_and_nothing_that_looks_whole() {
    let mut random = Random::new(Random::new_seed());
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let (mut inside_backups, mut inside_prunes, mut backups) = (0, 0, 0);
    for life in 0..kills() {
        // The backups of a life come after its pruning, for which there must be something to prune.
        let is_pruned = life % 4 == 3;
        if is_pruned {
            make_backups(folder.path(), &mut random);
        }
        let (work, parts) =
            if is_pruned { ("pruning", 2 + random.below(3)) } else { ("backing up", 1 + random.below(8)) };
        let reports = live_and_die("kills::child_that_backs_up", folder.path(), &mut random, work, parts);
        inside_backups += usize::from(is_inside(&reports, "backing up"));
        inside_prunes += usize::from(is_inside(&reports, "pruning"));
        let engine = open(&folder.path().join("data"), &clock());
        let (kept, acknowledged) = (count(&engine, "Orders"), acknowledged(&reports));
        assert!(kept >= acknowledged, "{acknowledged} were acknowledged, {kept} are there");
        drop(engine);
        let Some(restored) = check_whole(folder.path()) else { continue };
        // Each is as whole as the last one was when it was made: every item has a partner in the other table.
        assert_eq!(count(&restored, "Orders"), count(&restored, "Stock"));
        let destination = Destination::open(&address(folder.path()), None).unwrap();
        let found: Vec<_> = destination.backups().unwrap().into_iter().map(|backup| backup.id).collect();
        for made in reports.iter().filter_map(|report| report.strip_prefix("made ")) {
            assert!(found.iter().any(|id| id == made), "{made} was made and is not among {found:?}");
            backups += 1;
        }
    }
    let kills = kills();
    println!(
        "{kills} kills: {inside_backups} inside a backup, {inside_prunes} inside pruning; {backups} backups were whole before"
    );
    assert!(inside_backups + inside_prunes >= wanted(kills) && inside_backups * 2 >= kills);
}

/// Makes some backups that differ.
fn make_backups(folder: &Path, random: &mut Random) {
    let engine = open(&folder.join("data"), &clock());
    let destination = Destination::open_or_make(&address(folder), None).unwrap();
    if !destination.backups().unwrap().is_empty() {
        prune(&destination, Keep::Newest(2), &quiet).unwrap();
    }
    for _ in 0..3 {
        for _ in 0..50 {
            put(&engine, "Orders", random.next() % ITEMS, random.next() % 1000, 1000);
        }
        let database = engine.identity("a0").unwrap();
        let frozen = engine.freeze().unwrap();
        create(&destination, &Create { frozen: &frozen, database: &database, is_full: false }, &quiet)
            .unwrap();
    }
}

/// Makes a database that takes a while to be backed up.
fn fill(folder: &Path) -> Engine {
    let engine = open(&folder.join("data"), &clock());
    tables(&engine);
    for number in 0..ITEMS {
        put(&engine, "Orders", number, 1, 1000);
    }
    engine
}

fn count(engine: &Engine, table: &str) -> u64 {
    let key = json!({ "pk": { "S": "counter" } });
    let found = run(engine, "GetItem", json!({ "TableName": table, "Key": key }));
    found["Item"]["amount"]["N"].as_str().map_or(0, |text| text.parse().unwrap())
}

fn tables(engine: &Engine) {
    let known = run(engine, "ListTables", json!({}))["TableNames"].as_array().unwrap().len();
    for table in ["Orders", "Stock"].into_iter().skip(known) {
        make_table(engine, table);
    }
}

#[test]
#[ignore = "a child process, which another test starts and kills"]
fn child_that_backs_up() {
    let Some(folder) = folder() else { return };
    let engine = open(&folder.join("data"), &clock());
    let destination = Destination::open_or_make(&address(&folder), None).unwrap();
    let mut random = Random::new(Random::new_seed());
    let slowly = |work: &'static str| {
        move |done: u64, _: Option<u64>| {
            report(&format!("{work} {done}"));
            std::thread::sleep(PART);
        }
    };
    // A prune that was killed is completed first.
    if !destination.backups().unwrap().is_empty() {
        report("pruning");
        prune(&destination, Keep::Newest(2), &slowly("pruning")).unwrap();
    }
    report("ended pruning");
    loop {
        for _ in 0..50 {
            put(&engine, "Orders", random.next() % ITEMS, random.next() % 1000, 1000);
        }
        transact(&engine, &["Orders", "Stock"], &random.next().to_string());
        report(&format!("acknowledged {}", count(&engine, "Orders")));
        let database = engine.identity("a0").unwrap();
        let frozen = engine.freeze().unwrap();
        let work = Create { frozen: &frozen, database: &database, is_full: false };
        report("backing up");
        let made = create(&destination, &work, &slowly("backing up")).unwrap();
        report(&format!("made {}", made.id));
    }
}

#[test]
fn a_killed_server_leaves_a_log_that_leads_to_a_moment_shortly_before() {
    let mut random = Random::new(Random::new_seed());
    let folder = tempfile::tempdir().unwrap();
    let (mut acknowledged, mut last) = (0, 0);
    for _ in 0..kills() {
        let writes = 1 + random.below(60);
        let test = "kills::child_that_ships";
        let reports = live_and_die(test, folder.path(), &mut random, "acknowledged", writes);
        acknowledged = acknowledged.max(self::acknowledged(&reports));
        if folder.path().join("data/monotable").exists() {
            let engine = open(&folder.path().join("data"), &clock());
            if run(&engine, "ListTables", json!({}))["TableNames"].as_array().unwrap().len() == 2 {
                let kept = count(&engine, "Orders");
                assert!(kept >= acknowledged, "{acknowledged} were acknowledged, {kept} are there");
                assert_eq!(kept, count(&engine, "Stock"));
            }
        }
        let Some(restored) = check_whole(folder.path()) else { continue };
        if run(&restored, "ListTables", json!({}))["TableNames"].as_array().unwrap().len() == 2 {
            let shipped = count(&restored, "Orders");
            assert_eq!(shipped, count(&restored, "Stock"), "transactions are whole");
            assert!(shipped >= last, "what was shipped once stays");
            last = shipped;
        }
    }
    println!("{acknowledged} acknowledged, {last} shipped");
    // In the end everything arrives.
    let engine = open(&folder.path().join("data"), &clock());
    crate::shipping::ship_once(&engine, &address(folder.path()), None);
    let restored = check_whole(folder.path()).unwrap();
    assert_eq!(entries(&restored), entries(&engine));
}

#[test]
#[ignore = "a child process, which another test starts and kills"]
fn child_that_ships() {
    let Some(folder) = folder() else { return };
    let engine = open(&folder.join("data"), &clock());
    tables(&engine);
    let settings = ShipSettings { every: Duration::from_millis(3), ..ShipSettings::default() };
    let backup_every =
        if Random::new_seed().is_multiple_of(3) { Duration::from_millis(1) } else { settings.backup_every };
    let settings = ShipSettings { backup_every, ..settings };
    let _shipper = Shipper::start(engine.clone(), address(&folder), None, settings).unwrap();
    let mut number = count(&engine, "Orders");
    loop {
        put(&engine, "Orders", number % 500, number, 200);
        transact(&engine, &["Orders", "Stock"], &format!("token {number}"));
        number += 1;
        report(&format!("acknowledged {number}"));
    }
}

#[test]
fn a_killed_restore_is_no_database() {
    let mut random = Random::new(Random::new_seed());
    let folder = tempfile::tempdir().unwrap();
    let expected = {
        let engine = fill(folder.path());
        crate::shipping::ship_once(&engine, &address(folder.path()), None);
        // These are in the log only, so that a restore makes them again.
        let shipper =
            Shipper::start(engine.clone(), address(folder.path()), None, crate::shipping::settings());
        for number in 0..300 {
            put(&engine, "Orders", number, 2, 1000);
        }
        drop(shipper.unwrap());
        entries(&engine)
    };
    let directory = folder.path().join("restored");
    let (mut whole, mut inside) = (0, 0);
    for _ in 0..kills() {
        let parts = 1 + random.below(8);
        let reports =
            live_and_die("kills::child_that_restores", folder.path(), &mut random, "restoring", parts);
        if directory.join("monotable").exists() {
            assert_eq!(entries(&open(&directory, &clock())), expected);
            whole += 1;
        } else {
            inside += usize::from(is_inside(&reports, "restoring"));
            let refused = Engine::open(&directory, engine::Options::default()).err().unwrap().to_string();
            assert!(refused.contains("was not completed"), "{refused}");
            // It is simply done again, into what was left.
            if random.once_in(3) {
                let destination = Destination::open(&address(folder.path()), None).unwrap();
                let work = Restore { directory: &directory, id: None, at_milliseconds: None };
                restore(&destination, work, &quiet).unwrap();
                assert_eq!(entries(&open(&directory, &clock())), expected);
            }
        }
        // An interrupted one stays, for the next to begin in.
        if directory.join("monotable").exists() {
            std::fs::remove_dir_all(&directory).unwrap();
        }
    }
    let kills = kills();
    println!("{kills} kills: {inside} inside a restore, {whole} after it was whole");
    assert!(inside >= wanted(kills), "only {inside} of {kills} kills were inside a restore");
}

#[test]
#[ignore = "a child process, which another test starts and kills"]
fn child_that_restores() {
    let Some(folder) = folder() else { return };
    let directory = folder.join("restored");
    let destination = Destination::open(&address(&folder), None).unwrap();
    let work = Restore { directory: &directory, id: None, at_milliseconds: None };
    let slowly = |done: u64, _: Option<u64>| {
        report(&format!("restoring {done}"));
        std::thread::sleep(PART);
    };
    restore(&destination, work, &slowly).unwrap();
    report("ended restoring");
}
