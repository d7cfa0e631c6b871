//! Long lists: done in chunks, resumed where they stopped, each element once.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use dynamo::{ApiError, ErrorKind, Item, Operation, Value};
use monotable_service::{Backend, Capabilities, Embedded, Options, Refusal, Running, Service, WriteOptions};

use crate::support::{assert_sound, design, engine, item, texts};

/// A backend that stops working after some transactions.
struct Failing {
    inner: Embedded,
    left: AtomicI64,
    /// How many transactions there will have been when one fails; others do not.
    until_one_fails: AtomicI64,
}

impl Backend for Failing {
    fn run(&self, operation: Operation) -> Running<'_> {
        let fails = matches!(operation, Operation::TransactWriteItems(_))
            && (self.left.fetch_sub(1, Ordering::SeqCst) <= 0
                || self.until_one_fails.fetch_sub(1, Ordering::SeqCst) == 0);
        if fails {
            return Box::pin(async { Err(ApiError::new(ErrorKind::ServiceUnavailable, "down")) });
        }
        // Others have their turn before each operation.
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.inner.run(operation).await
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn name(&self) -> String {
        "a backend that fails".to_owned()
    }
}

async fn stak(transactions: i64) -> (Service, Arc<Failing>) {
    let (engine, clock) = engine();
    let backend = Arc::new(Failing {
        inner: Embedded::new(engine),
        left: AtomicI64::new(i64::MAX),
        until_one_fails: AtomicI64::new(i64::MAX),
    });
    let options = Options { clock, ..Options::default() };
    let service = Service::new(design("stak-inbox"), backend.clone(), options);
    service.prepare().await.unwrap();
    service.seed().await.unwrap();
    backend.left.store(transactions, Ordering::SeqCst);
    (service, backend)
}

fn broadcast(count: usize) -> Item {
    let uids = (0..count).map(|number| Value::S(format!("u{number:04}"))).collect::<Vec<_>>();
    let mut input = texts([("tenant_key", "acme"), ("inbox_key", "main"), ("sender", "s")]);
    input.insert("uids".to_owned(), Value::L(uids));
    input.insert("taxonomy".to_owned(), Value::M(texts([("category", "news")])));
    input.insert(
        "message".to_owned(),
        Value::M(item([("title", Value::from("t")), ("body", Value::from("b"))])),
    );
    input
}

fn key() -> WriteOptions {
    WriteOptions { idempotency_key: Some("broadcast".to_owned()), ..WriteOptions::default() }
}

/// The ids of the message that users have, and how many have it.
async fn delivered(service: &Service, count: usize) -> (Vec<Value>, usize) {
    let mut ids = Vec::new();
    let mut users = 0;
    for number in 0..count {
        let uid = format!("u{number:04}");
        let given = texts([("tenant_key", "acme"), ("inbox_key", "main"), ("uid", &uid)]);
        let answer = service.ask("user-messages", given, Default::default()).await.unwrap();
        assert!(answer.items.len() <= 1, "{uid} has it twice");
        users += answer.items.len();
        ids.extend(answer.items.into_iter().map(|entity| entity.item["id"].clone()));
    }
    ids.dedup();
    (ids, users)
}

#[tokio::test]
async fn a_long_list_is_done_whole_and_all_share_one_id() {
    let (service, _) = stak(i64::MAX).await;
    service.operate("publish-to-users", broadcast(250), WriteOptions::default()).await.unwrap();
    let (ids, users) = delivered(&service, 250).await;
    assert_eq!((ids.len(), users), (1, 250));
    assert_sound(&service).await;
}

#[tokio::test]
async fn a_list_that_stopped_is_resumed_and_no_element_is_done_twice() {
    let (service, backend) = stak(4).await;
    let stopped = service.operate("publish-to-users", broadcast(250), key()).await;
    assert!(matches!(stopped, Err(Refusal::Partly { total: 250, .. })), "{stopped:?}");
    let (_, some) = delivered(&service, 250).await;
    assert!(some > 0 && some < 250, "{some}");
    backend.left.store(i64::MAX, Ordering::SeqCst);
    let other = service.operate("publish-to-users", broadcast(249), key()).await;
    assert_eq!(other, Err(Refusal::KeyReused));
    assert!(!service.operate("publish-to-users", broadcast(250), key()).await.unwrap().repeated);
    let (ids, users) = delivered(&service, 250).await;
    assert_eq!((ids.len(), users), (1, 250));
    assert!(service.operate("publish-to-users", broadcast(250), key()).await.unwrap().repeated);
    assert_eq!(delivered(&service, 250).await.1, 250);
    assert_sound(&service).await;
}

