//! Tables with keys of their own: what is sealed, what happens without the key, and how keys change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seal::{KeyBytes, KeyDirectory, LocalKey, MasterKey};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::clock::ManualClock;
use crate::encryption::add_data_key;
use crate::engine::Engine;
use crate::layout::{CollectionId, KeyRange};
use crate::options::Options;
use crate::store::{Direction, Space, key_of};
use crate::testing::{Bench, START_MILLISECONDS, simple_table};

/// A database and a directory with keys of customers.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.keys().join("alias")).unwrap();
        for name in ["orders", "other", "alias/customers"] {
            place.give(name);
        }
        place
    }

    fn database(&self) -> PathBuf {
        self.directory.path().join("database")
    }

    fn keys(&self) -> PathBuf {
        self.directory.path().join("keys")
    }

    fn give(&self, name: &str) {
        let key = LocalKey::generate().unwrap();
        fs::write(self.keys().join(name), key.as_bytes()).unwrap();
    }

    /// Takes a key away; what is returned puts it back.
    fn take(&self, name: &str) -> impl FnOnce() {
        let (from, to) = (self.keys().join(name), self.directory.path().join("taken"));
        fs::rename(&from, &to).unwrap();
        move || fs::rename(to, from).unwrap()
    }

    fn open(&self) -> Bench {
        Place::open_at(&self.database(), Some(&self.keys()))
    }

    fn open_at(path: &Path, keys: Option<&Path>) -> Bench {
        let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS));
        let options = Options {
            clock: clock.clone(),
            housekeeping: None,
            reserve_bytes: 0,
            key: Some(master()),
            table_keys: keys.map(|keys| Arc::new(KeyDirectory::new(keys)) as _),
            ..Options::default()
        };
        Bench { engine: Engine::open(path, options).unwrap(), clock }
    }
}

fn master() -> Arc<dyn MasterKey> {
    Arc::new(LocalKey::new(&KeyBytes::new([9; 32])))
}

fn with(mut request: Value, more: &Value) -> Value {
    let more = more.as_object().unwrap().clone();
    request.as_object_mut().unwrap().extend(more);
    request
}

fn sealed_by(key: &str) -> Value {
    json!({ "SSESpecification": { "Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": key } })
}

/// A table with an index, a stream and point-in-time recovery.
fn make_table(bench: &Bench, name: &str, encryption: &Value) {
    let parts = json!({
        "AttributeDefinitions": [
            { "AttributeName": "pk", "AttributeType": "S" }, { "AttributeName": "group", "AttributeType": "S" },
        ],
        "GlobalSecondaryIndexes": [{
            "IndexName": "by_group",
            "KeySchema": [{ "AttributeName": "group", "KeyType": "HASH" }],
            "Projection": { "ProjectionType": "ALL" },
        }],
        "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" },
    });
    bench.ok("CreateTable", &with(with(simple_table(name), &parts), encryption));
    let recovery = json!({
        "TableName": name,
        "PointInTimeRecoverySpecification": { "PointInTimeRecoveryEnabled": true },
    });
    bench.ok("UpdateContinuousBackups", &recovery);
}

fn put(bench: &Bench, table: &str, number: usize) {
    let item = json!({
        "pk": { "S": format!("item-{number}") }, "group": { "S": "g" }, "text": { "S": format!("canary-{number}") },
    });
    bench.put(table, &item);
}

fn get(bench: &Bench, table: &str, number: usize) -> Value {
    let key = json!({ "TableName": table, "Key": { "pk": { "S": format!("item-{number}") } } });
    bench.ok("GetItem", &key)["Item"]["text"]["S"].clone()
}

/// How many values of the data and log spaces are sealed with keys of tables, and how many are not; empty ones aside.
fn counts(bench: &Bench, table: &str) -> (usize, usize) {
    let view = bench.engine.view();
    let table = view.catalog.table(table).unwrap();
    let owner = super::KeyOwner::Table(table);
    let entries = owner.collections().into_iter().flat_map(|(space, id)| values(bench, space, id));
    let (sealed, plain): (Vec<_>, Vec<_>) =
        entries.partition(|(space, value)| key_of(*space, value).is_some());
    (sealed.len(), plain.len())
}

