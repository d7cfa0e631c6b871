//! A running database, shipped while it is written to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Durability, Engine, ManualClock, Options};
use monotable_backup::{Address, Destination, ShipSettings, Shipper};
use seal::MasterKey;
use serde_json::json;

use crate::bench::{Bench, entries, key, make_table, put, transact};

pub(crate) fn settings() -> ShipSettings {
    ShipSettings { every: Duration::from_millis(20), ..ShipSettings::default() }
}

/// Ships everything that is there and ends.
pub(crate) fn ship_once(engine: &Engine, address: &Address, key: Option<Arc<dyn MasterKey>>) {
    let shipper = Shipper::start(engine.clone(), address.clone(), key, settings()).unwrap();
    wait_for(|| shipper.status().turns() > 0);
}

#[track_caller]
pub(crate) fn wait_for(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "it did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn what_is_written_while_it_is_shipped_is_restored() {
    for key in [None, Some(Arc::new(key()) as Arc<dyn MasterKey>)] {
        let bench = Bench::new();
        make_table(&bench.engine, "Orders");
        make_table(&bench.engine, "Stock");
        let shipper = Shipper::start(bench.engine.clone(), bench.address(), key.clone(), settings()).unwrap();
        for number in 0..300 {
            put(&bench.engine, "Orders", number, 1, 300);
            transact(&bench.engine, &["Orders", "Stock"], &format!("token {number}"));
            if number % 50 == 0 {
                std::thread::sleep(Duration::from_millis(30));
            }
        }
        drop(shipper);
        let key = key.as_deref();
        let verified = bench.verify(key).unwrap();
        assert!(verified.is_good() && verified.commits > 300, "{verified:?}");
        let restored = bench.restore("restored", None, key).unwrap();
        assert!(restored.commits > 300 && !restored.ends_at_gap, "{restored:?}");
        assert_eq!(entries(&bench.restored("restored")), entries(&bench.engine));
        // What was shipped does not stay in the database.
        assert!(bench.engine.log_state().is_none());
        let left = bench.engine.freeze().unwrap().records_after(0, usize::MAX).unwrap();
        assert!(left.iter().all(|record| record.is_empty()), "{}", left.len());
    }
}

#[test]
fn shipping_goes_on_after_a_restart_without_a_new_backup() {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    for round in 0..3 {
        ship_once(&bench.engine, &bench.address(), None);
        put(&bench.engine, "Orders", round, 1, 100);
        // A commit that nobody ships: a new backup bridges the gap.
        if round == 1 {
            ship_once(&bench.engine, &bench.address(), None);
        }
    }
    ship_once(&bench.engine, &bench.address(), None);
    let backups = bench.destination(None).backups().unwrap();
    let databases: Vec<_> = backups.iter().map(|summary| &summary.database).collect();
    assert!(databases.iter().all(|database| *database == databases[0]));
    assert!(bench.verify(None).unwrap().is_good());
    bench.restore("restored", None, None).unwrap();
    assert_eq!(entries(&bench.restored("restored")), entries(&bench.engine));

    // Nothing is written in between, so nothing new is needed.
    let count = backups.len();
    ship_once(&bench.engine, &bench.address(), None);
    ship_once(&bench.engine, &bench.address(), None);
    assert_eq!(bench.destination(None).backups().unwrap().len(), count);
}

#[test]
fn a_destination_that_is_away_delays_shipping_and_nothing_else() {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    // A file where the directory should be.
    let place = bench.path("backups");
    std::fs::write(&place, "in the way").unwrap();
    let shipper = Shipper::start(bench.engine.clone(), bench.address(), None, settings()).unwrap();
    for number in 0..50 {
        put(&bench.engine, "Orders", number, 1, 300);
    }
    wait_for(|| shipper.status().failures() > 1);
    assert!(shipper.status().waiting_bytes() > 50 * 300);
    assert_eq!((shipper.status().turns(), shipper.status().lag()), (0, None));
    std::fs::remove_file(&place).unwrap();
    wait_for(|| shipper.status().turns() > 0);
    assert!(shipper.status().lag().is_some());
    wait_for(|| shipper.status().waiting_bytes() < 1000);
    drop(shipper);
    assert!(bench.verify(None).unwrap().is_good());
    bench.restore("restored", None, None).unwrap();
    assert_eq!(entries(&bench.restored("restored")), entries(&bench.engine));
}

