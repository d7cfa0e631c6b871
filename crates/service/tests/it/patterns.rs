//! Patterns: pages, cursors, merged lists, collections.

use dynamo::{Item, Value};
use monotable_service::{Answer, PageRequest, Refusal, Service, WriteOptions};

use crate::support::{item, seeded, texts};

fn ada() -> Item {
    texts([("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "ada")])
}

async fn page(service: &Service, limit: u32, cursor: Option<String>) -> Answer {
    service.ask("inbox", ada(), PageRequest { limit: Some(limit), cursor }).await.unwrap()
}

/// An inbox of own and public messages, some of each read.
async fn full_inbox() -> Service {
    let service = seeded("stak-inbox").await;
    let message = Value::M(item([("title", Value::from("t")), ("body", Value::from("b"))]));
    for number in 0..40 {
        let id = Value::S(format!("lrh{number:05}000000000000"));
        let mut input = texts([("tenant_key", "acme"), ("inbox_key", "main"), ("sender", "s")]);
        input.insert("message".to_owned(), message.clone());
        input.insert("id".to_owned(), id.clone());
        let (publish, read) = if number % 2 == 0 {
            input.insert("uids".to_owned(), Value::L(vec![Value::from("ada")]));
            ("publish-to-users", "read-message")
        } else {
            ("publish-to-everyone", "read-public-message")
        };
        service.operate(publish, input, WriteOptions::default()).await.unwrap();
        if number % 3 == 0 {
            let mut input = ada();
            input.insert("id".to_owned(), id);
            service.operate(read, input, WriteOptions::default()).await.unwrap();
        }
    }
    service
}

#[tokio::test]
async fn pages_of_a_merged_list_are_the_list() {
    let service = full_inbox().await;
    let whole = page(&service, 1_000, None).await;
    assert_eq!(whole.items.len(), 44);
    assert_eq!(whole.cursor, None);
    let read = whole.items.iter().filter(|entity| entity.item.contains_key("readat")).count();
    assert_eq!(read, 16);
    assert!(whole.items.iter().all(|entity| entity.name != "ReadReceipt"));
    for limit in [1, 2, 3, 7, 43, 44] {
        let mut items = Vec::new();
        let mut cursor = None;
        loop {
            let next = page(&service, limit, cursor).await;
            assert!(next.items.len() <= limit as usize);
            items.extend(next.items);
            cursor = next.cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(items, whole.items, "limit {limit}");
    }
}

#[tokio::test]
async fn new_messages_do_not_shift_the_pages_that_follow() {
    let service = full_inbox().await;
    let whole = page(&service, 1_000, None).await;
    let first = page(&service, 10, None).await;
    let mut input = texts([
        ("tenant_key", "acme"),
        ("inbox_key", "main"),
        ("sender", "s"),
        ("id", "lrz00000000000000000"),
    ]);
    input.insert("message".to_owned(), Value::M(texts([("title", "t"), ("body", "b")])));
    service.operate("publish-to-everyone", input, WriteOptions::default()).await.unwrap();
    let second = page(&service, 10, first.cursor).await;
    assert_eq!(second.items, whole.items[10..20]);
}

#[tokio::test]
async fn cursors_of_others_are_refused() {
    let service = full_inbox().await;
    let cursor = page(&service, 5, None).await.cursor.unwrap();
    let ask = |pattern: &'static str, parameters: Item, cursor: String| {
        let service = service.clone();
        async move { service.ask(pattern, parameters, PageRequest { limit: None, cursor: Some(cursor) }).await }
    };
    assert!(ask("inbox", ada(), cursor.clone()).await.is_ok());
    let ben = texts([("tenant_key", "acme"), ("inbox_key", "main"), ("uid", "ben")]);
    assert_eq!(ask("inbox", ben, cursor.clone()).await, Err(Refusal::Cursor));
    assert_eq!(ask("user-messages", ada(), cursor.clone()).await, Err(Refusal::Cursor));
    assert_eq!(ask("inbox", ada(), format!("A{cursor}")).await, Err(Refusal::Cursor));
    assert_eq!(ask("inbox", ada(), "x".to_owned()).await, Err(Refusal::Cursor));
    let other = service.with_options(|options| options.secret = [1; 32]);
    let foreign = page(&other, 5, None).await.cursor.unwrap();
    assert_eq!(ask("inbox", ada(), foreign).await, Err(Refusal::Cursor));
}

#[tokio::test]
async fn limits_are_those_of_the_pattern() {
    let service = seeded("story-hub").await;
    let limits = service.limits("notifications").unwrap();
    assert_eq!((limits.default, limits.max), (20, 100));
    for limit in [0, 101] {
        let request = PageRequest { limit: Some(limit), cursor: None };
        let refused = service.ask("notifications", texts([("userId", "ada")]), request).await;
        assert!(matches!(refused, Err(Refusal::Invalid(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn parameters_are_checked_all_at_once() {
    let service = seeded("kefir").await;
    let given = item([("status", Value::from("lost")), ("color", Value::from("red"))]);
    let Err(Refusal::Invalid(problems)) =
        service.ask("batches-by-status", given, PageRequest::default()).await
    else {
        panic!()
    };
    assert_eq!(problems.len(), 3, "{problems:?}");
    let unknown = service.ask("no-such", Item::new(), PageRequest::default()).await;
    assert!(matches!(unknown, Err(Refusal::NotFound { .. })));
    let shard = texts([("now", "2024-01-18T00:00:00.000Z")]);
    let mut wrong = shard.clone();
    wrong.insert("shard".to_owned(), Value::from(9));
    assert!(matches!(
        service.ask("due-reminders", wrong, PageRequest::default()).await,
        Err(Refusal::Invalid(_))
    ));
    assert_eq!(service.ask("due-reminders", shard, PageRequest::default()).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn shards_are_one_list_in_the_order_of_time() {
    let service = seeded("kefir").await;
    for number in 0..25 {
        let due = format!("2024-02-{:02}T10:00:00.000Z", 25 - number);
        let input = texts([
            ("userId", "ada"),
            ("batchId", "01HMZ100000000000000000001"),
            ("message", "m"),
            ("dueAt", &due),
        ]);
        service.operate("remind", input, WriteOptions::default()).await.unwrap();
    }
    let given = texts([("now", "2024-03-01T00:00:00.000Z")]);
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let request = PageRequest { limit: Some(4), cursor };
        let answer = service.ask("due-reminders", given.clone(), request).await.unwrap();
        found.extend(answer.items.iter().map(|entity| format!("{:?}", entity.item["dueAt"])));
        cursor = answer.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found.len(), 27);
    assert!(found.is_sorted(), "{found:?}");
}

#[tokio::test]
async fn filters_fill_pages_and_end() {
    let service = seeded("kefir").await;
    let given = texts([("userId", "ada"), ("status", "ready")]);
    let answer =
        service.ask("batches-by-status", given, PageRequest { limit: Some(1), cursor: None }).await.unwrap();
    assert_eq!(answer.items.len(), 1);
    assert_eq!(answer.cursor, None);
}

#[tokio::test]
async fn everything_of_a_user_is_exported_by_entity() {
    let service = seeded("kefir").await;
    let exported = service.export("export", texts([("userId", "ada")])).await.unwrap();
    let counts = exported.iter().map(|part| (part.entity.as_str(), part.items.len())).collect::<Vec<_>>();
    assert_eq!(counts, [("User", 1), ("Batch", 2), ("BatchEvent", 2), ("Reminder", 2), ("Device", 1)]);
    assert!(exported[0].attributes.contains(&"email".to_owned()));
}
