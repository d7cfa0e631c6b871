//! Events for web hooks: CloudEvents 1.0, put into an outbox in the same transaction as the checkpoint.

use design::{Piece, Reaction, Template};
use dynamo::operation::TransactWriteItem;
use dynamo::{Item, Value};

use super::change::Change;
use super::effect::Place;
use crate::service::Service;
use crate::{json, shape, state};

/// The outbox: events in the order in which they are due.
pub(super) fn outbox(service: &Service, sort: &str) -> design::ItemKey {
    state::key(service, "outbox", "all", sort)
}

/// When an event is due, as it stands in the outbox.
pub(super) fn due(milliseconds: i64, id: &str) -> String {
    format!("{milliseconds:016}/{id}")
}

/// The action that puts the event of a change into the outbox; none if the reaction has no hook.
pub(super) fn queued(
    service: &Service,
    reaction: &Reaction,
    change: &Change,
    place: &Place<'_>,
) -> Option<TransactWriteItem> {
    let url = address(service, reaction)?;
    let id = place.name();
    let body = String::from_utf8(event(service, change, &id)).ok()?;
    let content = Item::from([
        ("id".to_owned(), Value::from(id.as_str())),
        ("reaction".to_owned(), Value::from(reaction.name.value.as_str())),
        ("url".to_owned(), Value::S(url)),
        ("body".to_owned(), Value::S(body)),
        ("attempts".to_owned(), Value::from(0)),
    ]);
    Some(state::put(&outbox(service, &due(service.now_milliseconds(), &id)), content, None))
}

/// The address of a hook, with the variables of the design in it.
fn address(service: &Service, reaction: &Reaction) -> Option<String> {
    let text = &reaction.hook.as_ref()?.value;
    let template = Template::parse(text).ok()?;
    let mut address = String::new();
    for piece in &template.pieces {
        match piece {
            Piece::Literal(literal) => address.push_str(literal),
            Piece::Slot(slot) => {
                let given = service.options().variables.get(&slot.path).cloned();
                let declared = service.design().variables.iter().find(|known| known.name.value == slot.path);
                address.push_str(&given.or_else(|| declared.map(|known| known.default.clone()))?);
            }
        }
    }
    Some(address)
}

/// A change as a CloudEvent. Secrets are not in it.
fn event(service: &Service, change: &Change, id: &str) -> Vec<u8> {
    let (old, new) = (&change.item.old, &change.item.new);
    let what = match (old, new) {
        (None, _) => "created",
        (_, Some(_)) => "updated",
        (_, None) if change.expired => "expired",
        (_, None) => "deleted",
    };
    let design = &service.design().name;
    let entity = &change.item.entity;
    let declared = service.design().entity(entity);
    let current = new.as_ref().or(old.as_ref());
    let slots = declared.map(design::Entity::identity).unwrap_or_default();
    let subject = slots.iter().filter_map(|slot| match design::at(current?, slot)? {
        Value::S(text) => Some(text.clone()),
        Value::N(number) => Some(number.to_string()),
        _ => None,
    });
    let attributes = [
        ("specversion", "1.0".to_owned()),
        ("id", id.to_owned()),
        ("source", format!("/monotable/{design}")),
        ("type", format!("monotable.{design}.{entity}.{what}")),
        ("subject", subject.collect::<Vec<_>>().join("/")),
        ("time", design::iso_milliseconds(service.now_milliseconds())),
        ("datacontenttype", "application/json".to_owned()),
    ];
    let shown = |item: &Option<Item>| {
        let (item, declared) = (item.clone()?, declared?);
        Some(Value::M(shape::answered(declared, item).item))
    };
    let mut whole =
        attributes.map(|(name, value)| (name.to_owned(), Value::S(value))).into_iter().collect::<Item>();
    let mut data = Item::new();
    data.extend(shown(old).map(|item| ("old".to_owned(), item)));
    data.extend(shown(new).map(|item| ("new".to_owned(), item)));
    whole.insert("data".to_owned(), Value::M(data));
    let mut body = Vec::new();
    json::write_plain(&whole, &mut body);
    body
}
