//! Writing the stored form: from trees, from parts that are stored already, and for parts whose length is known last.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use bytes::{Buf as _, Bytes};

use super::{
    StoredItem, TAG_B, TAG_BS, TAG_FALSE, TAG_L, TAG_M, TAG_N, TAG_NS, TAG_NULL, TAG_S, TAG_SS, TAG_TRUE,
    ValueRef, take_part,
};
use crate::{Item, Number, Value};

/// Builds a stored item from attributes that come in ascending order of their names.
#[derive(Debug, Default)]
pub struct ItemBuilder {
    attributes: Vec<u8>,
    size_bytes: usize,
}

/// The longest length, count or size. So much room is left at the front of an item for its size, which is known last.
pub(super) const VARINT_BYTES_MAX: usize = 5;

impl ItemBuilder {
    /// A builder with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> ItemBuilder {
        let mut attributes = Vec::with_capacity(bytes + VARINT_BYTES_MAX);
        attributes.resize(VARINT_BYTES_MAX, 0);
        ItemBuilder { attributes, size_bytes: 0 }
    }

    /// Adds an attribute; its name comes after all earlier ones.
    pub fn push(&mut self, name: &str, value: &Value) {
        self.size_bytes += name.len() + crate::size::value_size_bytes(value);
        put_part(&mut self.attributes, name.as_bytes());
        put_value(&mut self.attributes, value);
    }

    /// Adds an attribute whose value is in its stored form already.
    pub fn push_stored(&mut self, name: &[u8], value: ValueRef<'_>) {
        self.size_bytes += name.len() + value.size_bytes();
        put_part(&mut self.attributes, name);
        put_part(&mut self.attributes, value.bytes);
    }

    /// The item.
    pub fn finish(mut self) -> StoredItem {
        self.attributes.resize(self.attributes.len().max(VARINT_BYTES_MAX), 0);
        let start = VARINT_BYTES_MAX - varint_bytes(self.size_bytes);
        if let Some(room) = self.attributes.get_mut(start..VARINT_BYTES_MAX) {
            fill_varint(room, self.size_bytes);
        }
        let mut bytes = Bytes::from(self.attributes);
        bytes.advance(start);
        StoredItem { bytes }
    }
}

/// Changes an item: the attributes that are not named are copied as they are, many at a time.
#[derive(Debug)]
pub struct ItemEditor<'a> {
    builder: ItemBuilder,
    /// What is left to copy.
    rest: &'a [u8],
}

/// Room for attributes that are added or grow.
const EDIT_BYTES: usize = 64;

impl<'a> ItemEditor<'a> {
    /// An editor of this item.
    pub fn new(item: &'a StoredItem) -> ItemEditor<'a> {
        let mut builder = ItemBuilder::with_capacity(item.as_bytes().len() + EDIT_BYTES);
        builder.size_bytes = item.size_bytes();
        ItemEditor { builder, rest: item.attributes().bytes }
    }

    /// Gives an attribute a value. Its name, and those of the functions below, comes after all earlier ones.
    pub fn put(&mut self, name: &str, value: &Value) {
        self.remove(name);
        self.builder.push(name, value);
    }

    /// Gives an attribute a value that is in its stored form already.
    pub fn put_stored(&mut self, name: &str, value: ValueRef<'_>) {
        self.remove(name);
        self.builder.push_stored(name.as_bytes(), value);
    }

    /// Removes an attribute, which need not be there. Copies all before it.
    pub fn remove(&mut self, name: &str) {
        let mut rest = self.rest;
        let (mut end, mut after) = (rest, rest);
        while let Some((found, value)) = take_part(&mut rest).zip(take_part(&mut rest)) {
            match found.cmp(name.as_bytes()) {
                Ordering::Less => (end, after) = (rest, rest),
                Ordering::Equal => {
                    let size_bytes = name.len() + ValueRef { bytes: value }.size_bytes();
                    // Only of damaged bytes the parts count more than the whole.
                    self.builder.size_bytes = self.builder.size_bytes.saturating_sub(size_bytes);
                    after = rest;
                    break;
                }
                Ordering::Greater => break,
            }
        }
        let copied = self.rest.get(..self.rest.len() - end.len()).unwrap_or_default();
        self.builder.attributes.extend_from_slice(copied);
        self.rest = after;
    }

    /// The changed item.
    pub fn finish(mut self) -> StoredItem {
        self.builder.attributes.extend_from_slice(self.rest);
        self.builder.finish()
    }
}

/// What an attribute takes beside its name and its content: two lengths, of which that of the value may take two bytes, and a tag.
const ATTRIBUTE_BYTES: usize = 4;

pub(super) fn encode_item(item: &Item) -> StoredItem {
    let size_bytes = crate::size::item_size_bytes(item);
    // Items are kept as they are encoded, so room that is not needed would be kept, too. What is nested, and long texts, take a little more.
    let mut builder = ItemBuilder::with_capacity(size_bytes + item.len() * ATTRIBUTE_BYTES + size_bytes / 16);
    builder.size_bytes = size_bytes;
    for (name, value) in item {
        put_part(&mut builder.attributes, name.as_bytes());
        put_value(&mut builder.attributes, value);
    }
    builder.finish()
}

/// Appends a value without its length.
pub(super) fn encode_value(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::S(text) => put_tagged(bytes, TAG_S, text.as_bytes()),
        Value::N(number) => {
            bytes.push(TAG_N);
            number.encode(bytes);
        }
        Value::B(binary) => put_tagged(bytes, TAG_B, binary),
        Value::Bool(false) => bytes.push(TAG_FALSE),
        Value::Bool(true) => bytes.push(TAG_TRUE),
        Value::Null => bytes.push(TAG_NULL),
        Value::Ss(set) => put_set(bytes, TAG_SS, set, |bytes, text| put_part(bytes, text.as_bytes())),
        Value::Ns(set) => {
            put_set(bytes, TAG_NS, set, |bytes, number| {
                put_counted(bytes, |bytes| Number::encode(*number, bytes));
            });
        }
        Value::Bs(set) => put_set(bytes, TAG_BS, set, |bytes, binary| put_part(bytes, binary)),
        Value::L(list) => {
            bytes.push(TAG_L);
            put_varint(bytes, list.len());
            for value in list {
                put_value(bytes, value);
            }
        }
        Value::M(map) => {
            bytes.push(TAG_M);
            put_varint(bytes, map.len());
            for (name, value) in map {
                put_part(bytes, name.as_bytes());
                put_value(bytes, value);
            }
        }
    }
}

