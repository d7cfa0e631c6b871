//! Kills inside work that takes many steps: filling an index, restoring a table, backing one up, sealing everything again with a new
//! data key.
//!
//! The database is large enough that each of them takes many steps, beside threads that write. A child tells how far the work is; when it has
//! got as far as chance says, it is killed within a few milliseconds. Where the kill landed shows when the database is opened again:
//! work that is not done was hit inside. Then nothing acknowledged is missing, the work goes on to its end, and the check of everything
//! that is stored finds nothing.
//!
//! `MONOTABLE_STEP_KILLS=200` asks for more kills than a few.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::time::Duration;

use dynamo::Operation;
use monotable_engine::{Durability, Engine, KeyStatus, Options, add_data_key, check_encrypted};
use serde_json::{Value, json};

use super::process::{Child, DIRECTORY, report};
use super::{ENCRYPTED, LIFE, PLAIN, key_of, open, options};
use crate::random::Random;

const KILLS: usize = 4;
const ITEMS: usize = 12_000;
const WRITERS: usize = 2;
/// After the part of the work that chance chose, the child lives on for less than this.
const REST_MILLISECONDS: usize = 6;
const WORK: &str = "MONOTABLE_CHILD_WORK";
const TABLE: &str = "Large";

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Fill,
    Restore,
    Backup,
    Rotation,
}

const ALL: [Work; 4] = [Work::Fill, Work::Restore, Work::Backup, Work::Rotation];

#[test]
fn an_index_that_is_being_filled_when_the_process_is_killed_ends_complete() {
    kill_inside(Work::Fill, PLAIN);
}

#[test]
fn a_table_that_is_being_restored_when_the_process_is_killed_ends_complete() {
    kill_inside(Work::Restore, PLAIN);
}

#[test]
fn a_backup_that_is_being_made_when_the_process_is_killed_ends_complete() {
    kill_inside(Work::Backup, PLAIN);
}

#[test]
fn a_rotation_of_keys_goes_on_after_a_kill_and_ends_with_the_old_key_forgotten() {
    kill_inside(Work::Rotation, ENCRYPTED);
}

