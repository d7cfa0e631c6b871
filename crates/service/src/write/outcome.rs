//! Idempotency keys: a write is done once, and a repeat gets the outcome of the first.
//!
//! Always true: the outcome is put in the same transaction as the writes, under the condition that there is none. So of two
//! requests with one key, at whatever time, exactly one writes. A refusal has changed nothing and is not remembered.

use design::Write;
use dynamo::operation::TransactWriteItem;
use dynamo::{Item, Value};

use super::send::actions_max;
use super::{Done, Left, Sent, left, plan, send};
use crate::answer::{Entity, Written};
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::state;

/// An item has at most 400 KB; the outcome leaves room for the rest.
const OUTCOME_BYTES_MAX: usize = 300_000;
/// The longest idempotency key.
const KEY_BYTES_MAX: usize = 255;

/// What is remembered of a write.
pub(crate) struct Remembered {
    pub(crate) fingerprint: String,
    pub(crate) item: Item,
}

/// Where the outcome of a key is kept.
pub(crate) fn place(service: &Service, key: &str) -> design::ItemKey {
    state::key(service, "outcome", &state::fingerprint(&[key.as_bytes()]), "outcome")
}

/// Refuses keys that cannot be kept.
pub(super) fn check_key(service: &Service, key: &str) -> Result<(), Refusal> {
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        let message = format!("has not between 1 and {KEY_BYTES_MAX} bytes");
        return Err(Refusal::invalid("idempotency key", message));
    }
    if !service.backend().capabilities().transactions {
        let needed_for = vec!["idempotency keys".to_owned()];
        return Err(Refusal::Unsupported {
            backend: service.backend().name(),
            lacks: "has no transactions",
            needed_for,
        });
    }
    Ok(())
}

/// Carries out a write once for this key.
pub(super) async fn once<'s>(
    service: &'s Service,
    write: &Write<'_>,
    key: &str,
) -> Result<Done<'s>, Refusal> {
    check_key(service, key)?;
    let fingerprint = fingerprint_of(write);
    if let Some(first) = remembered(service, key).await? {
        return repeated(service, &first, &fingerprint).await.map(Done::from);
    }
    match first_time(service, write, key, &fingerprint).await {
        Ok(Some(done)) => Ok(done),
        // The same request, sent twice, may have been faster: then this one sees what that one did, and is refused for it.
        outcome => match remembered(service, key).await? {
            Some(first) => repeated(service, &first, &fingerprint).await.map(Done::from),
            None => outcome.and(Err(Refusal::Busy)),
        },
    }
}

/// Writes together with the outcome; none if another request with this key was faster.
async fn first_time<'s>(
    service: &'s Service,
    write: &Write<'_>,
    key: &str,
    fingerprint: &str,
) -> Result<Option<Done<'s>>, Refusal> {
    let seed = service.options().random.bytes();
    for attempt in 0..service.options().attempts_max {
        let ids = Ids::new(&seed, service.now_milliseconds());
        let mut plan = plan(service, write, &ids).await?;
        if plan.writes.len() >= actions_max(service) {
            let message = "has no room: the write fills a whole transaction";
            return Err(Refusal::invalid("idempotency key", message));
        }
        let items = left(service, &mut plan.writes);
        let content = Item::from([
            ("fingerprint".to_owned(), Value::from(fingerprint)),
            ("items".to_owned(), kept(service, &items)),
        ]);
        match send(service, plan, vec![remember(service, key, content)]).await? {
            Sent::Done => return Ok(Some(Done { items, repeated: false })),
            Sent::ExtraFailed => return Ok(None),
            Sent::Lost => crate::backoff::pause(service, attempt).await,
        }
    }
    Err(Refusal::Busy)
}

/// The action that puts an outcome where there is none, or none that still counts.
pub(super) fn remember(service: &Service, key: &str, mut content: Item) -> TransactWriteItem {
    let now_seconds = service.now_milliseconds().div_euclid(1_000);
    let lifetime = service.options().outcome_lifetime_seconds;
    content.insert(state::EXPIRES.to_owned(), Value::from(now_seconds.saturating_add(lifetime)));
    let values = Item::from([(":now".to_owned(), Value::from(now_seconds))]);
    let condition = "attribute_not_exists(pk) OR expires < :now";
    state::put(&place(service, key), content, Some((condition, values)))
}

