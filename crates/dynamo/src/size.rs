//! Sizes as DynamoDB counts them: of items, values and names.
//!
//! An item is the sum of its names (UTF-8) and values. Text and binary count their bytes, a number one byte per two
//! digits and one more, null and boolean one, a set its elements, a list or map 3 and one per element.
//! Sizes of stored values are counted in [`crate::stored`] by the same rules.

use crate::{Item, Map, Value};

/// What a list or map costs by itself.
pub(crate) const CONTAINER_BYTES: usize = 3;
/// What each element of a list or map costs beside its content.
pub(crate) const ELEMENT_BYTES: usize = 1;

/// The size of an item.
pub fn item_size_bytes(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_size_bytes(value)).sum()
}

/// The size of a value without its name.
pub fn value_size_bytes(value: &Value) -> usize {
    match value {
        Value::S(text) => text.len(),
        Value::N(number) => number.size_bytes(),
        Value::B(bytes) => bytes.len(),
        Value::Bool(_) | Value::Null => 1,
        Value::Ss(set) => set.iter().map(String::len).sum(),
        Value::Ns(set) => set.iter().map(|number| number.size_bytes()).sum(),
        Value::Bs(set) => set.iter().map(bytes::Bytes::len).sum(),
        Value::L(list) => {
            CONTAINER_BYTES + list.iter().map(|value| ELEMENT_BYTES + value_size_bytes(value)).sum::<usize>()
        }
        Value::M(map) => CONTAINER_BYTES + map_content_size_bytes(map),
    }
}

fn map_content_size_bytes(map: &Map) -> usize {
    map.iter().map(|(name, value)| ELEMENT_BYTES + name.len() + value_size_bytes(value)).sum()
}