#[test]
fn a_log_that_was_full_is_bridged_by_a_new_backup() {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    let limited = ShipSettings { log_bytes_max: 100_000, ..settings() };
    let start = || Shipper::start(bench.engine.clone(), bench.address(), None, limited.clone()).unwrap();
    let shipper = start();
    wait_for(|| shipper.status().backup_age().is_some());
    let (place, away) = (bench.path("backups"), bench.path("away"));
    std::fs::rename(&place, &away).unwrap();
    std::fs::write(&place, "in the way").unwrap();
    for number in 0..100 {
        put(&bench.engine, "Orders", number, 1, 1000);
    }
    wait_for(|| shipper.status().is_log_full() && shipper.status().failures() > 0);
    std::fs::remove_file(&place).unwrap();
    std::fs::rename(&away, &place).unwrap();
    wait_for(|| !shipper.status().is_log_full() && shipper.status().waiting_bytes() < 1000);
    for number in 100..120 {
        put(&bench.engine, "Orders", number, 1, 300);
    }
    wait_for(|| bench.destination(None).backups().unwrap().len() > 1);
    drop(shipper);
    let verified = bench.verify(None).unwrap();
    assert!(verified.is_good(), "{verified:?}");
    let restored = bench.restore("restored", None, None).unwrap();
    assert!(!restored.ends_at_gap, "{restored:?}");
    assert_eq!(entries(&bench.restored("restored")), entries(&bench.engine));
}

#[test]
fn another_copy_of_a_database_begins_a_log_of_its_own() {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    ship_once(&bench.engine, &bench.address(), None);
    let Bench { folder, clock, engine } = bench;
    drop(engine);
    // Copied as files, so it believes that it is the same database.
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    let copied = std::process::Command::new("cp").arg("-r").args([&data, &copy]).status().unwrap();
    assert!(copied.success());
    let bench = Bench { engine: crate::bench::open(&data, &clock), folder, clock };
    for number in 0..20 {
        put(&bench.engine, "Orders", number, 1, 100);
        ship_once(&bench.engine, &bench.address(), None);
    }
    let other = crate::bench::open(&copy, &bench.clock);
    put(&other, "Orders", 999, 1, 100);
    ship_once(&other, &bench.address(), None);
    let backups = bench.destination(None).backups().unwrap();
    let databases: std::collections::BTreeSet<_> = backups.iter().map(|summary| &summary.database).collect();
    assert_eq!(databases.len(), 2);
    let verified = bench.verify(None).unwrap();
    assert!(verified.is_good(), "{verified:?}");
}

#[test]
fn a_restored_database_ships_to_the_same_place_as_another_one() {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    ship_once(&bench.engine, &bench.address(), None);
    bench.restore("restored", None, None).unwrap();
    let restored = bench.restored("restored");
    put(&restored, "Orders", 1, 1, 100);
    bench.clock.advance_seconds(10);
    ship_once(&restored, &bench.address(), None);
    assert!(bench.verify(None).unwrap().is_good());
    bench.restore("again", None, None).unwrap();
    assert_eq!(entries(&bench.restored("again")), entries(&restored));
}

#[test]
fn old_backups_go_with_their_part_of_the_log() {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    let often = ShipSettings { backup_every: Duration::ZERO, keep: Some(2), ..settings() };
    let shipper = Shipper::start(bench.engine.clone(), bench.address(), None, often).unwrap();
    for number in 0..30 {
        put(&bench.engine, "Orders", number, 1, 100);
        std::thread::sleep(Duration::from_millis(10));
    }
    wait_for(|| shipper.status().turns() > 5);
    drop(shipper);
    assert_eq!(bench.destination(None).backups().unwrap().len(), 2);
    let parts = bench.files().into_keys().filter(|name| name.starts_with("log/")).count();
    assert!(parts < 15, "{parts}");
    assert!(bench.verify(None).unwrap().is_good());
    bench.restore("restored", None, None).unwrap();
    assert_eq!(entries(&bench.restored("restored")), entries(&bench.engine));
}

#[test]
fn a_whole_backup_is_made_when_somebody_asks_for_it() {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    let ask = |start: bool| crate::bench::run(&bench.engine, "BackUpDatabase", json!({ "Start": start }));
    let shipper = Shipper::start(bench.engine.clone(), bench.address(), None, settings()).unwrap();
    wait_for(|| shipper.status().backup_age().is_some());
    assert_eq!(ask(false)["Status"], "NOT_STARTED");
    put(&bench.engine, "Orders", 1, 1, 100);
    ask(true);
    wait_for(|| ask(false)["Status"] == "DONE");
    let id = ask(false)["BackupId"].as_str().unwrap().to_owned();
    let backups = bench.destination(None).backups().unwrap();
    assert_eq!((backups.len(), &backups[1].id), (2, &id));
    // The log goes on from it.
    put(&bench.engine, "Orders", 2, 1, 100);
    drop(shipper);
    assert!(bench.verify(None).unwrap().is_good());
    bench.restore("restored", None, None).unwrap();
    assert_eq!(entries(&bench.restored("restored")), entries(&bench.engine));
}

