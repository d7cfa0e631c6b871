//! Files of older versions: a database that format 1 wrote, which every later version opens. And whose files are refused.
//!
//! `cargo test -p monotable-engine write_the_fixture -- --ignored` wrote `fixtures/v1`; it is not to be written again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dynamo::operation::{
    AttributeDefinition, BillingMode, CreateTable, DescribeTimeToLive, GlobalSecondaryIndex, KeyRole,
    KeySchemaElement, LocalSecondaryIndex, Projection, ProjectionType, Put, PutItem, Query,
    StreamSpecification, StreamViewType, Tag, TimeToLiveSpecification, TransactWriteItem, TransactWriteItems,
    UpdateItem, UpdateTimeToLive,
};
use dynamo::{Item, KeyType, Number, StoredItem, Value};
use monotable_engine::{Engine, ManualClock, Options};

use crate::crash::process::{Child, DIRECTORY, report};
use crate::requests::{describe, scan_all, stream_all};

const NOW_MILLISECONDS: i64 = 1_800_000_000_000;
const TABLE: &str = "fixture";

fn options() -> Options {
    let clock = Arc::new(ManualClock::at_milliseconds(NOW_MILLISECONDS));
    Options { clock, housekeeping: None, reserve_bytes: 0, ..Options::default() }
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/v1")
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.metadata().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_database_of_format_1_opens_with_everything_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("database");
    copy_tree(&fixture(), &path);
    // Git keeps no empty directories; nothing was flushed yet.
    fs::create_dir_all(path.join("fjall/keyspaces/1/tables")).unwrap();
    for _ in 0..2 {
        let engine = Engine::open(&path, options()).unwrap();
        check_content(&engine);
    }
}

fn element(name: &str, role: KeyRole) -> KeySchemaElement {
    KeySchemaElement { attribute_name: Some(name.to_owned()), key_type: Some(role.into()) }
}

fn definition(name: &str, kind: KeyType) -> AttributeDefinition {
    AttributeDefinition { attribute_name: Some(name.to_owned()), attribute_type: Some(kind.into()) }
}

fn projection(kind: ProjectionType) -> Projection {
    Projection { projection_type: Some(kind.into()), non_key_attributes: None }
}

fn table() -> CreateTable {
    CreateTable {
        table_name: Some(TABLE.to_owned()),
        attribute_definitions: Some(vec![
            definition("pk", KeyType::S),
            definition("sk", KeyType::N),
            definition("group", KeyType::B),
        ]),
        key_schema: Some(vec![element("pk", KeyRole::Hash), element("sk", KeyRole::Range)]),
        billing_mode: Some(BillingMode::PayPerRequest.into()),
        local_secondary_indexes: Some(vec![LocalSecondaryIndex {
            index_name: Some("local".to_owned()),
            key_schema: Some(vec![element("pk", KeyRole::Hash), element("group", KeyRole::Range)]),
            projection: Some(projection(ProjectionType::KeysOnly)),
        }]),
        global_secondary_indexes: Some(vec![GlobalSecondaryIndex {
            index_name: Some("global".to_owned()),
            key_schema: Some(vec![element("group", KeyRole::Hash), element("sk", KeyRole::Range)]),
            projection: Some(projection(ProjectionType::All)),
            ..GlobalSecondaryIndex::default()
        }]),
        stream_specification: Some(StreamSpecification {
            stream_enabled: Some(true),
            stream_view_type: Some(StreamViewType::NewAndOldImages.into()),
        }),
        tags: Some(vec![Tag { key: Some("made".to_owned()), value: Some("once".to_owned()) }]),
        ..CreateTable::default()
    }
}

/// Items with a value of every type.
fn items() -> Vec<Item> {
    let number = |text: &str| Number::parse(text).unwrap();
    let values = [
        Value::from("text \u{e9}\u{10ffff}"),
        Value::N(number("-12345678901234567890123456789012345678e-20")),
        Value::B(vec![0, 255, 1].into()),
        Value::Bool(true),
        Value::Null,
        Value::Ss(["a".to_owned(), "b".to_owned()].into()),
        Value::Ns([number("1"), number("2.5"), number("1e100")].into()),
        Value::Bs([vec![1_u8].into(), vec![2_u8, 3].into()].into()),
        Value::L(vec![Value::from(1_i64), Value::L(vec![]), Value::M(Item::new())]),
        Value::M(Item::from([("inner".to_owned(), Value::L(vec![Value::Null, Value::from("x")]))])),
    ];
    let item = |(place, value): (usize, Value)| {
        let group = vec![u8::try_from(place % 3).unwrap()];
        Item::from([
            ("pk".to_owned(), Value::from(format!("partition-{}", place % 2))),
            ("sk".to_owned(), Value::N(number(["-1e9", "-2.5", "0", "3", "1e50"][place / 2]))),
            ("group".to_owned(), Value::B(group.into())),
            ("value".to_owned(), value),
        ])
    };
    values.into_iter().enumerate().map(item).collect()
}

fn counter() -> Item {
    Item::from([("pk".to_owned(), Value::from("counter")), ("sk".to_owned(), Value::from(0_i64))])
}

