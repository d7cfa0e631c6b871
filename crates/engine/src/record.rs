//! Stream records as they are stored in the log.
//!
//! ```text
//! record = kind flags time(8) varint(keys) keys [varint(new) new] [varint(old) old]        images in their stored form
//! ```

use bytes::{Buf, Bytes};
use dynamo::StoredItem;

use crate::table::{StreamView, Table};

/// What happened to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Insert,
    Modify,
    Remove,
}

/// Who changed an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// A client.
    Client,
    /// The engine, because the item expired.
    Expiry,
}

/// A stream record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) kind: ChangeKind,
    pub(crate) author: Author,
    pub(crate) time_milliseconds: i64,
    pub(crate) keys: StoredItem,
    pub(crate) new_image: Option<StoredItem>,
    pub(crate) old_image: Option<StoredItem>,
}

const FLAG_EXPIRED: u8 = 1;
const FLAG_NEW: u8 = 2;
const FLAG_OLD: u8 = 4;

impl Record {
    /// The record of a change, with what the stream shows of it; `None` where nothing changed.
    pub(crate) fn of_change(
        table: &Table,
        view: StreamView,
        old: Option<&StoredItem>,
        new: Option<&StoredItem>,
        author: Author,
        time_milliseconds: i64,
    ) -> Option<Record> {
        let (kind, item) = match (old, new) {
            (None, Some(new)) => (ChangeKind::Insert, new),
            (Some(_), Some(new)) => (ChangeKind::Modify, new),
            (Some(old), None) => (ChangeKind::Remove, old),
            (None, None) => return None,
        };
        Some(Record {
            kind,
            author,
            time_milliseconds,
            keys: item.filtered(|name| table.schema.contains(name)),
            new_image: new.filter(|_| view.has_new_image()).cloned(),
            old_image: old.filter(|_| view.has_old_image()).cloned(),
        })
    }

    /// The record as bytes.
    pub(crate) fn encode(&self) -> Bytes {
        let images = [Some(&self.keys), self.new_image.as_ref(), self.old_image.as_ref()];
        let size = images.iter().flatten().map(|image| image.as_bytes().len() + 4).sum::<usize>();
        let mut bytes = Vec::with_capacity(10 + size);
        bytes.push(match self.kind {
            ChangeKind::Insert => b'I',
            ChangeKind::Modify => b'M',
            ChangeKind::Remove => b'R',
        });
        bytes.push(
            if self.author == Author::Expiry { FLAG_EXPIRED } else { 0 }
                | if self.new_image.is_some() { FLAG_NEW } else { 0 }
                | if self.old_image.is_some() { FLAG_OLD } else { 0 },
        );
        bytes.extend_from_slice(&self.time_milliseconds.to_be_bytes());
        for image in images.into_iter().flatten() {
            let length = u32::try_from(image.as_bytes().len()).expect("an item is at most 400 KB");
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(image.as_bytes());
        }
        Bytes::from(bytes)
    }

    /// Reads a record; `None` for bytes that are not one. The images share the record's bytes.
    pub(crate) fn decode(mut bytes: Bytes) -> Option<Record> {
        let kind = match bytes.try_get_u8().ok()? {
            b'I' => ChangeKind::Insert,
            b'M' => ChangeKind::Modify,
            b'R' => ChangeKind::Remove,
            _ => return None,
        };
        let flags = bytes.try_get_u8().ok()?;
        let time_milliseconds = bytes.try_get_i64().ok()?;
        Some(Record {
            kind,
            author: if flags & FLAG_EXPIRED == 0 { Author::Client } else { Author::Expiry },
            time_milliseconds,
            keys: take_image(&mut bytes)?,
            new_image: if flags & FLAG_NEW == 0 { None } else { Some(take_image(&mut bytes)?) },
            old_image: if flags & FLAG_OLD == 0 { None } else { Some(take_image(&mut bytes)?) },
        })
    }
}

/// When a record was made, without reading the rest of it.
pub(crate) fn record_time_milliseconds(record: &[u8]) -> Option<i64> {
    record.get(2..10)?.try_into().ok().map(i64::from_be_bytes)
}

fn take_image(bytes: &mut Bytes) -> Option<StoredItem> {
    let length = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
    (length <= bytes.len()).then(|| StoredItem::from_bytes(bytes.split_to(length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynamo::{Item, Value};

    #[test]
    fn records_round_trip() {
        let image = |text: &str| StoredItem::encode(&Item::from([("a".to_owned(), Value::from(text))]));
        for (new_image, old_image) in
            [(None, None), (Some(image("n")), None), (Some(image("n")), Some(image("o")))]
        {
            let record = Record {
                kind: ChangeKind::Modify,
                author: Author::Expiry,
                time_milliseconds: 1_700_000_000_123,
                keys: image("k"),
                new_image,
                old_image,
            };
            assert_eq!(Record::decode(record.encode()), Some(record));
        }
    }

    #[test]
    fn cut_records_are_refused() {
        let keys = StoredItem::encode(&Item::from([("a".to_owned(), Value::from("text"))]));
        let record = Record {
            kind: ChangeKind::Insert,
            author: Author::Client,
            time_milliseconds: 5,
            keys: keys.clone(),
            new_image: Some(keys),
            old_image: None,
        };
        let bytes = record.encode();
        for length in 0..bytes.len() {
            assert_eq!(Record::decode(bytes.slice(..length)), None, "cut at {length}");
        }
    }

    proptest::proptest! {
        #[test]
        fn foreign_bytes_never_panic(mut bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60)) {
            let _ = Record::decode(Bytes::from(bytes.clone()));
            if let Some(kind) = bytes.first_mut() {
                *kind = b'M';
            }
            let _ = Record::decode(Bytes::from(bytes));
        }
    }
}
