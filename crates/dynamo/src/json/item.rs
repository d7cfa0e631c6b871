//! Items of requests, read straight into their stored form: the text of a value is copied once, to where it stays.
//!
//! What is refused, and in which words, is the same as for values that become trees ([`super::value`]).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiter::Peek;

use super::plain::Plain;
use super::value::{CLASS, read_number};
use super::{Place, Reader, ValueFault, check_attribute_name};
use crate::limits::NESTING_LEVELS_MAX;
use crate::stored::{Draft, Open};
use crate::{ApiError, Number, StoredItem, Value, ValueType};

/// Reads the item that comes next.
pub(super) fn read(reader: &mut Reader<'_>, peek: Peek, place: Place) -> Result<StoredItem, ApiError> {
    let mut draft = reader.take_draft();
    let mut item = draft.open_item();
    let mut key = reader.map::<Value>(peek, place)?;
    while let Some(name) = key {
        draft.name(&mut item, name);
        let peek = reader.peek()?;
        item.count_value(read_value(reader, peek, Place::Element, 0, &mut draft)?);
        reader.place_fault_at_key(|| draft.latest_name(&item));
        key = reader.next_key()?;
    }
    let item = draft.finish_item(item);
    reader.give_draft_back(draft);
    Ok(item)
}

/// Reads an attribute value that stands so deep; an attribute of an item is at depth 0. Returns its size.
fn read_value(
    reader: &mut Reader<'_>,
    peek: Peek,
    place: Place,
    depth: usize,
    draft: &mut Draft,
) -> Result<usize, ApiError> {
    if depth >= NESTING_LEVELS_MAX {
        reader.skip()?;
        reader.fault(ValueFault::TooDeep);
        return Ok(draft.null());
    }
    if let Some(size_bytes) = read_plain(reader, draft) {
        return Ok(size_bytes);
    }
    let start = draft.len();
    let mut found: Option<(ValueType, usize)> = None;
    let mut several = false;
    let mut key = reader.structure(peek, place, CLASS)?;
    while let Some(name) = key {
        match ValueType::from_name(name) {
            None => reader.skip()?,
            Some(value_type) => match reader.peek()? {
                // Counts as absent.
                Peek::Null => reader.null()?,
                peek => {
                    draft.truncate(start);
                    let size_bytes = read_typed(reader, peek, value_type, depth, draft)?;
                    several |= found.is_some_and(|(earlier, _)| earlier != value_type);
                    found = Some((value_type, size_bytes));
                }
            },
        }
        key = reader.next_key()?;
    }
    if several {
        reader.fault(ValueFault::SeveralTypes);
    }
    let Some((_, size_bytes)) = found else {
        reader.fault(ValueFault::Empty);
        return Ok(draft.null());
    };
    Ok(size_bytes)
}

/// Reads a value that is nothing but a text or a number, as most are. Returns its size.
fn read_plain(reader: &mut Reader<'_>, draft: &mut Draft) -> Option<usize> {
    reader.plain(|value| match value {
        Plain::Text(text) => Some(draft.text(text)),
        Plain::Number(text) => Number::parse(text).ok().map(|number| draft.number(number)),
    })
}

/// Reads what follows the type, which is not null. Returns its size.
fn read_typed(
    reader: &mut Reader<'_>,
    peek: Peek,
    value_type: ValueType,
    depth: usize,
    draft: &mut Draft,
) -> Result<usize, ApiError> {
    Ok(match value_type {
        ValueType::S => draft.text(reader.text(peek)?),
        ValueType::N => draft.number(read_number(reader, peek)?),
        ValueType::B => draft.binary(|bytes| reader.binary_into(peek, bytes))?,
        ValueType::Bool => draft.boolean(reader.boolean(peek)?),
        ValueType::Null => {
            if !reader.boolean(peek)? {
                reader.fault(ValueFault::NullNotTrue);
            }
            draft.null()
        }
        ValueType::Ss | ValueType::Ns | ValueType::Bs => read_set(reader, peek, value_type, draft)?,
        ValueType::L => read_list(reader, peek, depth, draft)?,
        ValueType::M => read_map(reader, peek, depth, draft)?,
    })
}

fn read_set(
    reader: &mut Reader<'_>,
    peek: Peek,
    value_type: ValueType,
    draft: &mut Draft,
) -> Result<usize, ApiError> {
    let mut set = draft.open(value_type);
    let mut next = reader.list(peek, Place::Member)?;
    while let Some(peek) = next {
        match value_type {
            ValueType::Ss => draft.text_element(&mut set, reader.text(peek)?),
            ValueType::Ns => draft.number_element(&mut set, read_number(reader, peek)?),
            _ => draft.binary_element(&mut set, &reader.binary(peek)?),
        }
        next = reader.next_element()?;
    }
    if set.is_empty() {
        reader.fault(match value_type {
            ValueType::Ss => ValueFault::EmptyStringSet,
            ValueType::Ns => ValueFault::EmptyNumberSet,
            _ => ValueFault::EmptyBinarySet,
        });
    }
    let closed = draft.close_set(set);
    if let Some(elements) = closed.with_duplicates() {
        let printed = |texts: Vec<String>| format!("[{}]", texts.join(", "));
        reader.fault(match value_type {
            ValueType::Ss => {
                ValueFault::DuplicateStrings(printed(elements.texts().map(str::to_owned).collect()))
            }
            ValueType::Ns => ValueFault::DuplicateNumbers,
            _ => ValueFault::DuplicateBinaries(printed(
                elements.map(|element| BASE64.encode(element)).collect(),
            )),
        });
    }
    Ok(closed.size_bytes)
}

fn read_list(
    reader: &mut Reader<'_>,
    peek: Peek,
    depth: usize,
    draft: &mut Draft,
) -> Result<usize, ApiError> {
    let mut list = draft.open(ValueType::L);
    let mut next = reader.list(peek, Place::Member)?;
    while let Some(peek) = next {
        list.count_element(read_value(reader, peek, Place::Element, depth + 1, draft)?);
        next = reader.next_element()?;
    }
    Ok(draft.close_list(list))
}

fn read_map(reader: &mut Reader<'_>, peek: Peek, depth: usize, draft: &mut Draft) -> Result<usize, ApiError> {
    let mut map: Open = draft.open(ValueType::M);
    let mut key = reader.map::<Value>(peek, Place::Member)?;
    while let Some(name) = key {
        let fault = check_attribute_name(name).err();
        draft.name(&mut map, name);
        if let Some(fault) = fault {
            reader.fault(fault);
        }
        let peek = reader.peek()?;
        map.count_value(read_value(reader, peek, Place::Element, depth + 1, draft)?);
        key = reader.next_key()?;
    }
    Ok(draft.close_map(map))
}

#[cfg(test)]
mod tests;
