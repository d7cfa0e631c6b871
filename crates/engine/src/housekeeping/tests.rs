use serde_json::{Value, json};

use super::STEP_WRITES_MAX;
use crate::layout::{CollectionId, KeyRange};
use crate::meta::{self, MetaKey};
use crate::store::{Direction, Space};
use crate::testing::{Bench, START_MILLISECONDS, simple_table};

const NOW_SECONDS: i64 = START_MILLISECONDS / 1000;

fn item(key: &str, group: &Value) -> Value {
    json!({ "pk": { "S": key }, "g": group })
}

fn create_index(bench: &Bench) {
    bench.ok(
        "UpdateTable",
        &json!({
            "TableName": "Orders",
            "AttributeDefinitions": [{ "AttributeName": "g", "AttributeType": "S" }],
            "GlobalSecondaryIndexUpdates": [{ "Create": {
                "IndexName": "byG",
                "KeySchema": [{ "AttributeName": "g", "KeyType": "HASH" }],
                "Projection": { "ProjectionType": "ALL" },
            } }],
        }),
    );
}

/// Puts more items than two steps fill.
fn put_many(bench: &Bench) -> usize {
    let count = STEP_WRITES_MAX * 2 + 100;
    for number in 0..count {
        bench.put("Orders", &item(&format!("k{number:05}"), &json!({ "S": "x" })));
    }
    count
}

fn index_of(bench: &Bench) -> Value {
    bench.describe("Orders")["GlobalSecondaryIndexes"][0].clone()
}

fn delete(bench: &Bench, key: &str) {
    bench.ok("DeleteItem", &json!({ "TableName": "Orders", "Key": { "pk": { "S": key } } }));
}

/// All keys of a collection, in the data and the log.
fn size_of(bench: &Bench, id: u32) -> usize {
    let snapshot = bench.engine.view().snapshot;
    let range = KeyRange::of_collection(CollectionId(id));
    let (lower, upper) = range.bounds();
    let count = |space| snapshot.range(space, lower, upper, Direction::Forward).count();
    count(Space::Data) + count(Space::Log)
}

fn expire_by(bench: &Bench, attribute: &str, enabled: bool) -> Result<Value, dynamo::ApiError> {
    let specification = json!({ "Enabled": enabled, "AttributeName": attribute });
    bench.run("UpdateTimeToLive", &json!({ "TableName": "Orders", "TimeToLiveSpecification": specification }))
}

fn put_expiring(bench: &Bench, key: &str, expiry: &str) {
    bench.put("Orders", &json!({ "pk": { "S": key }, "ttl": { "N": expiry } }));
}

#[test]
fn a_new_index_is_filled_while_items_change() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    let count = put_many(&bench);
    create_index(&bench);
    let mut expected = count;
    let mut number = 0;
    while index_of(&bench)["IndexStatus"] != "ACTIVE" {
        assert!(bench.engine.inner.keep_house_once().unwrap());
        // Wherever the filling is, some of these are before and some behind it.
        for _ in 0..50 {
            number += 7;
            bench.put(
                "Orders",
                &item(&format!("k{:05}", number % count), &json!({ "S": format!("moved{number}") })),
            );
        }
        bench.put("Orders", &item(&format!("new{number}"), &json!({ "S": "x" })));
        delete(&bench, &format!("k{number:05}"));
        bench.put("Orders", &json!({ "pk": { "S": format!("none{number}") } }));
        expected = bench.keys("Orders", None).len();
    }
    bench.keep_house();
    let indexed: Vec<String> =
        bench.keys("Orders", None).into_iter().filter(|key| !key.starts_with("none")).collect();
    assert_eq!(bench.keys("Orders", Some("byG")), indexed);
    assert!(expected > indexed.len());
    assert_eq!(index_of(&bench)["ItemCount"], json!(indexed.len()), "each counted once");
    for key in indexed {
        delete(&bench, &key);
    }
    let index = index_of(&bench);
    assert_eq!((&index["ItemCount"], &index["IndexSizeBytes"]), (&json!(0), &json!(0)));
}

