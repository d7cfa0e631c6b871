//! Restores and backups in a process that is killed.
//!
//! A child writes with several threads, and restores and backs up what it writes. After the kill, all restores and backups are
//! completed when the database is opened again: a restored table is what a restore without a kill makes of the same moment, its
//! indexes are what its items imply, and no transaction is in it in part.

use std::path::Path;
use std::time::Duration;

use dynamo::operation::{
    BackupSummary, CreateBackup, ListBackups, ListTables, RestoreTableFromBackup, TableDescription,
    TableStatus,
};
use monotable_engine::{Clock, Durability, Engine, Options, SystemClock};

use super::{count, delete, renamed, restore, switch_on};
use crate::crash::process::{Child, DIRECTORY, report};
use crate::crash::workload::{LEDGER, TABLES};
use crate::crash::writer::Writer;
use crate::crash::{make_tables, open};
use crate::design::{Sortable, TableDesign};
use crate::random::Random;
use crate::requests::describe;
use crate::verify::{Items, same, verify_table};

const KILLS: usize = 6;
const KILLS_PER_DIRECTORY: usize = 10;
const THREADS: usize = 3;

#[test]
fn restores_and_backups_go_on_after_a_kill() {
    let kills = count("MONOTABLE_RESTORE_KILLS", KILLS);
    let mut random = Random::new(Random::new_seed());
    let mut seen = Seen::default();
    for first in (0..kills).step_by(KILLS_PER_DIRECTORY) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("database");
        for life in first..kills.min(first + KILLS_PER_DIRECTORY) {
            let variables = [(LIFE, (life + 1).to_string())];
            let child = Child::start("history::kills::child_that_restores", &path, &variables);
            // Killed a moment after a restore or a backup was asked for, so that it has hardly begun or is under way.
            let mut left = 1 + random.below(ASKED_MAX);
            child.wait_for(|report| {
                left -= usize::from(report.starts_with(ASKED));
                left == 0
            });
            std::thread::sleep(Duration::from_millis(random.below(10) as u64));
            let reports = child.kill();
            let asked = reports.iter().filter(|report| report.starts_with(ASKED)).count();
            let found = check(&path, &mut seen).and_then(|found| {
                let all = "all that was asked for and answered";
                if found >= asked { Ok(()) } else { Err(format!("{found} of {asked} are there: not {all}")) }
            });
            if let Err(difference) = found {
                panic!("life {life}: {difference}\nleft in {}", directory.keep().display());
            }
        }
    }
    println!("{seen:?} in {kills} lives");
    // Each life asks for one at least. Half of many kills find one under way; of a few, chance may leave one.
    let cut_off = if kills < 50 { 1 } else { kills / 2 };
    assert!(seen.restored + seen.backups >= kills && seen.cut_off >= cut_off, "{seen:?}");
}

/// Begins each report of a restore or backup that was asked for.
const ASKED: &str = "asked";
/// Each life asks for at most so many before it ends.
const ASKED_MAX: usize = 6;

/// What the kills left to be completed.
#[derive(Debug, Default)]
struct Seen {
    restored: usize,
    cut_off: usize,
    backups: usize,
}

/// Returns how many restored tables and backups were there.
fn check(path: &Path, seen: &mut Seen) -> Result<usize, String> {
    let engine = open(path).map_err(|error| error.to_string())?;
    let targets = restored_tables(&engine);
    let is_cut_off = |table: &&TableDescription| table.table_status == Some(TableStatus::Creating);
    let request = ListBackups::default();
    let backups = engine.list_backups(request).unwrap().backup_summaries;
    let is_creating =
        |backup: &&BackupSummary| backup.backup_status == Some(dynamo::operation::BackupStatus::Creating);
    seen.cut_off += targets.iter().filter(is_cut_off).count() + backups.iter().filter(is_creating).count();
    let found = targets.len() + backups.len();
    engine.keep_house().map_err(|error| error.to_string())?;
    for target in &targets {
        check_restored(&engine, target)?;
        seen.restored += 1;
    }
    for backup in backups {
        let source = design_of(backup.table_name.as_deref().unwrap());
        let target = renamed(source, "from-backup");
        let request = RestoreTableFromBackup {
            target_table_name: Some(target.name.to_owned()),
            backup_arn: backup.backup_arn.clone(),
            ..RestoreTableFromBackup::default()
        };
        engine.restore_table_from_backup(request).map_err(|error| error.to_string())?;
        engine.keep_house().map_err(|error| error.to_string())?;
        check_whole(source, &verify_table(&engine, &target)?)?;
        delete(&engine, target.name);
        let request = dynamo::operation::DeleteBackup { backup_arn: backup.backup_arn };
        engine.delete_backup(request).unwrap();
        seen.backups += 1;
    }
    engine.keep_house().map_err(|error| error.to_string())?;
    Ok(found)
}