fn values(bench: &Bench, space: Space, id: CollectionId) -> Vec<(Space, bytes::Bytes)> {
    let snapshot = bench.engine.view().snapshot.unopened();
    let range = KeyRange::of_collection(id);
    let (lower, upper) = range.bounds();
    let entries =
        snapshot.range(space, lower, upper, Direction::Forward).map(|entry| (space, entry.unwrap().1));
    entries.filter(|(_, value)| !value.is_empty()).collect()
}

const DENIED: &str = "AccessDeniedException: KMS key access denied error: ";

fn is_denied(bench: &Bench, name: &str, request: &Value) -> bool {
    bench.refusal(name, request).starts_with(DENIED)
}

fn key_of_item(table: &str) -> Value {
    json!({ "TableName": table, "Key": { "pk": { "S": "item-0" } } })
}

#[test]
fn values_of_a_table_with_a_key_are_sealed_and_those_of_others_are_not() {
    let place = Place::new();
    let bench = place.open();
    make_table(&bench, "Orders", &sealed_by("orders"));
    make_table(&bench, "Others", &json!({}));
    for number in 0..20 {
        put(&bench, "Orders", number);
        put(&bench, "Others", number);
    }
    // Items, index entries, stream records and history.
    assert_eq!(counts(&bench, "Orders"), (4 * 20, 0));
    assert_eq!(counts(&bench, "Others"), (0, 4 * 20));
    assert_eq!((get(&bench, "Orders", 7), get(&bench, "Others", 7)), (json!("canary-7"), json!("canary-7")));
    let query = json!({
        "TableName": "Orders", "IndexName": "by_group",
        "KeyConditionExpression": "#g = :g", "ExpressionAttributeNames": { "#g": "group" },
        "ExpressionAttributeValues": { ":g": { "S": "g" } },
    });
    assert_eq!(bench.ok("Query", &query)["Count"], json!(20));
    let encryption = &bench.describe("Orders")["SSEDescription"];
    assert_eq!(encryption["Status"], json!("ENABLED"));
    assert_eq!(encryption["KMSMasterKeyArn"], json!("arn:aws:kms:us-east-1:123456789012:key/orders"));
    drop(bench);
    let bench = place.open();
    assert_eq!(get(&bench, "Orders", 19), json!("canary-19"));
}

#[test]
fn without_its_key_a_table_is_refused_and_everything_else_works_until_the_key_is_back() {
    let place = Place::new();
    let bench = place.open();
    make_table(&bench, "Orders", &sealed_by("orders"));
    make_table(&bench, "Others", &sealed_by("other"));
    put(&bench, "Orders", 0);
    put(&bench, "Others", 0);
    let stream = bench.describe("Orders")["LatestStreamArn"].clone();
    let give_back = place.take("orders");
    bench.clock.advance_milliseconds(60_000);
    bench.keep_house();

    let described = bench.describe("Orders");
    assert_eq!(described["TableStatus"], json!("INACCESSIBLE_ENCRYPTION_CREDENTIALS"));
    let since = &described["SSEDescription"]["InaccessibleEncryptionDateTime"];
    assert_eq!(
        since.to_string().split('.').next(),
        Some(&*((START_MILLISECONDS + 60_000) / 1_000).to_string())
    );
    let item = json!({ "pk": { "S": "new" } });
    assert!(is_denied(&bench, "GetItem", &key_of_item("Orders")));
    assert!(is_denied(&bench, "DeleteItem", &key_of_item("Orders")));
    assert!(is_denied(&bench, "PutItem", &json!({ "TableName": "Orders", "Item": item })));
    assert!(is_denied(&bench, "Scan", &json!({ "TableName": "Orders" })));
    assert!(is_denied(&bench, "CreateBackup", &json!({ "TableName": "Orders", "BackupName": "again" })));
    let transaction = json!({ "TransactItems": [
        { "Put": { "TableName": "Others", "Item": item } }, { "Put": { "TableName": "Orders", "Item": item } },
    ] });
    assert!(is_denied(&bench, "TransactWriteItems", &transaction));
    let shard = bench.ok("DescribeStream", &json!({ "StreamArn": stream }))["StreamDescription"]["Shards"][0]
        ["ShardId"]
        .clone();
    let iterator = json!({ "StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON" });
    let iterator = bench.ok("GetShardIterator", &iterator)["ShardIterator"].clone();
    assert!(is_denied(&bench, "GetRecords", &json!({ "ShardIterator": iterator })));

    assert_eq!(get(&bench, "Others", 0), json!("canary-0"));
    put(&bench, "Others", 1);
    assert_eq!(bench.describe("Others")["TableStatus"], json!("ACTIVE"));

    // Another key of the same name is not the key.
    place.give("orders");
    bench.keep_house();
    assert!(is_denied(&bench, "GetItem", &key_of_item("Orders")));
    fs::remove_file(place.keys().join("orders")).unwrap();

    give_back();
    bench.keep_house();
    assert_eq!(get(&bench, "Orders", 0), json!("canary-0"));
    let described = bench.describe("Orders");
    assert_eq!(described["TableStatus"], json!("ACTIVE"));
    assert!(described["SSEDescription"].get("InaccessibleEncryptionDateTime").is_none());
    put(&bench, "Orders", 1);
}