#[test]
fn a_backup_that_was_asked_for_and_failed_says_why() {
    let bench = Bench::new();
    make_table(&bench.engine, "Orders");
    std::fs::write(bench.path("backups"), "in the way").unwrap();
    let ask = |start: bool| crate::bench::run(&bench.engine, "BackUpDatabase", json!({ "Start": start }));
    let _shipper = Shipper::start(bench.engine.clone(), bench.address(), None, settings()).unwrap();
    ask(true);
    wait_for(|| ask(false)["Status"] == "FAILED");
    let reason = ask(false)["FailureMessage"].as_str().unwrap().to_owned();
    assert!(reason.contains("backups"), "{reason}");
}

/// How fast backups are. Run by hand:
/// `cargo test --release -p monotable-backup --test it measured -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn measured() {
    const ITEMS: u64 = 100_000;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let address = Address::new(path("backups").to_str().unwrap());
    let rate = |count: u64, time: Duration| count as f64 / time.as_secs_f64();
    let clock = Arc::new(ManualClock::at_milliseconds(crate::bench::START));
    let engine = crate::bench::open(&path("data"), &clock);
    make_table(&engine, "Orders");
    let started = Instant::now();
    for number in 0..ITEMS {
        put(&engine, "Orders", number, 1, 1000);
    }
    println!("filled: {:.0} items/s", rate(ITEMS, started.elapsed()));
    let destination = Destination::open_or_make(&address, None).unwrap();
    for round in ["first", "second, nothing changed"] {
        let started = Instant::now();
        let frozen = engine.freeze().unwrap();
        let work = monotable_backup::Create { frozen: &frozen, database: "a0", is_full: false };
        let created = monotable_backup::create(&destination, &work, &crate::bench::quiet).unwrap();
        let time = started.elapsed();
        println!(
            "{round} backup: {time:?}, {} entries, {:.1} MB, {} chunks, {} new of {:.1} MB, {:.0} MB/s",
            created.entries,
            created.bytes as f64 / 1e6,
            created.chunks,
            created.new_chunks,
            created.new_bytes as f64 / 1e6,
            created.bytes as f64 / 1e6 / time.as_secs_f64(),
        );
    }
    let started = Instant::now();
    let verified = monotable_backup::verify(&destination, None, &crate::bench::quiet).unwrap();
    println!("verify: {:?}, good: {}", started.elapsed(), verified.is_good());
    let started = Instant::now();
    let work = monotable_backup::Restore { directory: &path("restored"), id: None, at_milliseconds: None };
    let restored = monotable_backup::restore(&destination, work, &crate::bench::quiet).unwrap();
    println!("restore: {:?}, {:.0} entries/s", started.elapsed(), rate(restored.entries, started.elapsed()));
}

/// How much shipping slows writes down: with and without it in turns, on databases of their own. Run by hand:
/// `cargo test --release -p monotable-backup --test it cost_of_shipping -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn cost_of_shipping() {
    const TURNS: usize = 7;
    for (durability, count) in [(Durability::Sync, 4_000), (Durability::None, 40_000)] {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            without.push(writing(durability, count, false));
            with.push(writing(durability, count, true));
        }
        let median = |times: &mut Vec<Duration>| {
            times.sort();
            times[TURNS / 2].as_secs_f64()
        };
        let (with, without) = (median(&mut with), median(&mut without));
        let rate = count as f64 / without;
        println!(
            "{durability:?}: shipping takes {:.2} times as long (1 is {rate:.0} writes/s); medians of {TURNS} turns",
            with / without
        );
    }
}

/// The time that 8 threads take to write so many items of 1 KB to a new database.
fn writing(durability: Durability, count: u64, ships: bool) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durability, housekeeping: None, ..Options::default() };
    let engine = Engine::open(folder.path().join("data"), options).unwrap();
    make_table(&engine, "Orders");
    let shipper = ships.then(|| {
        let to = Address::new(folder.path().join("backups").to_str().unwrap());
        Shipper::start(engine.clone(), to, None, ShipSettings::default()).unwrap()
    });
    if let Some(shipper) = &shipper {
        wait_for(|| shipper.status().backup_age().is_some());
    }
    let started = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let engine = engine.clone();
            scope.spawn(move || {
                for number in 0..count / 8 {
                    put(&engine, "Orders", thread * 1_000_000 + number, 1, 1000);
                }
            });
        }
    });
    started.elapsed()
}
