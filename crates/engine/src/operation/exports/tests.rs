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
