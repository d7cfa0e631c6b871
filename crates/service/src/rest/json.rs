//! JSON as people write it, with numbers exactly as they are written.
//!
//! Always true: what is read is within bounds (depth, members named once); what is written is what was stored, to the last digit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dynamo::{Item, Shape, Value, ValueRef};
use jiter::{Jiter, JiterError, Peek};

/// DynamoDB's limit for the depth of an attribute.
const DEPTH_MAX: usize = 32;

/// Members of an object that are looked through one by one.
const SMALL: usize = 16;

/// A JSON value. Numbers are texts still: 38 digits fit no number of the machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Reads a JSON text; or says what is wrong with it.
pub(crate) fn read(text: &[u8]) -> Result<Json, String> {
    let mut jiter = Jiter::new(text);
    let read = |jiter: &mut Jiter<'_>| {
        let peek = jiter.peek().map_err(Fault::from)?;
        let value = value(jiter, peek, 0)?;
        jiter.finish().map_err(Fault::from)?;
        Ok::<_, Fault>(value)
    };
    read(&mut jiter).map_err(|fault| match fault {
        Fault::Syntax(error) => {
            let place = jiter.error_position(error.index);
            format!("line {}, column {}: {}", place.line, place.column, error.error_type)
        }
        Fault::Bound(sentence) => sentence,
    })
}

enum Fault {
    Syntax(JiterError),
    Bound(String),
}

impl From<JiterError> for Fault {
    fn from(error: JiterError) -> Fault {
        Fault::Syntax(error)
    }
}

fn value(jiter: &mut Jiter<'_>, peek: Peek, depth: usize) -> Result<Json, Fault> {
    if depth > DEPTH_MAX {
        return Err(Fault::Bound(format!("it is nested deeper than {DEPTH_MAX} levels")));
    }
    Ok(match peek {
        Peek::Null => {
            jiter.known_null()?;
            Json::Null
        }
        Peek::True | Peek::False => Json::Bool(jiter.known_bool(peek)?),
        Peek::String => Json::Text(jiter.known_str()?.to_owned()),
        Peek::Array => list(jiter, depth)?,
        Peek::Object => object(jiter, depth)?,
        number => Json::Number(String::from_utf8_lossy(jiter.known_number_bytes(number)?).into_owned()),
    })
}

fn list(jiter: &mut Jiter<'_>, depth: usize) -> Result<Json, Fault> {
    let mut elements = Vec::new();
    let mut next = jiter.known_array()?;
    while let Some(peek) = next {
        elements.push(value(jiter, peek, depth + 1)?);
        next = jiter.array_step()?;
    }
    Ok(Json::List(elements))
}

fn object(jiter: &mut Jiter<'_>, depth: usize) -> Result<Json, Fault> {
    let mut members: Vec<(String, Json)> = Vec::new();
    let mut known = Known::default();
    let mut next = jiter.known_object()?.map(str::to_owned);
    while let Some(name) = next {
        let peek = jiter.peek()?;
        let found = value(jiter, peek, depth + 1)?;
        if known.has(&members, &name) {
            return Err(Fault::Bound(format!("the member `{name}` is there twice")));
        }
        members.push((name, found));
        next = jiter.next_key()?.map(str::to_owned);
    }
    Ok(Json::Object(members))
}

/// The names of an object's members. Most objects are small, and looking through them costs less than hashing.
#[derive(Default)]
struct Known(std::collections::HashSet<String>);

impl Known {
    fn has(&mut self, members: &[(String, Json)], name: &str) -> bool {
        if members.len() < SMALL {
            return members.iter().any(|(known, _)| known == name);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|(known, _)| known.clone()));
        }
        !self.0.insert(name.to_owned())
    }
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
    match value.shape() {
        Shape::S(text) => write_text(text, out),
        Shape::N(number) => number.to_number().write_decimal(out),
        Shape::B(bytes) => write_text(&STANDARD.encode(bytes), out),
        Shape::Bool(flag) => out.extend_from_slice(if flag { b"true" } else { b"false" }),
        Shape::Null => out.extend_from_slice(b"null"),
        Shape::L(list) => write_list(list, out, write_stored_value),
        Shape::M(map) => {
            out.push(b'{');
            for (place, (name, value)) in map.enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                write_text(name, out);
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
        assert_eq!(read(digits.as_bytes()), Ok(Json::Number(digits.to_owned())));
        let mut out = Vec::new();
        write_value(&Value::N(dynamo::Number::parse(digits).unwrap()), &mut out);
        assert_eq!(out, digits.as_bytes());
    }

    #[test]
    fn what_is_no_json_is_named_with_its_place() {
        assert!(read(b"{\"a\": }").unwrap_err().starts_with("line 1, column 7"), "{:?}", read(b"{\"a\": }"));
        for wrong in ["", "{", "nul", "[1,]", "{} {}", "NaN", "01", "\"\\ud800\""] {
            assert!(read(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(read(b"\"\xFF\"").is_err());
    }

    #[test]
    fn depth_and_repeated_members_are_refused() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(deep(DEPTH_MAX).as_bytes()).is_ok());
        assert!(read(deep(100_000).as_bytes()).unwrap_err().contains("deeper"));
        assert_eq!(read(br#"{"a":1,"a":2}"#).unwrap_err(), "the member `a` is there twice");
    }
}
