//! The stored form of items: compact bytes that are read in place.
//!
//! Always true: the form is canonical (names sorted, sets sorted, numbers canonical), so two values are equal exactly
//! when their bytes are. Every part is preceded by its length, so one attribute is found by stepping over the others,
//! and an item is answered as DynamoDB JSON straight from these bytes. Bytes that nobody encoded (a damaged disk)
//! never cause a panic: reading stops at what does not fit, and [`StoredItem::check`] tells.
//!
//! ```text
//! item  = varint(DynamoDB size) { varint(name) name varint(value) value }*       names ascending
//! value = tag payload
//!         S, B: the bytes    N: order-preserving number    BOOL, NULL: nothing
//!         SS, NS, BS: varint(count) { varint(element) element }*                 elements ascending
//!         L: varint(count) { varint(value) value }*
//!         M: varint(count) { varint(name) name varint(value) value }*            names ascending
//! ```
//!
//! Path of an item: JSON of a request, or [`Item`] -> [`StoredItem`] -> store -> [`StoredItem`] -> [`ValueRef`] for conditions,
//! JSON for answers, [`StoredItem::decode`] for updates.

mod draft;
mod write;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use bytes::Bytes;

pub(crate) use draft::{Draft, Open};
pub use write::{ItemBuilder, ItemEditor};

use crate::number::NumberRef;
use crate::size::{CONTAINER_BYTES, ELEMENT_BYTES};
use crate::{Item, Map, Value, ValueType};

/// An item in its stored form. Cloning it copies nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredItem {
    bytes: Bytes,
}

/// Bytes that are not a stored item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not a stored item")]
pub struct NotAnItem;

/// An attribute value in its stored form, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRef<'a> {
    bytes: &'a [u8],
}

/// An attribute value in its stored form, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    bytes: Vec<u8>,
}

/// A stored value opened up, to match on.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'a> {
    /// Text.
    S(&'a str),
    /// Number, comparable without decoding.
    N(NumberRef<'a>),
    /// Binary.
    B(&'a [u8]),
    /// Boolean.
    Bool(bool),
    /// Null.
    Null,
    /// String set; elements ascending.
    Ss(Elements<'a>),
    /// Number set; elements are encoded numbers, ascending.
    Ns(Elements<'a>),
    /// Binary set; elements ascending.
    Bs(Elements<'a>),
    /// List.
    L(List<'a>),
    /// Map.
    M(Attributes<'a>),
}

/// The raw elements of a set.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    count: usize,
    bytes: &'a [u8],
}

/// The values of a list.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    count: usize,
    bytes: &'a [u8],
}

/// The attributes of an item or a map, ascending by name.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    bytes: &'a [u8],
    count: Option<usize>,
}

/// Room for the keys of an item, which is what is mostly kept of one.
const KEPT_BYTES: usize = 64;

const TAG_S: u8 = 1;
const TAG_N: u8 = 2;
const TAG_B: u8 = 3;
const TAG_FALSE: u8 = 4;
const TAG_TRUE: u8 = 5;
const TAG_NULL: u8 = 6;
const TAG_SS: u8 = 7;
const TAG_NS: u8 = 8;
const TAG_BS: u8 = 9;
const TAG_L: u8 = 10;
const TAG_M: u8 = 11;

impl StoredItem {
    /// Encodes an item.
    pub fn encode(item: &Item) -> StoredItem {
        write::encode_item(item)
    }

    /// Takes bytes that [`StoredItem::as_bytes`] gave.
    pub fn from_bytes(bytes: Bytes) -> StoredItem {
        StoredItem { bytes }
    }

    /// The bytes to store.
    pub fn as_bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The size DynamoDB counts for the item.
    pub fn size_bytes(&self) -> usize {
        take_varint(&mut &*self.bytes).unwrap_or(0)
    }

    /// The attributes in ascending order of their names.
    pub fn attributes(&self) -> Attributes<'_> {
        let mut bytes = &*self.bytes;
        let bytes = take_varint(&mut bytes).map_or(&[][..], |_| bytes);
        Attributes { bytes, count: None }
    }

    /// One attribute; steps over those before it without reading them.
    pub fn get(&self, name: &str) -> Option<ValueRef<'_>> {
        self.attributes().get(name)
    }

    /// The item as a tree.
    pub fn decode(&self) -> Item {
        self.attributes().decode()
    }

    /// An item with only those attributes whose names `keep` says yes to.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(&[u8]) -> bool) -> StoredItem {
        // Little is kept of most items, and what is kept should not hold more memory than it needs.
        let mut builder = ItemBuilder::with_capacity(KEPT_BYTES);
        for (name, value) in self.attributes().raw().filter(|(name, _)| keep(name)) {
            builder.push_stored(name, value);
        }
        builder.finish()
    }

    /// Reads everything once: true bytes of an item, or an error.
    pub fn check(&self) -> Result<(), NotAnItem> {
        // The form is canonical, so an item is sound exactly when reading and writing it gives the same bytes.
        if StoredItem::encode(&self.decode()) == *self { Ok(()) } else { Err(NotAnItem) }
    }
}

impl Default for StoredItem {
    /// An item without attributes.
    fn default() -> StoredItem {
        // Its size.
        StoredItem { bytes: Bytes::from_static(&[0]) }
    }
}

impl From<Item> for StoredItem {
    fn from(item: Item) -> StoredItem {
        StoredItem::encode(&item)
    }
}

impl StoredValue {
    /// Encodes a value.
    pub fn encode(value: &Value) -> StoredValue {
        let mut bytes = Vec::with_capacity(16);
        write::encode_value(value, &mut bytes);
        StoredValue { bytes }
    }

    /// The value, borrowed.
    pub fn as_ref(&self) -> ValueRef<'_> {
        ValueRef { bytes: &self.bytes }
    }
}

