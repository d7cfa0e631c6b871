use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use serde_json::{Value, json};

use crate::options::Options;
use crate::testing::{Bench, START_MILLISECONDS};

const ARN: &str = "arn:aws:dynamodb:us-east-1:123456789012:table/Orders";

fn bench(directory: Option<&Path>) -> Bench {
    let export_directory = directory.map(Path::to_path_buf);
    let bench = Bench::in_memory_with(Options { export_directory, ..Options::default() });
    bench.table("Orders");
    bench
}

fn switch_on(bench: &Bench) {
    let specification = json!({ "PointInTimeRecoveryEnabled": true });
    let request = json!({ "TableName": "Orders", "PointInTimeRecoverySpecification": specification });
    bench.ok("UpdateContinuousBackups", &request);
}

fn put(bench: &Bench, number: usize) {
    bench.put("Orders", &json!({ "pk": { "S": format!("item-{number}") }, "b": { "B": "AAE=" } }));
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The keys of the items in a file, which has the checksum that its manifest tells.
fn keys_in(bucket: &Path, line: &Value) -> Vec<String> {
    let bytes = std::fs::read(bucket.join(line["dataFileS3Key"].as_str().unwrap())).unwrap();
    assert_eq!(line["md5Checksum"], STANDARD.encode(Md5::digest(&bytes)));
    let mut lines = String::new();
    flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut lines).unwrap();
    let items = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let keys: Vec<String> = items.map(|line| line["Item"]["pk"]["S"].as_str().unwrap().to_owned()).collect();
    assert_eq!(line["itemCount"], keys.len());
    keys
}

#[test]
fn an_export_is_the_table_at_its_moment_in_dynamodbs_layout() {
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(Some(directory.path()));
    switch_on(&bench);
    for number in 0..700 {
        put(&bench, number);
    }
    bench.clock.advance_seconds(10);
    put(&bench, 1000);
    bench.ok("DeleteItem", &json!({ "TableName": "Orders", "Key": { "pk": { "S": "item-5" } } }));
    let request = json!({
        "TableArn": ARN,
        "S3Bucket": "my-bucket",
        "S3Prefix": "daily/one",
        "ExportTime": START_MILLISECONDS / 1000 + 5,
        "ClientToken": "once",
    });
    let begun = bench.ok("ExportTableToPointInTime", &request)["ExportDescription"].clone();
    assert_eq!(begun["ExportStatus"], "IN_PROGRESS");
    put(&bench, 2000);
    bench.keep_house();
    // The same request again is the same export; another with its token is refused.
    let again = bench.ok("ExportTableToPointInTime", &request)["ExportDescription"].clone();
    assert_eq!(again["ExportArn"], begun["ExportArn"]);
    let mut other = request.clone();
    other["S3Bucket"] = json!("other-bucket");
    assert!(bench.refusal("ExportTableToPointInTime", &other).starts_with("ExportConflictException"));
    let described = bench.ok("DescribeExport", &json!({ "ExportArn": begun["ExportArn"] }));
    let described = &described["ExportDescription"];
    assert_eq!((&described["ExportStatus"], &described["ItemCount"]), (&json!("COMPLETED"), &json!(700)));
    let listed = bench.ok("ListExports", &json!({ "TableArn": ARN }));
    assert_eq!(listed["ExportSummaries"][0]["ExportArn"], begun["ExportArn"]);

    let bucket = directory.path().join("my-bucket");
    let manifest = bucket.join(described["ExportManifest"].as_str().unwrap());
    assert!(manifest.starts_with(bucket.join("daily/one/AWSDynamoDB")));
    let summary: Value = serde_json::from_str(&text(&manifest)).unwrap();
    assert_eq!(text(&manifest.with_extension("md5")), STANDARD.encode(Md5::digest(text(&manifest))));
    assert_eq!(summary["exportTime"], "2026-02-02T02:40:05.000Z");
    let files = text(&bucket.join(summary["manifestFilesS3Key"].as_str().unwrap()));
    let mut keys: Vec<String> =
        files.lines().flat_map(|line| keys_in(&bucket, &serde_json::from_str(line).unwrap())).collect();
    keys.sort();
    let mut expected: Vec<String> = (0..700).map(|number| format!("item-{number}")).collect();
    expected.sort();
    assert_eq!(keys, expected);
    assert!(bench.engine.catalog().garbage().is_none(), "the copy is gone");
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let request = json!({ "TableArn": ARN, "S3Bucket": "bucket" });
    let refusal = bench(None).refusal("ExportTableToPointInTime", &request);
    assert!(refusal.contains("--export-dir"), "{refusal}");
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(Some(directory.path()));
    let refusal = bench.refusal("ExportTableToPointInTime", &request);
    assert!(refusal.starts_with("PointInTimeRecoveryUnavailableException"), "{refusal}");
    switch_on(&bench);
    for bucket in ["../elsewhere", "..", "a/b", "/etc"] {
        let request = json!({ "TableArn": ARN, "S3Bucket": bucket });
        let refusal = bench.refusal("ExportTableToPointInTime", &request);
        assert_eq!(refusal, format!("ValidationException: Invalid S3Bucket: {bucket}"));
    }
    let request = json!({ "TableArn": ARN, "S3Bucket": "bucket", "ExportTime": 1_000_000_000 });
    let refusal = bench.refusal("ExportTableToPointInTime", &request);
    assert!(refusal.starts_with("InvalidExportTimeException"), "{refusal}");
    let request = json!({ "TableArn": ARN, "S3Bucket": "bucket", "ExportFormat": "ION" });
    assert!(bench.refusal("ExportTableToPointInTime", &request).contains("ION is not supported"));
    let arn = format!("{ARN}/export/01770000000000-00000000");
    let refusal = bench.refusal("DescribeExport", &json!({ "ExportArn": arn }));
    assert!(refusal.starts_with("ExportNotFoundException"), "{refusal}");
}

