//! What a killed process leaves of a backup, of shipping and of a restore.
//!
//! `MONOTABLE_BACKUP_KILLS=200` asks for more kills than a few.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use engine::{Engine, ManualClock};
use monotable_backup::{
    Address, BackupError, Create, Destination, Keep, Restore, ShipSettings, Shipper, create, prune, restore,
    verify,
};
use serde_json::json;

use crate::bench::{START, entries, make_table, open, put, quiet, run, transact};
use crate::random::Random;

const KILLS: usize = 8;
const FOLDER: &str = "MONOTABLE_CHILD_FOLDER";
const ACKNOWLEDGED: &str = "acknowledged:";

fn kills() -> usize {
    std::env::var("MONOTABLE_BACKUP_KILLS").map_or(KILLS, |text| text.parse().unwrap())
}

fn start(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Starts a child and kills it within so many milliseconds. Returns the last number that it said was acknowledged.
fn live_and_die(test: &str, folder: &Path, random: &mut Random, milliseconds: usize) -> u64 {
    let mut child = start(test, folder);
    let output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.filter_map(|line| line.split_once(ACKNOWLEDGED)?.1.trim().parse().ok()).last()
    });
    std::thread::sleep(Duration::from_millis(random.below(milliseconds) as u64));
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap().unwrap_or(0)
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_milliseconds(START))
}

fn address(folder: &Path) -> Address {
    Address::new(folder.join("backups").to_str().unwrap())
}

fn back_up(engine: &Engine, destination: &Destination) {
    let database = engine.identity("a0").unwrap();
    let frozen = engine.freeze().unwrap();
    create(destination, &Create { frozen: &frozen, database: &database, is_full: false }, &quiet).unwrap();
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
    let mut backups = 0;
    for _ in 0..kills() {
        live_and_die("kills::child_that_backs_up", folder.path(), &mut random, 400);
        let Some(restored) = check_whole(folder.path()) else { continue };
        let destination = Destination::open(&address(folder.path()), None).unwrap();
        let found = destination.backups().unwrap();
        assert!(!found.is_empty());
        backups += found.len();
        // Each is as whole as the last one was when it was made: every item has a partner in the other table.
        assert_eq!(count(&restored, "Orders"), count(&restored, "Stock"));
    }
    println!("{backups} backups seen");
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
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    let engine = open(&folder.join("data"), &clock());
    tables(&engine);
    let destination = Destination::open_or_make(&address(folder), None).unwrap();
    let mut random = Random::new(Random::new_seed());
    // A prune that was killed is completed first.
    if !destination.backups().unwrap().is_empty() {
        prune(&destination, Keep::Newest(2), &quiet).unwrap();
    }
    loop {
        for _ in 0..50 {
            put(&engine, "Orders", random.below(2_000) as u64, random.next() % 1000, 1000);
        }
        transact(&engine, &["Orders", "Stock"], &random.next().to_string());
        if random.once_in(4) && !destination.backups().unwrap().is_empty() {
            prune(&destination, Keep::Newest(2), &quiet).unwrap();
        }
        back_up(&engine, &destination);
    }
}

#[test]
fn a_killed_server_leaves_a_log_that_leads_to_a_moment_shortly_before() {
    let mut random = Random::new(Random::new_seed());
    let folder = tempfile::tempdir().unwrap();
    let (mut acknowledged, mut last) = (0, 0);
    for _ in 0..kills() {
        let said = live_and_die("kills::child_that_ships", folder.path(), &mut random, 500);
        acknowledged = acknowledged.max(said);
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
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    let engine = open(&folder.join("data"), &clock());
    tables(&engine);
    let settings = ShipSettings { every: Duration::from_millis(3), ..ShipSettings::default() };
    let backup_every =
        if Random::new_seed().is_multiple_of(3) { Duration::from_millis(1) } else { settings.backup_every };
    let settings = ShipSettings { backup_every, ..settings };
    let _shipper = Shipper::start(engine.clone(), address(folder), None, settings).unwrap();
    let mut number = count(&engine, "Orders");
    loop {
        put(&engine, "Orders", number % 500, number, 200);
        transact(&engine, &["Orders", "Stock"], &format!("token {number}"));
        number += 1;
        let mut output = std::io::stdout().lock();
        output.write_all(format!("{ACKNOWLEDGED}{number}\n").as_bytes()).unwrap();
        output.flush().unwrap();
    }
}

#[test]
fn a_killed_restore_is_no_database() {
    let mut random = Random::new(Random::new_seed());
    let folder = tempfile::tempdir().unwrap();
    let expected = {
        let engine = open(&folder.path().join("data"), &clock());
        tables(&engine);
        for number in 0..3_000 {
            put(&engine, "Orders", number, 1, 1000);
        }
        back_up(&engine, &Destination::open_or_make(&address(folder.path()), None).unwrap());
        entries(&engine)
    };
    let directory = folder.path().join("restored");
    let (mut whole, mut incomplete) = (0, 0);
    for _ in 0..kills() {
        live_and_die("kills::child_that_restores", folder.path(), &mut random, 350);
        if directory.join("monotable").exists() {
            assert_eq!(entries(&open(&directory, &clock())), expected);
            std::fs::remove_dir_all(&directory).unwrap();
            whole += 1;
        } else if directory.join("restoring").exists() {
            let refused = Engine::open(&directory, engine::Options::default()).err().unwrap().to_string();
            assert!(refused.contains("was not completed"), "{refused}");
            incomplete += 1;
        }
    }
    println!("{whole} whole, {incomplete} incomplete");
    // It is simply done again, into what was left.
    if !directory.join("monotable").exists() {
        let destination = Destination::open(&address(folder.path()), None).unwrap();
        let work = Restore { directory: &directory, id: None, at_milliseconds: None };
        restore(&destination, work, &quiet).unwrap();
        assert_eq!(entries(&open(&directory, &clock())), expected);
    }
}

#[test]
#[ignore = "a child process, which another test starts and kills"]
fn child_that_restores() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    let directory = folder.join("restored");
    let destination = Destination::open(&address(folder), None).unwrap();
    let work = Restore { directory: &directory, id: None, at_milliseconds: None };
    restore(&destination, work, &quiet).unwrap();
}