#[test]
fn filling_goes_on_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let count = {
        let bench = Bench::on_disk(directory.path());
        bench.table("Orders");
        let count = STEP_WRITES_MAX + 20;
        for chunk in (0..count).collect::<Vec<_>>().chunks(25) {
            let puts: Vec<Value> = chunk
                .iter()
                .map(|number| json!({ "PutRequest": { "Item": item(&format!("k{number:05}"), &json!({ "S": "x" })) } }))
                .collect();
            bench.ok("BatchWriteItem", &json!({ "RequestItems": { "Orders": puts } }));
        }
        create_index(&bench);
        assert!(bench.engine.inner.keep_house_once().unwrap());
        assert_eq!(index_of(&bench)["ItemCount"], json!(STEP_WRITES_MAX));
        count
    };
    let bench = Bench::on_disk(directory.path());
    assert_eq!(index_of(&bench)["IndexStatus"], "CREATING");
    bench.keep_house();
    assert_eq!(index_of(&bench)["IndexStatus"], "ACTIVE");
    assert_eq!(index_of(&bench)["ItemCount"], json!(count));
    assert_eq!(bench.keys("Orders", Some("byG")).len(), count);
}

#[test]
fn items_that_do_not_fit_a_new_index_are_left_out() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    bench.put("Orders", &item("number", &json!({ "N": "1" })));
    bench.put("Orders", &item("empty", &json!({ "S": "" })));
    bench.put("Orders", &item("long", &json!({ "S": "x".repeat(100_000) })));
    bench.put("Orders", &item("good", &json!({ "S": "x" })));
    create_index(&bench);
    bench.keep_house();
    assert_eq!(bench.keys("Orders", Some("byG")), ["good"]);
    for key in ["number", "empty", "long", "good"] {
        delete(&bench, key);
    }
    assert!(bench.keys("Orders", Some("byG")).is_empty());
}

#[test]
fn items_expire_in_their_second_and_never_before() {
    let bench = Bench::in_memory();
    let mut request = simple_table("Orders");
    request["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": "OLD_IMAGE" });
    let arn = bench.ok("CreateTable", &request)["TableDescription"]["LatestStreamArn"].clone();
    put_expiring(&bench, "before", &(NOW_SECONDS + 10).to_string());
    expire_by(&bench, "ttl", true).unwrap();
    put_expiring(&bench, "after", &(NOW_SECONDS + 10).to_string());
    put_expiring(&bench, "fraction", &format!("{}.5", NOW_SECONDS + 10));
    put_expiring(&bench, "later", &(NOW_SECONDS + 1000).to_string());
    put_expiring(&bench, "old", &(NOW_SECONDS - 6 * 365 * 86_400).to_string());
    bench.put("Orders", &json!({ "pk": { "S": "text" }, "ttl": { "S": "1" } }));
    bench.keep_house();
    bench.clock.advance_milliseconds(9_999);
    bench.keep_house();
    assert_eq!(bench.keys("Orders", None).len(), 6);
    bench.clock.advance_milliseconds(1);
    bench.keep_house();
    assert_eq!(bench.keys("Orders", None), ["fraction", "later", "old", "text"]);
    bench.clock.advance_seconds(1);
    bench.keep_house();
    assert_eq!(bench.keys("Orders", None), ["later", "old", "text"]);
    let shard =
        bench.ok("DescribeStream", &json!({ "StreamArn": arn }))["StreamDescription"]["Shards"][0].clone();
    let request =
        json!({ "StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON" });
    let iterator = bench.ok("GetShardIterator", &request)["ShardIterator"].clone();
    let reply = bench.ok("GetRecords", &json!({ "ShardIterator": iterator }));
    let removed: Vec<&Value> = reply["Records"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|record| record["eventName"] == "REMOVE")
        .collect();
    assert_eq!(removed.len(), 3);
    for record in removed {
        let identity = &record["userIdentity"];
        let text = identity.to_string().to_lowercase();
        assert!(text.contains("\"service\"") && text.contains("dynamodb.amazonaws.com"), "{identity}");
        assert!(record["dynamodb"].get("OldImage").is_some());
    }
}

#[test]
fn an_expiry_that_was_changed_or_removed_does_not_count() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    expire_by(&bench, "ttl", true).unwrap();
    let due = (NOW_SECONDS + 10).to_string();
    for key in ["moved", "removed", "deleted", "same"] {
        put_expiring(&bench, key, &due);
    }
    put_expiring(&bench, "moved", &(NOW_SECONDS + 100).to_string());
    bench.put("Orders", &json!({ "pk": { "S": "removed" } }));
    delete(&bench, "deleted");
    bench.clock.advance_seconds(50);
    bench.keep_house();
    assert_eq!(bench.keys("Orders", None), ["moved", "removed"]);
    expire_by(&bench, "ttl", false).unwrap();
    bench.clock.advance_seconds(100);
    bench.keep_house();
    assert_eq!(bench.keys("Orders", None), ["moved", "removed"], "nothing expires any more");
    expire_by(&bench, "ttl", true).unwrap();
    bench.keep_house();
    assert_eq!(bench.keys("Orders", None), ["removed"]);
}