/// What is remembered for a key.
pub(crate) async fn remembered(service: &Service, key: &str) -> Result<Option<Remembered>, Refusal> {
    let found = crate::read::items(service, &[place(service, key)], true).await?;
    let Some(item) = found.into_iter().flatten().next() else { return Ok(None) };
    let now_seconds = Value::from(service.now_milliseconds().div_euclid(1_000));
    let is_over = match (item.get(state::EXPIRES), &now_seconds) {
        (Some(Value::N(expires)), Value::N(now)) => expires < now,
        _ => false,
    };
    let fingerprint = match item.get("fingerprint") {
        Some(Value::S(text)) => text.clone(),
        _ => String::new(),
    };
    Ok((!is_over).then_some(Remembered { fingerprint, item }))
}

/// The answer to a repeat.
pub(super) async fn repeated(
    service: &Service,
    first: &Remembered,
    fingerprint: &str,
) -> Result<Written, Refusal> {
    if first.fingerprint != fingerprint {
        return Err(Refusal::KeyReused);
    }
    let Some(Value::L(kept)) = first.item.get("items") else {
        return Ok(Written { repeated: true, ..Written::default() });
    };
    let mut items = Vec::new();
    for value in kept {
        let Value::M(entry) = value else { continue };
        let (Some(Value::S(name)), Some(Value::M(item))) = (entry.get("entity"), entry.get("item")) else {
            continue;
        };
        let entity = service.entity(name)?;
        match entry.get("whole") {
            Some(Value::Bool(false)) => items.extend(service.get(name, item.clone(), true).await?),
            _ => items.push(crate::shape::answered(entity, item.clone())),
        }
    }
    Ok(Written { items, repeated: true })
}

/// The outcome as it is kept, without secrets. What is too large to keep is kept by its key and read again.
pub(super) fn kept(service: &Service, items: &[Left<'_>]) -> Value {
    let mut room = OUTCOME_BYTES_MAX;
    let kept = items.iter().cloned().map(Entity::from).map(|entity| {
        let size = dynamo::item_size_bytes(&entity.item) + 64;
        let whole = size <= room;
        room -= if whole { size } else { 0 };
        let name = Value::from(entity.name.as_str());
        let item = if whole { entity.item } else { key_of(service, &entity) };
        Value::M(Item::from([
            ("entity".to_owned(), name),
            ("item".to_owned(), Value::M(item)),
            ("whole".to_owned(), Value::Bool(whole)),
        ]))
    });
    Value::L(kept.collect())
}

/// The slots of an item's key.
fn key_of(service: &Service, entity: &Entity) -> Item {
    let mut key = Item::new();
    for slot in service.design().entity(&entity.name).map(design::Entity::identity).unwrap_or_default() {
        if let Some(value) = design::at(&entity.item, slot) {
            design::put_at(&mut key, slot, value.clone());
        }
    }
    key
}

/// What was asked for, so that another request with the same key is noticed.
pub(super) fn fingerprint_of(write: &Write<'_>) -> String {
    let json = |item: &Item| {
        let mut bytes = Vec::new();
        dynamo::write_item(item, &mut bytes);
        bytes
    };
    let text =
        |version: &Option<dynamo::Number>| version.map(|version| version.to_string()).unwrap_or_default();
    match write {
        Write::Create { entity, attributes } => {
            state::fingerprint(&[b"create", entity.as_bytes(), &json(attributes)])
        }
        Write::Update { entity, key, set, remove, version } => state::fingerprint(&[
            b"update",
            entity.as_bytes(),
            &json(key),
            &json(set),
            remove.join("\n").as_bytes(),
            text(version).as_bytes(),
        ]),
        Write::Delete { entity, key, version } => {
            state::fingerprint(&[b"delete", entity.as_bytes(), &json(key), text(version).as_bytes()])
        }
        Write::Operation { name, inputs, .. } => {
            state::fingerprint(&[b"operation", name.as_bytes(), &json(inputs)])
        }
        Write::Reaction { name, .. } => state::fingerprint(&[b"reaction", name.as_bytes()]),
    }
}
