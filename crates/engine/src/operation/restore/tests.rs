#![allow(clippy::float_cmp, clippy::cast_precision_loss, reason = "moments are whole milliseconds")]

use serde_json::{Value, json};

use crate::clock::ManualClock;
use crate::engine::Engine;
use crate::options::Options;
use crate::store::{Direction, Space};
use crate::testing::{Bench, START_MILLISECONDS, simple_table};

const DAY_SECONDS: i64 = 24 * 60 * 60;

fn switch(bench: &Bench, table: &str, specification: &Value) -> Value {
    let request = json!({ "TableName": table, "PointInTimeRecoverySpecification": specification });
    let reply = bench.ok("UpdateContinuousBackups", &request);
    reply["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"].clone()
}

fn switch_on(bench: &Bench, table: &str) {
    switch(bench, table, &json!({ "PointInTimeRecoveryEnabled": true }));
}

fn window(bench: &Bench, table: &str) -> (f64, f64) {
    let reply = bench.ok("DescribeContinuousBackups", &json!({ "TableName": table }));
    let window = &reply["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"];
    let time = |name: &str| window[name].as_f64().unwrap();
    (time("EarliestRestorableDateTime"), time("LatestRestorableDateTime"))
}

fn put(bench: &Bench, key: &str, value: i64) {
    bench.put("Orders", &json!({ "pk": { "S": key }, "v": { "N": value.to_string() } }));
}

fn delete(bench: &Bench, key: &str) {
    bench.ok("DeleteItem", &json!({ "TableName": "Orders", "Key": { "pk": { "S": key } } }));
}

fn now_seconds(bench: &Bench) -> f64 {
    crate::clock::Clock::now_milliseconds(&*bench.clock) as f64 / 1000.0
}

fn restore(bench: &Bench, target: &str, seconds: f64) {
    let request =
        json!({ "SourceTableName": "Orders", "TargetTableName": target, "RestoreDateTime": seconds });
    bench.ok("RestoreTableToPointInTime", &request);
    bench.keep_house();
    assert_eq!(bench.describe(target)["TableStatus"], "ACTIVE");
}

/// Keys and values of all items of a table.
fn items(bench: &Bench, table: &str) -> Vec<(String, String)> {
    let reply = bench.ok("Scan", &json!({ "TableName": table }));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = reply["Items"].as_array().unwrap().iter();
    let mut items: Vec<_> = items.map(|item| (text(&item["pk"]["S"]), text(&item["v"]["N"]))).collect();
    items.sort();
    items
}

fn pairs(pairs: &[(&str, i64)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect()
}

/// How many entries the store has in the log.
fn log_length(bench: &Bench) -> usize {
    use std::ops::Bound::Unbounded;
    bench.engine.view().snapshot.range(Space::Log, Unbounded, Unbounded, Direction::Forward).count()
}

#[test]
fn a_table_comes_back_as_it_was_at_each_moment() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    put(&bench, "before", 1);
    switch_on(&bench, "Orders");
    let mut moments = Vec::new();
    let mut remember = |bench: &Bench| {
        moments.push((now_seconds(bench), items(bench, "Orders")));
        bench.clock.advance_seconds(1);
    };
    remember(&bench);
    put(&bench, "a", 1);
    remember(&bench);
    put(&bench, "a", 2);
    delete(&bench, "before");
    remember(&bench);
    delete(&bench, "a");
    put(&bench, "b", 3);
    remember(&bench);
    put(&bench, "before", 4);
    for (place, (seconds, expected)) in moments.iter().enumerate() {
        let target = format!("restored-{place}");
        restore(&bench, &target, *seconds);
        assert_eq!(items(&bench, &target), *expected, "at {seconds}");
        assert_eq!(bench.describe(&target)["ItemCount"], expected.len());
    }
}