#[test]
fn a_database_opens_without_the_keys_of_its_tables_and_exchanged_keys_open_nothing() {
    let place = Place::new();
    let bench = place.open();
    make_table(&bench, "Orders", &sealed_by("orders"));
    make_table(&bench, "Others", &sealed_by("alias/customers"));
    put(&bench, "Orders", 0);
    put(&bench, "Others", 0);
    drop(bench);

    let bench = Place::open_at(&place.database(), None);
    for table in ["Orders", "Others"] {
        let refusal = bench.refusal("GetItem", &key_of_item(table));
        assert!(refusal.starts_with(DENIED) && refusal.contains("--table-keys"), "{refusal}");
    }
    bench.keep_house();
    // Not a table of its own: the specification is only kept.
    bench.ok("CreateTable", &with(simple_table("Kept"), &sealed_by("orders")));
    put(&bench, "Kept", 0);
    assert_eq!(counts(&bench, "Kept"), (0, 1));
    drop(bench);

    let (orders, customers) = (place.keys().join("orders"), place.keys().join("alias/customers"));
    let exchange = || {
        let (first, second) = (fs::read(&orders).unwrap(), fs::read(&customers).unwrap());
        fs::write(&orders, second).unwrap();
        fs::write(&customers, first).unwrap();
    };
    exchange();
    let bench = place.open();
    assert!(is_denied(&bench, "GetItem", &key_of_item("Orders")));
    assert!(is_denied(&bench, "GetItem", &key_of_item("Others")));
    exchange();
    bench.keep_house();
    assert_eq!((get(&bench, "Orders", 0), get(&bench, "Others", 0)), (json!("canary-0"), json!("canary-0")));
}

#[test]
fn a_table_gets_another_key_loses_it_and_gets_one_again() {
    let place = Place::new();
    let bench = place.open();
    make_table(&bench, "Orders", &json!({}));
    for number in 0..1_200 {
        put(&bench, "Orders", number);
    }
    let update = |encryption: &Value| with(json!({ "TableName": "Orders" }), encryption);
    bench.ok("UpdateTable", &update(&sealed_by("orders")));
    put(&bench, "Orders", 1_200);
    assert_eq!(bench.describe("Orders")["SSEDescription"]["Status"], json!("UPDATING"));
    assert!(bench.refusal("UpdateTable", &update(&sealed_by("other"))).starts_with("ResourceInUseException"));
    bench.keep_house();
    assert_eq!(bench.describe("Orders")["SSEDescription"]["Status"], json!("ENABLED"));
    let (sealed, plain) = counts(&bench, "Orders");
    assert_eq!((sealed, plain), (4 * 1_201, 0));

    // Another key of the customer's: the first one is not needed any more.
    bench.ok("UpdateTable", &update(&sealed_by("other")));
    bench.keep_house();
    fs::remove_file(place.keys().join("orders")).unwrap();
    bench.keep_house();
    assert_eq!(get(&bench, "Orders", 1_200), json!("canary-1200"));
    let arn = json!("arn:aws:kms:us-east-1:123456789012:key/other");
    assert_eq!(bench.describe("Orders")["SSEDescription"]["KMSMasterKeyArn"], arn);

    bench.ok("UpdateTable", &update(&json!({ "SSESpecification": { "Enabled": false } })));
    assert_eq!(get(&bench, "Orders", 0), json!("canary-0"));
    bench.keep_house();
    assert_eq!(counts(&bench, "Orders"), (0, 4 * 1_201));
    assert!(bench.describe("Orders").get("SSEDescription").is_none());
    assert!(bench.engine.catalog().keys.is_empty());
    fs::remove_file(place.keys().join("other")).unwrap();
    bench.keep_house();
    assert_eq!(get(&bench, "Orders", 0), json!("canary-0"));
}

