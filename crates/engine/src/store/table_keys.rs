//! The keys of single tables: values of a table with a key of its own are sealed with it, inside of what the store seals anyway.
//!
//! ```text
//! sealed value = FF FF FF FF | key (8 bytes) | sealed for its space and key
//! ```
//!
//! No value of the data and log spaces begins so by itself: items begin with a size below 2^21, stream records with a letter and those of
//! histories with a time. So a value tells whether it is sealed and with which key, and a table may hold both while its key
//! changes.
//!
//! Always true: what [`TableKeys::open`] returns was sealed for the same space and key; while a key cannot be had, its values are an
//! error that says so.
//!
//! Path of a value: a batch -> `TableKeys::seal` (when a group is applied) -> store -> `Snapshot::get` -> `TableKeys::open`.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use seal::{OVERHEAD_BYTES, SealError, Sealer};

use super::{Space, StoreError};

/// What a sealed value begins with.
const MARK: [u8; 4] = [0xFF; 4];
const HEAD_BYTES: usize = MARK.len() + 8;

/// The number of a table's key: random, so that those of two databases do not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub(crate) struct TableKeyId(pub(crate) u64);

/// Why a key cannot be had, and since when.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    pub(crate) since_milliseconds: i64,
    pub(crate) reason: Arc<str>,
}

/// The keys of tables that are known now.
#[derive(Default)]
pub(crate) struct TableKeys {
    keys: RwLock<FxHashMap<TableKeyId, Known>>,
}

struct Known {
    sealer: Result<Arc<Sealer>, Missing>,
    since: Instant,
}

impl fmt::Debug for TableKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TableKeys").field("keys", &self.keys.read().len()).finish()
    }
}

impl TableKeys {
    /// From now on this key is there: what is sealed with it opens.
    pub(crate) fn put(&self, id: TableKeyId, sealer: Arc<Sealer>) {
        self.keys.write().insert(id, Known { sealer: Ok(sealer), since: Instant::now() });
    }

    /// From now on this key cannot be had. It has been so since the first time that this was said.
    pub(crate) fn take(&self, id: TableKeyId, missing: Missing) {
        let mut keys = self.keys.write();
        let since_milliseconds = match keys.get(&id).map(|known| &known.sealer) {
            Some(Err(earlier)) => earlier.since_milliseconds,
            _ => missing.since_milliseconds,
        };
        let sealer = Err(Missing { since_milliseconds, ..missing });
        keys.insert(id, Known { sealer, since: Instant::now() });
    }

    /// Forgets all keys but these, and those that came a short time ago: a table may be about to get one.
    pub(crate) fn retain(&self, short_time: Duration, is_used: impl Fn(TableKeyId) -> bool) {
        let is_new = |known: &Known| known.since.elapsed() < short_time;
        self.keys.write().retain(|id, known| is_used(*id) || is_new(known));
    }

    /// How many are known.
    pub(crate) fn len(&self) -> usize {
        self.keys.read().len()
    }

    /// The sealer of a key, or why there is none.
    pub(crate) fn sealer(&self, id: TableKeyId) -> Result<Arc<Sealer>, Missing> {
        let forgotten = || Missing { since_milliseconds: 0, reason: "it was forgotten".into() };
        self.keys.read().get(&id).map_or_else(|| Err(forgotten()), |known| known.sealer.clone())
    }

    /// Seals the value of a key of the store.
    pub(crate) fn seal(
        &self,
        id: TableKeyId,
        space: Space,
        key: &[u8],
        plain: &[u8],
    ) -> Result<Bytes, StoreError> {
        let sealer = self.sealer(id).map_err(|missing| StoreError::table_key(&missing))?;
        let mut bytes = vec![0; HEAD_BYTES + plain.len() + OVERHEAD_BYTES];
        let (head, body) = bytes.split_at_mut(HEAD_BYTES);
        head.copy_from_slice(&head_of(id));
        sealer.seal_into(&place(space, key), plain, body);
        Ok(Bytes::from(bytes))
    }

