//! Entries and records that leave a database make the same database elsewhere.

use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::options::Options;
use crate::testing::Bench;

const MEGABYTE: u64 = 1 << 20;

/// A table with an index, a stream, an expiry and a transaction with a token.
fn fill(bench: &Bench) {
    bench.ok(
        "CreateTable",
        &json!({
            "TableName": "Orders",
            "AttributeDefinitions": [
                { "AttributeName": "pk", "AttributeType": "S" },
                { "AttributeName": "day", "AttributeType": "S" },
            ],
            "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
            "GlobalSecondaryIndexes": [{
                "IndexName": "ByDay",
                "KeySchema": [{ "AttributeName": "day", "KeyType": "HASH" }],
                "Projection": { "ProjectionType": "ALL" },
            }],
            "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" },
            "BillingMode": "PAY_PER_REQUEST",
        }),
    );
    bench.ok(
        "UpdateTimeToLive",
        &json!({
            "TableName": "Orders",
            "TimeToLiveSpecification": { "Enabled": true, "AttributeName": "ttl" },
        }),
    );
    for number in 0..50 {
        put(bench, number);
    }
    bench.ok("TransactWriteItems", &transaction());
}

fn transaction() -> Value {
    json!({
        "ClientRequestToken": "once",
        "TransactItems": [{ "Update": {
            "TableName": "Orders",
            "Key": { "pk": { "S": "counter" } },
            "UpdateExpression": "ADD amount :one",
            "ExpressionAttributeValues": { ":one": { "N": "1" } },
        }}],
    })
}

fn put(bench: &Bench, number: usize) {
    let item = json!({
        "pk": { "S": format!("order {number}") },
        "day": { "S": format!("day {}", number % 7) },
        "ttl": { "N": "4000000000" },
    });
    bench.put("Orders", &item);
}

fn entries(engine: &Engine) -> Vec<Entry> {
    engine.freeze().unwrap().entries().collect::<Result<_, _>>().unwrap()
}

fn load(path: &Path, frozen: &Frozen, records: &[CommitRecord]) {
    let mut loading = Loading::begin(path).unwrap();
    let entries: Vec<Entry> = frozen.entries().collect::<Result<_, _>>().unwrap();
    for step in entries.chunks(10) {
        loading.put(step.to_vec()).unwrap();
    }
    for record in records {
        loading.apply(record).unwrap();
    }
    loading.finish(records.last().map_or(frozen.commit(), CommitRecord::commit)).unwrap();
}

#[test]
fn a_loaded_database_is_the_same_and_goes_on() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bench = Bench::on_disk(first.path());
    fill(&bench);
    bench.engine.identity("first").unwrap();
    let frozen = bench.engine.freeze().unwrap();
    load(second.path(), &frozen, &[]);

    let copy = Bench::on_disk(second.path());
    assert_eq!(entries(&copy.engine), entries(&bench.engine));
    assert_eq!(copy.engine.freeze().unwrap().commit(), frozen.commit());
    assert_eq!(copy.engine.identity("second").unwrap(), "second", "a copy is another database");
    assert_eq!(copy.describe("Orders")["ItemCount"], bench.describe("Orders")["ItemCount"]);
    // The token is known, the index answers, and new stream records come after the old ones.
    copy.ok("TransactWriteItems", &transaction());
    let counter = copy.ok("GetItem", &json!({ "TableName": "Orders", "Key": { "pk": { "S": "counter" } } }));
    assert_eq!(counter["Item"]["amount"]["N"], "1");
    assert_eq!(copy.keys("Orders", Some("ByDay")).len(), 50);
    let log = |bench: &Bench| {
        entries(&bench.engine).into_iter().filter(|entry| entry.space == 1).collect::<Vec<_>>()
    };
    let before = log(&copy);
    put(&copy, 99);
    let after = log(&copy);
    assert_eq!(after[..before.len()], before);
    assert_eq!(after.len(), before.len() + 1);
}

#[test]
fn a_database_that_was_not_loaded_to_its_end_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let loading = Loading::begin(directory.path()).unwrap();
    assert!(Loading::begin(directory.path()).err().unwrap().is_locked());
    drop(loading);
    let refused = Engine::open(directory.path(), Options::default()).err().unwrap().to_string();
    assert!(refused.contains("was not completed"), "{refused}");
    // It can be done again, and then it is one.
    Loading::begin(directory.path()).unwrap().finish(7).unwrap();
    let again = Loading::begin(directory.path()).err().unwrap().to_string();
    assert!(again.contains("holds a database already"), "{again}");
    let bench = Bench::on_disk(directory.path());
    assert_eq!(bench.engine.freeze().unwrap().commit(), 7);
    bench.table("Orders");
}

#[test]
fn a_directory_with_other_things_is_not_loaded_into() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("letter.txt"), "dear").unwrap();
    let refused = Loading::begin(directory.path()).err().unwrap().to_string();
    assert!(refused.contains("letter.txt"), "{refused}");
}

#[test]
fn records_after_a_snapshot_lead_to_the_present() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bench = Bench::on_disk(first.path());
    fill(&bench);
    bench.engine.start_shipping(MEGABYTE, 0).unwrap();
    let base = bench.engine.freeze().unwrap();
    bench.table("Later");
    for number in 50..70 {
        put(&bench, number);
        bench.clock.advance_seconds(1);
    }
    bench.ok("DeleteItem", &json!({ "TableName": "Orders", "Key": { "pk": { "S": "order 3" } } }));
    let now = bench.engine.freeze().unwrap();
    let records = now.records_after(base.place().unwrap().position, usize::MAX).unwrap();
    assert_eq!(records.len(), 22);
    let mut place = base.place().unwrap();
    for record in &records {
        assert!(record.follows(place), "{} follows {place:?}", record.position());
        assert!(record.time_milliseconds() > base.time_milliseconds());
        place = record.place();
    }
    assert_eq!(Some(place), now.place());
    load(second.path(), &base, &records);
    assert_eq!(entries(&Bench::on_disk(second.path()).engine), entries(&bench.engine));
}

