//! Services to try things on.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use design::{CheckedDesign, Source, check};
use dynamo::{Item, Value};
use engine::{Engine, ManualClock};
use monotable_service::{Embedded, Options, Refusal, Service};

/// When tests happen: 2024-06-01T12:00:00Z.
pub(crate) const NOW: i64 = 1_717_243_200_000;

pub(crate) const DESIGNS: [&str; 5] = ["kefir", "stak-inbox", "story-hub", "story-nodes", "wavy-blog"];

pub(crate) fn design(name: &str) -> CheckedDesign {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../designs/{name}.toml"));
    check(&Source::new(name, fs::read_to_string(path).unwrap())).design.unwrap()
}

/// An engine whose clock and housekeeping the test holds in its hands.
pub(crate) fn engine() -> (Engine, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at_milliseconds(NOW));
    let options = engine::Options { clock: clock.clone(), housekeeping: None, ..engine::Options::default() };
    (Engine::in_memory_with(options), clock)
}

pub(crate) async fn fresh(name: &str) -> Result<Service, Refusal> {
    let (engine, clock) = engine();
    let options = Options { clock, ..Options::default() };
    let service = Service::new(design(name), Arc::new(Embedded::new(engine)), options);
    service.prepare().await?;
    Ok(service)
}

/// A service with the seed data of its design.
pub(crate) async fn seeded(name: &str) -> Service {
    let service = fresh(name).await.unwrap();
    service.seed().await.unwrap();
    service
}

pub(crate) fn item<const N: usize>(entries: [(&str, Value); N]) -> Item {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(crate) fn texts<const N: usize>(entries: [(&str, &str); N]) -> Item {
    entries.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

pub(crate) async fn assert_sound(service: &Service) {
    let found = service.verify(&mut |_| {}).await.unwrap();
    assert!(found.findings.is_empty(), "{:#?}", found.findings);
}
