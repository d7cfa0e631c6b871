//! DynamoDB JSON: requests are read into their types without a tree in between, replies are written from stored bytes.
//!
//! Always true: reading never recurses deeper than attribute values may be nested, and writing appends to one buffer.
//! A wrong JSON type is a SerializationException in DynamoDB's words; a value of the right type that DynamoDB refuses
//! is written down as a [`Fault`], because it is reported only after the field rules.
//!
//! Path of a request: bytes -> [`Reader`] -> [`Wire::read`] of its shape -> typed request with its faults. Items that are to be stored are
//! read straight into their stored form (`item.rs`), values that expressions work with become trees (`value.rs`).
//! Path of a reply: typed reply -> [`Wire::write`] -> bytes.

mod error;
mod fault;
mod item;
mod plain;
mod read;
mod value;
mod wire;
mod write;

pub use fault::{Fault, Faults, ValueFault, check_attribute_name};
pub(crate) use read::{Place, Reader};
pub use value::{
    read_item, write_change_line, write_export_line, write_item, write_stored_item, write_stored_value,
    write_value,
};
pub(crate) use wire::{HoldsFaults, Listed, Look, Wire};
pub(crate) use write::write_comma;
pub use write::{write_text, write_text_bytes};

#[cfg(test)]
mod tests;
