//! Tables: made, completed, or refused.

use std::sync::Arc;

use dynamo::KeyType;
use dynamo::operation::CreateTable;
use monotable_service::{Embedded, Options, Refusal, Service, TableChange};

use crate::support::{design, engine};

fn service(name: &str) -> (Service, engine::Engine) {
    let (engine, clock) = engine();
    let options = Options { clock, ..Options::default() };
    (Service::new(design(name), Arc::new(Embedded::new(engine.clone())), options), engine)
}

#[tokio::test]
async fn tables_are_made_once() {
    let (service, _) = service("stak-inbox");
    let changes = |outcomes: Vec<monotable_service::TableOutcome>| {
        outcomes.into_iter().map(|outcome| (outcome.table, outcome.change)).collect::<Vec<_>>()
    };
    let first = changes(service.prepare().await.unwrap());
    assert!(first.contains(&("stak-inbox".to_owned(), TableChange::Created)), "{first:?}");
    let second = changes(service.prepare().await.unwrap());
    assert!(second.iter().all(|(_, change)| *change == TableChange::None), "{second:?}");
}

#[tokio::test]
async fn what_a_table_lacks_is_added() {
    let (service, engine) = service("story-hub");
    let bare = CreateTable::new("nlmonorepo-tsh-datatable-dev", ("PK", KeyType::S), Some(("SK", KeyType::S)));
    engine.run(bare.into()).unwrap();
    // New indexes are filled by housekeeping, which these tests do themselves.
    let house = std::thread::spawn({
        let engine = engine.clone();
        move || {
            for _ in 0..40 {
                std::thread::sleep(std::time::Duration::from_millis(25));
                engine.keep_house().unwrap();
            }
        }
    });
    let outcomes = service.prepare().await.unwrap();
    house.join().unwrap();
    let added = TableChange::Extended(vec!["stream".to_owned(), "index GSI1".to_owned()]);
    assert_eq!(outcomes[0].change, added);
}

#[tokio::test]
async fn a_table_that_differs_is_refused_with_what_differs() {
    let (service, engine) = service("stak-inbox");
    let other = CreateTable::new("stak-inbox", ("id", KeyType::S), None);
    engine.run(other.into()).unwrap();
    let refused = service.prepare().await;
    let Err(Refusal::Differs { table, differences }) = refused else { panic!("{refused:?}") };
    assert_eq!(table, "stak-inbox");
    assert_eq!(differences, ["the key is id instead of pk, sk"]);
}
