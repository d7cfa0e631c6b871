//! How keys look in the store.
//!
//! Every table, index and expiry list is a *collection* with an id that is never used again. A key starts with that id, so
//! collections never meet, and dropping one is removing a range.
//!
//! ```text
//! item         id hash(partition) partition sort
//! index entry  id hash(partition) partition sort  partition sort (of the item)
//! expiry       id expiry-second                    key of the item
//! record       id sequence                         (of a stream or a history, in the log)
//! commit       0 position                          (a record of the log of commits, in the log; `shipping.rs`)
//! ```
//!
//! Always true: keys of one partition are neighbours in the order of their sort keys. The hash spreads partitions over the scan
//! order, so that the segments of a parallel scan are ranges of equal size.

use std::cmp::Ordering;
use std::ops::Bound;

use bytes::Bytes;
use dynamo::{Item, KeyType, KeyValue, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX, StoredItem};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// The id of a table, index, expiry list, stream, history or backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct CollectionId(pub(crate) u32);

/// One attribute of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyAttribute {
    pub(crate) name: String,
    #[serde(with = "key_type_name")]
    pub(crate) key_type: KeyType,
}

/// The attributes that make a key: one or more for the partition, none or more for the order in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeySchema {
    pub(crate) partition: Vec<KeyAttribute>,
    pub(crate) sort: Vec<KeyAttribute>,
}

impl KeySchema {
    /// All attributes of the key, partition first.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        self.partition.iter().chain(&self.sort)
    }

    /// True for a name that is part of the key.
    pub(crate) fn contains(&self, name: impl AsRef<[u8]>) -> bool {
        self.attributes().any(|attribute| attribute.name.as_bytes() == name.as_ref())
    }
}

/// Where key values are found: a request's key, an item, a stored item.
pub(crate) trait KeySource {
    /// The value of this attribute if it can stand in a key.
    fn key_value(&self, name: &str) -> Option<KeyValue<'_>>;
}

impl KeySource for Item {
    fn key_value(&self, name: &str) -> Option<KeyValue<'_>> {
        self.get(name).and_then(KeyValue::from_value)
    }
}

impl KeySource for StoredItem {
    fn key_value(&self, name: &str) -> Option<KeyValue<'_>> {
        self.get(name).and_then(KeyValue::from_stored)
    }
}

/// The key of an item in its table: hash, partition and sort key. In the catalog it is written as hexadecimal text.
///
/// The id of the table stands before them, so that the key in the store is there already; it does not count when keys are compared.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct ItemKey {
    stored: Bytes,
}

impl PartialEq for ItemKey {
    fn eq(&self, other: &ItemKey) -> bool {
        self.in_table() == other.in_table()
    }
}

impl Eq for ItemKey {}

impl PartialOrd for ItemKey {
    fn partial_cmp(&self, other: &ItemKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ItemKey {
    fn cmp(&self, other: &ItemKey) -> Ordering {
        self.in_table().cmp(other.in_table())
    }
}

const ID_BYTES: usize = 4;
const HASH_BYTES: usize = 4;

impl ItemKey {
    /// The key of an item with these values, if each attribute is there with its type.
    pub(crate) fn new(table: CollectionId, schema: &KeySchema, source: &impl KeySource) -> Option<ItemKey> {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(&table.0.to_be_bytes());
        put_partition(&mut bytes, schema, source)?;
        put_values(&mut bytes, &schema.sort, SORT_KEY_BYTES_MAX, source)?;
        Some(ItemKey { stored: Bytes::from(bytes) })
    }

    /// The key of an item whose values are given one by one, checked by whoever gives them.
    pub(crate) fn from_values<'a, E>(
        table: CollectionId,
        schema: &KeySchema,
        value_of: impl Fn(&KeyAttribute) -> Result<KeyValue<'a>, E>,
    ) -> Result<ItemKey, E> {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(&table.0.to_be_bytes());
        bytes.extend_from_slice(&[0; HASH_BYTES]);
        for attribute in &schema.partition {
            value_of(attribute)?.encode(&mut bytes);
        }
        put_hash(bytes.get_mut(ID_BYTES..).unwrap_or_default());
        for attribute in &schema.sort {
            value_of(attribute)?.encode(&mut bytes);
        }
        Ok(ItemKey { stored: Bytes::from(bytes) })
    }

    /// The key of the item that is stored under a key.
    pub(crate) fn of_stored_key(stored_key: &Bytes) -> ItemKey {
        ItemKey { stored: stored_key.clone() }
    }

    /// The key in the store.
    pub(crate) fn in_collection(&self, id: CollectionId) -> Bytes {
        if self.stored.starts_with(&id.0.to_be_bytes()) {
            self.stored.clone()
        } else {
            joined(id, self.in_table())
        }
    }

    /// The key with these bytes, which [`ItemKey::in_table`] gave.
    pub(crate) fn of_table_bytes(bytes: &[u8]) -> ItemKey {
        ItemKey { stored: joined(CollectionId(0), bytes) }
    }

    /// The key without the id of its table.
    pub(crate) fn in_table(&self) -> &[u8] {
        self.stored.get(ID_BYTES..).unwrap_or_default()
    }

    /// The key in the store in two parts: the id with the hash, and the rest, which an index entry ends with.
    pub(crate) fn split_in_collection(&self, id: CollectionId) -> ([u8; ID_BYTES + HASH_BYTES], &[u8]) {
        let mut head = [0; ID_BYTES + HASH_BYTES];
        let (of_id, of_hash) = head.split_at_mut(ID_BYTES);
        of_id.copy_from_slice(&id.0.to_be_bytes());
        for (byte, hash) in of_hash.iter_mut().zip(self.in_table()) {
            *byte = *hash;
        }
        (head, self.without_hash())
    }

    /// The key without its hash: what an index entry ends with.
    fn without_hash(&self) -> &[u8] {
        self.in_table().get(HASH_BYTES..).unwrap_or_default()
    }
}

fn joined(id: CollectionId, key: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(ID_BYTES + key.len());
    bytes.extend_from_slice(&id.0.to_be_bytes());
    bytes.extend_from_slice(key);
    Bytes::from(bytes)
}

impl From<ItemKey> for String {
    fn from(key: ItemKey) -> String {
        hex(key.in_table())
    }
}

impl TryFrom<String> for ItemKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<ItemKey, &'static str> {
        let bytes = parse_hex(&text).ok_or("a key is written with two hexadecimal digits for each byte")?;
        Ok(ItemKey::of_table_bytes(&bytes))
    }
}