impl<'a> ValueRef<'a> {
    /// The value opened up. Damaged bytes read as null.
    pub fn shape(self) -> Shape<'a> {
        let Some((tag, payload)) = self.bytes.split_first() else { return Shape::Null };
        match *tag {
            TAG_S => Shape::S(std::str::from_utf8(payload).unwrap_or_default()),
            TAG_N => Shape::N(NumberRef::new(payload)),
            TAG_B => Shape::B(payload),
            TAG_FALSE => Shape::Bool(false),
            TAG_TRUE => Shape::Bool(true),
            TAG_SS => Shape::Ss(Elements::new(payload)),
            TAG_NS => Shape::Ns(Elements::new(payload)),
            TAG_BS => Shape::Bs(Elements::new(payload)),
            TAG_L => Shape::L(List::new(payload)),
            TAG_M => Shape::M(Attributes::of_map(payload)),
            _ => Shape::Null,
        }
    }

    /// The bytes of a text. They are UTF-8 as they were when they were stored; nobody looks again.
    pub fn text_bytes(self) -> Option<&'a [u8]> {
        self.bytes.split_first().filter(|(tag, _)| **tag == TAG_S).map(|(_, text)| text)
    }

    /// The type of the value.
    pub fn value_type(self) -> ValueType {
        match self.bytes.first() {
            Some(&TAG_S) => ValueType::S,
            Some(&TAG_N) => ValueType::N,
            Some(&TAG_B) => ValueType::B,
            Some(&(TAG_FALSE | TAG_TRUE)) => ValueType::Bool,
            Some(&TAG_SS) => ValueType::Ss,
            Some(&TAG_NS) => ValueType::Ns,
            Some(&TAG_BS) => ValueType::Bs,
            Some(&TAG_L) => ValueType::L,
            Some(&TAG_M) => ValueType::M,
            _ => ValueType::Null,
        }
    }

    /// The value as a tree.
    pub fn decode(self) -> Value {
        match self.shape() {
            Shape::S(text) => Value::S(text.to_owned()),
            Shape::N(number) => Value::N(number.to_number()),
            Shape::B(bytes) => Value::B(Bytes::copy_from_slice(bytes)),
            Shape::Bool(value) => Value::Bool(value),
            Shape::Null => Value::Null,
            Shape::Ss(set) => Value::Ss(set.texts().map(str::to_owned).collect::<BTreeSet<_>>()),
            Shape::Ns(set) => Value::Ns(set.numbers().map(NumberRef::to_number).collect::<BTreeSet<_>>()),
            Shape::Bs(set) => Value::Bs(set.map(Bytes::copy_from_slice).collect::<BTreeSet<_>>()),
            Shape::L(list) => Value::L(list.map(ValueRef::decode).collect()),
            Shape::M(map) => Value::M(map.decode()),
        }
    }

    /// The size DynamoDB counts for the value, without its name.
    pub fn size_bytes(self) -> usize {
        // The bytes of texts need no look.
        if let Some(text) = self.text_bytes() {
            return text.len();
        }
        match self.shape() {
            Shape::S(text) => text.len(),
            Shape::N(number) => number.size_bytes(),
            Shape::B(bytes) => bytes.len(),
            Shape::Bool(_) | Shape::Null => 1,
            Shape::Ss(set) | Shape::Bs(set) => set.map(<[u8]>::len).sum(),
            Shape::Ns(set) => set.numbers().map(NumberRef::size_bytes).sum(),
            Shape::L(list) => {
                CONTAINER_BYTES + list.map(|value| ELEMENT_BYTES + value.size_bytes()).sum::<usize>()
            }
            Shape::M(map) => {
                CONTAINER_BYTES
                    + map.map(|(name, value)| ELEMENT_BYTES + name.len() + value.size_bytes()).sum::<usize>()
            }
        }
    }

    /// How two texts, two numbers or two binaries compare; `None` for other types and for different ones.
    pub fn compare(self, other: ValueRef<'_>) -> Option<Ordering> {
        let (tag, payload) = self.bytes.split_first()?;
        let (other_tag, other_payload) = other.bytes.split_first()?;
        (tag == other_tag && matches!(*tag, TAG_S | TAG_N | TAG_B)).then(|| payload.cmp(other_payload))
    }

    /// True when a text begins with a text, or a binary with a binary.
    pub fn starts_with(self, prefix: ValueRef<'_>) -> bool {
        matches!(prefix.bytes.first(), Some(&(TAG_S | TAG_B))) && self.bytes.starts_with(prefix.bytes)
    }

    /// The value, owned.
    pub fn to_owned(self) -> StoredValue {
        StoredValue { bytes: self.bytes.to_vec() }
    }
}