#[test]
fn an_export_that_cannot_be_written_says_why() {
    let directory = tempfile::tempdir().unwrap();
    // A file where the folder of the bucket should be.
    std::fs::write(directory.path().join("bucket"), "").unwrap();
    let bench = bench(Some(directory.path()));
    switch_on(&bench);
    put(&bench, 1);
    let request = json!({ "TableArn": ARN, "S3Bucket": "bucket" });
    let arn = bench.ok("ExportTableToPointInTime", &request)["ExportDescription"]["ExportArn"].clone();
    bench.keep_house();
    let described = bench.ok("DescribeExport", &json!({ "ExportArn": arn }))["ExportDescription"].clone();
    assert_eq!(described["ExportStatus"], "FAILED");
    let message = described["FailureMessage"].as_str().unwrap();
    assert!(message.starts_with("writing the files failed"), "{message}");
}

/// The lines of all files of an incremental export, by the key of their items.
fn changes_in(directory: &Path, described: &Value) -> BTreeMap<String, Value> {
    let bucket = directory.join("my-bucket");
    let manifest = bucket.join(described["ExportManifest"].as_str().unwrap());
    let summary: Value = serde_json::from_str(&text(&manifest)).unwrap();
    assert_eq!(summary["exportType"], "INCREMENTAL_EXPORT");
    assert_eq!(summary["outputView"], described["IncrementalExportSpecification"]["ExportViewType"]);
    let mut changes = BTreeMap::new();
    for line in text(&bucket.join(summary["manifestFilesS3Key"].as_str().unwrap())).lines() {
        let file: Value = serde_json::from_str(line).unwrap();
        let key = file["dataFileS3Key"].as_str().unwrap();
        assert!(key.starts_with("AWSDynamoDB/data/"), "{key}");
        let bytes = std::fs::read(bucket.join(key)).unwrap();
        assert_eq!(file["md5Checksum"], STANDARD.encode(Md5::digest(&bytes)));
        let mut lines = String::new();
        flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut lines).unwrap();
        assert_eq!(file["itemCount"], lines.lines().count());
        for line in lines.lines() {
            let change: Value = serde_json::from_str(line).unwrap();
            changes.insert(change["Keys"]["pk"]["S"].as_str().unwrap().to_owned(), change);
        }
    }
    assert_eq!(summary["itemCount"], changes.len());
    changes
}

