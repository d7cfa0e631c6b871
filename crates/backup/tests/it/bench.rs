//! An engine that is driven with JSON, and a place for backups.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dynamo::Operation;
use engine::{Engine, Entry, ManualClock, Options};
use monotable_backup::{
    Address, BackupError, Create, Created, Destination, Restore, Restored, Verified, create, restore, verify,
};
use seal::{LocalKey, MasterKey};
use serde_json::{Value, json};

/// Noon of a day in 2026.
pub(crate) const START: i64 = 1_770_000_000_000;

/// Nobody watches.
pub(crate) fn quiet(_: u64, _: Option<u64>) {}

/// A key for tests.
pub(crate) fn key() -> LocalKey {
    LocalKey::from_text(&"5a".repeat(32), "a test").unwrap()
}

/// A directory with a database and a place for backups.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) engine: Engine,
}

pub(crate) fn open(path: &Path, clock: &Arc<ManualClock>) -> Engine {
    let options = Options {
        clock: clock.clone(),
        housekeeping: None,
        reserve_bytes: 0,
        cache_bytes: 8 << 20,
        durability: engine::Durability::None,
        ..Options::default()
    };
    Engine::open(path, options).unwrap()
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at_milliseconds(START));
        let engine = open(&folder.path().join("data"), &clock);
        Bench { folder, clock, engine }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn address(&self) -> Address {
        Address::new(self.path("backups").to_str().unwrap())
    }

    pub(crate) fn destination(&self, key: Option<&dyn MasterKey>) -> Destination {
        Destination::open_or_make(&self.address(), key).unwrap()
    }

    pub(crate) fn back_up(&self, key: Option<&dyn MasterKey>) -> Created {
        let destination = self.destination(key);
        let database = self.engine.identity("a0b1").unwrap();
        let frozen = self.engine.freeze().unwrap();
        let work = Create { frozen: &frozen, database: &database, is_full: false };
        create(&destination, &work, &quiet).unwrap()
    }

    pub(crate) fn verify(&self, key: Option<&dyn MasterKey>) -> Result<Verified, BackupError> {
        verify(&Destination::open(&self.address(), key)?, None, &quiet)
    }

    pub(crate) fn restore(
        &self,
        to: &str,
        at: Option<i64>,
        key: Option<&dyn MasterKey>,
    ) -> Result<Restored, BackupError> {
        let destination = Destination::open(&self.address(), key)?;
        let work = Restore { directory: &self.path(to), id: None, at_milliseconds: at };
        restore(&destination, work, &quiet)
    }

    pub(crate) fn restored(&self, to: &str) -> Engine {
        open(&self.path(to), &self.clock)
    }

    /// All files of the backup, by name.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files(&self.path("backups"))
    }
}

/// All files of a directory that count, by name.
pub(crate) fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else if !path.file_name().unwrap().to_str().unwrap().starts_with('.') {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}

/// Everything in a database.
pub(crate) fn entries(engine: &Engine) -> Vec<Entry> {
    engine.freeze().unwrap().entries().collect::<Result<_, _>>().unwrap()
}

pub(crate) fn run(engine: &Engine, name: &str, request: Value) -> Value {
    let operation = Operation::parse(name, request.to_string().as_bytes()).unwrap();
    let mut body = Vec::new();
    match engine.run(operation) {
        Ok(reply) => reply.write_json(&mut body),
        Err(error) => panic!("{name} {request}: {error}"),
    }
    serde_json::from_slice(&body).unwrap()
}

/// A table with an index, a stream and an expiry.
pub(crate) fn make_table(engine: &Engine, name: &str) {
    run(
        engine,
        "CreateTable",
        json!({
            "TableName": name,
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
    let enabled = json!({ "Enabled": true, "AttributeName": "ttl" });
    run(engine, "UpdateTimeToLive", json!({ "TableName": name, "TimeToLiveSpecification": enabled }));
}

/// Writes an item whose content differs from that of every other.
pub(crate) fn put(engine: &Engine, table: &str, number: u64, version: u64, size: usize) {
    let mut random = crate::random::Random::new(number * 1_000_003 + version);
    let text: String = (0..size / 16).map(|_| format!("{:016x}", random.next())).collect();
    let item = json!({
        "pk": { "S": format!("order {number}") },
        "day": { "S": format!("day {}", number % 7) },
        "ttl": { "N": "4000000000" },
        "version": { "N": version.to_string() },
        "text": { "S": text },
    });
    run(engine, "PutItem", json!({ "TableName": table, "Item": item }));
}

/// A transaction of several tables, with a token.
pub(crate) fn transact(engine: &Engine, tables: &[&str], token: &str) {
    let update = |table: &&str| {
        json!({ "Update": {
            "TableName": table,
            "Key": { "pk": { "S": "counter" } },
            "UpdateExpression": "ADD amount :one",
            "ExpressionAttributeValues": { ":one": { "N": "1" } },
        }})
    };
    let items: Vec<Value> = tables.iter().map(update).collect();
    run(engine, "TransactWriteItems", json!({ "ClientRequestToken": token, "TransactItems": items }));
}
