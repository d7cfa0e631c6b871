//! Delivers events from the outbox: signed, tried again later and later, and at last kept among the dead letters.

use dynamo::operation::{Query, TransactWriteItem, TransactWriteItems};
use dynamo::{Item, Reply, Value};
use ring::hmac;

use super::event::{due, outbox};
use super::post::{Posted, Poster};
use super::status::WaitingEvent;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::state;

/// How often an event is sent before it is given up: over about an hour and a half.
const ATTEMPTS_MAX: i64 = 12;
const FIRST_WAIT_MILLISECONDS: i64 = 1_000;
const LONGEST_WAIT_MILLISECONDS: i64 = 20 * 60_000;
const DEAD_LETTER_SECONDS: i64 = 30 * 86_400;
/// How many events are looked at in one round.
const ROUND: i32 = 100;

/// Sends the events that are due; how many were delivered.
pub(super) async fn deliver(service: &Service, poster: &dyn Poster) -> Result<u64, Refusal> {
    let now = service.now_milliseconds();
    let mut count = 0;
    for item in waiting(service, Some(now)).await? {
        let event = Event::of(&item);
        let delivery =
            poster.post(&event.url, headers(service, &event.body), event.body.clone().into_bytes());
        match delivery.await {
            Posted::Delivered => {
                run(service, vec![gone(service, &event.sort)]).await?;
                count += 1;
            }
            Posted::Failed(why) => put_off(service, &event, item, &why).await?,
        }
    }
    Ok(count)
}

/// An event in the outbox.
struct Event {
    sort: String,
    id: String,
    url: String,
    body: String,
    attempts: i64,
}

impl Event {
    fn of(item: &Item) -> Event {
        let text = |name: &str| match item.get(name) {
            Some(Value::S(text)) => text.clone(),
            _ => String::new(),
        };
        let attempts = match item.get("attempts") {
            Some(Value::N(number)) => number.to_string().parse().unwrap_or(0),
            _ => 0,
        };
        Event { sort: text(state::SORT), id: text("id"), url: text("url"), body: text("body"), attempts }
    }
}

/// The first hundred events in the outbox; up to a time, those that are due by then.
pub(super) async fn waiting(service: &Service, until: Option<i64>) -> Result<Vec<Item>, Refusal> {
    let key = outbox(service, "");
    let partition = key.key.get(state::PARTITION).cloned().unwrap_or(Value::Null);
    let mut values = Item::from([(":p".to_owned(), partition)]);
    let mut condition = "pk = :p".to_owned();
    if let Some(until) = until {
        condition.push_str(" AND sk < :until");
        values.insert(":until".to_owned(), Value::S(due(until.saturating_add(1), "")));
    }
    let query = Query {
        expression_attribute_values: Some(values),
        consistent_read: Some(true),
        limit: Some(ROUND),
        ..Query::new(key.table, condition)
    };
    let Reply::Query(reply) = service.run(query).await? else { return Err(Refusal::strange("Query")) };
    Ok(reply.items.unwrap_or_default().iter().map(dynamo::StoredItem::decode).collect())
}

/// An event of the outbox, to be looked at.
pub(super) fn shown(item: &Item) -> WaitingEvent {
    let Event { id, url, attempts, .. } = Event::of(item);
    let error = match item.get("error") {
        Some(Value::S(error)) => Some(error.clone()),
        _ => None,
    };
    WaitingEvent { id, url, attempts, error }
}

/// The headers of a delivery. The signature covers the time, so that an old delivery cannot be sent again as a new one.
fn headers(service: &Service, body: &str) -> Vec<(String, String)> {
    let seconds = service.now_milliseconds().div_euclid(1_000);
    let key = hmac::Key::new(hmac::HMAC_SHA256, &service.options().hook_secret);
    let tag = hmac::sign(&key, format!("{seconds}.{body}").as_bytes());
    let hex = state::hexadecimal(tag.as_ref());
    vec![
        ("content-type".to_owned(), "application/cloudevents+json; charset=utf-8".to_owned()),
        ("monotable-signature".to_owned(), format!("t={seconds},v1={hex}")),
    ]
}

/// Tries again later, or gives up.
async fn put_off(service: &Service, event: &Event, mut item: Item, why: &str) -> Result<(), Refusal> {
    let now = service.now_milliseconds();
    let attempts = event.attempts + 1;
    item.insert("attempts".to_owned(), Value::from(attempts));
    item.insert("error".to_owned(), Value::from(why));
    item.retain(|name, _| name != state::PARTITION && name != state::SORT);
    let place = if attempts >= ATTEMPTS_MAX {
        tracing::warn!(event.id, event.url, why, "an event could not be delivered");
        item.insert("what".to_owned(), Value::from("event"));
        item.insert("name".to_owned(), Value::from(event.id.as_str()));
        item.insert(state::EXPIRES.to_owned(), Value::from(now.div_euclid(1_000) + DEAD_LETTER_SECONDS));
        state::key(service, "dead-letter", "all", &format!("{}/{}", design::iso_milliseconds(now), event.id))
    } else {
        let doubled = FIRST_WAIT_MILLISECONDS.saturating_mul(1 << attempts.clamp(1, 20).saturating_sub(1));
        let wait = doubled.min(LONGEST_WAIT_MILLISECONDS);
        // Up to a quarter more, by chance, so that a receiver that was down is not met by everything at once.
        let chance = service.options().random.bytes();
        let extra = chance.first().map_or(0, |byte| i64::from(*byte)) * wait / 1_024;
        outbox(service, &due(now + wait + extra, &event.id))
    };
    run(service, vec![gone(service, &event.sort), state::put(&place, item, None)]).await
}

fn gone(service: &Service, sort: &str) -> TransactWriteItem {
    let place = outbox(service, sort);
    let delete = dynamo::operation::Delete {
        key: Some(place.key),
        table_name: Some(place.table),
        ..dynamo::operation::Delete::default()
    };
    TransactWriteItem { delete: Some(delete), ..TransactWriteItem::default() }
}

async fn run(service: &Service, actions: Vec<TransactWriteItem>) -> Result<(), Refusal> {
    let request = TransactWriteItems { transact_items: Some(actions), ..TransactWriteItems::default() };
    service.run(request).await?;
    Ok(())
}
