//! Stored values while they are being read: elements come in any order, a name may come again, and how many there are is known last.
//!
//! Always true: what is appended has its length before it, so what came out of order is found again, sorted and put back without a list
//! of places kept beside it.
//!
//! Path of an item: [`Draft::open_item`] -> [`Draft::name`] and a value, again and again -> [`Draft::finish_item`], a copy of exactly its size.

use std::ops::Range;

use bytes::Bytes;

use super::write::{VARINT_BYTES_MAX, put_counted, put_part, put_varint, varint_bytes};
use super::{
    Attributes, Elements, StoredItem, TAG_B, TAG_BS, TAG_FALSE, TAG_L, TAG_M, TAG_N, TAG_NS, TAG_NULL, TAG_S,
    TAG_SS, TAG_TRUE, ValueRef, take_part,
};
use crate::number::NumberRef;
use crate::size::{CONTAINER_BYTES, ELEMENT_BYTES};
use crate::{Number, ValueType};

/// Stored values that are being written, one after the other. Each function that appends a value says its size as DynamoDB counts it.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
}

/// An item, map, list or set that has been begun.
#[derive(Debug)]
pub(crate) struct Open {
    /// Where it begins: the byte that is kept for its length.
    start: usize,
    /// Where its elements begin.
    elements: usize,
    count: usize,
    /// What its elements count.
    size_bytes: usize,
    /// The latest name, or the latest element of a set.
    latest: Range<usize>,
    in_order: bool,
}

/// A set that is whole.
pub(crate) struct ClosedSet {
    /// What it counts.
    pub(crate) size_bytes: usize,
    with_duplicates: Option<Vec<u8>>,
}

/// Bytes before the elements of a list, set or map that has few: a length, a tag and a count.
const HEADER_BYTES: usize = 3;

impl Open {
    fn at(start: usize, elements: usize) -> Open {
        Open { start, elements, count: 0, size_bytes: 0, latest: 0..0, in_order: true }
    }

    /// Counts a value that was appended.
    pub(crate) fn count_value(&mut self, size_bytes: usize) {
        self.size_bytes += size_bytes;
    }

    /// Counts a value that was appended to a list.
    pub(crate) fn count_element(&mut self, size_bytes: usize) {
        self.count += 1;
        self.size_bytes += size_bytes;
    }

    /// True as long as there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl ClosedSet {
    /// The elements as they came, if one of them came twice.
    pub(crate) fn with_duplicates(&self) -> Option<Elements<'_>> {
        self.with_duplicates.as_deref().map(|bytes| Elements { count: 0, bytes })
    }
}

