use serde_json::{Value, json};

use super::*;
use crate::options::Options;
use crate::testing::Bench;

const LIMIT_BYTES: u64 = 2_000;

/// A table with a local index that holds whole items, and room for so little in a collection.
fn bench() -> Bench {
    let bench =
        Bench::in_memory_with(Options { item_collection_bytes_max: LIMIT_BYTES, ..Options::default() });
    create_table(&bench);
    bench
}

fn create_table(bench: &Bench) {
    bench.ok(
        "CreateTable",
        &json!({
            "TableName": "Orders",
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "N"},
                {"AttributeName": "day", "AttributeType": "S"}
            ],
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"}
            ],
            "LocalSecondaryIndexes": [{
                "IndexName": "byDay",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "day", "KeyType": "RANGE"}
                ],
                "Projection": {"ProjectionType": "ALL"}
            }],
            "BillingMode": "PAY_PER_REQUEST"
        }),
    );
}

fn item(partition: &str, sort: u32, pad_bytes: usize) -> Value {
    json!({"pk": {"S": partition}, "sk": {"N": sort.to_string()}, "pad": {"S": "p".repeat(pad_bytes)}})
}

fn put(partition: &str, sort: u32, pad_bytes: usize) -> Value {
    json!({"TableName": "Orders", "Item": item(partition, sort, pad_bytes), "ReturnItemCollectionMetrics": "SIZE"})
}

fn delete(partition: &str, sort: u32) -> Value {
    json!({"TableName": "Orders", "Key": {"pk": {"S": partition}, "sk": {"N": sort.to_string()}}})
}

const TOO_LARGE: &str = "ItemCollectionSizeLimitExceededException: Collection size exceeded.";

/// The sizes that are stored, by their keys.
fn stored(bench: &Bench) -> Vec<(Bytes, u64)> {
    let view = bench.engine.view();
    let sizes = meta::entries(&view.snapshot, MetaKey::COLLECTION_BYTES);
    sizes.map(Result::unwrap).map(|(key, value)| (key, decode(&value).unwrap())).collect()
}

#[track_caller]
fn assert_sizes_are_true(bench: &Bench, collections: usize) {
    let view = bench.engine.view();
    let table = view.catalog.tables().next().unwrap();
    let sizes = stored(bench);
    assert_eq!(sizes.len(), collections);
    for (key, bytes) in sizes {
        assert_eq!(bytes, count_bytes(table, &key, &view.snapshot).unwrap());
    }
}

#[test]
fn a_collection_that_is_full_takes_no_more_until_something_goes() {
    let bench = bench();
    bench.ok("PutItem", &put("a", 1, 900));
    bench.ok("PutItem", &put("a", 2, 900));
    assert_eq!(bench.refusal("PutItem", &put("a", 3, 300)), TOO_LARGE);
    // Another collection has room, and so has this one for what makes it smaller.
    bench.ok("PutItem", &put("b", 1, 900));
    bench.ok("PutItem", &put("a", 2, 500));
    bench.ok("DeleteItem", &delete("a", 1));
    bench.ok("PutItem", &put("a", 3, 900));
    assert_sizes_are_true(&bench, 2);
}

#[test]
fn entries_of_local_indexes_count() {
    let bench = bench();
    let mut indexed = put("a", 1, 900);
    indexed["Item"]["day"] = json!({"S": "monday"});
    bench.ok("PutItem", &indexed);
    assert_eq!(bench.refusal("PutItem", &put("a", 2, 300)), TOO_LARGE);
    assert_sizes_are_true(&bench, 1);
}