#[test]
fn expiry_is_switched_by_its_attribute() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    let refusal = |attribute: &str, enabled: bool| expire_by(&bench, attribute, enabled).unwrap_err().message;
    let describe =
        || bench.ok("DescribeTimeToLive", &json!({ "TableName": "Orders" }))["TimeToLiveDescription"].clone();
    assert_eq!(refusal("ttl", false), "TimeToLive is already disabled");
    assert_eq!(describe(), json!({ "TimeToLiveStatus": "DISABLED" }));
    let reply = expire_by(&bench, "ttl", true).unwrap();
    assert_eq!(reply["TimeToLiveSpecification"], json!({ "Enabled": true, "AttributeName": "ttl" }));
    assert_eq!(describe(), json!({ "TimeToLiveStatus": "ENABLED", "AttributeName": "ttl" }));
    assert_eq!(refusal("ttl", true), "TimeToLive is already enabled");
    let other = "TimeToLive is active on a different AttributeName: current AttributeName is ttl";
    assert_eq!(refusal("other", true), other);
    assert_eq!(refusal("other", false), other);
    expire_by(&bench, "ttl", false).unwrap();
}

#[test]
fn what_was_deleted_is_emptied() {
    let bench = Bench::in_memory();
    let mut request = simple_table("Orders");
    request["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": "KEYS_ONLY" });
    bench.ok("CreateTable", &request);
    create_index(&bench);
    bench.keep_house();
    expire_by(&bench, "ttl", true).unwrap();
    put_many(&bench);
    put_expiring(&bench, "expiring", &(NOW_SECONDS + 10).to_string());
    let catalog = bench.engine.view().catalog;
    let table = catalog.table("Orders").unwrap().clone();
    let stream = table.stream.clone().unwrap().id;
    assert!(table.collections().all(|id| size_of(&bench, id.0) > 0));
    bench.ok("DeleteTable", &json!({ "TableName": "Orders" }));
    bench.keep_house();
    assert!(table.collections().all(|id| size_of(&bench, id.0) == 0));
    assert!(size_of(&bench, stream.0) > 0, "the stream stays readable");
    bench.clock.advance_seconds(24 * 60 * 60);
    bench.keep_house();
    assert_eq!(size_of(&bench, stream.0), 0);
    let view = bench.engine.view();
    assert!(view.catalog.garbage().is_none());
    assert_eq!(meta::entries(&view.snapshot, MetaKey::TOTALS).count(), 0);
    assert_eq!(meta::entries(&view.snapshot, MetaKey::TRIMMED).count(), 0);
    assert!(!bench.engine.inner.keep_house_once().unwrap());
}

#[test]
fn tokens_are_kept_for_ten_minutes() {
    let bench = Bench::in_memory();
    bench.table("Orders");
    let request = |value: &str| {
        let put = json!({ "Put": { "TableName": "Orders", "Item": item("a", &json!({ "S": value })) } });
        json!({ "TransactItems": [put], "ClientRequestToken": "token" })
    };
    bench.ok("TransactWriteItems", &request("1"));
    bench.clock.advance_seconds(600 - 1);
    bench.keep_house();
    assert!(bench.refusal("TransactWriteItems", &request("2")).starts_with("IdempotentParameterMismatch"));
    bench.clock.advance_seconds(2);
    bench.ok("TransactWriteItems", &request("2"));
    bench.keep_house();
    let count = |kind| meta::entries(&bench.engine.view().snapshot, kind).count();
    assert_eq!((count(MetaKey::TOKEN), count(MetaKey::TOKEN_EXPIRY)), (1, 1), "the token was used again");
    bench.clock.advance_seconds(601);
    bench.keep_house();
    assert_eq!((count(MetaKey::TOKEN), count(MetaKey::TOKEN_EXPIRY)), (0, 0));
}

#[test]
fn a_thread_keeps_house_by_itself() {
    let engine = crate::Engine::in_memory();
    let bench = Bench { engine, clock: Bench::in_memory().clock };
    bench.table("Orders");
    bench.put("Orders", &item("a", &json!({ "S": "x" })));
    create_index(&bench);
    for _ in 0..500 {
        if index_of(&bench)["IndexStatus"] == "ACTIVE" {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the index was not filled");
}

#[test]
fn a_database_is_closed_once_its_last_handle_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        let options = crate::Options {
            housekeeping: Some(std::time::Duration::from_micros(50)),
            reserve_bytes: 0,
            ..crate::Options::default()
        };
        let engine = crate::Engine::open(directory.path(), options).unwrap();
        let other = engine.clone();
        drop(engine);
        std::thread::sleep(std::time::Duration::from_millis(1));
        drop(other);
    }
}