fn put_tagged(bytes: &mut Vec<u8>, tag: u8, payload: &[u8]) {
    bytes.push(tag);
    bytes.extend_from_slice(payload);
}

fn put_set<E>(bytes: &mut Vec<u8>, tag: u8, set: &BTreeSet<E>, put: impl Fn(&mut Vec<u8>, &E)) {
    bytes.push(tag);
    put_varint(bytes, set.len());
    for element in set {
        put(bytes, element);
    }
}

/// Appends a length and the bytes.
pub(super) fn put_part(bytes: &mut Vec<u8>, part: &[u8]) {
    put_varint(bytes, part.len());
    bytes.extend_from_slice(part);
}

/// Appends a value with its length before it. The length of a text or binary is known beforehand.
fn put_value(bytes: &mut Vec<u8>, value: &Value) {
    let (tag, payload) = match value {
        Value::S(text) => (TAG_S, text.as_bytes()),
        Value::B(binary) => (TAG_B, &**binary),
        _ => return put_counted(bytes, |bytes| encode_value(value, bytes)),
    };
    put_varint(bytes, payload.len() + 1);
    put_tagged(bytes, tag, payload);
}

/// Appends what `write` writes, with its length before it. Most parts are short, so one byte is kept for the length
/// and the part is moved only when it needs more.
pub(super) fn put_counted<T>(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let start = bytes.len();
    bytes.push(0);
    let written = write(bytes);
    let length = bytes.len() - start - 1;
    if let (Ok(short @ 0..0x80), Some(first)) = (u8::try_from(length), bytes.get_mut(start)) {
        *first = short;
        return written;
    }
    let mut header = [0; VARINT_BYTES_MAX];
    let header = header.get_mut(..varint_bytes(length)).unwrap_or_default();
    fill_varint(header, length);
    bytes.splice(start..=start, header.iter().copied());
    written
}

/// How many bytes a length, count or size takes.
pub(super) fn varint_bytes(value: usize) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        _ => VARINT_BYTES_MAX,
    }
}

/// Fills exactly as many bytes as [`varint_bytes`] says.
#[allow(clippy::cast_possible_truncation, reason = "seven bits at a time")]
fn fill_varint(room: &mut [u8], mut value: usize) {
    for byte in room.iter_mut() {
        *byte = (value & 0x7F) as u8 | 0x80;
        value >>= 7;
    }
    if let Some(last) = room.last_mut() {
        *last &= 0x7F;
    }
}

/// Appends a length, count or size.
#[allow(clippy::cast_possible_truncation, reason = "seven bits at a time")]
pub(super) fn put_varint(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push((value & 0x7F) as u8);
}