#[test]
fn the_log_goes_on_after_a_restart_and_notices_what_it_missed() {
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::on_disk(directory.path());
    bench.engine.start_shipping(MEGABYTE, 0).unwrap();
    bench.table("Orders");
    let place = bench.engine.freeze().unwrap().place().unwrap();
    drop(bench);
    let bench = Bench::on_disk(directory.path());
    bench.engine.start_shipping(MEGABYTE, 0).unwrap();
    bench.table("Others");
    let frozen = bench.engine.freeze().unwrap();
    assert!(frozen.records_after(place.position, usize::MAX).unwrap()[0].follows(place));
    let place = frozen.place().unwrap();
    drop((frozen, bench));
    // Without shipping.
    Bench::on_disk(directory.path()).table("Unseen");
    let bench = Bench::on_disk(directory.path());
    bench.engine.start_shipping(MEGABYTE, 0).unwrap();
    bench.table("Seen");
    let records = bench.engine.freeze().unwrap().records_after(place.position, usize::MAX).unwrap();
    assert!(!records[0].follows(place), "a commit is missing before it");
    assert!(records[1].follows(records[0].place()));
}

#[test]
fn a_full_log_leaves_a_gap_and_goes_on_once_it_was_shipped() {
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::on_disk(directory.path());
    bench.table("Orders");
    bench.engine.start_shipping(10_000, 0).unwrap();
    let item =
        |number: usize| json!({ "pk": { "S": number.to_string() }, "text": { "S": "x".repeat(1000) } });
    for number in 0..50 {
        bench.put("Orders", &item(number));
    }
    let full = bench.engine.log_state().unwrap();
    assert!(full.is_full && full.waiting_bytes <= 10_000, "{full:?}");
    let records = bench.engine.freeze().unwrap().records_after(0, usize::MAX).unwrap();
    assert!((5..=10).contains(&records.len()), "{}", records.len());

    // A snapshot of now is where the log goes on, if there is room again before the next write.
    bench.engine.forget_records(records.last().unwrap().position()).unwrap();
    let base = bench.engine.freeze().unwrap();
    bench.put("Orders", &item(99));
    let state = bench.engine.log_state().unwrap();
    assert!(!state.is_full, "{state:?}");
    let later =
        bench.engine.freeze().unwrap().records_after(base.place().unwrap().position, usize::MAX).unwrap();
    assert!(later[0].follows(base.place().unwrap()));
    assert!(!later[0].follows(records.last().unwrap().place()));
}

#[test]
fn forgotten_records_are_gone_and_the_log_knows_its_place_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::on_disk(directory.path());
    bench.engine.start_shipping(MEGABYTE, 0).unwrap();
    bench.table("Orders");
    let place = bench.engine.freeze().unwrap().place().unwrap();
    bench.engine.forget_records(place.position).unwrap();
    let left = bench.engine.freeze().unwrap().records_after(0, usize::MAX).unwrap();
    assert_eq!(left.len(), 1, "the mark that forgetting leaves");
    assert!(left[0].is_empty() && left[0].follows(place));
    drop(bench);
    let bench = Bench::on_disk(directory.path());
    bench.engine.start_shipping(MEGABYTE, 0).unwrap();
    bench.table("Others");
    let records = bench.engine.freeze().unwrap().records_after(place.position, usize::MAX).unwrap();
    assert!(records[0].follows(place) && records[1].follows(records[0].place()));
}

#[test]
fn times_in_the_log_never_go_back() {
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::on_disk(directory.path());
    bench.engine.start_shipping(MEGABYTE, 0).unwrap();
    bench.table("Orders");
    bench.clock.advance_seconds(-60);
    bench.table("Others");
    let records = bench.engine.freeze().unwrap().records_after(0, usize::MAX).unwrap();
    assert!(records.is_sorted_by_key(CommitRecord::time_milliseconds));
    drop(bench);
    let bench = Bench::on_disk(directory.path());
    let far = crate::testing::START_MILLISECONDS + 1_000_000;
    bench.engine.start_shipping(MEGABYTE, far).unwrap();
    bench.table("More");
    assert!(bench.engine.freeze().unwrap().time_milliseconds() >= far);
}

#[test]
fn bytes_that_are_no_record_are_not_read_as_one() {
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::on_disk(directory.path());
    bench.engine.start_shipping(MEGABYTE, 0).unwrap();
    bench.table("Orders");
    let records = bench.engine.freeze().unwrap().records_after(0, usize::MAX).unwrap();
    let (before, record) = (records[0].place(), &records[1]);
    assert!(record.follows(before));
    for length in 0..record.bytes().len() {
        let cut = CommitRecord::parse(record.position(), record.bytes().slice(..length));
        assert!(cut.is_none_or(|cut| !cut.follows(before)), "{length}");
    }
    for place in 0..record.bytes().len() {
        let mut bytes = record.bytes().to_vec();
        bytes[place] ^= 1;
        let changed = CommitRecord::parse(record.position(), bytes.into());
        // What stood before it in the log is not part of a commit.
        assert!(
            (16..24).contains(&place) || changed.is_none_or(|changed| !changed.follows(before)),
            "{place}"
        );
    }
}

#[test]
fn a_database_in_memory_is_not_backed_up() {
    let bench = Bench::in_memory();
    assert!(bench.engine.freeze().is_err());
    assert!(bench.engine.start_shipping(MEGABYTE, 0).is_err());
}
