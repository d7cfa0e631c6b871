//! Attribute values in DynamoDB JSON: `{"S":"text"}`, `{"L":[...]}`.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use jiter::Peek;

use super::fault::check_attribute_name;
use super::write::write_escaped;
use super::{Place, Reader, ValueFault, write_comma, write_text};
use crate::limits::NESTING_LEVELS_MAX;
use crate::{
    ApiError, Attributes, Item, Map, Number, NumberError, Shape, StoredItem, Value, ValueRef, ValueType,
};

/// By which DynamoDB names attribute values in messages.
pub(super) const CLASS: &str = "com.amazonaws.dynamodb.v20120810.AttributeValue";

/// Reads an item from DynamoDB JSON; refuses what DynamoDB refuses in an item.
pub fn read_item(json: &[u8]) -> Result<Item, ApiError> {
    let mut reader = Reader::new(json);
    let item = reader.member()?;
    reader.finish()?;
    match reader.take_fault("Item") {
        Some(fault) => Err(fault.kind.into()),
        None => Ok(item),
    }
}

/// Reads an attribute value that stands so deep; an attribute of an item is at depth 0.
pub(super) fn read(
    reader: &mut Reader<'_>,
    peek: Peek,
    place: Place,
    depth: usize,
) -> Result<Value, ApiError> {
    if depth >= NESTING_LEVELS_MAX {
        reader.skip()?;
        reader.fault(ValueFault::TooDeep);
        return Ok(Value::Null);
    }
    let mut key = reader.structure(peek, place, CLASS)?;
    let mut found: Option<Value> = None;
    let mut several = false;
    while let Some(name) = key {
        match ValueType::from_name(name) {
            None => reader.skip()?,
            Some(value_type) => {
                if let Some(value) = read_typed(reader, value_type, depth)? {
                    several |= found.is_some_and(|earlier| earlier.value_type() != value_type);
                    found = Some(value);
                }
            }
        }
        key = reader.next_key()?;
    }
    if several {
        reader.fault(ValueFault::SeveralTypes);
    }
    Ok(found.unwrap_or_else(|| {
        reader.fault(ValueFault::Empty);
        Value::Null
    }))
}

/// Reads what follows the type. `None` for null, which counts as absent.
fn read_typed(
    reader: &mut Reader<'_>,
    value_type: ValueType,
    depth: usize,
) -> Result<Option<Value>, ApiError> {
    let peek = reader.peek()?;
    if peek == Peek::Null {
        return reader.null().map(|()| None);
    }
    Ok(Some(match value_type {
        ValueType::S => Value::S(reader.text(peek)?.to_owned()),
        ValueType::N => Value::N(read_number(reader, peek)?),
        ValueType::B => Value::B(Bytes::from(reader.binary(peek)?)),
        ValueType::Bool => Value::Bool(reader.boolean(peek)?),
        ValueType::Null => {
            if !reader.boolean(peek)? {
                reader.fault(ValueFault::NullNotTrue);
            }
            Value::Null
        }
        ValueType::Ss => read_string_set(reader, peek)?,
        ValueType::Ns => read_number_set(reader, peek)?,
        ValueType::Bs => read_binary_set(reader, peek)?,
        ValueType::L => Value::L(read_list(reader, peek, depth)?),
        ValueType::M => Value::M(read_map(reader, peek, depth)?),
    }))
}

/// Reads the text of a number.
pub(super) fn read_number(reader: &mut Reader<'_>, peek: Peek) -> Result<Number, ApiError> {
    let text = reader.text(peek)?;
    let fault = match Number::parse(text) {
        Ok(number) => return Ok(number),
        Err(NumberError::NotANumber) if text.is_empty() => ValueFault::EmptyNumber,
        Err(NumberError::NotANumber) => ValueFault::NotANumber(text.to_owned()),
        Err(error) => ValueFault::Number(error),
    };
    reader.fault(fault);
    Ok(Number::ZERO)
}

