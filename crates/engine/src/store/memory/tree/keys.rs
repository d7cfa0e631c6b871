//! The sorted keys of a node, with eight bytes of each side by side.
//!
//! Always true: all keys begin with `beginning`, and `heads[i]` holds the eight bytes that follow in key i, filled up
//! with zeros. So of two keys the smaller never has the greater head, and only equal heads need a look at the keys
//! themselves, which lie elsewhere in memory.

use std::{cmp::Ordering, ops::Range};

use bytes::Bytes;

/// The most keys there is room for.
pub(super) const CAPACITY: usize = 32;

/// The longest beginning kept: enough for a table, an index and a short partition key.
const BEGINNING_MAX: usize = 40;

#[derive(Clone)]
pub(super) struct Keys {
    shared: usize,
    beginning: [u8; BEGINNING_MAX],
    heads: [u64; CAPACITY],
    whole: Vec<Bytes>,
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        self.whole.len()
    }

    pub(super) fn get(&self, position: usize) -> Option<&Bytes> {
        self.whole.get(position)
    }

    pub(super) fn first(&self) -> Option<&Bytes> {
        self.whole.first()
    }

    /// The position of a key, if it is there.
    pub(super) fn find(&self, key: &[u8]) -> Option<usize> {
        // A key that does not begin like the others is found out when it is compared.
        let range = self.equal_heads(key);
        let position = range.start + self.whole.get(range.clone())?.partition_point(|other| other < key);
        (range.contains(&position) && self.whole.get(position)? == key).then_some(position)
    }

    /// The position of a key, or the one it would have.
    pub(super) fn locate(&self, key: &[u8]) -> Result<usize, usize> {
        match self.compare_beginning(key) {
            Ordering::Less => return Err(0),
            Ordering::Greater => return Err(self.len()),
            Ordering::Equal => {}
        }
        let range = self.equal_heads(key);
        let equal = self.whole.get(range.clone()).unwrap_or_default();
        match equal.binary_search_by(|other| other.as_ref().cmp(key)) {
            Ok(position) => Ok(range.start + position),
            Err(position) => Err(range.start + position),
        }
    }

    pub(super) fn insert(&mut self, position: usize, key: Bytes) {
        let begins_alike = key.starts_with(self.beginning());
        let len = self.whole.len();
        self.whole.insert(position, key);
        if begins_alike && len > 0 {
            self.heads.copy_within(position..len, position + 1);
            self.set_head(position);
        } else {
            self.set_beginning();
        }
    }

    pub(super) fn remove(&mut self, position: usize) -> Bytes {
        self.heads.copy_within(position + 1..self.whole.len(), position);
        self.whole.remove(position)
    }

    /// Keeps the keys before a position and returns the others.
    pub(super) fn split_off(&mut self, position: usize) -> Keys {
        let right = Keys::from(self.whole.split_off(position));
        self.set_beginning();
        right
    }

    /// Adds keys that are all greater.
    pub(super) fn append(&mut self, mut greater: Keys) {
        self.whole.append(&mut greater.whole);
        self.set_beginning();
    }

    /// The positions of the heads that are equal to that of a key.
    fn equal_heads(&self, key: &[u8]) -> Range<usize> {
        let head = head_of(key, self.shared);
        let heads = self.heads.get(..self.whole.len()).unwrap_or_default();
        let start = heads.partition_point(|&other| other < head);
        let equal = heads.iter().skip(start).take_while(|&&other| other == head).count();
        start..start + equal
    }

    /// How the beginning of a key compares with the one all keys here share.
    fn compare_beginning(&self, key: &[u8]) -> Ordering {
        key.get(..self.shared).unwrap_or(key).cmp(self.beginning())
    }

    fn beginning(&self) -> &[u8] {
        self.beginning.get(..self.shared).unwrap_or_default()
    }

    /// What the first and the last key share, all between them share, too.
    fn set_beginning(&mut self) {
        let (Some(first), Some(last)) = (self.whole.first(), self.whole.last()) else { return };
        self.shared = 0;
        for (to, (first, last)) in self.beginning.iter_mut().zip(first.iter().zip(last)) {
            if first != last {
                break;
            }
            *to = *first;
            self.shared += 1;
        }
        for (head, key) in self.heads.iter_mut().zip(&self.whole) {
            *head = head_of(key, self.shared);
        }
    }

    fn set_head(&mut self, position: usize) {
        if let (Some(head), Some(key)) = (self.heads.get_mut(position), self.whole.get(position)) {
            *head = head_of(key, self.shared);
        }
    }
}

impl Default for Keys {
    fn default() -> Keys {
        Keys::from(Vec::new())
    }
}

impl From<Vec<Bytes>> for Keys {
    fn from(sorted: Vec<Bytes>) -> Keys {
        let mut keys = Keys { shared: 0, beginning: [0; BEGINNING_MAX], heads: [0; CAPACITY], whole: sorted };
        keys.set_beginning();
        keys
    }
}

fn head_of(key: &[u8], shared: usize) -> u64 {
    let rest = key.get(shared..).unwrap_or_default();
    if let Some(head) = rest.first_chunk::<8>() {
        return u64::from_be_bytes(*head);
    }
    let mut head = [0; 8];
    for (to, from) in head.iter_mut().zip(rest) {
        *to = *from;
    }
    u64::from_be_bytes(head)
}