    /// The value of a key of the store, opened if it is sealed.
    pub(crate) fn open(&self, space: Space, key: &[u8], value: Bytes) -> Result<Bytes, StoreError> {
        let Some(id) = key_of(space, &value) else { return Ok(value) };
        let sealer = self.sealer(id).map_err(|missing| StoreError::table_key(&missing))?;
        let body = value.get(HEAD_BYTES..).unwrap_or_default();
        sealer.open(&place(space, key), body).map(Bytes::from).map_err(|error| match error {
            SealError::Altered => {
                StoreError::corrupt("a value that is sealed with the key of its table was altered")
            }
            error => StoreError::Key { source: Arc::new(error) },
        })
    }
}

/// The key that seals a value, if one of a table does.
pub(crate) fn key_of(space: Space, value: &[u8]) -> Option<TableKeyId> {
    if space == Space::Meta || value.len() < HEAD_BYTES + OVERHEAD_BYTES {
        return None;
    }
    let id = value.strip_prefix(&MARK)?.first_chunk()?;
    Some(TableKeyId(u64::from_be_bytes(*id)))
}

/// The number of the data key that seals a value with a key of its table.
pub(crate) fn data_key_of(value: &[u8]) -> Option<u32> {
    value.get(HEAD_BYTES..).and_then(Sealer::data_key_of)
}

fn head_of(id: TableKeyId) -> [u8; HEAD_BYTES] {
    let mut parts = MARK.into_iter().chain(id.0.to_be_bytes());
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

/// What a value is bound to: nobody can exchange those of two items.
fn place(space: Space, key: &[u8]) -> Vec<u8> {
    let space = match space {
        Space::Data => b'd',
        Space::Log => b'l',
        Space::Meta => b'm',
    };
    let mut place = Vec::with_capacity(1 + key.len());
    place.push(space);
    place.extend_from_slice(key);
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynamo::{Item, StoredItem, Value};
    use seal::{Envelope, KeyBytes, LocalKey};

    const ID: TableKeyId = TableKeyId(7);

    fn sealer() -> Arc<Sealer> {
        let master = LocalKey::new(&KeyBytes::new([3; 32]));
        Arc::new(Envelope::create(&master).unwrap().open(&master).unwrap().sealer("table").unwrap())
    }

    #[test]
    fn a_value_opens_with_its_key_at_its_place_only() {
        let keys = TableKeys::default();
        keys.put(ID, sealer());
        let sealed = keys.seal(ID, Space::Data, b"key", b"value").unwrap();
        assert_eq!((key_of(Space::Data, &sealed), data_key_of(&sealed)), (Some(ID), Some(1)));
        assert_eq!(keys.open(Space::Data, b"key", sealed.clone()).unwrap(), "value");
        for (space, key) in [(Space::Data, b"yek"), (Space::Log, b"key")] {
            let error = keys.open(space, key, sealed.clone()).unwrap_err();
            assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
        }
        keys.put(ID, sealer());
        assert!(keys.open(Space::Data, b"key", sealed.clone()).is_err(), "another key of the same number");
        keys.retain(Duration::ZERO, |_| false);
        let error = keys.open(Space::Data, b"key", sealed).unwrap_err();
        assert!(matches!(error, StoreError::TableKey { .. }), "{error}");
    }

    #[test]
    fn a_key_is_missing_since_the_first_time() {
        let keys = TableKeys::default();
        for since_milliseconds in [5, 9] {
            keys.take(ID, Missing { since_milliseconds, reason: "gone".into() });
        }
        assert_eq!(keys.sealer(ID).unwrap_err().since_milliseconds, 5);
        keys.put(ID, sealer());
        assert!(keys.sealer(ID).is_ok());
    }

    #[test]
    fn no_plain_value_looks_sealed() {
        for length in [0, 100, 16_000, 399_000] {
            let item = Item::from([("a".to_owned(), Value::from("x".repeat(length)))]);
            let item = StoredItem::encode(&item);
            assert_eq!(key_of(Space::Data, item.as_bytes()), None);
        }
        let record =
            crate::history::encode(i64::MAX, &crate::layout::ItemKey::of_table_bytes(&[0xFF; 90]), None);
        assert_eq!(key_of(Space::Log, &record), None);
    }
}
