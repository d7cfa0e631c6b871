//! What every member of a request or reply can do: be read, be written, be looked at by the rules, be printed in a message.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use jiter::Peek;

use super::{Place, Reader, item, value, write_comma, write_stored_item, write_text, write_value};
use crate::operation::{Choice, Opaque, Timestamp};
use crate::rules::{Path, Violations};
use crate::{ApiError, Item, KeyType, StoredItem, Value};

/// A type that travels as JSON.
pub(crate) trait Wire: Sized {
    /// The Java class by which DynamoDB names the type in messages.
    fn class() -> String;

    /// Reads the value that comes next. Null reads as an empty value; only `Option` tells it apart.
    fn read(reader: &mut Reader<'_>, peek: Peek, place: Place) -> Result<Self, ApiError>;

    /// Appends the JSON text.
    fn write(&self, out: &mut Vec<u8>);

    /// Appends the text by which DynamoDB names the value in messages.
    fn print(&self, text: &mut String);

    /// True for a member that is not there, and is not written.
    fn is_absent(&self) -> bool {
        false
    }

    /// What the rules need to know.
    fn look(&self) -> Look<'_> {
        Look::Other
    }

    /// Checks the rules of what is inside.
    fn check(&self, _path: &Path<'_>, _violations: &mut Violations) {}

    /// Calls `visit` for every element of a list, or every value of a map with its key.
    fn each(&self, _visit: &mut dyn FnMut(Option<&str>, Look<'_>)) {}
}

/// A value as the rules see it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look<'a> {
    /// Not there.
    Absent,
    /// A text.
    Text(&'a str),
    /// A text that is none of those that the API lists.
    Unlisted(&'static [&'static str]),
    /// A whole number.
    Integer(i64),
    /// A list or map of so many elements.
    Count(usize),
    /// Something without rules of its own.
    Other,
}

/// An enumeration of the API.
pub(crate) trait Listed: Copy {
    /// The texts in the order in which DynamoDB lists them.
    const NAMES: &'static [&'static str];

    /// The text on the wire.
    fn wire_name(self) -> &'static str;

    /// The choice with this text.
    fn from_wire_name(name: &str) -> Option<Self>;
}

/// A structure that may remember faults of its values.
pub(crate) trait HoldsFaults {
    /// Takes the fault of the member just read; a structure without room for it leaves it to the one around it.
    fn hold_fault(&mut self, _reader: &mut Reader<'_>, _member: &'static str) {}
}

impl<T: Wire> Wire for Option<T> {
    fn class() -> String {
        T::class()
    }

    fn read(reader: &mut Reader<'_>, peek: Peek, place: Place) -> Result<Self, ApiError> {
        if peek == Peek::Null {
            return reader.null().map(|()| None);
        }
        T::read(reader, peek, place).map(Some)
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(out),
            None => out.extend_from_slice(b"null"),
        }
    }

    fn print(&self, text: &mut String) {
        match self {
            Some(value) => value.print(text),
            None => text.push_str("null"),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn look(&self) -> Look<'_> {
        self.as_ref().map_or(Look::Absent, T::look)
    }

    fn check(&self, path: &Path<'_>, violations: &mut Violations) {
        if let Some(value) = self {
            value.check(path, violations);
        }
    }

    fn each(&self, visit: &mut dyn FnMut(Option<&str>, Look<'_>)) {
        if let Some(value) = self {
            value.each(visit);
        }
    }
}

impl Wire for String {
    fn class() -> String {
        "java.lang.String".to_owned()
    }

    fn read(reader: &mut Reader<'_>, peek: Peek, _: Place) -> Result<Self, ApiError> {
        reader.text(peek).map(str::to_owned)
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_text(self, out);
    }

    fn print(&self, text: &mut String) {
        text.push_str(self);
    }

    fn look(&self) -> Look<'_> {
        Look::Text(self)
    }
}

/// Scalars that print as they are written.
macro_rules! scalar {
    ($type:ty, $class:literal, |$reader:ident, $peek:ident| $read:expr, $format:literal) => {
        impl Wire for $type {
            fn class() -> String {
                concat!("java.lang.", $class).to_owned()
            }

            fn read($reader: &mut Reader<'_>, $peek: Peek, _: Place) -> Result<Self, ApiError> {
                $read
            }

            fn write(&self, out: &mut Vec<u8>) {
                write!(out, $format, self).expect("a Vec takes every write");
            }

            fn print(&self, text: &mut String) {
                let _ = write!(text, $format, self);
            }

            fn look(&self) -> Look<'_> {
                look_at_scalar(self)
            }
        }
    };
}

scalar!(bool, "Boolean", |reader, peek| reader.boolean(peek), "{}");
scalar!(i64, "Long", |reader, peek| reader.integer(peek, "Long"), "{}");
scalar!(i32, "Integer", |reader, peek| reader.integer(peek, "Integer").map(saturating_i32), "{}");
scalar!(f64, "Double", |reader, peek| reader.float(peek, "Double"), "{:?}");

fn saturating_i32(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX })
}

fn look_at_scalar(value: &dyn std::any::Any) -> Look<'static> {
    let whole =
        value.downcast_ref::<i64>().copied().or_else(|| value.downcast_ref::<i32>().map(|n| i64::from(*n)));
    whole.map_or(Look::Other, Look::Integer)
}

impl<T: Wire> Wire for Vec<T> {
    fn class() -> String {
        format!("java.util.List<{}>", T::class())
    }

