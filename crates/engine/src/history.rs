//! The history of a table: what each change took away, so that the table can be led back to any moment.
//!
//! While a table has a history, every change of an item also appends a record of the item as it was before, in the same commit. The
//! table at a moment is the table now with all changes after that moment undone. A commit is one moment, so a transaction is undone
//! whole or not at all.
//!
//! ```text
//! record = time(8) was-there(1) key-length(2) key [old image]         under: id sequence, in the log
//! ```
//!
//! Always true: records lie in the order of their commits, and their times never decrease, even if the clock does. A table
//! has a history while point-in-time recovery is on, or while somebody copies the table as it was at a moment.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::{Buf, Bytes};
use dynamo::StoredItem;

use crate::catalog::Catalog;
use crate::layout::{CollectionId, ItemKey, KeyRange, parse_record_key, record_key};
use crate::store::{Direction, Snapshot, Space, StoreError};

/// An item as it was before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) time_milliseconds: i64,
    pub(crate) key: ItemKey,
    /// Nothing where the change made the item.
    pub(crate) item: Option<StoredItem>,
}

const WAS_ABSENT: u8 = 0;
const WAS_THERE: u8 = 1;

/// The record of a change, from what was there before it.
pub(crate) fn encode(time_milliseconds: i64, key: &ItemKey, item: Option<&StoredItem>) -> Bytes {
    let key = key.in_table();
    let key_length = u16::try_from(key.len()).expect("a key has at most 65,534 bytes");
    let image: &[u8] = item.map_or(&[], |item| item.as_bytes());
    let mut bytes = Vec::with_capacity(11 + key.len() + image.len());
    bytes.extend_from_slice(&time_milliseconds.to_be_bytes());
    bytes.push(if item.is_some() { WAS_THERE } else { WAS_ABSENT });
    bytes.extend_from_slice(&key_length.to_be_bytes());
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(image);
    Bytes::from(bytes)
}

impl Before {
    /// Reads a record; the item shares its bytes.
    pub(crate) fn decode(record: &Bytes) -> Result<Before, StoreError> {
        parse(record.clone()).ok_or_else(|| StoreError::Corrupt {
            detail: "a record of the history of a table cannot be read".into(),
            source: None,
        })
    }
}

fn parse(mut bytes: Bytes) -> Option<Before> {
    let time_milliseconds = bytes.try_get_i64().ok()?;
    let flag = bytes.try_get_u8().ok()?;
    let key_length = usize::from(bytes.try_get_u16().ok()?);
    if key_length > bytes.len() {
        return None;
    }
    let key = ItemKey::of_table_bytes(&bytes.split_to(key_length));
    let item = match flag {
        WAS_ABSENT if bytes.is_empty() => None,
        WAS_THERE => Some(StoredItem::from_bytes(bytes)),
        _ => return None,
    };
    Some(Before { time_milliseconds, key, item })
}

/// When a change was made, without reading the rest of its record.
pub(crate) fn time_milliseconds(record: &[u8]) -> Option<i64> {
    record.first_chunk().map(|time| i64::from_be_bytes(*time))
}

/// The first number of the changes made after a moment: those that lead back to it. Found by halving, since records lie in the
/// order of their times.
pub(crate) fn first_after(
    history: CollectionId,
    milliseconds: i64,
    snapshot: &Snapshot,
) -> Result<u64, StoreError> {
    let mut early = 0;
    let mut late = last_number(history, snapshot)?.map_or(0, |last| last.saturating_add(1));
    while early < late {
        let middle = early + (late - early) / 2;
        match first_from(history, middle, snapshot)? {
            Some((number, time)) if time <= milliseconds => early = number.saturating_add(1),
            _ => late = middle,
        }
    }
    Ok(early)
}

fn last_number(history: CollectionId, snapshot: &Snapshot) -> Result<Option<u64>, StoreError> {
    Ok(last(history, snapshot)?.and_then(|(key, _)| parse_record_key(&key)))
}

fn last(history: CollectionId, snapshot: &Snapshot) -> Result<Option<(Bytes, Bytes)>, StoreError> {
    let range = KeyRange::of_collection(history);
    let (lower, upper) = range.bounds();
    snapshot.range(Space::Log, lower, upper, Direction::Reverse).next().transpose()
}

