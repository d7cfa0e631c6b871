//! The table of the service's own: outcomes of idempotent writes, checkpoints of streams, events for web hooks.
//!
//! Always true: what is kept here is written in the same transaction as what it is about.

use std::fmt::Write;

use design::ItemKey;
use dynamo::operation::{CreateTable, Put, TransactWriteItem};
use dynamo::{Item, KeyType, Value};
use ring::digest;

use crate::service::Service;

pub(crate) const PARTITION: &str = "pk";
pub(crate) const SORT: &str = "sk";
/// Seconds since 1970 after which an item may be removed.
pub(crate) const EXPIRES: &str = "expires";

/// The request that makes the table.
pub(crate) fn create_table(name: &str) -> CreateTable {
    CreateTable::new(name, (PARTITION, KeyType::S), Some((SORT, KeyType::S)))
}

/// An item of the table by its key. Services of one account share the table, so keys begin with whose they are.
pub(crate) fn key(service: &Service, kind: &str, of: &str, sort: &str) -> ItemKey {
    let whose = service.inner.shapes.tables.first().map_or("", |table| table.physical.as_str());
    let partition = format!("{}@{whose}/{kind}/{of}", service.design().name);
    let key = Item::from([
        (PARTITION.to_owned(), Value::S(partition)),
        (SORT.to_owned(), Value::S(sort.to_owned())),
    ]);
    ItemKey { table: service.options().state_table.clone(), key }
}

/// The action that puts an item, if a condition on what stands there holds.
pub(crate) fn put(place: &ItemKey, content: Item, condition: Option<(&str, Item)>) -> TransactWriteItem {
    let mut item = place.key.clone();
    item.extend(content);
    let (condition, values) = condition.map_or((None, None), |(text, values)| {
        (Some(text.to_owned()), Some(values).filter(|values| !values.is_empty()))
    });
    let put = Put {
        item: Some(item.into()),
        table_name: Some(place.table.clone()),
        condition_expression: condition,
        expression_attribute_values: values,
        ..Put::default()
    };
    TransactWriteItem { put: Some(put), ..TransactWriteItem::default() }
}

/// The hash of some texts, as hexadecimal digits.
pub(crate) fn fingerprint(parts: &[&[u8]]) -> String {
    hexadecimal(&digest(parts))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The hash of some texts. No two lists of texts run into each other.
pub(crate) fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(&part.len().to_be_bytes());
        context.update(part);
    }
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}