    fn read(reader: &mut Reader<'_>, peek: Peek, place: Place) -> Result<Self, ApiError> {
        let mut list = Vec::new();
        let mut next = reader.list(peek, place)?;
        while let Some(peek) = next {
            let element = T::read(reader, peek, Place::Element)?;
            reader.place_fault_at_index(list.len());
            list.push(element);
            next = reader.next_element()?;
        }
        Ok(list)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for element in self {
            write_comma(out);
            element.write(out);
        }
        out.push(b']');
    }

    fn print(&self, text: &mut String) {
        text.push('[');
        for (index, element) in self.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { ", " });
            element.print(text);
        }
        text.push(']');
    }

    fn look(&self) -> Look<'_> {
        Look::Count(self.len())
    }

    fn check(&self, path: &Path<'_>, violations: &mut Violations) {
        for (index, element) in self.iter().enumerate() {
            element.check(&Path::Index(path, index + 1), violations);
        }
    }

    fn each(&self, visit: &mut dyn FnMut(Option<&str>, Look<'_>)) {
        for element in self {
            visit(None, element.look());
        }
    }
}

impl<T: Wire> Wire for BTreeMap<String, T> {
    fn class() -> String {
        format!("java.util.Map<java.lang.String, {}>", T::class())
    }

    fn read(reader: &mut Reader<'_>, peek: Peek, place: Place) -> Result<Self, ApiError> {
        let mut map = BTreeMap::new();
        let mut key = reader.map::<T>(peek, place)?.map(str::to_owned);
        while let Some(name) = key {
            let peek = reader.peek()?;
            let value = T::read(reader, peek, Place::Element)?;
            reader.place_fault_at_key(|| &name);
            map.insert(name, value);
            key = reader.next_key()?.map(str::to_owned);
        }
        Ok(map)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (name, value) in self {
            write_comma(out);
            write_text(name, out);
            out.push(b':');
            value.write(out);
        }
        out.push(b'}');
    }

    fn print(&self, text: &mut String) {
        text.push('{');
        for (index, (name, value)) in self.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { ", " });
            text.push_str(name);
            text.push('=');
            value.print(text);
        }
        text.push('}');
    }

    fn look(&self) -> Look<'_> {
        Look::Count(self.len())
    }

    fn check(&self, path: &Path<'_>, violations: &mut Violations) {
        for (name, value) in self {
            value.check(&Path::Key(path, name), violations);
        }
    }

    fn each(&self, visit: &mut dyn FnMut(Option<&str>, Look<'_>)) {
        for (name, value) in self {
            visit(Some(name), value.look());
        }
    }
}

impl Wire for Value {
    fn class() -> String {
        "com.amazonaws.dynamodb.v20120810.AttributeValue".to_owned()
    }

    fn read(reader: &mut Reader<'_>, peek: Peek, place: Place) -> Result<Self, ApiError> {
        value::read(reader, peek, place, 0)
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_value(self, out);
    }

    fn print(&self, text: &mut String) {
        let mut json = Vec::new();
        write_value(self, &mut json);
        text.push_str(&String::from_utf8_lossy(&json));
    }
}

impl Wire for StoredItem {
    fn class() -> String {
        Item::class()
    }

    fn read(reader: &mut Reader<'_>, peek: Peek, place: Place) -> Result<Self, ApiError> {
        item::read(reader, peek, place)
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_stored_item(self, out);
    }

    fn print(&self, text: &mut String) {
        self.decode().print(text);
    }
}

impl<T: Listed> Wire for Choice<T> {
    fn class() -> String {
        String::class()
    }

    fn read(reader: &mut Reader<'_>, peek: Peek, _: Place) -> Result<Self, ApiError> {
        let text = reader.text(peek)?;
        Ok(match T::from_wire_name(text) {
            Some(known) => Choice::Known(known),
            None => Choice::Unknown(text.to_owned()),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_text(choice_text(self), out);
    }

    fn print(&self, text: &mut String) {
        text.push_str(choice_text(self));
    }

    fn look(&self) -> Look<'_> {
        match self {
            Choice::Known(_) => Look::Other,
            Choice::Unknown(_) => Look::Unlisted(T::NAMES),
        }
    }
}

fn choice_text<T: Listed>(choice: &Choice<T>) -> &str {
    match choice {
        Choice::Known(known) => known.wire_name(),
        Choice::Unknown(text) => text,
    }
}

impl Listed for KeyType {
    const NAMES: &'static [&'static str] = &["B", "N", "S"];

    fn wire_name(self) -> &'static str {
        self.name()
    }

    fn from_wire_name(name: &str) -> Option<Self> {
        KeyType::from_name(name)
    }
}

impl Wire for Timestamp {
    fn class() -> String {
        "java.util.Date".to_owned()
    }

    fn read(reader: &mut Reader<'_>, peek: Peek, _: Place) -> Result<Self, ApiError> {
        let seconds = reader.float(peek, "Date")?;
        #[allow(clippy::cast_possible_truncation, reason = "`as` saturates")]
        Ok(Timestamp::from_milliseconds((seconds * 1000.0).round() as i64))
    }

    fn write(&self, out: &mut Vec<u8>) {
        write!(out, "{self}").expect("a Vec takes every write");
    }

    fn print(&self, text: &mut String) {
        let _ = write!(text, "{self}");
    }
}

impl Wire for Opaque {
    fn class() -> String {
        "java.lang.Object".to_owned()
    }

    fn read(reader: &mut Reader<'_>, _: Peek, _: Place) -> Result<Self, ApiError> {
        reader.raw().map(|json| Opaque { json })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.json.as_bytes());
    }

    fn print(&self, text: &mut String) {
        text.push_str(&self.json);
    }
}