fn kill_inside(work: Work, name: &'static str) {
    let kills = std::env::var("MONOTABLE_STEP_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let mut database = Database { path: directory.path().join(name), acknowledged: BTreeMap::new() };
    fill(&open(&database.path).unwrap());
    let mut random = Random::new(Random::new_seed());
    let (mut inside, mut writes) = (0, 0);
    for life in 0..kills {
        let before = database.acknowledged.len();
        database.live_and_die(work, life, &mut random);
        writes += database.acknowledged.len() - before;
        match database.check(work) {
            Ok(was_inside) => inside += usize::from(was_inside),
            Err(difference) => {
                panic!("{work:?}, life {life}: {difference}\nleft in {}", directory.keep().display())
            }
        }
    }
    println!(
        "{work:?}: {kills} kills, {inside} of them inside; {writes} items were written and acknowledged"
    );
    // Three of four, or half of a few, which chance may do with as it likes.
    let wanted = if kills < 50 { kills / 2 } else { kills * 3 / 4 };
    assert!(inside >= wanted, "{work:?}: only {inside} of {kills} kills were inside");
}

/// Makes the table with its items.
fn fill(engine: &Engine) {
    let create = json!({
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
    });
    run(engine, "CreateTable", &create);
    let recovery = json!({ "PointInTimeRecoveryEnabled": true });
    let request = json!({ "TableName": TABLE, "PointInTimeRecoverySpecification": recovery });
    run(engine, "UpdateContinuousBackups", &request);
    let numbers: Vec<usize> = (0..ITEMS).collect();
    for numbers in numbers.chunks(25) {
        let puts: Vec<_> =
            numbers.iter().map(|number| json!({ "PutRequest": { "Item": item(*number, 0) } })).collect();
        run(engine, "BatchWriteItem", &json!({ "RequestItems": { TABLE: puts } }));
    }
}

fn item(number: usize, version: u64) -> Value {
    json!({
        "pk": { "S": format!("item-{number}") },
        "group": { "S": format!("group-{}", (number as u64 + version) % 50) },
        "version": { "N": version.to_string() },
        "pad": { "S": "p".repeat(number % 1_500) },
    })
}

fn run(engine: &Engine, name: &str, request: &Value) -> Value {
    try_run(engine, name, request).unwrap_or_else(|error| panic!("{name} {request}: {error}"))
}

fn try_run(engine: &Engine, name: &str, request: &Value) -> Result<Value, String> {
    let operation = Operation::parse(name, request.to_string().as_bytes()).unwrap();
    let mut body = Vec::new();
    engine.run(operation).map_err(|error| error.to_string())?.write_json(&mut body);
    Ok(serde_json::from_slice(&body).unwrap())
}

/// A database that outlives its processes.
struct Database {
    path: PathBuf,
    /// The last version of each item that was acknowledged.
    acknowledged: BTreeMap<usize, u64>,
}

impl Database {
    fn live_and_die(&mut self, work: Work, life: usize, random: &mut Random) {
        let variables = [(LIFE, (life + 1).to_string()), (WORK, format!("{work:?}"))];
        let child = Child::start("crash::steps::child_that_works", &self.path, &variables);
        let target = random.below(100);
        child.wait_for(|report| {
            let at = report.strip_prefix("at ").map(|percent| percent.parse::<usize>().unwrap());
            report == "ended" || at.is_some_and(|at| at >= target)
        });
        std::thread::sleep(Duration::from_millis(random.below(REST_MILLISECONDS) as u64));
        for report in child.kill() {
            if let Some((number, version)) =
                report.strip_prefix("done ").and_then(|done| done.split_once(' '))
            {
                self.acknowledged.insert(number.parse().unwrap(), version.parse().unwrap());
            }
        }
    }

    /// Says whether the work was not done yet, lets it be done, and looks at everything.
    fn check(&self, work: Work) -> Result<bool, String> {
        let engine = open(&self.path).map_err(|error| error.to_string())?;
        let was_inside = percent(&engine, &self.path, work).is_some_and(|percent| percent < 100);
        engine.keep_house().map_err(|error| error.to_string())?;
        if percent(&engine, &self.path, work).is_some_and(|percent| percent < 100) {
            return Err("it was not completed".to_owned());
        }
        self.check_acknowledged(&engine)?;
        check_result(&engine, &self.path, work)?;
        let found = findings(&engine);
        if !found.is_empty() {
            return Err(format!("the check found {found:?}"));
        }
        clean_up(&engine, work);
        drop(engine);
        if let Some(key) = key_of(&self.path) {
            check_encrypted(&self.path, &*key).map_err(|error| error.to_string())?;
        }
        Ok(was_inside)
    }

    fn check_acknowledged(&self, engine: &Engine) -> Result<(), String> {
        let items = items_of(engine, TABLE, None);
        if items.len() != ITEMS {
            return Err(format!("{} of {ITEMS} items are there", items.len()));
        }
        for (number, version) in &self.acknowledged {
            let item = &items[&format!("item-{number}")];
            let found: u64 = item["version"]["N"].as_str().unwrap().parse().unwrap();
            if found < *version {
                return Err(format!("item {number} has version {found}, but {version} was acknowledged"));
            }
        }
        Ok(())
    }
}

/// All items of a table or an index by their keys.
fn items_of(engine: &Engine, table: &str, index: Option<&str>) -> BTreeMap<String, Value> {
    let mut items = BTreeMap::new();
    let mut request = json!({ "TableName": table });
    if let Some(index) = index {
        request["IndexName"] = json!(index);
    }
    loop {
        let mut page = run(engine, "Scan", &request);
        for item in page["Items"].as_array_mut().unwrap().drain(..) {
            items.insert(item["pk"]["S"].as_str().unwrap().to_owned(), item);
        }
        match page.get("LastEvaluatedKey") {
            Some(last) => request["ExclusiveStartKey"] = last.clone(),
            None => return items,
        }
    }
}

fn findings(engine: &Engine) -> Vec<Value> {
    let mut reply = run(engine, "CheckData", &json!({ "Start": true }));
    while reply["Status"] != "DONE" {
        std::thread::sleep(Duration::from_millis(5));
        reply = run(engine, "CheckData", &json!({}));
    }
    reply["Findings"].as_array().cloned().unwrap_or_default()
}

/// Begins the work, in the child.
fn begin(engine: &Engine, path: &Path, work: Work) {
    match work {
        Work::Fill => {
            let index = json!({
                "IndexName": "ByGroup",
                "KeySchema": [{ "AttributeName": "group", "KeyType": "HASH" }],
                "Projection": { "ProjectionType": "ALL" },
            });
            let request = json!({
                "TableName": TABLE,
                "AttributeDefinitions": [{ "AttributeName": "group", "AttributeType": "S" }],
                "GlobalSecondaryIndexUpdates": [{ "Create": index }],
            });
            run(engine, "UpdateTable", &request);
        }
        Work::Restore => {
            let request = json!({
                "SourceTableName": TABLE, "TargetTableName": "Restored", "UseLatestRestorableTime": true,
            });
            run(engine, "RestoreTableToPointInTime", &request);
        }
        Work::Backup => {
            run(engine, "CreateBackup", &json!({ "TableName": TABLE, "BackupName": "mine" }));
        }
        Work::Rotation => add_data_key(path, &*key_of(path).unwrap()).unwrap(),
    }
}

/// How far the work is; nothing where it was not begun.
fn percent(engine: &Engine, path: &Path, work: Work) -> Option<usize> {
    // Work that has copied everything may still have changes to undo, or its end to write.
    let of = |is_done: bool, count: &Value| {
        let part = usize::try_from(count.as_u64().unwrap_or(0)).unwrap() * 100 / ITEMS;
        Some(if is_done { 100 } else { part.min(99) })
    };
    match work {
        Work::Fill => {
            let table = run(engine, "DescribeTable", &json!({ "TableName": TABLE }));
            let index = &table["Table"]["GlobalSecondaryIndexes"].as_array()?[0];
            of(index["IndexStatus"] == "ACTIVE", &index["ItemCount"])
        }
        Work::Restore => {
            let table = try_run(engine, "DescribeTable", &json!({ "TableName": "Restored" })).ok()?;
            of(table["Table"]["TableStatus"] == "ACTIVE", &table["Table"]["ItemCount"])
        }
        Work::Backup => {
            let arn = backup(engine)?;
            let backup = &run(engine, "DescribeBackup", &json!({ "BackupArn": arn }))["BackupDescription"];
            let is_done = backup["BackupDetails"]["BackupStatus"] == "AVAILABLE";
            of(is_done, &backup["SourceTableDetails"]["ItemCount"])
        }
        Work::Rotation => {
            let keys = KeyStatus::of(path).unwrap().unwrap().data_keys;
            let all: u64 = keys.iter().map(|(_, pages)| pages).sum();
            let new = keys.last().unwrap().1;
            let part = usize::try_from(new * 100 / all.max(1)).unwrap();
            Some(if keys.len() == 1 { 100 } else { part.min(99) })
        }
    }
}

fn backup(engine: &Engine) -> Option<Value> {
    let found = run(engine, "ListBackups", &json!({ "TableName": TABLE }));
    Some(found["BackupSummaries"].as_array()?.first()?["BackupArn"].clone())
}

/// What the work made is what it should be.
fn check_result(engine: &Engine, path: &Path, work: Work) -> Result<(), String> {
    match work {
        Work::Fill => {
            let has_index = percent(engine, path, work).is_some();
            let same =
                !has_index || items_of(engine, TABLE, Some("ByGroup")) == items_of(engine, TABLE, None);
            if same { Ok(()) } else { Err("the index has other items than the table".to_owned()) }
        }
        Work::Restore | Work::Backup => check_copy(engine, path, work),
        Work::Rotation => match KeyStatus::of(path).unwrap().unwrap().data_keys.len() {
            1 => Ok(()),
            keys => Err(format!("{keys} data keys are left")),
        },
    }
}

/// The copy is what another one of the same moment is.
fn check_copy(engine: &Engine, path: &Path, work: Work) -> Result<(), String> {
    if percent(engine, path, work).is_none() {
        return Ok(());
    }
    if work == Work::Backup {
        let request = json!({ "TargetTableName": "Restored", "BackupArn": backup(engine).unwrap() });
        run(engine, "RestoreTableFromBackup", &request);
        engine.keep_house().map_err(|error| error.to_string())?;
    }
    let table = run(engine, "DescribeTable", &json!({ "TableName": "Restored" }));
    let moment = match work {
        Work::Backup => {
            let arn = backup(engine).unwrap();
            let described = run(engine, "DescribeBackup", &json!({ "BackupArn": arn }));
            described["BackupDescription"]["BackupDetails"]["BackupCreationDateTime"].clone()
        }
        _ => table["Table"]["RestoreSummary"]["RestoreDateTime"].clone(),
    };
    let request =
        json!({ "SourceTableName": TABLE, "TargetTableName": "RestoredAgain", "RestoreDateTime": moment });
    run(engine, "RestoreTableToPointInTime", &request);
    engine.keep_house().map_err(|error| error.to_string())?;
    let same = items_of(engine, "Restored", None) == items_of(engine, "RestoredAgain", None);
    for name in ["Restored", "RestoredAgain"] {
        run(engine, "DeleteTable", &json!({ "TableName": name }));
    }
    engine.keep_house().map_err(|error| error.to_string())?;
    if same { Ok(()) } else { Err("another copy of the same moment differs".to_owned()) }
}

/// Makes room for the next life.
fn clean_up(engine: &Engine, work: Work) {
    match work {
        Work::Fill => {
            let update = json!([{ "Delete": { "IndexName": "ByGroup" } }]);
            let request = json!({ "TableName": TABLE, "GlobalSecondaryIndexUpdates": update });
            // It is not there if the child was killed before it began.
            let _ = try_run(engine, "UpdateTable", &request);
        }
        Work::Backup => {
            if let Some(arn) = backup(engine) {
                run(engine, "DeleteBackup", &json!({ "BackupArn": arn }));
            }
        }
        Work::Restore | Work::Rotation => {}
    }
    engine.keep_house().unwrap();
}

#[test]
#[ignore = "a child process, which another test starts and kills"]
fn child_that_works() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let path = Path::new(&directory);
    let life: u64 = std::env::var(LIFE).unwrap().parse().unwrap();
    let name = std::env::var(WORK).unwrap();
    let work = ALL.into_iter().find(|work| format!("{work:?}") == name).unwrap();
    let durability = Durability::Interval(Duration::from_millis(5));
    let options = Options { durability, ..options(path, Some(Duration::from_millis(1))) };
    let engine = Engine::open(path, options).unwrap();
    let pause = RwLock::new(());
    std::thread::scope(|scope| {
        for thread in 0..WRITERS {
            let (engine, pause) = (engine.clone(), &pause);
            scope.spawn(move || write_for_ever(&engine, thread, life, pause));
        }
        // A backup is of a commit, a moment is a millisecond: both are the same if nobody writes around it.
        let paused = pause.write().unwrap();
        std::thread::sleep(Duration::from_millis(3));
        begin(&engine, path, work);
        std::thread::sleep(Duration::from_millis(3));
        drop(paused);
        loop {
            match percent(&engine, path, work) {
                Some(100) => report("ended"),
                at => report(&format!("at {}", at.unwrap_or(0))),
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

/// No two threads write the same items.
fn write_for_ever(engine: &Engine, thread: usize, life: u64, pause: &RwLock<()>) {
    let mut random = Random::new(life * 100 + thread as u64);
    for version in life * 1_000_000.. {
        let number = random.below(ITEMS / WRITERS) * WRITERS + thread;
        let writing = pause.read().unwrap();
        run(engine, "PutItem", &json!({ "TableName": TABLE, "Item": item(number, version) }));
        drop(writing);
        report(&format!("done {number} {version}"));
    }
}