impl Draft {
    /// How much has been written.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes back everything after the first so many bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// Makes room.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve(bytes);
    }

    /// Appends a text.
    pub(crate) fn text(&mut self, text: &str) -> usize {
        put_varint(&mut self.bytes, text.len() + 1);
        self.bytes.push(TAG_S);
        self.bytes.extend_from_slice(text.as_bytes());
        text.len()
    }

    /// Appends a number.
    pub(crate) fn number(&mut self, number: Number) -> usize {
        put_counted(&mut self.bytes, |bytes| {
            let start = bytes.len() + 1;
            bytes.push(TAG_N);
            number.encode(bytes);
            NumberRef::new(bytes.get(start..).unwrap_or_default()).size_bytes()
        })
    }

    /// Appends a binary, whose bytes `write` appends.
    pub(crate) fn binary<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<usize, E> {
        put_counted(&mut self.bytes, |bytes| {
            bytes.push(TAG_B);
            let start = bytes.len();
            write(bytes).map(|()| bytes.len() - start)
        })
    }

    /// Appends a boolean.
    pub(crate) fn boolean(&mut self, value: bool) -> usize {
        self.bytes.extend_from_slice(&[1, if value { TAG_TRUE } else { TAG_FALSE }]);
        1
    }

    /// Appends null.
    pub(crate) fn null(&mut self) -> usize {
        self.bytes.extend_from_slice(&[1, TAG_NULL]);
        1
    }

    /// Begins an item. Nothing but the item is in the draft.
    pub(crate) fn open_item(&mut self) -> Open {
        self.bytes.clear();
        Open::at(0, 0)
    }

    /// Begins a set, list or map.
    pub(crate) fn open(&mut self, value_type: ValueType) -> Open {
        let tag = match value_type {
            ValueType::Ss => TAG_SS,
            ValueType::Ns => TAG_NS,
            ValueType::Bs => TAG_BS,
            ValueType::L => TAG_L,
            _ => TAG_M,
        };
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0, tag, 0]);
        Open::at(start, start + HEADER_BYTES)
    }

    /// Appends a name; its value comes next.
    pub(crate) fn name(&mut self, open: &mut Open, name: &str) {
        put_varint(&mut self.bytes, name.len());
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name.as_bytes());
        open.size_bytes += name.len();
        self.follow(open, start);
    }

    /// Appends a text of a string set.
    pub(crate) fn text_element(&mut self, open: &mut Open, text: &str) {
        put_part(&mut self.bytes, text.as_bytes());
        open.size_bytes += text.len();
        self.follow(open, self.bytes.len() - text.len());
    }

    /// Appends a number of a number set.
    pub(crate) fn number_element(&mut self, open: &mut Open, number: Number) {
        // An encoded number is short, so its length is one byte.
        let start = self.bytes.len() + 1;
        put_counted(&mut self.bytes, |bytes| number.encode(bytes));
        open.size_bytes += NumberRef::new(self.bytes.get(start..).unwrap_or_default()).size_bytes();
        self.follow(open, start);
    }

    /// Appends a binary of a binary set.
    pub(crate) fn binary_element(&mut self, open: &mut Open, binary: &[u8]) {
        put_part(&mut self.bytes, binary);
        open.size_bytes += binary.len();
        self.follow(open, self.bytes.len() - binary.len());
    }

    /// Notes whether what was just appended comes after what was there.
    fn follow(&mut self, open: &mut Open, start: usize) {
        let latest = start..self.bytes.len();
        let is_after =
            open.count == 0 || self.bytes.get(open.latest.clone()) < self.bytes.get(latest.clone());
        open.in_order &= is_after;
        open.latest = latest;
        open.count += 1;
    }

    /// The name that was appended last.
    pub(crate) fn latest_name(&self, open: &Open) -> &str {
        let name = self.bytes.get(open.latest.clone()).unwrap_or_default();
        std::str::from_utf8(name).unwrap_or_default()
    }

    /// Ends an item.
    pub(crate) fn finish_item(&mut self, mut open: Open) -> StoredItem {
        self.sort_attributes(&mut open, 0);
        let attributes = self.bytes.get(open.elements..).unwrap_or_default();
        let mut bytes = Vec::with_capacity(varint_bytes(open.size_bytes) + attributes.len());
        put_varint(&mut bytes, open.size_bytes);
        bytes.extend_from_slice(attributes);
        StoredItem::from_bytes(Bytes::from(bytes))
    }

    /// Ends a list.
    pub(crate) fn close_list(&mut self, open: Open) -> usize {
        let size_bytes = CONTAINER_BYTES + ELEMENT_BYTES * open.count + open.size_bytes;
        self.put_header(&open);
        size_bytes
    }

    /// Ends a map.
    pub(crate) fn close_map(&mut self, mut open: Open) -> usize {
        self.sort_attributes(&mut open, ELEMENT_BYTES);
        self.put_header(&open);
        CONTAINER_BYTES + open.size_bytes
    }

    /// Ends a set.
    pub(crate) fn close_set(&mut self, mut open: Open) -> ClosedSet {
        let (start, count) = (open.start, open.count);
        let unsorted = self.sort(&mut open, take_part);
        self.put_header(&open);
        if open.count == count {
            return ClosedSet { size_bytes: open.size_bytes, with_duplicates: None };
        }
        let set = take_part(&mut self.bytes.get(start..).unwrap_or_default()).unwrap_or_default();
        ClosedSet { size_bytes: ValueRef { bytes: set }.size_bytes(), with_duplicates: unsorted }
    }

    /// Puts attributes in order; of those with one name the last counts. Counts the names, too: each with so many bytes beside it.
    fn sort_attributes(&mut self, open: &mut Open, beside: usize) {
        let count = open.count;
        self.sort(open, |bytes| {
            let name = take_part(bytes)?;
            take_part(bytes)?;
            Some(name)
        });
        if open.count < count {
            let bytes = self.bytes.get(open.elements..).unwrap_or_default();
            let attributes = Attributes { bytes, count: None };
            open.size_bytes = attributes.map(|(name, value)| name.len() + value.size_bytes()).sum();
        }
        open.size_bytes += beside * open.count;
    }

    /// Puts in order what did not come so, each by what `take` says; of those that are equal the last stays. Returns everything as it came,
    /// if that was not in order.
    fn sort(
        &mut self,
        open: &mut Open,
        take: impl for<'a> Fn(&mut &'a [u8]) -> Option<&'a [u8]>,
    ) -> Option<Vec<u8>> {
        if open.in_order {
            return None;
        }
        let unsorted = self.bytes.split_off(open.elements);
        let mut entries = Vec::with_capacity(open.count);
        let mut rest = &*unsorted;
        while !rest.is_empty() {
            let from = rest;
            let Some(key) = take(&mut rest) else { break };
            entries.push((key, from.get(..from.len() - rest.len()).unwrap_or_default()));
        }
        // Equal ones stay in the order in which they came.
        entries.sort_by_key(|(key, _)| *key);
        open.count = 0;
        for run in entries.chunk_by(|(one, _), (two, _)| one == two) {
            self.bytes.extend_from_slice(run.last().map_or(&[], |(_, entry)| entry));
            open.count += 1;
        }
        Some(unsorted)
    }

    /// Fills in what was left open before the elements: the length and the count.
    fn put_header(&mut self, open: &Open) {
        let length = self.bytes.len() - open.elements + 1 + varint_bytes(open.count);
        if let (Ok(length @ 0..0x80), Ok(count @ 0..0x80)) = (u8::try_from(length), u8::try_from(open.count))
            && let Some([first, _, last]) = self.bytes.get_mut(open.start..open.elements)
        {
            (*first, *last) = (length, count);
            return;
        }
        let tag = self.bytes.get(open.start + 1).copied().unwrap_or(TAG_NULL);
        let mut header = Vec::with_capacity(2 * VARINT_BYTES_MAX + 1);
        put_varint(&mut header, length);
        header.push(tag);
        put_varint(&mut header, open.count);
        self.bytes.splice(open.start..open.elements, header);
    }
}