fn first_from(
    history: CollectionId,
    number: u64,
    snapshot: &Snapshot,
) -> Result<Option<(u64, i64)>, StoreError> {
    let range =
        KeyRange { lower: Bound::Included(record_key(history, number)), ..KeyRange::of_collection(history) };
    let (lower, upper) = range.bounds();
    let first = snapshot.range(Space::Log, lower, upper, Direction::Forward).next().transpose()?;
    Ok(first.and_then(|(key, record)| Some((parse_record_key(&key)?, time_milliseconds(&record)?))))
}

/// The latest time that any history knows: commits never go back behind it.
pub(crate) fn latest_milliseconds(catalog: &Catalog, snapshot: &Snapshot) -> Result<i64, StoreError> {
    let mut latest = 0;
    for table in catalog.tables() {
        let last = match table.history.map(|id| last(id, snapshot)).transpose() {
            // The history of a table whose key is missing tells nothing until it is there again.
            Err(StoreError::TableKey { .. }) => None,
            last => last?.flatten(),
        };
        if let Some((_, record)) = last {
            latest = latest.max(time_milliseconds(&record).unwrap_or_default());
        }
        latest = latest.max(table.recovery.as_ref().map_or(0, |recovery| recovery.since_milliseconds));
    }
    Ok(latest)
}

/// Some changes, the latest first, as the items that undoing them leaves: of several changes of one item, what was there before the
/// earliest counts.
pub(crate) struct Undone {
    pub(crate) items: Vec<(ItemKey, Option<StoredItem>)>,
    /// The number of the earliest change among them, while there are earlier ones.
    pub(crate) next: Option<u64>,
}

/// The changes from `from` on and before `below`, the latest first, each with its number.
pub(crate) fn backwards(
    history: CollectionId,
    from: u64,
    below: Option<u64>,
    snapshot: &Snapshot,
) -> impl Iterator<Item = Result<(u64, Before), StoreError>> {
    let all = KeyRange::of_collection(history);
    let range = KeyRange {
        lower: Bound::Included(record_key(history, from)),
        upper: below.map_or(all.upper, |below| Bound::Excluded(record_key(history, below))),
    };
    let (lower, upper) = range.bounds();
    snapshot.range(Space::Log, lower, upper, Direction::Reverse).map(|entry| {
        let (key, record) = entry?;
        Ok((parse_record_key(&key).unwrap_or_default(), Before::decode(&record)?))
    })
}

/// Undoes changes from `from` on and before `below`, as many as fit.
pub(crate) fn undo(
    history: CollectionId,
    from: u64,
    below: Option<u64>,
    limits: (usize, usize),
    snapshot: &Snapshot,
) -> Result<Undone, StoreError> {
    let mut items = BTreeMap::new();
    let (mut count, mut size_bytes, mut last) = (0, 0, None);
    for change in backwards(history, from, below, snapshot) {
        if count >= limits.0 || size_bytes >= limits.1 {
            return Ok(Undone { items: items.into_iter().collect(), next: last });
        }
        let (number, before) = change?;
        count += 1;
        size_bytes +=
            before.key.in_table().len() + before.item.as_ref().map_or(0, |item| item.as_bytes().len());
        last = Some(number);
        items.insert(before.key, before.item);
    }
    Ok(Undone { items: items.into_iter().collect(), next: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynamo::{Item, Value};

    fn key(bytes: &[u8]) -> ItemKey {
        ItemKey::of_table_bytes(bytes)
    }

    #[test]
    fn records_round_trip() {
        let item = StoredItem::encode(&Item::from([("a".to_owned(), Value::from("text"))]));
        for item in [None, Some(item)] {
            let record = encode(1_700_000_000_123, &key(b"hashkey"), item.as_ref());
            assert_eq!(time_milliseconds(&record), Some(1_700_000_000_123));
            let before = Before::decode(&record).unwrap();
            assert_eq!(before.time_milliseconds, 1_700_000_000_123);
            assert_eq!((before.key, before.item), (key(b"hashkey"), item));
        }
    }

    #[test]
    fn what_is_no_record_is_damage() {
        let record = encode(5, &key(b"hashkey"), None);
        for length in 0..record.len() {
            assert!(Before::decode(&record.slice(..length)).is_err(), "cut at {length}");
        }
        let mut longer = record.to_vec();
        longer.push(0);
        assert!(Before::decode(&Bytes::from(longer)).is_err());
    }
}