#[test]
fn every_way_of_writing_keeps_the_size() {
    let bench = bench();
    bench.ok(
        "BatchWriteItem",
        &json!({"RequestItems": {"Orders": [
            {"PutRequest": {"Item": item("a", 1, 100)}}, {"PutRequest": {"Item": item("a", 2, 100)}}
        ]}}),
    );
    bench.ok(
        "UpdateItem",
        &json!({
            "TableName": "Orders", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}},
            "UpdateExpression": "SET #day = :day", "ExpressionAttributeNames": {"#day": "day"},
            "ExpressionAttributeValues": {":day": {"S": "monday"}}
        }),
    );
    bench.ok(
        "TransactWriteItems",
        &json!({"TransactItems": [
            {"Put": {"TableName": "Orders", "Item": item("a", 3, 100)}},
            {"Delete": delete("a", 2)},
            {"Put": {"TableName": "Orders", "Item": item("b", 1, 100)}}
        ]}),
    );
    bench.ok(
        "ExecuteStatement",
        &json!({"Statement": "INSERT INTO Orders VALUE {'pk': 'b', 'sk': 2, 'day': 'friday'}"}),
    );
    assert_sizes_are_true(&bench, 2);
    for (partition, sort) in [("a", 1), ("a", 3), ("b", 1), ("b", 2)] {
        bench.ok("DeleteItem", &delete(partition, sort));
    }
    assert_sizes_are_true(&bench, 0);
}

#[test]
fn a_transaction_is_cancelled_with_the_reason() {
    let bench = bench();
    let refusal = bench.run(
        "TransactWriteItems",
        &json!({"TransactItems": [
            {"Put": {"TableName": "Orders", "Item": item("b", 1, 10)}},
            {"Put": {"TableName": "Orders", "Item": item("a", 1, 3_000)}}
        ]}),
    );
    let error = refusal.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TransactionCanceled);
    let codes: Vec<_> = error.reasons.iter().map(|reason| reason.code).collect();
    assert_eq!(codes, ["None", "ItemCollectionSizeLimitExceeded"]);
    assert_sizes_are_true(&bench, 0);
}

#[test]
fn a_size_that_was_never_stored_is_counted() {
    let bench = bench();
    bench.ok("PutItem", &put("a", 1, 900));
    bench.ok("PutItem", &put("a", 2, 900));
    let keys = stored(&bench);
    let forget = move |_: &Latest<'_>| {
        let mut changes = Changes::default();
        for (key, _) in &keys {
            changes.batch.remove(Space::Meta, key.clone());
        }
        Ok(((), changes))
    };
    bench.engine.commit(forget).unwrap();
    assert_eq!(bench.refusal("PutItem", &put("a", 3, 300)), TOO_LARGE);
    bench.ok("PutItem", &put("a", 3, 10));
    assert_sizes_are_true(&bench, 1);
}

#[test]
fn the_estimate_is_the_gigabyte_that_the_size_lies_in() {
    let bench = bench();
    let reply = bench.ok("PutItem", &put("a", 1, 10));
    assert_eq!(reply["ItemCollectionMetrics"]["SizeEstimateRangeGB"], json!([0.0, 1.0]));
    let (key, _) = stored(&bench).remove(0);
    let grow = move |_: &Latest<'_>| {
        let mut changes = Changes::default();
        changes.batch.put(Space::Meta, key, encode(BYTES_PER_GB * 7 / 2).unwrap());
        Ok(((), changes))
    };
    bench.engine.commit(grow).unwrap();
    let reply = bench.ok("PutItem", &put("a", 1, 5));
    assert_eq!(reply["ItemCollectionMetrics"]["SizeEstimateRangeGB"], json!([3.0, 4.0]));
    assert_eq!(bench.refusal("PutItem", &put("a", 1, 6)), TOO_LARGE);
}

#[test]
fn a_deleted_table_leaves_no_sizes() {
    let bench = bench();
    bench.ok("PutItem", &put("a", 1, 10));
    bench.ok("DeleteTable", &json!({"TableName": "Orders"}));
    bench.engine.keep_house().unwrap();
    assert_eq!(stored(&bench), []);
}

/// Writes of several threads form groups, in which a collection may be emptied and begun again.
#[test]
fn groups_of_writes_keep_the_size() {
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::on_disk(directory.path());
    create_table(&bench);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let bench = &bench;
            scope.spawn(move || {
                for round in 0..20 {
                    bench.ok("PutItem", &put("a", thread, 10 + round));
                    bench.ok("DeleteItem", &delete("a", thread));
                }
            });
        }
    });
    assert_sizes_are_true(&bench, 0);
    bench.ok("PutItem", &put("a", 1, 10));
    assert_sizes_are_true(&bench, 1);
}
