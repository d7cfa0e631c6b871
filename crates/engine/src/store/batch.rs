//! A set of writes that happens whole or not at all.
//!
//! Always true: keys are 1 to `KEY_BYTES_MAX` bytes long, and of two writes to one key the later wins.

use bytes::Bytes;

use super::Space;

/// The longest key: on disk a byte for the space goes in front, and the storage crate has two bytes for the length.
pub(crate) const KEY_BYTES_MAX: usize = 65_534;

/// One write: a value to store, or none to remove the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    /// Where the key lives.
    pub(crate) space: Space,
    /// The key.
    pub(crate) key: Bytes,
    /// The value to store; `None` removes the key.
    pub(crate) value: Option<Bytes>,
}

/// Writes in the order they were added.
///
/// Keys and values are kept as they come, without a copy: one that is a slice of a larger buffer keeps all of that
/// buffer in memory for as long as the store keeps the entry there.
#[derive(Debug, Default, Clone)]
pub(crate) struct Batch {
    writes: Vec<Write>,
    size_bytes: usize,
}

impl Batch {
    /// A batch with room for so many writes.
    pub(crate) fn with_capacity(writes: usize) -> Batch {
        Batch { writes: Vec::with_capacity(writes), size_bytes: 0 }
    }

    /// Stores a value under a key.
    pub(crate) fn put(&mut self, space: Space, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.push(space, key.into(), Some(value.into()));
    }

    /// Removes a key, which need not exist.
    pub(crate) fn remove(&mut self, space: Space, key: impl Into<Bytes>) {
        self.push(space, key.into(), None);
    }

    /// Adds the writes of another batch after those of this one.
    pub(crate) fn append(&mut self, mut other: Batch) {
        self.writes.append(&mut other.writes);
        self.size_bytes += other.size_bytes;
    }

    /// Replaces values by what a function makes of them, if it makes anything.
    pub(crate) fn replace_values<E>(
        &mut self,
        replace: impl Fn(Space, &[u8], &[u8]) -> Result<Option<Bytes>, E>,
    ) -> Result<(), E> {
        for write in &mut self.writes {
            let Some(value) = &mut write.value else { continue };
            if let Some(other) = replace(write.space, &write.key, value)? {
                self.size_bytes = self.size_bytes - value.len() + other.len();
                *value = other;
            }
        }
        Ok(())
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// How many writes there are.
    pub(crate) fn len(&self) -> usize {
        self.writes.len()
    }

    /// The bytes of all keys and values.
    pub(crate) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// The writes, in the order they were added.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Write> {
        self.writes.iter()
    }

    /// Whether this can be a key.
    pub(crate) fn takes_key(key: &[u8]) -> bool {
        (1..=KEY_BYTES_MAX).contains(&key.len())
    }

    fn push(&mut self, space: Space, key: Bytes, value: Option<Bytes>) {
        assert!(Batch::takes_key(&key), "a key of {} bytes", key.len());
        self.size_bytes += key.len() + value.as_ref().map_or(0, Bytes::len);
        self.writes.push(Write { space, key, value });
    }
}

impl IntoIterator for Batch {
    type Item = Write;
    type IntoIter = std::vec::IntoIter<Write>;

    fn into_iter(self) -> Self::IntoIter {
        self.writes.into_iter()
    }
}