#[test]
fn a_new_data_key_of_the_database_is_followed_by_new_ones_of_tables() {
    let place = Place::new();
    let bench = place.open();
    make_table(&bench, "Orders", &sealed_by("orders"));
    for number in 0..30 {
        put(&bench, "Orders", number);
    }
    let key_of_table = |bench: &Bench| bench.engine.catalog().keys.all().next().unwrap().clone();
    let before = key_of_table(&bench);
    add_data_key(place.database(), &*master()).unwrap();
    bench.keep_house();
    let after = key_of_table(&bench);
    assert_eq!((before.database_key, after.database_key), (1, 2));
    assert_eq!(after.envelope.data_key_ids().collect::<Vec<_>>(), [2]);
    let id = bench.engine.catalog().table("Orders").unwrap().id;
    let data_keys =
        values(&bench, Space::Data, id).into_iter().map(|(_, value)| crate::store::data_key_of(&value));
    assert!(data_keys.into_iter().all(|key| key == Some(2)));
    drop(bench);
    assert_eq!(get(&place.open(), "Orders", 29), json!("canary-29"));
}

#[test]
fn backups_and_restores_keep_the_key_unless_the_request_names_another() {
    let place = Place::new();
    let bench = place.open();
    make_table(&bench, "Orders", &sealed_by("orders"));
    for number in 0..10 {
        put(&bench, "Orders", number);
    }
    let backup = bench.ok("CreateBackup", &json!({ "TableName": "Orders", "BackupName": "first" }));
    let arn = backup["BackupDetails"]["BackupArn"].clone();
    bench.keep_house();
    let backup_id = bench.engine.catalog().backups().next().unwrap().id;
    let copies = values(&bench, Space::Data, backup_id);
    assert!(copies.len() == 10 && copies.iter().all(|(space, value)| key_of(*space, value).is_some()));

    let restore = |target: &str| json!({ "TargetTableName": target, "BackupArn": arn });
    bench.ok("RestoreTableFromBackup", &restore("Same"));
    let other = json!({ "SSESpecificationOverride": sealed_by("other")["SSESpecification"] });
    bench.ok("RestoreTableFromBackup", &with(restore("Other"), &other));
    let none = json!({ "SSESpecificationOverride": { "Enabled": false } });
    bench.ok("RestoreTableFromBackup", &with(restore("None"), &none));
    let moment =
        json!({ "SourceTableName": "Orders", "TargetTableName": "Past", "UseLatestRestorableTime": true });
    bench.ok("RestoreTableToPointInTime", &moment);
    bench.keep_house();
    for (table, sealed) in [("Same", 20), ("Other", 20), ("None", 0), ("Past", 20)] {
        assert_eq!(counts(&bench, table), (sealed, 20 - sealed), "{table}");
        assert_eq!(get(&bench, table, 9), json!("canary-9"), "{table}");
    }

    let give_back = place.take("orders");
    bench.keep_house();
    for table in ["Orders", "Same", "Past"] {
        assert!(is_denied(&bench, "GetItem", &key_of_item(table)), "{table}");
    }
    assert!(is_denied(&bench, "RestoreTableFromBackup", &restore("Again")));
    assert_eq!((get(&bench, "Other", 1), get(&bench, "None", 1)), (json!("canary-1"), json!("canary-1")));
    give_back();
}

#[test]
fn what_a_deleted_table_leaves_is_unreadable_once_nothing_has_its_key() {
    let place = Place::new();
    let bench = place.open();
    bench.ok("CreateTable", &with(simple_table("Orders"), &sealed_by("orders")));
    put(&bench, "Orders", 0);
    let id = bench.engine.catalog().table("Orders").unwrap().id;
    let sealed = values(&bench, Space::Data, id).remove(0).1;
    bench.ok("DeleteTable", &json!({ "TableName": "Orders" }));
    assert!(bench.engine.catalog().keys.is_empty(), "the wrapped key is gone with the table");
    // Its items are still there, and are removed without the key.
    bench.keep_house();
    assert!(values(&bench, Space::Data, id).is_empty());
    assert!(key_of(Space::Data, &sealed).is_some());
    drop(bench);

    // With recovery, a backup is left, and the key with it.
    let bench = place.open();
    make_table(&bench, "Orders", &sealed_by("orders"));
    put(&bench, "Orders", 0);
    bench.ok("DeleteTable", &json!({ "TableName": "Orders" }));
    bench.keep_house();
    assert!(!bench.engine.catalog().keys.is_empty());
    let arn =
        bench.ok("ListBackups", &json!({ "BackupType": "ALL" }))["BackupSummaries"][0]["BackupArn"].clone();
    bench.ok("RestoreTableFromBackup", &json!({ "TargetTableName": "Again", "BackupArn": arn }));
    bench.keep_house();
    assert_eq!(get(&bench, "Again", 0), json!("canary-0"));
}