fn set(bench: &Bench, key: &str, version: usize) {
    bench.put("Orders", &json!({ "pk": { "S": key }, "version": { "N": version.to_string() } }));
}

fn remove(bench: &Bench, key: &str) {
    bench.ok("DeleteItem", &json!({ "TableName": "Orders", "Key": { "pk": { "S": key } } }));
}

fn export_changes(bench: &Bench, from: i64, to: Option<i64>, view: &str) -> Value {
    let mut specification = json!({ "ExportFromTime": from, "ExportViewType": view });
    if let Some(to) = to {
        specification["ExportToTime"] = json!(to);
    }
    let request = json!({
        "TableArn": ARN,
        "S3Bucket": "my-bucket",
        "ExportType": "INCREMENTAL_EXPORT",
        "IncrementalExportSpecification": specification,
    });
    let begun = bench.ok("ExportTableToPointInTime", &request)["ExportDescription"].clone();
    assert_eq!(begun["ExportStatus"], "IN_PROGRESS");
    // What is written meanwhile is after the period.
    set(bench, "kept", 99);
    bench.keep_house();
    let described = bench.ok("DescribeExport", &json!({ "ExportArn": begun["ExportArn"] }));
    let described = described["ExportDescription"].clone();
    assert_eq!(
        (&described["ExportStatus"], &described["ExportType"]),
        (&json!("COMPLETED"), &json!("INCREMENTAL_EXPORT"))
    );
    assert!(bench.engine.catalog().garbage().is_none(), "what was gathered is gone");
    described
}

#[test]
fn an_incremental_export_has_what_a_period_made_of_each_item() {
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(Some(directory.path()));
    switch_on(&bench);
    let start = START_MILLISECONDS / 1000;
    for key in ["kept", "changed", "changed again", "removed", "changed after"] {
        set(&bench, key, 1);
    }
    bench.clock.advance_seconds(1_000);
    // The period begins: more changes than fit in one step.
    for version in 2..200 {
        set(&bench, "changed", version);
        set(&bench, &format!("new {version}"), version);
    }
    set(&bench, "changed again", 2);
    remove(&bench, "removed");
    set(&bench, "for a moment", 1);
    remove(&bench, "for a moment");
    set(&bench, "removed after", 1);
    bench.clock.advance_seconds(1_000);
    // It ends: what follows is not in it.
    set(&bench, "changed again", 3);
    set(&bench, "changed after", 2);
    remove(&bench, "removed after");
    bench.clock.advance_seconds(1_000);
    let described = export_changes(&bench, start + 1_000, Some(start + 2_000), "NEW_AND_OLD_IMAGES");
    let changes = changes_in(directory.path(), &described);
    let version = |key: &str, image: &str| changes[key][image]["version"]["N"].as_str().map(str::to_owned);
    let images = |key: &str| (version(key, "OldImage"), version(key, "NewImage"));
    let both = |old: Option<&str>, new: Option<&str>| (old.map(str::to_owned), new.map(str::to_owned));
    assert_eq!(images("changed"), both(Some("1"), Some("199")));
    assert_eq!(images("changed again"), both(Some("1"), Some("2")));
    assert_eq!(images("removed"), both(Some("1"), None));
    assert_eq!(images("removed after"), both(None, Some("1")));
    assert_eq!(images("new 7"), both(None, Some("7")));
    assert_eq!(changes.len(), 198 + 4, "neither what stayed, nor what came and went, nor what was later");
    let time = &changes["changed"]["Metadata"]["WriteTimestampMicros"]["N"];
    assert_eq!(time.as_str().unwrap(), format!("{}000000", start + 1_000));

    // Without old images what is gone is a key.
    let described = export_changes(&bench, start + 1_000, Some(start + 2_000), "NEW_IMAGE");
    let changes = changes_in(directory.path(), &described);
    assert!(changes.values().all(|change| change.get("OldImage").is_none()));
    assert!(changes["removed"].get("NewImage").is_none() && changes.len() == 202);
}

