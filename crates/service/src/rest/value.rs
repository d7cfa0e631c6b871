//! Values from JSON and from texts, by the types that the design gives them.
//!
//! A value that does not fit its type stays what it is: the design's own check then refuses it, together with everything else that is wrong.
//! Only where any type will do there is nobody after us to refuse it.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use design::{MapType, Type};
use dynamo::{Item, Number, Value};

use super::json::Json;

/// A value of a type, from JSON. What no type would take is told to `complain`.
pub(crate) fn from_json(kind: &Type, json: Json, complain: &mut dyn FnMut(String)) -> Value {
    match (kind, json) {
        (_, Json::Null) => Value::Null,
        (_, Json::Bool(flag)) => Value::Bool(flag),
        (_, Json::Number(text)) => number(kind, text, complain),
        (Type::Binary, Json::Text(text)) => bytes(&text).map_or(Value::S(text), Value::B),
        (_, Json::Text(text)) => Value::S(text),
        (Type::Map(map), Json::Object(members)) => Value::M(members_of(map, members, complain)),
        (_, Json::Object(members)) => {
            let members =
                members.into_iter().map(|(name, json)| (name, from_json(&Type::Any, json, complain)));
            Value::M(members.collect())
        }
        (Type::StringSet | Type::NumberSet | Type::BinarySet, Json::List(elements)) => {
            set(kind, elements, complain)
        }
        (Type::List(element), Json::List(elements)) => {
            Value::L(elements.into_iter().map(|json| from_json(element, json, complain)).collect())
        }
        (_, Json::List(elements)) => {
            Value::L(elements.into_iter().map(|json| from_json(&Type::Any, json, complain)).collect())
        }
    }
}

fn number(kind: &Type, text: String, complain: &mut dyn FnMut(String)) -> Value {
    match Number::parse(&text) {
        Ok(number) => Value::N(number),
        Err(_) => {
            if *kind == Type::Any || kind.is_number() {
                complain(format!(
                    "has the number {}, which has more than 38 digits or is out of range",
                    shortened(&text)
                ));
            }
            Value::S(text)
        }
    }
}

fn shortened(text: &str) -> String {
    if text.len() <= 48 {
        text.to_owned()
    } else {
        format!("{}…", text.chars().take(48).collect::<String>())
    }
}

fn bytes(text: &str) -> Option<Bytes> {
    STANDARD.decode(text).ok().map(Bytes::from)
}

/// The members of a map. One that may be absent is absent when it is null.
fn members_of(map: &MapType, members: Vec<(String, Json)>, complain: &mut dyn FnMut(String)) -> Item {
    let mut item = Item::new();
    for (name, json) in members {
        let declared = map.members.iter().find(|member| member.name.value == name);
        if json == Json::Null && declared.is_some_and(|member| member.optional) {
            continue;
        }
        let kind = declared.map(|member| &member.kind).or(map.others.as_deref()).unwrap_or(&Type::Any);
        let value = from_json(kind, json, complain);
        item.insert(name, value);
    }
    item
}

/// A set, from a list: every element once. A set cannot be empty.
fn set(kind: &Type, elements: Vec<Json>, complain: &mut dyn FnMut(String)) -> Value {
    if elements.is_empty() {
        complain("is an empty set; leave it out instead".to_owned());
    }
    let count = elements.len();
    let (mut texts, mut numbers, mut binaries) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for element in &elements {
        match (kind, element) {
            (Type::StringSet, Json::Text(text)) => drop(texts.insert(text.clone())),
            (Type::NumberSet, Json::Number(text)) => {
                if let Ok(number) = Number::parse(text) {
                    numbers.insert(number);
                }
            }
            (Type::BinarySet, Json::Text(text)) => {
                if let Some(bytes) = bytes(text) {
                    binaries.insert(bytes);
                }
            }
            _ => {}
        }
    }
    let found = texts.len() + numbers.len() + binaries.len();
    match kind {
        _ if found != count => {
            complain("has an element that is not of its type, or twice the same".to_owned());
            Value::L(elements.into_iter().map(|json| from_json(&Type::Any, json, complain)).collect())
        }
        Type::StringSet => Value::Ss(texts),
        Type::NumberSet => Value::Ns(numbers),
        _ => Value::Bs(binaries),
    }
}

/// A value of a type, from a text of a path or query.
pub(crate) fn from_text(kind: &Type, text: &str) -> Value {
    let number = || Number::parse(text).ok().filter(|_| is_plain_number(text)).map(Value::N);
    let found = match kind {
        Type::Boolean => text.parse().ok().map(Value::Bool),
        Type::Binary => bytes(text).map(Value::B),
        Type::OneOf(choices) => {
            choices.iter().map(|choice| &choice.value).find(|value| is_written(value, text)).cloned()
        }
        kind if kind.is_number() => number(),
        _ => None,
    };
    found.unwrap_or_else(|| Value::S(text.to_owned()))
}

/// Texts such as ` 1` or `+1` are no numbers where one number has one address.
fn is_plain_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b"-.eE+".contains(&byte)) && !text.starts_with('+')
}

fn is_written(value: &Value, text: &str) -> bool {
    match value {
        Value::S(own) => own == text,
        Value::N(number) => number.to_string() == text,
        Value::Bool(flag) => flag.to_string() == text,
        _ => false,
    }
}

/// A value as a text of a path: the other way round.
pub(crate) fn to_text(value: &Value) -> String {
    match value {
        Value::S(text) => text.clone(),
        Value::N(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::B(bytes) => STANDARD.encode(bytes),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::json;

    fn read(kind: &Type, text: &str) -> (Value, Vec<String>) {
        let mut said = Vec::new();
        let value = from_json(kind, json::read(text.as_bytes()).unwrap(), &mut |message| said.push(message));
        (value, said)
    }

    #[test]
    fn sets_and_bytes_are_what_their_types_say() {
        assert_eq!(
            read(&Type::StringSet, r#"["b","a"]"#).0,
            Value::Ss(["a".to_owned(), "b".to_owned()].into())
        );
        assert_eq!(read(&Type::Binary, r#""AAE=""#).0, Value::B(Bytes::from_static(&[0, 1])));
        assert_eq!(read(&Type::Binary, r#""?""#).0, Value::from("?"));
        assert_eq!(read(&Type::StringSet, "[]").1.len(), 1);
        assert_eq!(read(&Type::NumberSet, "[1, 1.0]").1.len(), 1);
    }

    #[test]
    fn a_number_that_nothing_can_hold_is_never_taken_for_a_text() {
        let digits = "1".repeat(39);
        assert_eq!(read(&Type::Any, &format!("{{\"a\": [{digits}]}}")).1.len(), 1);
        assert_eq!(read(&Type::Number, "1e400").1.len(), 1);
    }

    #[test]
    fn texts_become_what_their_types_say() {
        assert_eq!(from_text(&Type::Number, "1.5"), Value::N(Number::parse("1.5").unwrap()));
        assert_eq!(from_text(&Type::Number, "+1"), Value::from("+1"));
        assert_eq!(from_text(&Type::Boolean, "true"), Value::Bool(true));
        assert_eq!(from_text(&Type::String, "1"), Value::from("1"));
    }
}
