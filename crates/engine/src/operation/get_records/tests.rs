use serde_json::{Value, json};

use crate::testing::{Bench, START_MILLISECONDS, simple_table};

fn stream_table(bench: &Bench, view: &str) -> String {
    let mut request = simple_table("Orders");
    request["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": view });
    let reply = bench.ok("CreateTable", &request);
    reply["TableDescription"]["LatestStreamArn"].as_str().unwrap().to_owned()
}

fn put(bench: &Bench, key: &str, value: &str) {
    bench.put("Orders", &json!({ "pk": { "S": key }, "v": { "S": value } }));
}

fn shard(bench: &Bench, arn: &str) -> Value {
    bench.ok("DescribeStream", &json!({ "StreamArn": arn }))["StreamDescription"]["Shards"][0].clone()
}

fn iterator_request(bench: &Bench, arn: &str, kind: &str) -> Value {
    json!({ "StreamArn": arn, "ShardId": shard(bench, arn)["ShardId"], "ShardIteratorType": kind })
}

fn iterator(bench: &Bench, request: &Value) -> Value {
    bench.ok("GetShardIterator", request)["ShardIterator"].clone()
}

fn records_from(bench: &Bench, iterator: &Value) -> Vec<Value> {
    bench.ok("GetRecords", &json!({ "ShardIterator": iterator }))["Records"].as_array().unwrap().clone()
}

/// `(event name, key, old value, new value)` of records.
fn told(records: &[Value]) -> Vec<(String, String, Value, Value)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let tell = |record: &Value| {
        let change = &record["dynamodb"];
        let image = |name: &str| change.get(name).map_or(Value::Null, |image| image["v"]["S"].clone());
        (text(&record["eventName"]), text(&change["Keys"]["pk"]["S"]), image("OldImage"), image("NewImage"))
    };
    records.iter().map(tell).collect()
}

#[test]
fn every_change_is_told_once_in_order() {
    let bench = Bench::in_memory();
    let arn = stream_table(&bench, "NEW_AND_OLD_IMAGES");
    let latest = iterator(&bench, &iterator_request(&bench, &arn, "LATEST"));
    put(&bench, "a", "1");
    put(&bench, "a", "1");
    put(&bench, "b", "1");
    put(&bench, "a", "2");
    bench.ok("DeleteItem", &json!({ "TableName": "Orders", "Key": { "pk": { "S": "a" } } }));
    bench.ok("DeleteItem", &json!({ "TableName": "Orders", "Key": { "pk": { "S": "a" } } }));
    let horizon = iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON"));
    let records = records_from(&bench, &horizon);
    let row = |name: &str, key: &str, old: Value, new: Value| (name.to_owned(), key.to_owned(), old, new);
    assert_eq!(
        told(&records),
        [
            row("INSERT", "a", Value::Null, json!("1")),
            row("INSERT", "b", Value::Null, json!("1")),
            row("MODIFY", "a", json!("1"), json!("2")),
            row("REMOVE", "a", json!("2"), Value::Null),
        ]
    );
    assert_eq!(records_from(&bench, &latest), records, "LATEST was taken before the first");
    let after = iterator(&bench, &iterator_request(&bench, &arn, "LATEST"));
    assert!(records_from(&bench, &after).is_empty());
    let first = &records[0];
    assert_eq!(first["eventVersion"], "1.1");
    assert_eq!(first["eventSource"], "aws:dynamodb");
    assert_eq!(first["awsRegion"], "us-east-1");
    assert_eq!(first["eventID"].as_str().unwrap().len(), 32);
    assert_eq!(first["dynamodb"]["SizeBytes"], 3 + 5);
    assert_eq!(first["dynamodb"]["StreamViewType"], "NEW_AND_OLD_IMAGES");
    let time = first["dynamodb"]["ApproximateCreationDateTime"].as_f64().unwrap();
    assert!((time - 1_770_000_000.0).abs() < 0.001, "{time} for {START_MILLISECONDS}");
    assert!(first.get("userIdentity").is_none());
}