/// Bytes as text: two hexadecimal digits each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of such a text.
pub(crate) fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(high << 4 | low),
        _ => None,
    };
    digits?.chunks(2).map(byte).collect()
}

/// The key of an index entry, or `None` where the item lacks a key attribute of the index, and so is not in it.
pub(crate) fn index_entry_key(
    id: CollectionId,
    schema: &KeySchema,
    item: &impl KeySource,
    item_key: &ItemKey,
) -> Option<Bytes> {
    let mut bytes = Vec::with_capacity(ID_BYTES + 64 + item_key.stored.len());
    bytes.extend_from_slice(&id.0.to_be_bytes());
    put_partition(&mut bytes, schema, item)?;
    put_values(&mut bytes, &schema.sort, SORT_KEY_BYTES_MAX, item)?;
    bytes.extend_from_slice(item_key.without_hash());
    Some(Bytes::from(bytes))
}

/// The start of all keys of the partition with these values.
pub(crate) fn partition_prefix_of<'a>(
    id: CollectionId,
    values: impl Iterator<Item = KeyValue<'a>>,
) -> Vec<u8> {
    let mut partition = Vec::with_capacity(64);
    for value in values {
        value.encode(&mut partition);
    }
    let mut bytes = Vec::with_capacity(ID_BYTES + HASH_BYTES + partition.len());
    bytes.extend_from_slice(&id.0.to_be_bytes());
    bytes.extend_from_slice(&partition_hash(&partition).to_be_bytes());
    bytes.extend_from_slice(&partition);
    bytes
}

fn put_partition(bytes: &mut Vec<u8>, schema: &KeySchema, source: &impl KeySource) -> Option<()> {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; HASH_BYTES]);
    put_values(bytes, &schema.partition, PARTITION_KEY_BYTES_MAX, source)?;
    put_hash(bytes.get_mut(start..)?);
    Some(())
}

/// Fills the room at the front with the hash of the partition that follows.
fn put_hash(bytes: &mut [u8]) {
    if let Some((hash, partition)) = bytes.split_first_chunk_mut() {
        *hash = partition_hash(partition).to_be_bytes();
    }
}

/// Appends values that can stand in a key. Items that were there before an index may have others; they are not in it.
fn put_values(
    bytes: &mut Vec<u8>,
    attributes: &[KeyAttribute],
    size_max: usize,
    source: &impl KeySource,
) -> Option<()> {
    for attribute in attributes {
        let value = source.key_value(&attribute.name)?;
        if value.key_type() != attribute.key_type || value.is_empty() || value.size_bytes() > size_max {
            return None;
        }
        value.encode(bytes);
    }
    Some(())
}

fn partition_hash(partition: &[u8]) -> u32 {
    u32::try_from(xxh3_64(partition) >> 32).unwrap_or(0)
}