/// Reads the elements of a list one by one.
fn read_elements<T>(
    reader: &mut Reader<'_>,
    peek: Peek,
    mut read: impl FnMut(&mut Reader<'_>, Peek) -> Result<T, ApiError>,
) -> Result<Vec<T>, ApiError> {
    let mut elements = Vec::new();
    let mut next = reader.list(peek, Place::Member)?;
    while let Some(peek) = next {
        elements.push(read(reader, peek)?);
        next = reader.next_element()?;
    }
    Ok(elements)
}

fn read_string_set(reader: &mut Reader<'_>, peek: Peek) -> Result<Value, ApiError> {
    let elements = read_elements(reader, peek, |reader, peek| reader.text(peek).map(str::to_owned))?;
    if elements.is_empty() {
        reader.fault(ValueFault::EmptyStringSet);
    }
    if has_duplicates(&elements) {
        reader.fault(ValueFault::DuplicateStrings(format!("[{}]", elements.join(", "))));
    }
    Ok(Value::Ss(elements.into_iter().collect()))
}

fn read_number_set(reader: &mut Reader<'_>, peek: Peek) -> Result<Value, ApiError> {
    let elements = read_elements(reader, peek, read_number)?;
    if elements.is_empty() {
        reader.fault(ValueFault::EmptyNumberSet);
    }
    let count = elements.len();
    let set: BTreeSet<Number> = elements.into_iter().collect();
    if set.len() < count {
        reader.fault(ValueFault::DuplicateNumbers);
    }
    Ok(Value::Ns(set))
}

fn read_binary_set(reader: &mut Reader<'_>, peek: Peek) -> Result<Value, ApiError> {
    let elements = read_elements(reader, peek, |reader, peek| reader.binary(peek).map(Bytes::from))?;
    if elements.is_empty() {
        reader.fault(ValueFault::EmptyBinarySet);
    }
    if has_duplicates(&elements) {
        let texts: Vec<String> = elements.iter().map(|element| BASE64.encode(element)).collect();
        reader.fault(ValueFault::DuplicateBinaries(format!("[{}]", texts.join(", "))));
    }
    Ok(Value::Bs(elements.into_iter().collect()))
}

fn has_duplicates<T: Ord>(elements: &[T]) -> bool {
    let mut sorted: Vec<&T> = elements.iter().collect();
    sorted.sort_unstable();
    !sorted.is_sorted_by(|left, right| left < right)
}

fn read_list(reader: &mut Reader<'_>, peek: Peek, depth: usize) -> Result<Vec<Value>, ApiError> {
    read_elements(reader, peek, |reader, peek| read(reader, peek, Place::Element, depth + 1))
}

fn read_map(reader: &mut Reader<'_>, peek: Peek, depth: usize) -> Result<Map, ApiError> {
    let mut map = BTreeMap::new();
    let mut key = reader.map::<Value>(peek, Place::Member)?.map(str::to_owned);
    while let Some(name) = key {
        if let Err(fault) = check_attribute_name(&name) {
            reader.fault(fault);
        }
        let peek = reader.peek()?;
        map.insert(name, read(reader, peek, Place::Element, depth + 1)?);
        key = reader.next_key()?.map(str::to_owned);
    }
    Ok(map)
}

/// Appends an item as DynamoDB JSON.
pub fn write_item(item: &Item, out: &mut Vec<u8>) {
    out.push(b'{');
    for (name, value) in item {
        write_name(name, out);
        write_value(value, out);
    }
    out.push(b'}');
}

/// Appends a stored item as DynamoDB JSON, straight from its bytes.
pub fn write_stored_item(item: &StoredItem, out: &mut Vec<u8>) {
    out.reserve(item.as_bytes().len() * 5 / 4 + 16);
    write_attributes(item.attributes(), out);
}

/// Appends a line of a file that DynamoDB exports: `{"Item":{...}}`.
pub fn write_export_line(item: &StoredItem, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"Item\":");
    write_stored_item(item, out);
    out.extend_from_slice(b"}\n");
}

/// Appends a line of a file that DynamoDB exports incrementally: when an item was changed last, its key, and what it was and is.
pub fn write_change_line(
    time_milliseconds: i64,
    keys: &StoredItem,
    (old, new): (Option<&StoredItem>, Option<&StoredItem>),
    out: &mut Vec<u8>,
) {
    let microseconds = time_milliseconds.saturating_mul(1000);
    let metadata = format!("{{\"Metadata\":{{\"WriteTimestampMicros\":{{\"N\":\"{microseconds}\"}}}}");
    out.extend_from_slice(metadata.as_bytes());
    for (name, item) in [("Keys", Some(keys)), ("OldImage", old), ("NewImage", new)] {
        if let Some(item) = item {
            out.extend_from_slice(format!(",\"{name}\":").as_bytes());
            write_stored_item(item, out);
        }
    }
    out.extend_from_slice(b"}\n");
}

