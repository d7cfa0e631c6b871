//! Changes: a record of a stream as items before and after, as their entities see them.

use design::{CheckedDesign, Entity, Event, EventKind, ItemChange};
use dynamo::operation::{OperationType, Record};
use dynamo::{Item, StoredItem, Value};

use crate::service::Service;

/// Who removes what expired.
const EXPIRY: &str = "dynamodb.amazonaws.com";

/// A change of an item of the design.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) item: ItemChange,
    /// True if the item's time was up.
    pub(super) expired: bool,
}

/// The changes in a record: one, or two where one entity gave way to another under the same key. None for what is of no entity.
pub(super) fn changes(service: &Service, table: &str, record: &Record) -> Vec<Change> {
    let Some(stream) = &record.dynamodb else { return Vec::new() };
    let identity = record.user_identity.as_ref();
    let expired = record.event_name == Some(OperationType::Remove)
        && identity.is_some_and(|identity| identity.principal_id.as_deref() == Some(EXPIRY));
    let side = |image: &Option<StoredItem>| {
        let stored = image.as_ref()?.decode();
        let entity = service.inner.shapes.recognise(service.design(), table, &stored)?;
        Some((entity.name.value.clone(), crate::shape::whole(service.design(), entity, stored)))
    };
    let change = |entity: String, old: Option<Item>, new: Option<Item>| Change {
        item: ItemChange { entity, old, new },
        expired,
    };
    match (side(&stream.old_image), side(&stream.new_image)) {
        (Some((old_entity, old)), Some((entity, new))) if old_entity == entity => {
            vec![change(entity, Some(old), Some(new))]
        }
        (old, new) => {
            let gone = old.map(|(entity, item)| change(entity, Some(item), None));
            gone.into_iter().chain(new.map(|(entity, item)| change(entity, None, Some(item)))).collect()
        }
    }
}

/// Whether anything of an item changed but its counters: those follow from other items, whose changes are events of their own.
fn has_changed(entity: Option<&Entity>, old: Option<&Item>, new: Option<&Item>) -> bool {
    let (Some(entity), Some(old), Some(new)) = (entity, old, new) else { return old != new };
    if old == new || entity.counters.is_empty() {
        return old != new;
    }
    let without_counters = |item: &Item| {
        let mut item = item.clone();
        for counter in &entity.counters {
            design::put_at(&mut item, &counter.attribute.value, Value::Null);
        }
        item
    };
    without_counters(old) != without_counters(new)
}

/// Whether a change is one that an event means. A condition is about what an item becomes: it holds now and did not before. Of an item that is gone it
/// is asked only by events that are about going. Without a condition, a change of counters alone is none: docs/decisions/0042.
pub(super) fn is_meant(design: &CheckedDesign, event: &Event, change: &Change) -> bool {
    if event.entity.value != change.item.entity {
        return false;
    }
    let (old, new) = (change.item.old.as_ref(), change.item.new.as_ref());
    let kind = match (old, new) {
        (None, Some(_)) => EventKind::Create,
        (Some(_), Some(_)) => EventKind::Update,
        (_, None) if change.expired => EventKind::Expire,
        (_, None) => EventKind::Delete,
    };
    if event.kind != kind && event.kind != EventKind::Change {
        return false;
    }
    let Some(when) = &event.when else {
        return has_changed(design.entity(&event.entity.value), old, new);
    };
    let holds = |item: &Item| design::holds(&when.condition, item, item);
    match (old, new) {
        (old, Some(new)) => holds(new) && !old.is_some_and(holds),
        (Some(old), None) => event.kind != EventKind::Change && holds(old),
        (None, None) => false,
    }
}
