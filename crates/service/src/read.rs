//! Reads items by their keys.

use std::collections::BTreeMap;

use design::ItemKey;
use dynamo::operation::{BatchGetItem, GetItem, KeysAndAttributes};
use dynamo::{Item, Reply, StoredItem, Value};

use crate::refusal::Refusal;
use crate::service::Service;

/// BatchGetItem takes so many keys.
const BATCH_MAX: usize = 100;

/// The items with these keys, in their order; none where there is none.
pub(crate) async fn items(
    service: &Service,
    keys: &[ItemKey],
    consistent: bool,
) -> Result<Vec<Option<Item>>, Refusal> {
    let found = stored(service, keys, consistent).await?;
    Ok(found.into_iter().map(|item| item.map(|item| item.decode())).collect())
}

/// The same, as they are stored.
pub(crate) async fn stored(
    service: &Service,
    keys: &[ItemKey],
    consistent: bool,
) -> Result<Vec<Option<StoredItem>>, Refusal> {
    if let [only] = keys {
        let mut get = GetItem::new(only.table.clone(), only.key.clone());
        get.consistent_read = consistent.then_some(true);
        let Reply::GetItem(reply) = service.run(get).await? else { return Err(Refusal::strange("GetItem")) };
        return Ok(vec![reply.item]);
    }
    let mut found = Vec::new();
    for keys in keys.chunks(BATCH_MAX) {
        let items = batch(service, keys, consistent).await?;
        found.extend(keys.iter().map(|key| {
            let has = |item: &StoredItem, name: &str, value: &Value| {
                item.get(name).is_some_and(|found| found.decode() == *value)
            };
            let is_it = |(table, item): &&(String, StoredItem)| {
                *table == key.table && key.key.iter().all(|(name, value)| has(item, name, value))
            };
            items.iter().find(is_it).map(|(_, item)| item.clone())
        }));
    }
    Ok(found)
}

/// The items with these keys that are there, each with its table.
async fn batch(
    service: &Service,
    keys: &[ItemKey],
    consistent: bool,
) -> Result<Vec<(String, StoredItem)>, Refusal> {
    let mut wanted: BTreeMap<String, KeysAndAttributes> = BTreeMap::new();
    for key in keys {
        let list = wanted.entry(key.table.clone()).or_default();
        list.consistent_read = consistent.then_some(true);
        let list = list.keys.get_or_insert_default();
        if !list.contains(&key.key) {
            list.push(key.key.clone());
        }
    }
    let mut found = Vec::new();
    let mut attempt = 0;
    while !wanted.is_empty() {
        let request = BatchGetItem { request_items: Some(wanted), ..BatchGetItem::default() };
        let Reply::BatchGetItem(reply) = service.run(request).await? else {
            return Err(Refusal::strange("BatchGetItem"));
        };
        for (table, items) in reply.responses.into_iter().flatten() {
            found.extend(items.into_iter().map(|item| (table.clone(), item)));
        }
        // What was too much for one answer is asked for again.
        wanted = reply.unprocessed_keys.unwrap_or_default();
        if !wanted.is_empty() {
            crate::backoff::pause(service, attempt).await;
            attempt += 1;
        }
    }
    Ok(found)
}