/// Appends an attribute value as DynamoDB JSON.
pub fn write_value(value: &Value, out: &mut Vec<u8>) {
    write_type(value.value_type(), out);
    match value {
        Value::S(text) => write_text(text, out),
        Value::N(number) => write_number(*number, out),
        Value::B(bytes) => write_binary(bytes, out),
        Value::Bool(value) => write_boolean(*value, out),
        Value::Null => write_boolean(true, out),
        Value::Ss(set) => write_list(set, out, |text, out| write_text(text, out)),
        Value::Ns(set) => write_list(set, out, |number, out| write_number(*number, out)),
        Value::Bs(set) => write_list(set, out, |bytes, out| write_binary(bytes, out)),
        Value::L(list) => write_list(list, out, write_value),
        Value::M(map) => write_item(map, out),
    }
    out.push(b'}');
}

/// Appends a stored attribute value as DynamoDB JSON, straight from its bytes.
pub fn write_stored_value(value: ValueRef<'_>, out: &mut Vec<u8>) {
    write_type(value.value_type(), out);
    match value.shape() {
        Shape::S(text) => write_text(text, out),
        Shape::N(number) => write_number(number.to_number(), out),
        Shape::B(bytes) => write_binary(bytes, out),
        Shape::Bool(value) => write_boolean(value, out),
        Shape::Null => write_boolean(true, out),
        Shape::Ss(set) => write_list(set.texts(), out, write_text),
        Shape::Ns(set) => write_list(set.numbers(), out, |number, out| write_number(number.to_number(), out)),
        Shape::Bs(set) => write_list(set, out, write_binary),
        Shape::L(list) => write_list(list, out, write_stored_value),
        Shape::M(map) => write_attributes(map, out),
    }
    out.push(b'}');
}

/// Most attributes are texts, so what stands around those is written in few pieces.
fn write_attributes(attributes: Attributes<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    let mut opening: &[u8] = b"\"";
    for (name, value) in attributes.raw() {
        out.extend_from_slice(opening);
        write_escaped(name, out);
        if let Some(text) = value.text_bytes() {
            out.extend_from_slice(b"\":{\"S\":\"");
            write_escaped(text, out);
            out.extend_from_slice(b"\"}");
        } else {
            out.extend_from_slice(b"\":");
            write_stored_value(value, out);
        }
        opening = b",\"";
    }
    out.push(b'}');
}

fn write_name(name: &str, out: &mut Vec<u8>) {
    write_comma(out);
    write_text(name, out);
    out.push(b':');
}

fn write_type(value_type: ValueType, out: &mut Vec<u8>) {
    out.extend_from_slice(match value_type {
        ValueType::S => b"{\"S\":",
        ValueType::N => b"{\"N\":",
        ValueType::B => b"{\"B\":",
        ValueType::Bool => b"{\"BOOL\":",
        ValueType::Null => b"{\"NULL\":",
        ValueType::Ss => b"{\"SS\":",
        ValueType::Ns => b"{\"NS\":",
        ValueType::Bs => b"{\"BS\":",
        ValueType::L => b"{\"L\":",
        ValueType::M => b"{\"M\":",
    });
}

fn write_list<T>(elements: impl IntoIterator<Item = T>, out: &mut Vec<u8>, write: impl Fn(T, &mut Vec<u8>)) {
    out.push(b'[');
    for element in elements {
        write_comma(out);
        write(element, out);
    }
    out.push(b']');
}

fn write_boolean(value: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

fn write_number(number: Number, out: &mut Vec<u8>) {
    out.push(b'"');
    number.write_decimal(out);
    out.push(b'"');
}

fn write_binary(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let room = out.get_mut(start..).unwrap_or_default();
    let written = BASE64.encode_slice(bytes, room).expect("base64 takes four bytes for three");
    out.truncate(start + written);
    out.push(b'"');
}
