//! DynamoDB's words as types: values, numbers, keys and items. Pure: no I/O, no clock.

mod error;
mod key;
mod number;
mod size;
mod stored;
#[cfg(test)]
mod testing;
mod value;

pub use error::{ApiError, CancellationReason, ErrorKind};
pub use key::{KeyType, KeyValue, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX, take_key_value};
pub use number::{DIGITS_MAX, ENCODED_BYTES_MAX, Number, NumberError, NumberRef};
pub use size::{item_size_bytes, value_size_bytes};
pub use stored::{
    Attributes, Elements, ItemBuilder, List, NotAnItem, Shape, StoredItem, StoredValue, ValueRef,
};
pub use value::{Item, Map, Value, ValueType};
