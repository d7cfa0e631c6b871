use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::catalog::CatalogChange;
use crate::commit::Changes;
use crate::layout::KeyRange;
use crate::store::Direction;
use crate::testing::{Bench, findings};

const INDEX: &str = "by-group";

/// A table with one index of everything by `group`, on disk.
fn bench(path: &Path) -> Bench {
    let bench = Bench::on_disk(path);
    let definitions = json!([
        { "AttributeName": "pk", "AttributeType": "S" },
        { "AttributeName": "group", "AttributeType": "S" },
    ]);
    let index = json!({
        "IndexName": INDEX,
        "KeySchema": [{ "AttributeName": "group", "KeyType": "HASH" }],
        "Projection": { "ProjectionType": "ALL" },
    });
    bench.ok(
        "CreateTable",
        &json!({
            "TableName": "Notes", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": definitions,
            "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }], "GlobalSecondaryIndexes": [index],
        }),
    );
    bench
}

fn item(key: &str, group: &str, pad_bytes: usize) -> Value {
    json!({ "pk": { "S": key }, "group": { "S": group }, "pad": { "S": "p".repeat(pad_bytes) } })
}

/// The values that the index has in the store.
fn values(bench: &Bench) -> Vec<Bytes> {
    let view = bench.engine.view();
    let table = view.catalog.readable_tables().next().unwrap();
    let range = KeyRange::of_collection(table.indexes[0].id);
    let (lower, upper) = range.bounds();
    let entries = view.snapshot.range(Space::Data, lower, upper, Direction::Forward);
    entries.map(|entry| entry.unwrap().1).collect()
}

fn are_references(bench: &Bench) -> Vec<bool> {
    values(bench).iter().map(|value| value[0] == REFERENCE).collect()
}

/// What a query on the index answers.
fn answer(bench: &Bench, group: &str) -> Vec<Value> {
    let request = json!({
        "TableName": "Notes", "IndexName": INDEX, "KeyConditionExpression": "#g = :g",
        "ExpressionAttributeNames": { "#g": "group" }, "ExpressionAttributeValues": { ":g": { "S": group } },
    });
    bench.ok("Query", &request)["Items"].as_array().unwrap().clone()
}

#[track_caller]
fn check(bench: &Bench) {
    assert_eq!(findings(&bench.engine), Vec::<String>::new());
}

/// Commits what changes the database behind the back of all rules.
fn tamper(bench: &Bench, change: impl FnOnce(&Arc<Table>, &mut Changes) + Send + 'static) {
    let committed = bench.engine.inner.committer.run(move |latest| {
        let table = latest.catalog.readable_tables().next().unwrap().clone();
        let mut changes = Changes::default();
        change(&table, &mut changes);
        Ok(((), changes))
    });
    committed.unwrap();
}

#[test]
fn small_items_are_copied_and_large_ones_referred_to() {
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(directory.path());
    bench.put("Notes", &item("small", "g", 100));
    assert_eq!(are_references(&bench), [false]);
    bench.put("Notes", &item("large", "g", 1_000));
    assert_eq!(values(&bench).iter().map(Bytes::len).filter(|length| *length < 20).count(), 1);
    assert_eq!(answer(&bench, "g").len(), 2);
    check(&bench);
}

#[test]
fn entries_follow_items_that_grow_and_shrink_and_move() {
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(directory.path());
    let turns = [("g", 10), ("g", 1_000), ("g", 1_001), ("h", 1_001), ("h", 10), ("g", 11), ("h", 2_000)];
    for (group, pad_bytes) in turns {
        let item = item("a", group, pad_bytes);
        bench.put("Notes", &item);
        assert_eq!(are_references(&bench), [pad_bytes > COPIED_BYTES_MAX]);
        assert_eq!(answer(&bench, group), [item]);
        check(&bench);
    }
    bench.ok("DeleteItem", &json!({ "TableName": "Notes", "Key": { "pk": { "S": "a" } } }));
    assert!(values(&bench).is_empty());
    check(&bench);
}

#[test]
fn an_index_that_had_copies_keeps_copies() {
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(directory.path());
    tamper(&bench, |table, changes| {
        let mut table = Table::clone(table);
        table.indexes[0].entries = Entries::Copy;
        changes.catalog.push(CatalogChange::Put(Arc::new(table)));
    });
    for pad_bytes in [1_000, 1_001] {
        let item = item("a", "g", pad_bytes);
        bench.put("Notes", &item);
        assert_eq!(are_references(&bench), [false]);
        assert_eq!(answer(&bench, "g"), [item]);
        check(&bench);
    }
}

#[test]
fn in_memory_a_copy_shares_the_bytes_of_its_item() {
    let item = StoredItem::from_bytes(Bytes::from(vec![0xff; 1_000]));
    let store = crate::store::MemoryStore::new();
    let snapshot = crate::store::Store::snapshot(&store);
    assert!(snapshot.shares_values());
    assert!(shown_item(&snapshot, b"key", item.as_bytes().clone()).is_ok_and(|shown| shown == item));
}

#[test]
fn a_reference_without_an_item_is_damage() {
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(directory.path());
    bench.put("Notes", &item("a", "g", 1_000));
    tamper(&bench, |table, changes| {
        let key = crate::layout::ItemKey::new(
            table.id,
            &table.schema,
            &dynamo::Item::from([("pk".to_owned(), dynamo::Value::from("a"))]),
        );
        changes.batch.remove(Space::Data, key.unwrap().in_collection(table.id));
    });
    let request = json!({ "TableName": "Notes", "IndexName": INDEX });
    assert!(
        bench.refusal("Scan", &request).starts_with("InternalServerError"),
        "{}",
        bench.refusal("Scan", &request)
    );
    let findings = findings(&bench.engine);
    assert!(
        findings.iter().any(|finding| finding.contains("refers to an item that is not there")),
        "{findings:?}"
    );
}

#[test]
fn what_is_no_reference_refers_to_nothing() {
    for reference in [&[0][..], &[0, 1], &[0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 9], &[0; 2]] {
        assert_eq!(referred_key(b"12345678", reference), None, "{reference:?}");
    }
    assert_eq!(referred_key(b"12345678", &[0, 7, 8, 0, 3]), Some(vec![7, 8, b'6', b'7', b'8']));
}