#[test]
fn a_restore_shows_nothing_of_writes_that_come_after_it_was_asked_for() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    switch_on(&bench, "Orders");
    put(&bench, "a", 1);
    let request =
        json!({ "SourceTableName": "Orders", "TargetTableName": "copy", "UseLatestRestorableTime": true });
    let reply = bench.ok("RestoreTableToPointInTime", &request);
    assert_eq!(reply["TableDescription"]["RestoreSummary"]["RestoreInProgress"], true);
    // In the same millisecond, too.
    put(&bench, "a", 2);
    put(&bench, "b", 2);
    assert_eq!(bench.describe("copy")["TableStatus"], "CREATING");
    let read = json!({ "TableName": "copy", "Key": { "pk": { "S": "a" } } });
    assert!(bench.refusal("GetItem", &read).starts_with("ResourceNotFoundException"));
    bench.keep_house();
    assert_eq!(items(&bench, "copy"), pairs(&[("a", 1)]));
    assert_eq!(bench.describe("copy")["RestoreSummary"]["RestoreInProgress"], false);
}

#[test]
fn history_is_trimmed_by_age_and_the_earliest_moment_says_so() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    switch(&bench, "Orders", &json!({ "PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 1 }));
    let start = now_seconds(&bench);
    put(&bench, "a", 1);
    bench.clock.advance_seconds(DAY_SECONDS / 2);
    put(&bench, "a", 2);
    bench.keep_house();
    assert_eq!((window(&bench, "Orders"), log_length(&bench)), ((start, now_seconds(&bench)), 2));
    bench.clock.advance_seconds(DAY_SECONDS / 2 + 60);
    bench.keep_house();
    assert_eq!(window(&bench, "Orders"), (start + 60.0, now_seconds(&bench)));
    assert_eq!(log_length(&bench), 1);
    restore(&bench, "early", start + 60.0);
    assert_eq!(items(&bench, "early"), pairs(&[("a", 1)]));
    let request = json!({ "SourceTableName": "Orders", "TargetTableName": "too-early", "RestoreDateTime": start + 59.0 });
    assert!(bench.refusal("RestoreTableToPointInTime", &request).starts_with("InvalidRestoreTimeException"));
    // A longer period from now on does not bring back what the shorter one let go.
    switch_on(&bench, "Orders");
    assert_eq!(window(&bench, "Orders").0, start + 60.0);
    // Nor does a clock that goes back.
    bench.clock.advance_seconds(-600);
    assert_eq!(window(&bench, "Orders").0, start + 60.0);
}

#[test]
fn times_never_go_back_though_the_clock_does() {
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::on_disk(directory.path());
    bench.table("Orders");
    switch_on(&bench, "Orders");
    bench.clock.advance_seconds(100);
    put(&bench, "a", 1);
    let later = now_seconds(&bench);
    drop(bench);
    // The clock of this bench starts a hundred seconds earlier.
    let bench = Bench::on_disk(directory.path());
    put(&bench, "a", 2);
    assert_eq!(window(&bench, "Orders").1, later);
    bench.clock.advance_seconds(200);
    put(&bench, "a", 3);
    restore(&bench, "first", later - 1.0);
    assert_eq!(items(&bench, "first"), []);
    restore(&bench, "second", later);
    assert_eq!(items(&bench, "second"), pairs(&[("a", 2)]));
}

#[test]
fn what_a_restore_reads_is_not_trimmed_or_emptied_under_it() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    switch(&bench, "Orders", &json!({ "PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 1 }));
    put(&bench, "a", 1);
    let moment = now_seconds(&bench);
    bench.clock.advance_seconds(1);
    put(&bench, "a", 2);
    put(&bench, "b", 2);
    bench.clock.advance_seconds(1);
    let request = |target: &str| json!({ "SourceTableName": "Orders", "TargetTableName": target, "RestoreDateTime": moment });
    bench.ok("RestoreTableToPointInTime", &request("first"));
    bench.ok("RestoreTableToPointInTime", &request("second"));
    bench.clock.advance_seconds(3 * DAY_SECONDS);
    // Recovery is switched off, items go on changing, and the table goes.
    switch(&bench, "Orders", &json!({ "PointInTimeRecoveryEnabled": false }));
    put(&bench, "a", 3);
    delete(&bench, "b");
    bench.ok("DeleteTable", &json!({ "TableName": "Orders" }));
    bench.keep_house();
    for target in ["first", "second"] {
        assert_eq!(items(&bench, target), pairs(&[("a", 1)]), "{target}");
    }
    assert_eq!(log_length(&bench), 0, "the history is gone once nobody needs it");
    assert!(bench.engine.catalog().garbage().is_none());
}

#[test]
fn a_history_that_was_kept_for_a_copy_goes_with_it() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    put(&bench, "a", 1);
    bench.ok("CreateBackup", &json!({ "TableName": "Orders", "BackupName": "mine" }));
    put(&bench, "a", 2);
    assert_eq!(log_length(&bench), 1);
    bench.keep_house();
    put(&bench, "a", 3);
    assert_eq!(log_length(&bench), 0);
}

#[test]
fn a_backup_has_the_items_of_its_moment_and_outlives_its_table() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    for number in 0..1200 {
        put(&bench, &format!("item-{number:04}"), number);
    }
    let before = items(&bench, "Orders");
    let reply = bench.ok("CreateBackup", &json!({ "TableName": "Orders", "BackupName": "mine" }));
    let arn = reply["BackupDetails"]["BackupArn"].clone();
    assert_eq!(reply["BackupDetails"]["BackupStatus"], "CREATING");
    assert!(bench.refusal("DeleteBackup", &json!({ "BackupArn": arn })).starts_with("BackupInUseException"));
    for number in (0..1200).step_by(3) {
        put(&bench, &format!("item-{number:04}"), -1);
        delete(&bench, &format!("item-{:04}", number + 1));
        put(&bench, &format!("new-{number}"), 0);
    }
    bench.ok("DeleteTable", &json!({ "TableName": "Orders" }));
    bench.keep_house();
    let described = bench.ok("DescribeBackup", &json!({ "BackupArn": arn }))["BackupDescription"].clone();
    assert_eq!(described["BackupDetails"]["BackupStatus"], "AVAILABLE");
    assert_eq!(described["SourceTableDetails"]["ItemCount"], 1200);
    bench.ok("RestoreTableFromBackup", &json!({ "TargetTableName": "back", "BackupArn": arn }));
    assert!(bench.refusal("DeleteBackup", &json!({ "BackupArn": arn })).starts_with("BackupInUseException"));
    bench.keep_house();
    assert_eq!(items(&bench, "back"), before);
    let deleted = bench.ok("DeleteBackup", &json!({ "BackupArn": arn }));
    assert_eq!(deleted["BackupDescription"]["BackupDetails"]["BackupStatus"], "DELETED");
    assert!(
        bench.refusal("DescribeBackup", &json!({ "BackupArn": arn })).starts_with("BackupNotFoundException")
    );
}

#[test]
fn a_deleted_table_with_recovery_leaves_a_backup_for_35_days() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    switch_on(&bench, "Orders");
    put(&bench, "a", 1);
    bench.ok("DeleteTable", &json!({ "TableName": "Orders" }));
    bench.keep_house();
    let list =
        |kind: &str| bench.ok("ListBackups", &json!({ "BackupType": kind }))["BackupSummaries"].clone();
    assert_eq!(list("USER"), json!([]));
    let backup = list("SYSTEM")[0].clone();
    assert_eq!(backup["BackupName"], "Orders$DeletedTableBackup");
    assert_eq!(backup["BackupExpiryDateTime"], (START_MILLISECONDS / 1000 + 35 * DAY_SECONDS) as f64);
    let request = json!({ "TargetTableName": "Orders", "BackupArn": backup["BackupArn"] });
    bench.ok("RestoreTableFromBackup", &request);
    bench.keep_house();
    assert_eq!(items(&bench, "Orders"), pairs(&[("a", 1)]));
    bench.clock.advance_seconds(35 * DAY_SECONDS);
    bench.keep_house();
    assert_eq!(list("ALL"), json!([]));
}

#[test]
fn indexes_come_along_or_are_left_out_and_are_whole() {
    let bench = Bench::in_memory();
    let mut table = simple_table("Orders");
    table["AttributeDefinitions"] = json!([
        { "AttributeName": "pk", "AttributeType": "S" },
        { "AttributeName": "v", "AttributeType": "N" },
        { "AttributeName": "w", "AttributeType": "S" },
    ]);
    let index = |name: &str, attribute: &str| {
        json!({
            "IndexName": name,
            "KeySchema": [{ "AttributeName": attribute, "KeyType": "HASH" }],
            "Projection": { "ProjectionType": "ALL" },
        })
    };
    table["GlobalSecondaryIndexes"] = json!([index("byV", "v"), index("byW", "w")]);
    bench.ok("CreateTable", &table);
    switch_on(&bench, "Orders");
    put(&bench, "a", 1);
    let moment = now_seconds(&bench);
    bench.clock.advance_seconds(1);
    put(&bench, "a", 2);
    put(&bench, "b", 2);
    restore(&bench, "whole", moment);
    assert_eq!(bench.keys("whole", Some("byV")), ["a"]);
    assert_eq!(bench.describe("whole")["GlobalSecondaryIndexes"].as_array().unwrap().len(), 2);
    let request = |indexes: Value| {
        json!({
            "SourceTableName": "Orders",
            "TargetTableName": "part",
            "RestoreDateTime": moment,
            "GlobalSecondaryIndexOverride": indexes,
        })
    };
    let refusal = bench.refusal("RestoreTableToPointInTime", &request(json!([index("byV", "w")])));
    assert!(refusal.contains("Index: byV"), "{refusal}");
    bench.ok("RestoreTableToPointInTime", &request(json!([index("byV", "v")])));
    bench.keep_house();
    let part = bench.describe("part");
    assert_eq!(part["GlobalSecondaryIndexes"].as_array().unwrap().len(), 1);
    assert_eq!(part["AttributeDefinitions"].as_array().unwrap().len(), 2);
    assert_eq!(part["GlobalSecondaryIndexes"][0]["ItemCount"], 1);
    assert_eq!(bench.keys("part", Some("byV")), ["a"]);
}

#[test]
fn a_restore_that_is_cut_off_goes_on_when_the_database_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let open = |seconds: i64| {
        let clock = std::sync::Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS + seconds * 1000));
        let options =
            Options { clock: clock.clone(), housekeeping: None, reserve_bytes: 0, ..Options::default() };
        Bench { engine: Engine::open(directory.path(), options).unwrap(), clock }
    };
    let bench = open(0);
    bench.table("Orders");
    switch_on(&bench, "Orders");
    put(&bench, "a", 1);
    put(&bench, "b", 1);
    drop(bench);
    let bench = open(10);
    put(&bench, "a", 2);
    delete(&bench, "b");
    let request = json!({ "SourceTableName": "Orders", "TargetTableName": "copy", "RestoreDateTime": START_MILLISECONDS / 1000 + 5 });
    bench.ok("RestoreTableToPointInTime", &request);
    let mut steps = 0;
    let mut bench = bench;
    while bench.describe("copy")["TableStatus"] == "CREATING" {
        // One step of each kind, then the process ends.
        bench.engine.inner.keep_house_once().unwrap();
        steps += 1;
        put(&bench, "a", 100 + steps);
        drop(bench);
        bench = open(20 + steps);
    }
    assert_eq!(steps, 2, "one for the items, one for the changes");
    assert_eq!(items(&bench, "copy"), pairs(&[("a", 1), ("b", 1)]));
}