#[test]
fn a_view_shows_its_images_only() {
    for (view, old, new) in
        [("KEYS_ONLY", false, false), ("NEW_IMAGE", false, true), ("OLD_IMAGE", true, false)]
    {
        let bench = Bench::in_memory();
        let arn = stream_table(&bench, view);
        put(&bench, "a", "1");
        put(&bench, "a", "2");
        let records =
            records_from(&bench, &iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON")));
        let change = &records[1]["dynamodb"];
        assert_eq!(
            (change.get("OldImage").is_some(), change.get("NewImage").is_some()),
            (old, new),
            "{view}"
        );
    }
}

#[test]
fn records_are_read_in_pages_and_from_any_record() {
    let bench = Bench::in_memory();
    let arn = stream_table(&bench, "KEYS_ONLY");
    for number in 0..5 {
        put(&bench, &format!("k{number}"), "v");
        bench.clock.advance_seconds(10);
    }
    let horizon = iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON"));
    let first = bench.ok("GetRecords", &json!({ "ShardIterator": horizon, "Limit": 2 }));
    let rest = records_from(&bench, &first["NextShardIterator"]);
    assert_eq!((first["Records"].as_array().unwrap().len(), rest.len()), (2, 3));
    let number = &rest[0]["dynamodb"]["SequenceNumber"];
    for (kind, count) in [("AT_SEQUENCE_NUMBER", 3), ("AFTER_SEQUENCE_NUMBER", 2)] {
        let mut request = iterator_request(&bench, &arn, kind);
        request["SequenceNumber"] = number.clone();
        assert_eq!(records_from(&bench, &iterator(&bench, &request)).len(), count, "{kind}");
    }
    for (seconds, count) in [(-5, 5), (0, 5), (1, 4), (20, 3), (41, 0)] {
        let mut request = iterator_request(&bench, &arn, "AT_TIMESTAMP");
        request["Timestamp"] = json!(START_MILLISECONDS / 1000 + seconds);
        assert_eq!(records_from(&bench, &iterator(&bench, &request)).len(), count, "{seconds}");
    }
}

#[test]
fn a_page_ends_at_a_megabyte() {
    let bench = Bench::in_memory();
    let arn = stream_table(&bench, "NEW_IMAGE");
    for number in 0..5 {
        put(&bench, &format!("k{number}"), &"x".repeat(300 * 1024));
    }
    let horizon = iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON"));
    let page = bench.ok("GetRecords", &json!({ "ShardIterator": horizon }));
    assert_eq!(page["Records"].as_array().unwrap().len(), 4);
    assert_eq!(records_from(&bench, &page["NextShardIterator"]).len(), 1);
}

#[test]
fn iterators_expire_and_cannot_be_made_up() {
    let bench = Bench::in_memory();
    let arn = stream_table(&bench, "KEYS_ONLY");
    let iterator = iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON"));
    bench.clock.advance_seconds(15 * 60);
    let next = bench.ok("GetRecords", &json!({ "ShardIterator": iterator }))["NextShardIterator"].clone();
    bench.clock.advance_seconds(1);
    assert_eq!(
        bench.refusal("GetRecords", &json!({ "ShardIterator": iterator })),
        "ExpiredIteratorException: Shard iterator has expired"
    );
    bench.ok("GetRecords", &json!({ "ShardIterator": next }));
    let text = next.as_str().unwrap();
    let mut wrong: Vec<String> = (1..text.len()).map(|length| text[..length].to_owned()).collect();
    wrong.extend([
        "x".to_owned(),
        format!("{text}00"),
        text.replacen("Orders", "Others", 1),
        format!("{text}é"),
    ]);
    for text in wrong {
        assert_eq!(
            bench.refusal("GetRecords", &json!({ "ShardIterator": text })),
            "ValidationException: Invalid ShardIterator",
            "{text}"
        );
    }
}

#[test]
fn unknown_streams_and_shards_are_refused() {
    let bench = Bench::in_memory();
    let arn = stream_table(&bench, "KEYS_ONLY");
    bench.refuses(
        "DescribeStream",
        &json!({ "StreamArn": "not-an-arn-of-a-stream-but-long-enough" }),
        "Invalid StreamArn",
    );
    let other = arn.replace("2026", "2025");
    assert_eq!(
        bench.refusal("DescribeStream", &json!({ "StreamArn": other })),
        format!("ResourceNotFoundException: Requested resource not found: Stream: {other} not found")
    );
    let mut request = iterator_request(&bench, &arn, "LATEST");
    request["ShardId"] = json!("shardId-00000000000000000000-00000000");
    assert_eq!(
        bench.refusal("GetShardIterator", &request),
        "ResourceNotFoundException: Requested resource not found: Shard does not exist"
    );
}

#[test]
fn a_closed_stream_is_readable_to_its_end_for_a_day() {
    let bench = Bench::in_memory();
    let arn = stream_table(&bench, "KEYS_ONLY");
    put(&bench, "a", "1");
    put(&bench, "b", "1");
    bench.ok("DeleteTable", &json!({ "TableName": "Orders" }));
    bench.keep_house();
    let stream = bench.ok("DescribeStream", &json!({ "StreamArn": arn }))["StreamDescription"].clone();
    assert_eq!(stream["StreamStatus"], "DISABLED");
    let horizon = iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON"));
    let page = bench.ok("GetRecords", &json!({ "ShardIterator": horizon, "Limit": 1 }));
    let last = bench.ok("GetRecords", &json!({ "ShardIterator": page["NextShardIterator"] }));
    assert!(last.get("NextShardIterator").is_none());
    let ending = &stream["Shards"][0]["SequenceNumberRange"]["EndingSequenceNumber"];
    assert_eq!(*ending, last["Records"][0]["dynamodb"]["SequenceNumber"]);
    bench.clock.advance_seconds(24 * 60 * 60);
    bench.keep_house();
    assert!(bench.refusal("DescribeStream", &json!({ "StreamArn": arn })).contains("not found"));
    assert_eq!(bench.ok("ListStreams", &json!({})), json!({ "Streams": [] }));
}

#[test]
fn records_are_trimmed_after_a_day() {
    let bench = Bench::in_memory();
    let arn = stream_table(&bench, "KEYS_ONLY");
    put(&bench, "a", "1");
    let old = records_from(&bench, &iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON")));
    bench.clock.advance_seconds(12 * 60 * 60);
    put(&bench, "b", "1");
    bench.keep_house();
    let horizon = iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON"));
    assert_eq!(records_from(&bench, &horizon).len(), 2, "nothing is trimmed early");
    bench.clock.advance_seconds(12 * 60 * 60 - 600);
    let before = iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON"));
    bench.clock.advance_seconds(600);
    bench.keep_house();
    let trimmed = "TrimmedDataAccessException: The data you are trying to access has been trimmed";
    assert_eq!(bench.refusal("GetRecords", &json!({ "ShardIterator": before })), trimmed);
    let mut request = iterator_request(&bench, &arn, "AFTER_SEQUENCE_NUMBER");
    request["SequenceNumber"] = old[0]["dynamodb"]["SequenceNumber"].clone();
    assert_eq!(bench.refusal("GetShardIterator", &request), trimmed);
    let horizon = iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON"));
    let records = records_from(&bench, &horizon);
    assert_eq!(records[0]["dynamodb"]["Keys"]["pk"]["S"], "b");
    bench.clock.advance_seconds(24 * 60 * 60);
    bench.keep_house();
    let horizon = iterator(&bench, &iterator_request(&bench, &arn, "TRIM_HORIZON"));
    assert!(records_from(&bench, &horizon).is_empty());
    put(&bench, "c", "1");
    assert_eq!(records_from(&bench, &horizon).len(), 1);
}

#[test]
fn streams_are_listed_in_pages() {
    let bench = Bench::in_memory();
    for number in 0..3 {
        let mut request = simple_table(&format!("table{number}"));
        request["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": "KEYS_ONLY" });
        bench.ok("CreateTable", &request);
    }
    let first = bench.ok("ListStreams", &json!({ "Limit": 2 }));
    let rest =
        bench.ok("ListStreams", &json!({ "ExclusiveStartStreamArn": first["LastEvaluatedStreamArn"] }));
    assert_eq!(rest["Streams"].as_array().unwrap().len(), 1);
    assert_eq!(rest["Streams"][0]["TableName"], "table2");
    assert!(rest.get("LastEvaluatedStreamArn").is_none());
    let of_one = bench.ok("ListStreams", &json!({ "TableName": "table1" }));
    assert_eq!(of_one["Streams"].as_array().unwrap().len(), 1);
}
