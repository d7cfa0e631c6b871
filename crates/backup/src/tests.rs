//! The same in an object store: here one in memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dynamo::Operation;
use engine::{Durability, Engine, Entry, Options};
use object_store::memory::InMemory;

use crate::objects::{Objects, Remote};
use crate::{Create, Destination, Keep, Restore, ShipSettings, Shipper, create, prune, restore, verify};

fn quiet(_: u64, _: Option<u64>) {}

fn remote() -> Arc<dyn Objects> {
    Arc::new(Remote::on(Arc::new(InMemory::new()), "some/prefix".into()).unwrap())
}

fn open(path: &Path) -> Engine {
    let options =
        Options { housekeeping: None, reserve_bytes: 0, durability: Durability::None, ..Options::default() };
    Engine::open(path, options).unwrap()
}

fn run(engine: &Engine, name: &str, request: &str) {
    engine.run(Operation::parse(name, request.as_bytes()).unwrap()).unwrap();
}

fn filled(path: &Path) -> Engine {
    let engine = open(path);
    let table = r#"{"TableName":"Items","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}"#;
    run(&engine, "CreateTable", table);
    (0..500).for_each(|number| put(&engine, number));
    engine
}

fn put(engine: &Engine, number: u64) {
    run(engine, "PutItem", &format!(r#"{{"TableName":"Items","Item":{{"pk":{{"S":"{number}"}}}}}}"#));
}

fn entries(engine: &Engine) -> Vec<Entry> {
    engine.freeze().unwrap().entries().collect::<Result<_, _>>().unwrap()
}

#[test]
fn an_object_is_replaced_only_if_it_is_what_was_read() {
    let objects = remote();
    let text = |text: &'static str| Bytes::from_static(text.as_bytes());
    assert!(objects.replace("index", text("1"), None).unwrap());
    assert!(!objects.replace("index", text("other"), None).unwrap(), "it is there already");
    let (_, seen) = objects.get("index").unwrap().unwrap();
    assert!(objects.replace("index", text("2"), Some(&seen)).unwrap());
    assert!(!objects.replace("index", text("late"), Some(&seen)).unwrap(), "it has changed");
    assert_eq!(objects.get("index").unwrap().unwrap().0, text("2"));
    objects.put("log/a/b", text("x")).unwrap();
    let listed: Vec<_> = objects.list("log").unwrap().into_iter().map(|object| object.name).collect();
    assert_eq!(listed, ["log/a/b"]);
    objects.remove("log/a/b").unwrap();
    objects.remove("log/a/b").unwrap();
    assert!(objects.get("log/a/b").unwrap().is_none());
}

#[test]
fn backups_in_an_object_store_are_made_shipped_verified_pruned_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let engine = filled(&folder.path().join("data"));
    let objects = remote();
    let destination = Destination::on(objects.clone(), "memory", None, true).unwrap();
    let database = engine.identity("a0").unwrap();
    let frozen = engine.freeze().unwrap();
    create(&destination, &Create { frozen: &frozen, database: &database, is_full: false }, &quiet).unwrap();
    let settings = ShipSettings { every: Duration::from_millis(5), ..ShipSettings::default() };
    let shipper = Shipper::on(engine.clone(), objects, "memory".to_owned(), None, settings).unwrap();
    for number in 500..600 {
        put(&engine, number);
        std::thread::sleep(Duration::from_millis(1));
    }
    // The first turn makes a backup; the last one only ships.
    while shipper.status().turns() == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(shipper);
    let verified = verify(&destination, None, &quiet).unwrap();
    assert!(verified.is_good() && verified.backups == 2, "{verified:?}");
    assert_eq!(prune(&destination, Keep::Newest(1), &quiet).unwrap().backups, 1);
    let directory = folder.path().join("restored");
    let restored =
        restore(&destination, Restore { directory: &directory, id: None, at_milliseconds: None }, &quiet)
            .unwrap();
    assert!(restored.commits > 0);
    assert_eq!(entries(&open(&directory)), entries(&engine));
}

#[test]
fn a_backup_that_overlaps_with_a_prune_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let engine = filled(&folder.path().join("data"));
    let destination = Destination::on(remote(), "memory", None, true).unwrap();
    let frozen = engine.freeze().unwrap();
    let work = Create { frozen: &frozen, database: "a0", is_full: false };
    create(&destination, &work, &quiet).unwrap();
    // In the middle of the backup, as its progress shows, somebody prunes.
    let meanwhile = |_: u64, _: Option<u64>| {
        prune(&destination, Keep::Newest(1), &quiet).unwrap();
    };
    let refused = create(&destination, &work, &meanwhile).unwrap_err();
    assert!(matches!(refused, crate::BackupError::Pruned { .. }), "{refused}");
    // And one that was interrupted keeps backups away until it is completed.
    destination
        .change_index(|index| {
            index.pruning = true;
            Ok(())
        })
        .unwrap();
    let refused = create(&destination, &work, &quiet).unwrap_err();
    assert!(matches!(refused, crate::BackupError::Pruning { .. }), "{refused}");
    prune(&destination, Keep::Newest(1), &quiet).unwrap();
    create(&destination, &work, &quiet).unwrap();
    assert!(verify(&destination, None, &quiet).unwrap().is_good());
}

#[test]
fn an_address_that_means_nothing_is_refused_at_once() {
    for address in ["ftp://example.com/x", "s3://", "http://example.com/x"] {
        let refused = Destination::open_or_make(&crate::Address::new(address), None).err().unwrap();
        assert!(matches!(refused, crate::BackupError::Address { .. }), "{address}: {refused}");
    }
}
