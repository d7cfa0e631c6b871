//! What the five designs do not use, on a small design of its own.

use std::sync::Arc;

use design::{Source, check, text};
use dynamo::{Number, Value};
use engine::{Engine, ManualClock};
use monotable_service::{
    Changes, Embedded, HttpPoster, Options, PageRequest, Refusal, Service, WriteOptions,
};

use crate::support::{NOW, assert_sound, engine, item, texts};

struct Shop {
    service: Service,
    engine: Engine,
    clock: Arc<ManualClock>,
}

async fn shop() -> Shop {
    let source = Source::new("shop.toml", include_str!("shop.toml"));
    let report = check(&source);
    let findings = text(&source, &report.findings);
    let design = report.design.unwrap_or_else(|| panic!("{findings}"));
    let (engine, clock) = engine();
    let options = Options { clock: clock.clone(), ..Options::default() };
    let service = Service::new(design, Arc::new(Embedded::new(engine.clone())), options);
    service.prepare().await.unwrap();
    service.create("Customer", texts([("id", "ada"), ("name", "Ada")]), once()).await.unwrap();
    Shop { service, engine, clock }
}

fn once() -> WriteOptions {
    WriteOptions::default()
}

fn order(number: i64, total: i64) -> dynamo::Item {
    item([("customer", Value::from("ada")), ("number", Value::from(number)), ("total", Value::from(total))])
}

#[tokio::test]
async fn sums_follow_every_change() {
    let shop = shop().await;
    for number in 1..=3 {
        shop.service.create("Order", order(number, number * 10), once()).await.unwrap();
    }
    let key = item([("customer", Value::from("ada")), ("number", Value::from(2))]);
    let changes = Changes { set: item([("total", Value::from(5))]), remove: Vec::new() };
    shop.service.update("Order", key.clone(), changes, once()).await.unwrap();
    let customer = shop.service.get("Customer", texts([("id", "ada")]), true).await.unwrap().unwrap();
    assert_eq!(customer.item["spent"], Value::from(45));
    shop.service.delete("Order", key, once()).await.unwrap();
    assert_sound(&shop.service).await;
    let missing = shop.service.create("Order", texts([("customer", "eve")]), once()).await;
    assert!(matches!(missing, Err(Refusal::Invalid(_))));
    let mut nobody = order(9, 9);
    nobody.insert("customer".to_owned(), Value::from("eve"));
    let nobody = shop.service.create("Order", nobody, once()).await;
    assert!(matches!(&nobody, Err(Refusal::NotFound { name, .. }) if name == "Customer"), "{nobody:?}");
}

#[tokio::test]
async fn eventual_counters_are_kept_by_the_stream() {
    let shop = shop().await;
    for _ in 0..5 {
        shop.service.create("Visit", texts([("customer", "ada")]), once()).await.unwrap();
    }
    let reactions = shop.service.reactions(Arc::new(HttpPoster));
    reactions.catch_up().await.unwrap();
    let customer = shop.service.get("Customer", texts([("id", "ada")]), true).await.unwrap().unwrap();
    assert_eq!(customer.item["seen"], Value::from(5));
    assert_sound(&shop.service).await;
}

#[tokio::test]
async fn selected_attributes_are_paged_with_their_keys() {
    let shop = shop().await;
    for number in 1..=5 {
        shop.service.create("Order", order(number, number), once()).await.unwrap();
    }
    let mut totals = Vec::new();
    let mut cursor = None;
    loop {
        let request = PageRequest { limit: Some(2), cursor };
        let answer = shop.service.ask("orders", texts([("customer", "ada")]), request).await.unwrap();
        for entity in answer.items {
            assert!(!entity.item.contains_key("note") && !entity.item.contains_key("PK"), "{entity:?}");
            totals.push(entity.item["total"].clone());
        }
        cursor = answer.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(totals, (1..=5_i64).map(|total| Value::N(Number::from(total))).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_expired_frees_what_was_unique() {
    let shop = shop().await;
    let voucher = |until: i64| item([("code", Value::from("HALF")), ("until", Value::from(until))]);
    shop.service.create("Voucher", voucher(NOW / 1_000 + 60), once()).await.unwrap();
    let taken = shop.service.create("Voucher", voucher(NOW / 1_000 + 9_000_000), once()).await;
    assert!(matches!(&taken, Err(Refusal::Taken { attributes, .. }) if attributes == &["code"]), "{taken:?}");
    shop.clock.advance_seconds(3_600);
    shop.engine.keep_house().unwrap();
    shop.service.reactions(Arc::new(HttpPoster)).catch_up().await.unwrap();
    shop.service.create("Voucher", voucher(NOW / 1_000 + 9_000_000), once()).await.unwrap();
    assert_sound(&shop.service).await;
}

#[tokio::test]
async fn numbers_in_keys_sort_as_numbers() {
    let shop = shop().await;
    for at in [5_i64, 100, 20] {
        let measure =
            item([("sensor", Value::from("s")), ("at", Value::from(at)), ("value", Value::from(1))]);
        shop.service.create("Measure", measure, once()).await.unwrap();
    }
    let given = item([("sensor", Value::from("s")), ("from", Value::from(0)), ("to", Value::from(100))]);
    let request = PageRequest { limit: Some(2), cursor: None };
    let first = shop.service.ask("measures", given.clone(), request).await.unwrap();
    let second =
        shop.service.ask("measures", given, PageRequest { limit: None, cursor: first.cursor }).await.unwrap();
    let found = first.items.iter().chain(&second.items).map(|entity| entity.item["at"].clone());
    assert_eq!(found.collect::<Vec<_>>(), [Value::from(100), Value::from(20), Value::from(5)]);
    assert_sound(&shop.service).await;
}