#[test]
fn incremental_exports_one_after_the_other_lead_from_one_full_export_to_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(Some(directory.path()));
    switch_on(&bench);
    let start = START_MILLISECONDS / 1000;
    let mut items = BTreeMap::<String, Value>::new();
    let mut states = Vec::new();
    let mut number = 7_usize;
    for _ in 0..4 {
        for version in 0..150 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = format!("item {}", (number >> 33) % 40);
            match (number >> 20) % 3 {
                0 => remove(&bench, &key),
                _ => set(&bench, &key, version),
            }
        }
        bench.clock.advance_seconds(1_000);
        let scanned = bench.ok("Scan", &json!({ "TableName": "Orders" }));
        let of = |item: &Value| (item["pk"]["S"].as_str().unwrap().to_owned(), item.clone());
        states.push(scanned["Items"].as_array().unwrap().iter().map(of).collect::<BTreeMap<_, _>>());
    }
    for (period, state) in (0_i64..).zip(&states) {
        let (from, to) = (start + period * 1_000, start + (period + 1) * 1_000);
        let described = export_changes(&bench, from, Some(to), "NEW_AND_OLD_IMAGES");
        for (key, change) in changes_in(directory.path(), &described) {
            assert_eq!(change.get("OldImage"), items.get(&key), "{key} before period {period}");
            match change.get("NewImage") {
                Some(item) => items.insert(key, item.clone()),
                None => items.remove(&key),
            };
        }
        assert_eq!(items, *state, "after period {period}");
    }
}

#[test]
fn periods_that_cannot_be_exported_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(Some(directory.path()));
    switch_on(&bench);
    bench.clock.advance_seconds(100_000);
    let start = START_MILLISECONDS / 1000;
    let refusal = |kind: &str, more: Value| {
        let mut request = json!({ "TableArn": ARN, "S3Bucket": "bucket", "ExportType": kind });
        for (name, value) in more.as_object().unwrap() {
            request[name] = value.clone();
        }
        bench.refusal("ExportTableToPointInTime", &request)
    };
    let period = |from: i64, to: i64| json!({ "IncrementalExportSpecification": { "ExportFromTime": from, "ExportToTime": to } });
    let cases = [
        ("FULL_EXPORT", period(start, start + 2_000), "needs ExportType INCREMENTAL_EXPORT"),
        ("INCREMENTAL_EXPORT", json!({}), "needs ExportFromTime"),
        ("INCREMENTAL_EXPORT", json!({ "ExportTime": start }), "ExportTime is not for"),
        ("INCREMENTAL_EXPORT", period(start + 2_000, start), "must be before ExportToTime"),
        ("INCREMENTAL_EXPORT", period(start, start + 899), "at least 15 minutes"),
        ("INCREMENTAL_EXPORT", period(start, start + 86_401), "at most 24 hours"),
        ("INCREMENTAL_EXPORT", period(start - 1, start + 2_000), "InvalidExportTimeException"),
        ("INCREMENTAL_EXPORT", period(start + 99_000, start + 100_001), "InvalidExportTimeException"),
    ];
    for (kind, more, words) in cases {
        let refused = refusal(kind, more.clone());
        assert!(refused.contains(words), "{more}: {refused}");
    }
}
