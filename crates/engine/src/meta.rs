//! The keys of the meta space: one letter for the kind of record, then what it is about.

use std::ops::Bound;

use bytes::Bytes;

use crate::layout::{CollectionId, after_prefix};
use crate::store::{Direction, Range, Snapshot, Space};

/// A kind of record in the meta space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MetaKey(u8);

impl MetaKey {
    /// The next collection id.
    pub(crate) const NEXT_ID: MetaKey = MetaKey(b'i');
    /// A table, by its collection id.
    pub(crate) const TABLE: MetaKey = MetaKey(b't');
    /// A stream that was closed, by its collection id.
    pub(crate) const CLOSED_STREAM: MetaKey = MetaKey(b's');
    /// A backup, by the id of the collection of its items.
    pub(crate) const BACKUP: MetaKey = MetaKey(b'b');
    /// An export, by the id of the collection of its copy.
    pub(crate) const EXPORT: MetaKey = MetaKey(b'e');
    /// A collection to be removed, by its id.
    pub(crate) const GARBAGE: MetaKey = MetaKey(b'g');
    /// Items and bytes of a collection, by its id.
    pub(crate) const TOTALS: MetaKey = MetaKey(b'n');
    /// Bytes of an item collection, by the id of its table and its partition.
    pub(crate) const COLLECTION_BYTES: MetaKey = MetaKey(b'p');
    /// The last record that was trimmed from a stream, or the time up to which a history was trimmed, by its collection id.
    pub(crate) const TRIMMED: MetaKey = MetaKey(b'r');
    /// A client's token of a transaction, by its text.
    pub(crate) const TOKEN: MetaKey = MetaKey(b'k');
    /// When tokens expire, by time and text.
    pub(crate) const TOKEN_EXPIRY: MetaKey = MetaKey(b'x');
    /// The wrapped key of tables, by its id.
    pub(crate) const TABLE_KEY: MetaKey = MetaKey(b'y');
    /// Which database this is, told from every copy of it.
    pub(crate) const IDENTITY: MetaKey = MetaKey(b'd');
}

/// The key of a record about this.
pub(crate) fn key(kind: MetaKey, about: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(1 + about.len());
    bytes.push(kind.0);
    bytes.extend_from_slice(about);
    Bytes::from(bytes)
}

/// The key of a record about a collection.
pub(crate) fn collection_key(kind: MetaKey, id: CollectionId) -> Bytes {
    key(kind, &id.0.to_be_bytes())
}

/// The collection that a key is about.
pub(crate) fn collection_of(key: &[u8]) -> Option<CollectionId> {
    key.get(1..)?.try_into().ok().map(|id| CollectionId(u32::from_be_bytes(id)))
}

/// All records of a kind.
pub(crate) fn entries(snapshot: &Snapshot, kind: MetaKey) -> Range<'_> {
    let lower = [kind.0];
    let upper = after_prefix(&lower);
    snapshot.range(Space::Meta, Bound::Included(&lower), Bound::Excluded(&upper), Direction::Forward)
}