impl<'a> Elements<'a> {
    fn new(mut bytes: &'a [u8]) -> Elements<'a> {
        let count = take_varint(&mut bytes).unwrap_or(0);
        Elements { count, bytes }
    }

    /// How many elements the set has.
    pub fn count_elements(self) -> usize {
        self.count
    }

    /// The elements of a string set.
    pub fn texts(self) -> impl Iterator<Item = &'a str> {
        self.map(|element| std::str::from_utf8(element).unwrap_or_default())
    }

    /// The elements of a number set.
    pub fn numbers(self) -> impl Iterator<Item = NumberRef<'a>> {
        self.map(NumberRef::new)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        take_part(&mut self.bytes)
    }
}

impl<'a> List<'a> {
    fn new(mut bytes: &'a [u8]) -> List<'a> {
        let count = take_varint(&mut bytes).unwrap_or(0);
        List { count, bytes }
    }

    /// How many values the list has.
    pub fn count_elements(self) -> usize {
        self.count
    }

    /// The value at this index.
    pub fn at(mut self, index: usize) -> Option<ValueRef<'a>> {
        self.nth(index)
    }
}

impl<'a> Iterator for List<'a> {
    type Item = ValueRef<'a>;

    fn next(&mut self) -> Option<ValueRef<'a>> {
        take_part(&mut self.bytes).map(|bytes| ValueRef { bytes })
    }
}

impl<'a> Attributes<'a> {
    fn of_map(mut bytes: &'a [u8]) -> Attributes<'a> {
        let count = take_varint(&mut bytes).unwrap_or(0);
        Attributes { bytes, count: Some(count) }
    }

    /// How many attributes there are.
    pub fn count_elements(self) -> usize {
        self.count.unwrap_or_else(|| self.count())
    }

    /// The attribute with this name.
    pub fn get(mut self, name: &str) -> Option<ValueRef<'a>> {
        let name = name.as_bytes();
        loop {
            let found = take_part(&mut self.bytes)?;
            let value = take_part(&mut self.bytes)?;
            // Most names differ in their first letter or in their length, which is seen without a call. Names ascend, so a later letter is the
            // end of the search.
            match found.first().cmp(&name.first()) {
                Ordering::Less => {}
                Ordering::Equal if found.len() == name.len() && found == name => {
                    return Some(ValueRef { bytes: value });
                }
                Ordering::Equal => {}
                Ordering::Greater => return None,
            }
        }
    }

    /// The attributes with their names as bytes, for those who only compare and write them: they are UTF-8 as they were when they were
    /// stored, and nobody looks again.
    pub fn raw(mut self) -> impl Iterator<Item = (&'a [u8], ValueRef<'a>)> {
        std::iter::from_fn(move || {
            let name = take_part(&mut self.bytes)?;
            let bytes = take_part(&mut self.bytes)?;
            Some((name, ValueRef { bytes }))
        })
    }

    /// The attributes as a tree.
    pub fn decode(self) -> Map {
        self.map(|(name, value)| (name.to_owned(), value.decode())).collect()
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, ValueRef<'a>);

    fn next(&mut self) -> Option<(&'a str, ValueRef<'a>)> {
        let name = std::str::from_utf8(take_part(&mut self.bytes)?).ok()?;
        let bytes = take_part(&mut self.bytes)?;
        Some((name, ValueRef { bytes }))
    }
}

#[inline]
fn take_varint(bytes: &mut &[u8]) -> Option<usize> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(usize::from(first));
    }
    // Most texts and most items take two bytes.
    if let Some((&second @ 0..0x80, rest)) = rest.split_first() {
        *bytes = rest;
        return Some(usize::from(first & 0x7F) | usize::from(second) << 7);
    }
    take_long_varint(bytes)
}

fn take_long_varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= usize::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[inline]
fn take_part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_varint(bytes)?;
    let (part, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

#[cfg(test)]
mod tests;
