//! Idempotency keys: done once, answered alike, refused for anything else.

use std::sync::Arc;

use design::{Source, check, text};
use dynamo::Value;
use monotable_service::{Changes, Embedded, Options, Refusal, Service, WriteOptions};

use crate::support::{assert_sound, engine, item, seeded, texts};

fn key(key: &str) -> WriteOptions {
    WriteOptions { idempotency_key: Some(key.to_owned()), ..WriteOptions::default() }
}

#[tokio::test]
async fn a_repeat_gets_the_outcome_of_the_first() {
    let service = seeded("story-hub").await;
    let input = || {
        let ids = [("storyId", "01HMZ700000000000000000001"), ("parentNodeId", "01HMZ200000000000000000001")];
        let mut input = texts(ids);
        input.extend(texts([("authorId", "ben"), ("title", "Up"), ("content", "…")]));
        input.insert("depth".to_owned(), Value::from(1));
        input
    };
    let first = service.operate("add-branch", input(), key("a")).await.unwrap();
    assert!(!first.repeated);
    let again = service.operate("add-branch", input(), key("a")).await.unwrap();
    assert!(again.repeated);
    assert_eq!(first.items, again.items);
    let mut other = input();
    other.insert("title".to_owned(), Value::from("Down"));
    assert_eq!(service.operate("add-branch", other, key("a")).await, Err(Refusal::KeyReused));
    let story = service
        .get("Story", texts([("storyId", "01HMZ700000000000000000001")]), true)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(design::at(&story.item, "stats.totalChapters"), Some(&Value::from(3)));
    assert_sound(&service).await;
}

#[tokio::test]
async fn a_repeat_is_answered_even_where_it_could_not_be_done_again() {
    let service = seeded("stak-inbox").await;
    let input = || {
        texts([("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "ada"), ("id", "lrg51000000000000001")])
    };
    assert!(!service.operate("read-message", input(), key("r")).await.unwrap().repeated);
    assert!(service.operate("read-message", input(), key("r")).await.unwrap().repeated);
    let other = service.operate("read-message", input(), key("s")).await;
    assert!(matches!(other, Err(Refusal::Condition { .. })), "{other:?}");
    assert!(service.delete("UserMessage", input(), key("d")).await.is_ok());
    assert!(service.delete("UserMessage", input(), key("d")).await.unwrap().repeated);
    assert_sound(&service).await;
}

#[tokio::test]
async fn what_was_refused_can_be_tried_again_with_the_same_key() {
    let service = seeded("kefir").await;
    let batch = texts([("userId", "ada"), ("batchId", "01HMZ100000000000000000009")]);
    let changes = || Changes { set: item([("name", Value::from("Plum"))]), remove: Vec::new() };
    let refused = service.update("Batch", batch, changes(), key("u")).await;
    assert!(matches!(refused, Err(Refusal::NotFound { .. })));
    let batch = texts([("userId", "ada"), ("batchId", "01HMZ100000000000000000001")]);
    assert!(service.update("Batch", batch, changes(), key("u")).await.is_ok());
    let empty = service.operate("read-message", item([]), key("")).await;
    assert!(empty.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_at_once_one_writes_and_all_are_answered() {
    let service = seeded("story-nodes").await;
    let tasks = (0..16).map(|_| {
        let service = service.clone();
        tokio::spawn(async move {
            let story = texts([("userId", "ada"), ("title", "Once")]);
            service.create("Story", story, key("same")).await.unwrap()
        })
    });
    let mut first = 0;
    let mut ids = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        let written = task.await.unwrap();
        first += u32::from(!written.repeated);
        ids.push(written.items[0].item["id"].clone());
    }
    assert_eq!(first, 1);
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_sound(&service).await;
}

/// A design whose operation makes as many items as a list has.
fn list_of(most: usize) -> String {
    format!(
        r#"design = "list"

[table.List]
partition-key = "PK"
sort-key      = "SK"

[entity.Entry]
key = {{ PK = "L#{{list}}", SK = "E#{{number}}" }}

[entity.Entry.attributes]
list   = "key"
number = "key"

[pattern.entries]
where = 'PK = "L#{{list}}"'

[operation.fill]
input = {{ list = "Entry.list", numbers = {{ type = "key[]", max-items = {most} }} }}

[[operation.fill.step]]
create = "Entry"
each   = {{ number = "numbers" }}
"#
    )
}

#[tokio::test]
async fn the_largest_write_that_a_design_may_have_takes_a_key() {
    let source = Source::new("list.toml", list_of(100));
    let report = check(&source);
    let refused = text(&source, &report.findings);
    assert!(report.design.is_none() && refused.contains("a transaction has room for 99"), "{refused}");

    let design = check(&Source::new("list.toml", list_of(99))).design.unwrap();
    let (engine, clock) = engine();
    let options = Options { clock, ..Options::default() };
    let service = Service::new(design, Arc::new(Embedded::new(engine)), options);
    service.prepare().await.unwrap();
    let numbers = (0..99).map(|number| Value::S(format!("n{number}"))).collect::<Vec<_>>();
    let input = || item([("list", Value::from("a")), ("numbers", Value::L(numbers.clone()))]);
    let first = service.operate("fill", input(), key("k")).await.unwrap();
    assert_eq!((first.items.len(), first.repeated), (99, false));
    let again = service.operate("fill", input(), key("k")).await.unwrap();
    assert_eq!((again.items, again.repeated), (first.items, true));
}