#[tokio::test]
async fn a_short_list_is_one_transaction() {
    let (service, _) = stak(1).await;
    service.operate("publish-to-users", broadcast(20), WriteOptions::default()).await.unwrap();
    assert_eq!(delivered(&service, 20).await.1, 20);
    let refused = service.operate("publish-to-users", texts([("uids", "x")]), WriteOptions::default()).await;
    assert!(matches!(&refused, Err(Refusal::Invalid(problems)) if problems.len() >= 4), "{refused:?}");
}

#[tokio::test]
async fn a_list_for_two_transactions_takes_two() {
    // Three writes for each user: a message and two counters.
    for (given, keys) in [(WriteOptions::default(), 0), (key(), 1)] {
        let (service, backend) = stak(2).await;
        service.operate("publish-to-users", broadcast(50), given.clone()).await.unwrap();
        assert_eq!(delivered(&service, 50).await.1, 50);
        backend.left.store(keys, Ordering::SeqCst);
        let again = service.operate("publish-to-users", broadcast(50), given).await;
        assert_eq!(again.is_ok_and(|again| again.repeated), keys == 1);
    }
}

#[tokio::test]
async fn the_same_request_sent_twice_at_once_is_done_once() {
    for count in [20, 120] {
        let (service, _) = stak(i64::MAX).await;
        let one = || service.operate("publish-to-users", broadcast(count), key());
        let (first, second) = tokio::join!(one(), one());
        for outcome in [first, second] {
            assert!(outcome.is_ok(), "{outcome:?}");
        }
        let (ids, users) = delivered(&service, count).await;
        assert_eq!((ids.len(), users), (1, count));
        assert!(one().await.unwrap().repeated);
        assert_sound(&service).await;
    }
}

#[tokio::test]
async fn whoever_goes_on_with_what_another_began_makes_the_same_ids() {
    let (service, backend) = stak(i64::MAX).await;
    // Both begin, one does a chunk and fails at the next, and the other does the rest.
    backend.until_one_fails.store(2, Ordering::SeqCst);
    let one = || service.operate("publish-to-users", broadcast(120), key());
    let (first, second) = tokio::join!(one(), one());
    let stopped = [&first, &second].map(|outcome| matches!(outcome, Err(Refusal::Partly { .. })));
    assert!(stopped[0] != stopped[1] && first.is_ok() != second.is_ok());
    let (ids, users) = delivered(&service, 120).await;
    assert_eq!((ids.len(), users), (1, 120));
    assert_sound(&service).await;
}

#[tokio::test]
async fn one_who_is_named_twice_is_counted_once_or_refused() {
    let (service, _) = stak(i64::MAX).await;
    let mut input = broadcast(3);
    input.insert("uids".to_owned(), Value::L(vec![Value::from("u1"), Value::from("u2"), Value::from("u1")]));
    let refused = service.operate("publish-to-users", input, WriteOptions::default()).await;
    assert!(matches!(refused, Err(Refusal::Exists { .. })), "{refused:?}");
    assert_sound(&service).await;
}

#[tokio::test]
async fn wrong_elements_of_a_list_are_named() {
    let (service, _) = stak(i64::MAX).await;
    let mut input = broadcast(50);
    let Some(Value::L(uids)) = input.get_mut("uids") else { panic!("a list") };
    for (place, wrong) in [(3, "a#b"), (40, "")] {
        uids[place] = Value::from(wrong);
    }
    let refused = service.operate("publish-to-users", input, WriteOptions::default()).await;
    let Err(Refusal::Invalid(problems)) = refused else { panic!("{refused:?}") };
    let names = problems.iter().map(|problem| problem.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["uids[3]", "uids[40]"]);
    assert!(problems[0].message.contains("without any of `#"), "{problems:?}");
    assert_eq!(delivered(&service, 50).await.1, 0);
}

#[tokio::test]
async fn wrong_input_is_told_before_anything_is_put_down() {
    let (service, _) = stak(i64::MAX).await;
    let mut input = broadcast(250);
    input.remove("sender");
    let refused = service.operate("publish-to-users", input, key()).await;
    assert!(matches!(refused, Err(Refusal::Invalid(_))), "{refused:?}");
    service.operate("publish-to-users", broadcast(250), key()).await.unwrap();
    let long = service.operate("publish-to-users", broadcast(10_001), WriteOptions::default()).await;
    assert!(matches!(long, Err(Refusal::Invalid(_))), "{long:?}");
}