/// A range of keys in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRange {
    pub(crate) lower: Bound<Bytes>,
    pub(crate) upper: Bound<Bytes>,
}

impl KeyRange {
    /// All keys that start so.
    pub(crate) fn of_prefix(prefix: &[u8]) -> KeyRange {
        KeyRange {
            lower: Bound::Included(Bytes::copy_from_slice(prefix)),
            upper: Bound::Excluded(after_prefix(prefix)),
        }
    }

    /// All keys of a collection.
    pub(crate) fn of_collection(id: CollectionId) -> KeyRange {
        KeyRange::of_prefix(&id.0.to_be_bytes())
    }

    /// The part of a collection that segment `segment` of `total` scans: a range of hashes.
    pub(crate) fn of_segment(id: CollectionId, segment: u32, total: u32) -> KeyRange {
        let boundary = |segment: u32| {
            let hash = (u64::from(segment) << 32) / u64::from(total.max(1));
            let mut bytes = id.0.to_be_bytes().to_vec();
            match u32::try_from(hash) {
                Ok(hash) => bytes.extend_from_slice(&hash.to_be_bytes()),
                Err(_) => return after_prefix(&bytes),
            }
            Bytes::from(bytes)
        };
        KeyRange {
            lower: Bound::Included(boundary(segment)),
            upper: Bound::Excluded(boundary(segment.saturating_add(1))),
        }
    }

    /// The same range, but only after this key.
    #[must_use]
    pub(crate) fn after(self, key: Bytes) -> KeyRange {
        KeyRange { lower: Bound::Excluded(key), ..self }
    }

    /// The same range, but only before this key.
    #[must_use]
    pub(crate) fn before(self, key: Bytes) -> KeyRange {
        KeyRange { upper: Bound::Excluded(key), ..self }
    }

    /// The bounds, to read with.
    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (self.lower.as_ref().map(|key| &**key), self.upper.as_ref().map(|key| &**key))
    }

    /// True if the key lies in the range.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        let above = match &self.lower {
            Bound::Included(lower) => key >= &**lower,
            Bound::Excluded(lower) => key > &**lower,
            Bound::Unbounded => true,
        };
        let below = match &self.upper {
            Bound::Included(upper) => key <= &**upper,
            Bound::Excluded(upper) => key < &**upper,
            Bound::Unbounded => true,
        };
        above && below
    }
}

/// The first key after all keys that start so. Ids and hashes never consist of FF bytes alone, so there is one.
pub(crate) fn after_prefix(prefix: &[u8]) -> Bytes {
    let mut bytes = prefix.to_vec();
    while let Some(last) = bytes.pop() {
        if let Some(next) = last.checked_add(1) {
            bytes.push(next);
            break;
        }
    }
    Bytes::from(bytes)
}

/// The key of an expiry entry.
pub(crate) fn expiry_key(id: CollectionId, expiry_seconds: u64, item_key: &ItemKey) -> Bytes {
    let mut bytes = Vec::with_capacity(8 + item_key.stored.len());
    bytes.extend_from_slice(&id.0.to_be_bytes());
    bytes.extend_from_slice(&expiry_seconds.to_be_bytes());
    bytes.extend_from_slice(item_key.in_table());
    Bytes::from(bytes)
}

/// The second and the item's key of an expiry entry.
pub(crate) fn parse_expiry_key(key: &Bytes) -> Option<(u64, ItemKey)> {
    let seconds = key.get(ID_BYTES..ID_BYTES + 8)?.try_into().ok().map(u64::from_be_bytes)?;
    Some((seconds, ItemKey::of_table_bytes(key.get(ID_BYTES + 8..)?)))
}

/// The key of a record of a stream or a history, in the log.
pub(crate) fn record_key(id: CollectionId, sequence: u64) -> Bytes {
    let mut bytes = Vec::with_capacity(ID_BYTES + 8);
    bytes.extend_from_slice(&id.0.to_be_bytes());
    bytes.extend_from_slice(&sequence.to_be_bytes());
    Bytes::from(bytes)
}

/// The sequence number of a record's key.
pub(crate) fn parse_record_key(key: &[u8]) -> Option<u64> {
    key.get(ID_BYTES..ID_BYTES + 8)?.try_into().ok().map(u64::from_be_bytes)
}

mod key_type_name {
    use dynamo::KeyType;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(key_type: &KeyType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(key_type.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<KeyType, D::Error> {
        let name = String::deserialize(deserializer)?;
        KeyType::from_name(&name).ok_or_else(|| D::Error::custom("a key type is S, N or B"))
    }
}

#[cfg(test)]
mod tests;
