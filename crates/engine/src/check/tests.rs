use serde_json::json;

use crate::store::{Batch, Direction, Space};
use crate::testing::{Bench, findings, simple_table};

fn filled(bench: &Bench) {
    for round in 0..3 {
        fill(bench, round);
    }
    bench.keep_house();
}

/// Makes a table with everything that a table can have, or writes to it once more.
fn fill(bench: &Bench, round: usize) {
    if round == 0 {
        make_table(bench);
    }
    for number in 0..20 {
        let item = json!({
            "pk": { "S": format!("item-{number}") },
            "day": { "S": format!("day-{}", (number + round) % 7) },
            "ttl": { "N": (1_900_000_000 + number).to_string() },
            "pad": { "S": "p".repeat(40 * number) },
        });
        bench.put("Orders", &item);
    }
    bench.ok("DeleteItem", &json!({ "TableName": "Orders", "Key": { "pk": { "S": "item-3" } } }));
    bench.ok("CreateBackup", &json!({ "TableName": "Orders", "BackupName": "mine" }));
    bench.keep_house();
}

/// A table with everything that a table can have.
pub(super) fn make_table(bench: &Bench) {
    let mut table = simple_table("Orders");
    table["AttributeDefinitions"] = json!([
        { "AttributeName": "pk", "AttributeType": "S" },
        { "AttributeName": "day", "AttributeType": "S" },
    ]);
    table["GlobalSecondaryIndexes"] = json!([{
        "IndexName": "byDay",
        "KeySchema": [{ "AttributeName": "day", "KeyType": "HASH" }],
        "Projection": { "ProjectionType": "KEYS_ONLY" },
    }]);
    table["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" });
    bench.ok("CreateTable", &table);
    let expiry = json!({ "Enabled": true, "AttributeName": "ttl" });
    bench.ok("UpdateTimeToLive", &json!({ "TableName": "Orders", "TimeToLiveSpecification": expiry }));
    let recovery = json!({ "PointInTimeRecoveryEnabled": true });
    let request = json!({ "TableName": "Orders", "PointInTimeRecoverySpecification": recovery });
    bench.ok("UpdateContinuousBackups", &request);
    bench.keep_house();
}

#[test]
fn a_sound_database_has_no_findings() {
    let directory = tempfile::tempdir().unwrap();
    for bench in [Bench::in_memory(), Bench::on_disk(directory.path())] {
        filled(&bench);
        assert_eq!(findings(&bench.engine), Vec::<String>::new());
    }
}

/// Changes the first entry of a collection behind the engine's back.
fn change(bench: &Bench, space: Space, id: u32, value: Option<&[u8]>) {
    let view = bench.engine.view();
    let range = crate::layout::KeyRange::of_collection(crate::layout::CollectionId(id));
    let (lower, upper) = range.bounds();
    let (key, _) = view.snapshot.range(space, lower, upper, Direction::Forward).next().unwrap().unwrap();
    drop(view.snapshot);
    let mut batch = Batch::default();
    match value {
        Some(value) => batch.put(space, key, value.to_vec()),
        None => batch.remove(space, key),
    }
    bench.engine.inner.committer.store().apply(batch).unwrap();
}

#[test]
fn what_does_not_fit_together_is_named() {
    let named = |space: Space, of: fn(&crate::table::Table) -> u32, value: Option<&[u8]>| {
        let bench = Bench::in_memory();
        filled(&bench);
        let table = bench.engine.catalog().table("Orders").unwrap().clone();
        change(&bench, space, of(&table), value);
        findings(&bench.engine).join("\n")
    };
    let lost = named(Space::Data, |table| table.id.0, None);
    assert!(lost.contains("table Orders, index byDay: 19 entries of"), "{lost}");
    assert!(lost.contains("table Orders, expiry list: 19 entries, but the items imply 18"), "{lost}");
    assert!(lost.contains("table Orders, stream: record") && lost.contains("did not lead to"), "{lost}");
    let damaged = named(Space::Data, |table| table.id.0, Some(b"what is this?"));
    assert!(damaged.contains("cannot be read") || damaged.contains("has another key"), "{damaged}");
    let entry = named(Space::Data, |table| table.indexes[0].id.0, None);
    assert!(entry.contains("table Orders, index byDay: the entry of the item under"), "{entry}");
    let expiry = named(Space::Data, |table| table.time_to_live.as_ref().unwrap().id.0, None);
    assert!(expiry.contains("is not in the expiry list"), "{expiry}");
    let record = named(Space::Log, |table| table.stream.as_ref().unwrap().id.0, Some(b"?"));
    assert!(record.contains("table Orders, stream: record"), "{record}");
    let change = named(Space::Log, |table| table.history.unwrap().0, Some(b"?"));
    assert!(change.contains("table Orders, history: the database is damaged"), "{change}");
}
