//! DynamoDB's words as types: values, numbers, keys, items, operations and their rules. Pure: no I/O, no clock.

#[macro_use]
mod shape;

mod arn;
mod error;
mod json;
mod key;
pub mod limits;
mod number;
pub mod operation;
mod rules;
mod size;
mod stored;
#[cfg(test)]
mod testing;
mod value;

pub use arn::{backup_arn, index_arn, stream_arn, table_arn, table_name_in_arn, table_name_of};
pub use error::{ApiError, CancellationReason, ErrorKind};
pub use json::{
    Fault, Faults, ValueFault, check_attribute_name, read_item, write_change_line, write_export_line,
    write_item, write_stored_item, write_stored_value, write_text, write_text_bytes, write_value,
};
pub use key::{KeyType, KeyValue, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX, take_key_value};
pub use number::{DIGITS_MAX, ENCODED_BYTES_MAX, Number, NumberError, NumberRef};
pub use operation::{Choice, Operation, Reply};
pub use size::{item_size_bytes, value_size_bytes};
pub use stored::{
    Attributes, Elements, ItemBuilder, ItemEditor, List, NotAnItem, Shape, StoredItem, StoredValue, ValueRef,
};
pub use value::{Item, Map, Value, ValueType};
