//! Verify finds what somebody else damaged, and repair mends it.

use std::sync::Arc;

use dynamo::operation::{DeleteItem, PutItem, Scan, UpdateItem};
use dynamo::{Item, Reply, Value};
use engine::Engine;
use monotable_service::{Embedded, FindingKind, Options, Service};

use crate::support::{assert_sound, design, engine, texts};

async fn service(name: &str) -> (Service, Engine) {
    let (engine, clock) = engine();
    let options = Options { clock, ..Options::default() };
    let service = Service::new(design(name), Arc::new(Embedded::new(engine.clone())), options);
    service.prepare().await.unwrap();
    service.seed().await.unwrap();
    (service, engine)
}

fn items(engine: &Engine, table: &str) -> Vec<Item> {
    let Ok(Reply::Scan(reply)) = engine.run(Scan::new(table).into()) else { panic!() };
    reply.items.unwrap_or_default().iter().map(dynamo::StoredItem::decode).collect()
}

fn key_of(item: &Item) -> Item {
    item.iter()
        .filter(|(name, _)| ["PK", "SK"].contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[tokio::test]
async fn every_kind_of_damage_is_found_and_mended() {
    let (service, engine) = service("story-hub").await;
    let table = "nlmonorepo-tsh-datatable-dev";
    let before = items(&engine, table);
    let find = |part: &str| {
        before
            .iter()
            .find(|item| matches!(&item["SK"], Value::S(text) if text.starts_with(part)))
            .unwrap()
            .clone()
    };
    // A counter, an index key, a copy that is gone, a copy that differs, a copy of nothing, a name that is stale.
    engine
        .run(
            UpdateItem {
                key: Some(key_of(&find("PROFILE#ada"))),
                table_name: Some(table.to_owned()),
                update_expression: Some("SET #s.storiesCreated = :n".to_owned()),
                expression_attribute_names: Some([("#s".to_owned(), "stats".to_owned())].into()),
                expression_attribute_values: Some([(":n".to_owned(), Value::from(7))].into()),
                ..UpdateItem::default()
            }
            .into(),
        )
        .unwrap();
    let mut notification = find("NOTIFICATION#");
    notification.insert("GSI1PK".to_owned(), Value::from("NOTIFICATION#other"));
    engine.run(PutItem::new(table, notification).into()).unwrap();
    engine
        .run(
            DeleteItem {
                key: Some(key_of(&find("CHILD#"))),
                table_name: Some(table.to_owned()),
                ..DeleteItem::default()
            }
            .into(),
        )
        .unwrap();
    let mut copy = find("STORY#");
    copy.insert("title".to_owned(), Value::from("Another"));
    engine.run(PutItem::new(table, copy.clone()).into()).unwrap();
    copy.insert("SK".to_owned(), Value::from("STORY#01HMZ700000000000000000009"));
    copy.insert("storyId".to_owned(), Value::from("01HMZ700000000000000000009"));
    engine.run(PutItem::new(table, copy).into()).unwrap();
    let mut chapter = find("CHAPTER#01HMZ200000000000000000002");
    chapter.insert("authorName".to_owned(), Value::from("Benjamin"));
    engine.run(PutItem::new(table, chapter).into()).unwrap();

    let found = service.verify(&mut |_| {}).await.unwrap();
    let mut kinds = found.findings.iter().map(|finding| format!("{:?}", finding.kind)).collect::<Vec<_>>();
    kinds.sort();
    assert_eq!(
        kinds,
        ["CopyDiffers", "CopyMissing", "CopyOrphaned", "Counter", "IndexKey", "Stale"],
        "{:#?}",
        found.findings
    );
    let repaired = service.repair(&mut |_| {}).await.unwrap();
    assert_eq!(repaired.repaired, 6);
    assert_sound(&service).await;
    let mut after = items(&engine, table);
    let mut before = before;
    let order = |item: &Item| format!("{:?}", key_of(item));
    after.sort_by_key(order);
    before.sort_by_key(order);
    assert_eq!(before, after);
}

#[tokio::test]
async fn counters_that_come_to_be_by_counting_are_made_again() {
    let (service, engine) = service("stak-inbox").await;
    let key = texts([("pk", "t#acmeU#ada#main"), ("sk", "c#*")]);
    engine
        .run(
            DeleteItem { key: Some(key), table_name: Some("stak-inbox".to_owned()), ..DeleteItem::default() }
                .into(),
        )
        .unwrap();
    engine.run(PutItem::new("stak-inbox", texts([("pk", "x"), ("sk", "y")])).into()).unwrap();
    let found = service.repair(&mut |_| {}).await.unwrap();
    assert!(found.findings.iter().any(|finding| finding.kind == FindingKind::Unknown));
    let left = service.verify(&mut |_| {}).await.unwrap();
    assert!(left.findings.iter().all(|finding| finding.kind == FindingKind::Unknown), "{left:#?}");
}
