//! What the files of an encrypted database give away: none of a thousand canaries in keys, values, names, index keys and streams.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dynamo::Operation;
use monotable_engine::{Durability, Engine, Options, add_data_key, encrypt};
use seal::{KeyBytes, LocalKey, MasterKey};

use crate::crash::{KEYED, table_keys_of};

const CANARIES: usize = 1_000;
/// Each canary begins so. It is found in any part of a file, whatever stands around it.
const CANARY: &str = "canary-7f3a91";

fn key() -> Arc<dyn MasterKey> {
    Arc::new(LocalKey::new(&KeyBytes::new([9; 32])))
}

fn open(path: &Path, key: Option<Arc<dyn MasterKey>>) -> Engine {
    let options = Options { durability: Durability::None, housekeeping: None, key, ..Options::default() };
    Engine::open(path, options).unwrap()
}

fn run(engine: &Engine, name: &str, request: &str) {
    engine.run(Operation::parse(name, request.as_bytes()).unwrap()).unwrap();
}

/// A table with an index and a stream, and canaries wherever a client can put a text.
fn fill(engine: &Engine) {
    let table = format!("{CANARY}-table");
    let create = format!(
        r#"{{"TableName":"{table}","BillingMode":"PAY_PER_REQUEST",
        "KeySchema":[{{"AttributeName":"{CANARY}-pk","KeyType":"HASH"}}],
        "AttributeDefinitions":[{{"AttributeName":"{CANARY}-pk","AttributeType":"S"}},{{"AttributeName":"{CANARY}-group","AttributeType":"S"}}],
        "GlobalSecondaryIndexes":[{{"IndexName":"{CANARY}-index","KeySchema":[{{"AttributeName":"{CANARY}-group","KeyType":"HASH"}}],"Projection":{{"ProjectionType":"ALL"}}}}],
        "StreamSpecification":{{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}},
        "Tags":[{{"Key":"{CANARY}-tag","Value":"{CANARY}-value"}}]}}"#
    );
    run(engine, "CreateTable", &create);
    for number in 0..CANARIES {
        let put = format!(
            r#"{{"TableName":"{table}","Item":{{"{CANARY}-pk":{{"S":"{CANARY}-key-{number}"}},
            "{CANARY}-group":{{"S":"{CANARY}-group-{number}"}},"text":{{"S":"{CANARY}-text-{number}"}},
            "large":{{"S":"{CANARY}-large-{number}-{}"}}}}}}"#,
            "x".repeat(if number % 50 == 0 { 20_000 } else { 10 }),
        );
        run(engine, "PutItem", &put);
    }
}

/// The files below a directory.
fn files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The files that have a canary in them.
fn telling(path: &Path) -> Vec<PathBuf> {
    let tells = |path: &PathBuf| {
        // Some files go while they are looked for.
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes())
    };
    files(path).into_iter().filter(tells).collect()
}

#[test]
fn no_canary_is_found_in_any_file_of_an_encrypted_database() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("encrypted");
    let engine = open(&path, Some(key()));
    fill(&engine);
    assert_eq!(telling(&path), Vec::<PathBuf>::new(), "while it is open");
    add_data_key(&path, &*key()).unwrap();
    engine.keep_house().unwrap();
    assert_eq!(telling(&path), Vec::<PathBuf>::new(), "after a rotation");
    drop(engine);
    assert_eq!(telling(&path), Vec::<PathBuf>::new(), "after it was closed");
}

/// Looks through the files again and again while something is done, also through those that are there for a moment only. Returns what
/// tells, and how often it looked.
fn watched(path: &Path, work: impl FnOnce()) -> (Vec<PathBuf>, usize) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (mut found, mut looks) = (Vec::new(), 0);
            while !is_over.load(Ordering::Relaxed) {
                found.extend(telling(path));
                looks += 1;
            }
            (found, looks)
        });
        work();
        is_over.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    })
}

#[test]
fn no_canary_is_found_in_files_that_are_there_for_a_moment_only() {
    let directory = tempfile::tempdir().unwrap();
    let (path, exports) = (directory.path().join("encrypted"), directory.path().join("exports"));
    let options = Options {
        durability: Durability::None,
        housekeeping: None,
        key: Some(key()),
        export_directory: Some(exports.clone()),
        ..Options::default()
    };
    let engine = Engine::open(&path, options).unwrap();
    let work = || {
        fill(&engine);
        let table = format!("{CANARY}-table");
        let recovery = format!(
            r#"{{"TableName":"{table}","PointInTimeRecoverySpecification":{{"PointInTimeRecoveryEnabled":true}}}}"#
        );
        run(&engine, "UpdateContinuousBackups", &recovery);
        run(&engine, "CreateBackup", &format!(r#"{{"TableName":"{table}","BackupName":"{CANARY}-backup"}}"#));
        let arn = format!("arn:aws:dynamodb:us-east-1:123456789012:table/{table}");
        run(&engine, "ExportTableToPointInTime", &format!(r#"{{"TableArn":"{arn}","S3Bucket":"bucket"}}"#));
        engine.keep_house().unwrap();
        add_data_key(&path, &*key()).unwrap();
        engine.keep_house().unwrap();
    };
    let (found, looks) = watched(&path, work);
    assert_eq!(found, Vec::<PathBuf>::new());
    assert!(looks > 2, "the files were looked through {looks} times");
    // Files that are exported are for others to read, and lie outside the database.
    assert!(files(&exports).iter().any(|file| file.extension().is_some_and(|name| name == "gz")));
}

#[test]
fn no_canary_is_found_where_tables_have_keys_of_their_own_which_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(KEYED);
    let table_keys = table_keys_of(&path);
    let options = Options {
        durability: Durability::None,
        housekeeping: None,
        key: Some(key()),
        table_keys,
        ..Options::default()
    };
    let engine = Engine::open(&path, options).unwrap();
    fill(&engine);
    let table = format!("{CANARY}-table");
    for specification in [
        r#"{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"first"}"#,
        r#"{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"second"}"#,
        r#"{"Enabled":false}"#,
    ] {
        run(
            &engine,
            "UpdateTable",
            &format!(r#"{{"TableName":"{table}","SSESpecification":{specification}}}"#),
        );
        engine.keep_house().unwrap();
        add_data_key(&path, &*key()).unwrap();
        engine.keep_house().unwrap();
        assert_eq!(telling(&path), Vec::<PathBuf>::new(), "{specification}");
    }
    drop(engine);
    assert_eq!(telling(&path), Vec::<PathBuf>::new(), "after it was closed");
}

#[test]
fn canaries_are_found_in_a_plain_database_until_it_is_encrypted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plain");
    fill(&open(&path, None));
    assert_ne!(telling(&path), Vec::<PathBuf>::new());
    encrypt(&path, &key(), |_| {}).unwrap();
    assert_eq!(telling(&path), Vec::<PathBuf>::new());
    let engine = open(&path, Some(key()));
    let scan = format!(r#"{{"TableName":"{CANARY}-table","Select":"COUNT"}}"#);
    let mut body = Vec::new();
    engine.run(Operation::parse("Scan", scan.as_bytes()).unwrap()).unwrap().write_json(&mut body);
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains(&format!("\"Count\":{CANARIES}")), "{body}");
}
