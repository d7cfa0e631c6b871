//! Keys as they are stored: a byte for the space, then the key.
//!
//! Always true: the spaces and the ring of commit numbers lie apart, and within each the order of keys is kept.

use std::ops::Bound;

use super::Space;

/// The ring of commit numbers; an encrypted database has its one number there.
const COMMITS: u8 = b'c';

/// A bound of a range of stored keys.
pub(in crate::store) type StoredBound = Bound<Vec<u8>>;

/// The stored form of a key.
pub(in crate::store) fn stored(space: Space, key: &[u8]) -> Vec<u8> {
    prefixed(prefix(space), key)
}

/// The stored form of a slot of the ring of commit numbers.
pub(in crate::store) fn stored_slot(slot: &[u8]) -> Vec<u8> {
    prefixed(COMMITS, slot)
}

/// The stored form of a range of a space.
pub(in crate::store) fn stored_range(
    space: Space,
    lower: Bound<&[u8]>,
    upper: Bound<&[u8]>,
) -> (StoredBound, StoredBound) {
    let lower = match lower {
        Bound::Unbounded => Bound::Included(vec![prefix(space)]),
        bound => bound.map(|key| stored(space, key)),
    };
    let upper = match upper {
        Bound::Unbounded => Bound::Excluded(vec![prefix(space) + 1]),
        bound => bound.map(|key| stored(space, key)),
    };
    (lower, upper)
}

/// All slots of the ring of commit numbers.
pub(in crate::store) fn stored_ring() -> (StoredBound, StoredBound) {
    (Bound::Included(vec![COMMITS]), Bound::Excluded(vec![COMMITS + 1]))
}

fn prefix(space: Space) -> u8 {
    match space {
        Space::Data => b'd',
        Space::Log => b'l',
        Space::Meta => b'm',
    }
}

fn prefixed(prefix: u8, key: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(key.len() + 1);
    stored.push(prefix);
    stored.extend_from_slice(key);
    stored
}