fn restored_tables(engine: &Engine) -> Vec<TableDescription> {
    let names = engine.list_tables(ListTables::default()).unwrap().table_names;
    let tables = names.iter().map(|name| describe(engine, name).unwrap());
    tables.filter(|table| table.restore_summary.is_some()).collect()
}

fn check_restored(engine: &Engine, target: &TableDescription) -> Result<(), String> {
    let summary = target.restore_summary.as_ref().unwrap();
    let source = design_of(summary.source_table_arn.as_ref().unwrap().rsplit_once('/').unwrap().1);
    let name = target.table_name.as_ref().unwrap();
    let items = verify_table(engine, &renamed(source, name))?;
    check_whole(source, &items)?;
    let again = renamed(source, &format!("{name}-again"));
    restore(engine, source.name, again.name, summary.restore_date_time.unwrap().milliseconds)
        .and_then(|()| engine.keep_house())
        .map_err(|error| error.to_string())?;
    same(&format!("{name}, restored again"), verify_table(engine, &again)?, items)?;
    delete(engine, name);
    delete(engine, again.name);
    Ok(())
}

fn design_of(name: &str) -> &'static TableDesign {
    TABLES.iter().find(|table| table.name == name).unwrap()
}

/// The transactions write two items of the ledger alike.
fn check_whole(source: &TableDesign, items: &Items) -> Result<(), String> {
    if source.name != TABLES[LEDGER].name {
        return Ok(());
    }
    let of = |letter: &str| -> Vec<(String, Sortable, dynamo::Value)> {
        let prefix = format!("transaction-{letter}-");
        let partition = |item: &dynamo::Item| match &item["pk"] {
            dynamo::Value::S(text) => text.strip_prefix(&prefix).map(str::to_owned),
            _ => None,
        };
        let rows = items.values().filter_map(|item| {
            Some((partition(item)?, Sortable(item["sk"].clone()), item["version"].clone()))
        });
        rows.collect()
    };
    same("the two sides of transactions", of("b"), of("c"))
}

const LIFE: &str = "MONOTABLE_CHILD_LIFE";

#[test]
#[ignore = "a child process, which another test starts and kills"]
fn child_that_restores() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let life: u64 = std::env::var(LIFE).unwrap().parse().unwrap();
    let options = Options {
        durability: Durability::Interval(Duration::from_millis(10)),
        housekeeping: Some(Duration::from_millis(1)),
        reserve_bytes: 1 << 20,
        cache_bytes: 8 << 20,
        ..Options::default()
    };
    let engine = Engine::open(directory, options).unwrap();
    make_tables(&engine).unwrap();
    switch_on(&engine).unwrap();
    let started = SystemClock.now_milliseconds();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let engine = engine.clone();
            scope.spawn(move || Writer::new(engine, thread, life, 1).write_for_ever());
        }
        restore_for_ever(&engine, started, life);
    });
}

fn restore_for_ever(engine: &Engine, started: i64, life: u64) {
    let mut random = Random::new(life);
    for number in 0.. {
        std::thread::sleep(Duration::from_millis(random.below(20) as u64));
        let table = random.pick(&TABLES);
        if random.once_in(3) {
            let request = CreateBackup {
                table_name: Some(table.name.to_owned()),
                backup_name: Some(format!("backup-{number}")),
            };
            engine.create_backup(request).unwrap();
        } else {
            let lived = usize::try_from(SystemClock.now_milliseconds() - started).unwrap();
            let moment = started + random.below(lived.max(1)) as i64;
            restore(engine, table.name, &format!("restored-{life}-{number}"), moment).unwrap();
        }
        report(&format!("{ASKED} {number}"));
    }
}
