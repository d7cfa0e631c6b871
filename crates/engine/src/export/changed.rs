//! What a period made of an item: the item before the first change in it, after the last one, and when that was.
//!
//! ```text
//! changed = time(8) flags(1) old-length(4) [old image] [new image]           under: id key, in the collection of an export
//! ```
//!
//! An incremental export gathers these from the history of the table in two passes, each from the latest change back. The first goes
//! through the changes of the period: what was there before the earliest of them is the old image; the item as it is now is taken for
//! the new one. The second goes through the changes after the period, and what was there before the earliest of them is the
//! new image. When an item was looked at does not matter, since everything after the period that came before the second pass is undone
//! in it; so no snapshot is held, and memory holds the changes of one step.

use std::collections::BTreeMap;

use bytes::{Buf as _, Bytes};
use dynamo::StoredItem;

use crate::commit::{Changes, Latest};
use crate::copying::{Copying, Place};
use crate::fault::Fault;
use crate::history;
use crate::layout::{CollectionId, ItemKey};
use crate::store::{Space, StoreError};

/// What a period made of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    /// When it was changed last in the period.
    pub(crate) time_milliseconds: i64,
    /// The item before the period; nothing where it was not there.
    pub(crate) old: Option<StoredItem>,
    /// The item after the period; nothing where it is gone.
    pub(crate) new: Option<StoredItem>,
}

const HAS_OLD: u8 = 1;
const HAS_NEW: u8 = 2;

impl Changed {
    /// As bytes.
    pub(crate) fn encode(&self) -> Bytes {
        let image = |item: &Option<StoredItem>| item.as_ref().map(|item| item.as_bytes().clone());
        let (old, new) = (image(&self.old), image(&self.new));
        let flag = |image: &Option<Bytes>, flag: u8| if image.is_some() { flag } else { 0 };
        let flags = flag(&old, HAS_OLD) | flag(&new, HAS_NEW);
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let mut bytes = Vec::with_capacity(13 + old.len() + new.len());
        bytes.extend_from_slice(&self.time_milliseconds.to_be_bytes());
        bytes.push(flags);
        let old_length = u32::try_from(old.len()).expect("an item has at most 400 KB");
        bytes.extend_from_slice(&old_length.to_be_bytes());
        bytes.extend_from_slice(&old);
        bytes.extend_from_slice(&new);
        Bytes::from(bytes)
    }

    /// Reads what `encode` wrote; the images share its bytes.
    pub(crate) fn decode(bytes: &Bytes) -> Result<Changed, StoreError> {
        parse(bytes.clone()).ok_or_else(|| StoreError::Corrupt {
            detail: "what an export has gathered cannot be read".into(),
            source: None,
        })
    }
}

fn parse(mut bytes: Bytes) -> Option<Changed> {
    let time_milliseconds = bytes.try_get_i64().ok()?;
    let flags = bytes.try_get_u8().ok()?;
    let old_length = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
    if old_length > bytes.len() || flags > HAS_OLD | HAS_NEW {
        return None;
    }
    let old = bytes.split_to(old_length);
    let image = |flag: u8, bytes: Bytes| (flags & flag != 0).then(|| StoredItem::from_bytes(bytes));
    Some(Changed { time_milliseconds, old: image(HAS_OLD, old), new: image(HAS_NEW, bytes) })
}

/// The most that a step takes: changes, and bytes of what they were and are.
pub(crate) type Limits = (usize, usize);

/// One step of gathering, into the collection `id`: of the changes from `copying.undo` on, those before `end` are of the period. Says
/// where to go on; nowhere once all is gathered.
pub(crate) fn gather_step(
    id: CollectionId,
    copying: &Copying,
    end: u64,
    limits: Limits,
    latest: &Latest<'_>,
    changes: &mut Changes,
) -> Result<Option<Place>, Fault> {
    let Some(undo) = copying.undo else { return Ok(None) };
    match copying.place {
        Place::Gathered(below) => {
            let range = (undo.from, below.unwrap_or(end));
            let next = gather(id, copying.source, (undo.history, range), limits, latest, changes)?;
            Ok(Some(next.map_or(Place::Undone(None), |next| Place::Gathered(Some(next)))))
        }
        Place::Undone(below) => {
            let undone = history::undo(undo.history, end, below, limits, latest.snapshot())?;
            for (key, item) in undone.items {
                let key = key.in_collection(id);
                if let Some(gathered) = latest.get(Space::Data, &key)? {
                    let corrected = Changed { new: item, ..Changed::decode(&gathered)? };
                    changes.batch.put(Space::Data, key, corrected.encode());
                }
            }
            Ok(undone.next.map(|next| Place::Undone(Some(next))))
        }
        Place::Items(_) => Ok(None),
    }
}

/// Gathers changes of the period, the latest first; returns the number of the earliest, while there are earlier ones.
fn gather(
    id: CollectionId,
    source: CollectionId,
    (history, (from, below)): (CollectionId, (u64, u64)),
    (count_max, bytes_max): Limits,
    latest: &Latest<'_>,
    changes: &mut Changes,
) -> Result<Option<u64>, Fault> {
    let mut gathered = BTreeMap::<ItemKey, Changed>::new();
    let (mut count, mut size_bytes, mut last) = (0, 0, None);
    for change in history::backwards(history, from, Some(below), latest.snapshot()) {
        if count >= count_max || size_bytes >= bytes_max {
            break;
        }
        let (number, before) = change?;
        let known = match gathered.remove(&before.key) {
            Some(known) => Some(known),
            None => latest
                .get(Space::Data, &before.key.in_collection(id))?
                .map(|bytes| Changed::decode(&bytes))
                .transpose()?,
        };
        let met = if let Some(known) = known {
            Changed { old: before.item, ..known }
        } else {
            let now = latest.get(Space::Data, &before.key.in_collection(source))?.map(StoredItem::from_bytes);
            size_bytes += now.as_ref().map_or(0, |item| item.as_bytes().len());
            Changed { time_milliseconds: before.time_milliseconds, old: before.item, new: now }
        };
        size_bytes += met.old.as_ref().map_or(0, |item| item.as_bytes().len());
        gathered.insert(before.key, met);
        (count, last) = (count + 1, Some(number));
    }
    for (key, met) in &gathered {
        changes.batch.put(Space::Data, key.in_collection(id), met.encode());
    }
    Ok(last.filter(|last| *last > from && count > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynamo::{Item, Value};

    #[test]
    fn what_was_gathered_is_read_again() {
        let item = |text: &str| StoredItem::encode(&Item::from([("a".to_owned(), Value::from(text))]));
        for (old, new) in [
            (None, None),
            (Some(item("x")), None),
            (None, Some(item("y"))),
            (Some(item("x")), Some(item("y"))),
        ] {
            let changed = Changed { time_milliseconds: 1_700_000_000_123, old, new };
            let bytes = changed.encode();
            assert_eq!(Changed::decode(&bytes).unwrap(), changed);
            for length in 0..13 {
                assert!(Changed::decode(&bytes.slice(..length)).is_err(), "cut at {length}");
            }
        }
    }
}
