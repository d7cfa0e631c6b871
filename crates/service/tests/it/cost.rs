//! What the layer costs beside the same request written by hand, on the same engine. Run with `--ignored --nocapture`.

use std::sync::Arc;
use std::time::Instant;

use dynamo::operation::{GetItem, PutItem, Query};
use dynamo::{Item, Value};
use monotable_service::{Embedded, Options, Service, WriteOptions};

use crate::support::{design, engine, texts};

const ROUNDS: u32 = 2_000;

fn report(what: &str, started: Instant) {
    println!("{what}: {:.1} µs", started.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
}

#[tokio::test]
#[ignore = "measures time"]
async fn beside_requests_written_by_hand() {
    let (engine, clock) = engine();
    let options = Options { clock, ..Options::default() };
    let service = Service::new(design("kefir"), Arc::new(Embedded::new(engine.clone())), options);
    service.prepare().await.unwrap();
    service.seed().await.unwrap();
    let (table, pk) = ("kefir-app-dev-table", Value::from("USER#ada"));

    let started = Instant::now();
    for _ in 0..ROUNDS {
        let key = Item::from([("PK".to_owned(), pk.clone()), ("SK".to_owned(), Value::from("METADATA"))]);
        engine.run(GetItem::new(table, key).into()).unwrap();
    }
    report("GetItem by hand", started);
    let started = Instant::now();
    for _ in 0..ROUNDS {
        service.ask("user", texts([("userId", "ada")]), Default::default()).await.unwrap();
    }
    report("pattern user", started);
    let started = Instant::now();
    for _ in 0..ROUNDS {
        service.get("User", texts([("userId", "ada")]), false).await.unwrap();
    }
    report("get User", started);

    let started = Instant::now();
    for _ in 0..ROUNDS {
        let query = Query {
            expression_attribute_values: Some(Item::from([
                (":p".to_owned(), pk.clone()),
                (":s".to_owned(), Value::from("BATCH#")),
            ])),
            ..Query::new(table, "PK = :p AND begins_with(SK, :s)")
        };
        engine.run(query.into()).unwrap();
    }
    report("Query by hand", started);
    let started = Instant::now();
    for _ in 0..ROUNDS {
        service.ask("batches", texts([("userId", "ada")]), Default::default()).await.unwrap();
    }
    report("pattern batches", started);

    let started = Instant::now();
    for number in 0..ROUNDS {
        let mut item = texts([("PK", "USER#ada"), ("deviceId", "d"), ("userId", "ada"), ("platform", "ios")]);
        item.insert("SK".to_owned(), Value::S(format!("DEVICE#h{number}")));
        item.extend(texts([("pushToken", "t"), ("lastSeenAt", "2024-01-01T00:00:00.000Z")]));
        let put = PutItem {
            condition_expression: Some("attribute_not_exists(PK)".to_owned()),
            ..PutItem::new(table, item)
        };
        engine.run(put.into()).unwrap();
    }
    report("PutItem by hand", started);
    let started = Instant::now();
    for number in 0..ROUNDS {
        let id = format!("s{number}");
        let mut item = texts([("deviceId", &id), ("userId", "ada"), ("platform", "ios"), ("pushToken", "t")]);
        item.extend(texts([("lastSeenAt", "2024-01-01T00:00:00.000Z")]));
        service.create("Device", item, WriteOptions::default()).await.unwrap();
    }
    report("create Device", started);
}
