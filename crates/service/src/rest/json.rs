//! JSON as people write it, with numbers exactly as they are written.
//!
//! Always true: what is read is within bounds (depth, members named once); what is written is what was stored, to the last digit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dynamo::{Item, Shape, Value, ValueRef};
use jiter::{Jiter, JiterError};

/// DynamoDB's limit for the depth of an attribute.
const DEPTH_MAX: usize = 32;

/// Reads a JSON text with a reader of what it holds; or says what is wrong with it.
pub(crate) fn read<T>(
    text: &[u8],
    whole: impl FnOnce(&mut Jiter<'_>) -> Result<T, Fault>,
) -> Result<T, String> {
    let mut jiter = Jiter::new(text);
    let found = whole(&mut jiter).and_then(|found| {
        jiter.finish()?;
        Ok(found)
    });
    found.map_err(|fault| match fault {
        Fault::Syntax(error) => {
            let place = jiter.error_position(error.index);
            format!("line {}, column {}: {}", place.line, place.column, error.error_type)
        }
        Fault::Bound(sentence) => sentence,
    })
}

/// Why a text is not read.
pub(crate) enum Fault {
    /// It is not JSON.
    Syntax(JiterError),
    /// It is beyond what is read.
    Bound(String),
}

impl From<JiterError> for Fault {
    fn from(error: JiterError) -> Fault {
        Fault::Syntax(error)
    }
}

impl Fault {
    /// A member of an object is there twice.
    pub(crate) fn twice(name: &str) -> Fault {
        Fault::Bound(format!("the member `{name}` is there twice"))
    }
}

/// Refuses what is nested too deep.
pub(crate) fn check_depth(depth: usize) -> Result<(), Fault> {
    if depth > DEPTH_MAX {
        return Err(Fault::Bound(format!("it is nested deeper than {DEPTH_MAX} levels")));
    }
    Ok(())
}

/// Writes a value.
pub(crate) fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::S(text) => write_text(text, out),
        Value::N(number) => number.write_decimal(out),
        Value::B(bytes) => write_text(&STANDARD.encode(bytes), out),
        Value::Bool(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
        Value::Null => out.extend_from_slice(b"null"),
        Value::L(list) => write_list(list, out, write_value),
        Value::M(map) => write_object(map, out),
        Value::Ss(set) => write_list(set, out, |text, out| write_text(text, out)),
        Value::Ns(set) => write_list(set, out, |number, out| number.write_decimal(out)),
        Value::Bs(set) => write_list(set, out, |bytes, out| write_text(&STANDARD.encode(bytes), out)),
    }
}

/// Writes a stored value, straight from its bytes.
pub(crate) fn write_stored_value(value: ValueRef<'_>, out: &mut Vec<u8>) {
    if let Some(text) = value.text_bytes() {
        return dynamo::write_text_bytes(text, out);
    }
    match value.shape() {
        Shape::S(text) => write_text(text, out),
        Shape::N(number) => number.to_number().write_decimal(out),
        Shape::B(bytes) => write_text(&STANDARD.encode(bytes), out),
        Shape::Bool(flag) => out.extend_from_slice(if flag { b"true" } else { b"false" }),
        Shape::Null => out.extend_from_slice(b"null"),
        Shape::L(list) => write_list(list, out, write_stored_value),
        Shape::M(map) => {
            out.push(b'{');
            for (place, (name, value)) in map.raw().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                dynamo::write_text_bytes(name, out);
                out.push(b':');
                write_stored_value(value, out);
            }
            out.push(b'}');
        }
        Shape::Ss(set) => write_list(set.texts(), out, write_text),
        Shape::Ns(set) => write_list(set.numbers(), out, |number, out| number.to_number().write_decimal(out)),
        Shape::Bs(set) => write_list(set, out, |bytes, out| write_text(&STANDARD.encode(bytes), out)),
    }
}

/// A value as a tree, for documents that are made once.
pub(crate) fn json_of(value: &Value) -> serde_json::Value {
    let mut out = Vec::new();
    write_value(value, &mut out);
    serde_json::from_slice(&out).unwrap_or_default()
}

/// Writes a text in quotes.
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) {
    dynamo::write_text(text, out);
}

fn write_object(map: &Item, out: &mut Vec<u8>) {
    out.push(b'{');
    for (place, (name, value)) in map.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write_text(name, out);
        out.push(b':');
        write_value(value, out);
    }
    out.push(b'}');
}

/// Writes a list of whatever `write` writes.
pub(crate) fn write_list<T>(
    list: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'[');
    for (place, element) in list.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_every_digit() {
        let digits = "0.12345678901234567890123456789012345678";
        let mut out = Vec::new();
        write_value(&Value::N(dynamo::Number::parse(digits).unwrap()), &mut out);
        assert_eq!(out, digits.as_bytes());
    }
}