fn transaction() -> TransactWriteItems {
    let put = |name: &str| TransactWriteItem {
        put: Some(Put {
            table_name: Some(TABLE.to_owned()),
            item: Some(StoredItem::from(Item::from([
                ("pk".to_owned(), Value::from(name)),
                ("sk".to_owned(), Value::from(1_i64)),
                ("ttl".to_owned(), Value::from(NOW_MILLISECONDS / 1000 + 60)),
            ]))),
            ..Put::default()
        }),
        ..TransactWriteItem::default()
    };
    TransactWriteItems {
        transact_items: Some(vec![put("first"), put("second")]),
        client_request_token: Some("a token of format 1".to_owned()),
        ..TransactWriteItems::default()
    }
}

fn write_content(engine: &Engine) {
    engine.create_table(table()).unwrap();
    engine
        .update_time_to_live(UpdateTimeToLive {
            table_name: Some(TABLE.to_owned()),
            time_to_live_specification: Some(TimeToLiveSpecification {
                enabled: Some(true),
                attribute_name: Some("ttl".to_owned()),
            }),
        })
        .unwrap();
    engine.keep_house().unwrap();
    for item in items() {
        let request =
            PutItem { table_name: Some(TABLE.to_owned()), item: Some(item.into()), ..PutItem::default() };
        engine.put_item(request).unwrap();
    }
    for _ in 0..3 {
        engine
            .update_item(UpdateItem {
                table_name: Some(TABLE.to_owned()),
                key: Some(counter()),
                update_expression: Some("ADD hits :one".to_owned()),
                expression_attribute_values: Some([(":one".to_owned(), Value::from(1_i64))].into()),
                ..UpdateItem::default()
            })
            .unwrap();
    }
    engine.transact_write_items(transaction()).unwrap();
}

fn check_content(engine: &Engine) {
    let mut found = scan_all(engine, TABLE, None).unwrap();
    for item in items() {
        let place =
            found.iter().position(|other| *other == item).unwrap_or_else(|| panic!("{item:?} is missing"));
        found.remove(place);
    }
    assert_eq!(found.len(), 3, "{found:?}");
    let hits = found.iter().find_map(|item| item.get("hits"));
    assert_eq!(hits, Some(&Value::from(3_i64)));
    check_indexes(engine);
    let changes = stream_all(engine, TABLE).unwrap();
    assert_eq!(changes.len(), items().len() + 3 + 2);
    assert_eq!(changes[0].new.as_ref(), items().first());
    // The transaction was carried out already, as its token tells.
    engine.transact_write_items(transaction()).unwrap();
    assert_eq!(stream_all(engine, TABLE).unwrap().len(), changes.len());
    let request = DescribeTimeToLive { table_name: Some(TABLE.to_owned()) };
    let expiry = engine.describe_time_to_live(request).unwrap().time_to_live_description.unwrap();
    assert_eq!(expiry.attribute_name.as_deref(), Some("ttl"));
    let description = describe(engine, TABLE).unwrap();
    assert_eq!(description.item_count, Some(13));
}

fn check_indexes(engine: &Engine) {
    let groups = scan_all(engine, TABLE, Some("global")).unwrap();
    assert_eq!(groups.len(), items().len());
    let reply = engine
        .query(Query {
            table_name: Some(TABLE.to_owned()),
            index_name: Some("local".to_owned()),
            key_condition_expression: Some("pk = :pk AND #group > :group".to_owned()),
            expression_attribute_names: Some([("#group".to_owned(), "group".to_owned())].into()),
            expression_attribute_values: Some(
                [
                    (":pk".to_owned(), Value::from("partition-1")),
                    (":group".to_owned(), Value::B(vec![0].into())),
                ]
                .into(),
            ),
            ..Query::default()
        })
        .unwrap();
    let found: Vec<Item> = reply.items.unwrap().iter().map(StoredItem::decode).collect();
    let expected = items()
        .into_iter()
        .filter(|item| item["pk"] == Value::from("partition-1") && item["group"] != Value::B(vec![0].into()));
    assert_eq!(found.len(), expected.count());
    assert!(found.iter().all(|entry| !entry.contains_key("value")), "{found:?}");
}

#[test]
#[ignore = "writes the fixture, once for each format"]
fn write_the_fixture() {
    let path = fixture();
    assert!(!path.exists(), "{} is there already", path.display());
    let engine = Engine::open(&path, options()).unwrap();
    write_content(&engine);
    drop(engine);
    // A journal begins as a file of 64 MB, most of it empty; opening it again leaves what is in it.
    check_content(&Engine::open(&path, options()).unwrap());
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    drop(Engine::open(directory.path(), options()).unwrap());
    fs::write(directory.path().join("monotable"), "monotable format 99\n").unwrap();
    let error = Engine::open(directory.path(), options()).err().unwrap().to_string();
    assert!(error.contains("has format 99; this version reads up to format 2"), "{error}");
}

#[test]
fn a_foreign_directory_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("letter.txt"), "dear reader").unwrap();
    let error = Engine::open(directory.path(), options()).err().unwrap().to_string();
    assert!(error.contains("not a Monotable database: it holds \"letter.txt\""), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_second_process_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path(), options()).unwrap();
    let open_in_child = || Child::start("old_files::child_that_opens", directory.path(), &[]).wait().1;
    let refused = open_in_child();
    assert!(refused[0].contains("is open already, in this process or another"), "{refused:?}");
    drop(engine);
    assert_eq!(open_in_child(), ["opened"]);
}

#[test]
#[ignore = "a child process, which another test starts"]
fn child_that_opens() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    match Engine::open(directory, options()) {
        Ok(_) => report("opened"),
        Err(error) => report(&error.to_string()),
    }
}