#[test]
fn a_customers_key_that_is_not_there_is_refused_and_nothing_is_made() {
    let place = Place::new();
    let bench = place.open();
    for name in ["missing", "../database/envelope", "alias/missing"] {
        let create = with(simple_table("Orders"), &sealed_by(name));
        assert!(is_denied(&bench, "CreateTable", &create), "{name}");
    }
    assert_eq!(bench.ok("ListTables", &json!({}))["TableNames"], json!([]));
}

/// Everything in the database that is kept in a directory, read with the database's key and without those of tables.
fn everything(path: &Path) -> Vec<u8> {
    let bench = Place::open_at(path, None);
    let frozen = bench.engine.freeze().unwrap();
    let entries = frozen.entries().map(Result::unwrap);
    entries.flat_map(|entry| [entry.key, entry.value]).flatten().collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn with_the_databases_key_alone_no_value_of_a_thousand_is_found_here_and_in_a_copy() {
    let place = Place::new();
    let bench = place.open();
    make_table(&bench, "Orders", &sealed_by("orders"));
    make_table(&bench, "Others", &json!({}));
    for number in 0..1_000 {
        put(&bench, "Orders", number);
    }
    put(&bench, "Orders", 3);
    bench.put("Others", &json!({ "pk": { "S": "o" }, "text": { "S": "open-secret" } }));
    bench.ok("CreateBackup", &json!({ "TableName": "Orders", "BackupName": "first" }));
    bench.keep_house();
    // The log of commits, too, holds what is shipped to other places.
    bench.engine.start_shipping(1 << 30, 0).unwrap();
    put(&bench, "Orders", 4);
    let frozen = bench.engine.freeze().unwrap();
    let records = frozen.records_after(0, usize::MAX).unwrap();
    assert!(records.iter().all(|record| !contains(record.bytes(), "canary-")));

    let copy = place.directory.path().join("copy");
    let mut loading = crate::Loading::begin_encrypted(&copy, &*master()).unwrap();
    loading.put(frozen.entries().map(Result::unwrap)).unwrap();
    loading.finish(frozen.commit()).unwrap();
    let refused = crate::Loading::begin(place.directory.path().join("plain")).unwrap();
    let mut refused = refused;
    let error = refused.put(frozen.entries().map(Result::unwrap)).unwrap_err().to_string();
    assert!(error.contains("keys of their own"), "{error}");
    drop((bench, frozen));

    for path in [place.database(), copy.clone()] {
        let found = everything(&path);
        assert!(contains(&found, "open-secret") && contains(&found, "item-999"), "keys are the database's");
        assert!(!contains(&found, "canary-"), "{}", path.display());
        let bench = Place::open_at(&path, Some(&place.keys()));
        assert_eq!(get(&bench, "Orders", 999), json!("canary-999"));
        bench.keep_house();
        assert_eq!(get(&bench, "Orders", 4), json!("canary-4"));
    }
}

#[test]
fn a_check_says_what_it_could_not_look_at() {
    let place = Place::new();
    let bench = place.open();
    make_table(&bench, "Orders", &sealed_by("orders"));
    put(&bench, "Orders", 0);
    let findings = |bench: &Bench| {
        bench.ok("CheckData", &json!({ "Start": true }));
        loop {
            let reply = bench.ok("CheckData", &json!({}));
            if reply["Status"] == json!("DONE") {
                return reply["Findings"].clone();
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    assert_eq!(findings(&bench), json!([]));
    let _give_back = place.take("orders");
    bench.keep_house();
    let found = findings(&bench).to_string();
    assert!(found.contains("table Orders: not checked"), "{found}");
}
