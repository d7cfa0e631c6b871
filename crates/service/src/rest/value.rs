//! Values from JSON and from texts, by the types that the design gives them.
//!
//! A value that does not fit its type stays what it is: the design's own check then refuses it, together with everything else that is wrong.
//! Only where any type will do there is nobody after us to refuse it.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use design::Type;
use dynamo::{Item, Number, Value};
use jiter::{Jiter, Peek};

use super::json::{self, Fault, check_depth};

/// Who is told what no type would take.
type Complain<'a> = &'a mut dyn FnMut(String);

/// A value of a type, from a JSON text; or what is wrong with the text.
pub(crate) fn parse(kind: &Type, text: &[u8], complain: Complain<'_>) -> Result<Value, String> {
    json::read(text, |jiter| {
        let peek = jiter.peek()?;
        read(kind, jiter, peek, 0, complain)
    })
}

/// Reads the value of a type that comes next.
pub(crate) fn read(
    kind: &Type,
    jiter: &mut Jiter<'_>,
    peek: Peek,
    depth: usize,
    complain: Complain<'_>,
) -> Result<Value, Fault> {
    check_depth(depth)?;
    Ok(match peek {
        Peek::Null => {
            jiter.known_null()?;
            Value::Null
        }
        Peek::True | Peek::False => Value::Bool(jiter.known_bool(peek)?),
        Peek::String => text(kind, jiter.known_str()?),
        Peek::Array => match kind {
            Type::StringSet | Type::NumberSet | Type::BinarySet => {
                let elements = list(&Type::Any, jiter, depth, complain)?;
                set(kind, elements, complain)
            }
            Type::List(element) => Value::L(list(element, jiter, depth, complain)?),
            _ => Value::L(list(&Type::Any, jiter, depth, complain)?),
        },
        Peek::Object => Value::M(map(kind, jiter, depth, complain)?),
        digits => number(kind, &String::from_utf8_lossy(jiter.known_number_bytes(digits)?), complain),
    })
}

fn text(kind: &Type, text: &str) -> Value {
    match kind {
        Type::Binary => bytes(text).map_or_else(|| Value::from(text), Value::B),
        _ => Value::S(text.to_owned()),
    }
}

fn number(kind: &Type, text: &str, complain: Complain<'_>) -> Value {
    match Number::parse(text) {
        Ok(number) => Value::N(number),
        Err(_) => {
            if *kind == Type::Any || kind.is_number() {
                complain(format!(
                    "has the number {}, which has more than 38 digits or is out of range",
                    shortened(text)
                ));
            }
            Value::S(text.to_owned())
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

fn list(
    kind: &Type,
    jiter: &mut Jiter<'_>,
    depth: usize,
    complain: Complain<'_>,
) -> Result<Vec<Value>, Fault> {
    let mut elements = Vec::new();
    let mut next = jiter.known_array()?;
    while let Some(peek) = next {
        elements.push(read(kind, jiter, peek, depth + 1, complain)?);
        next = jiter.array_step()?;
    }
    Ok(elements)
}

/// The members of a map.
fn map(kind: &Type, jiter: &mut Jiter<'_>, depth: usize, complain: Complain<'_>) -> Result<Item, Fault> {
    let declared = |name: &str| match kind {
        Type::Map(map) => map.members.iter().find(|member| member.name.value == name),
        _ => None,
    };
    let others = match kind {
        Type::Map(map) => map.others.as_deref().unwrap_or(&Type::Any),
        _ => &Type::Any,
    };
    // One that may be absent is absent when it is null.
    let is_absent =
        |name: &str, peek: Peek| peek == Peek::Null && declared(name).is_some_and(|member| member.optional);
    let (members, _) = members(jiter, is_absent, |name, jiter, peek| {
        let kind = declared(name).map_or(others, |member| &member.kind);
        read(kind, jiter, peek, depth + 1, complain)
    })?;
    Ok(members)
}

/// The members of the object that comes next, each named once, and the names of those that are absent.
pub(crate) fn members(
    jiter: &mut Jiter<'_>,
    is_absent: impl Fn(&str, Peek) -> bool,
    mut value: impl FnMut(&str, &mut Jiter<'_>, Peek) -> Result<Value, Fault>,
) -> Result<(Item, Vec<String>), Fault> {
    let (mut item, mut absent) = (Item::new(), Vec::new());
    let mut next = jiter.known_object()?.map(str::to_owned);
    while let Some(name) = next {
        let peek = jiter.peek()?;
        if item.contains_key(&name) || absent.contains(&name) {
            return Err(Fault::twice(&name));
        }
        if is_absent(&name, peek) {
            jiter.known_null()?;
            absent.push(name);
        } else {
            let found = value(&name, jiter, peek)?;
            item.insert(name, found);
        }
        next = jiter.next_key()?.map(str::to_owned);
    }
    Ok((item, absent))
}

/// A set, from a list: every element once. A set cannot be empty.
fn set(kind: &Type, elements: Vec<Value>, complain: Complain<'_>) -> Value {
    if elements.is_empty() {
        complain("is an empty set; leave it out instead".to_owned());
    }
    let (mut texts, mut numbers, mut binaries) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for element in &elements {
        match (kind, element) {
            (Type::StringSet, Value::S(text)) => {
                texts.insert(text.clone());
            }
            (Type::NumberSet, Value::N(number)) => {
                numbers.insert(*number);
            }
            (Type::BinarySet, Value::S(text)) => binaries.extend(bytes(text)),
            _ => {}
        }
    }
    let found = texts.len() + numbers.len() + binaries.len();
    match kind {
        _ if found != elements.len() => {
            complain("has an element that is not of its type, or twice the same".to_owned());
            Value::L(elements)
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
pub(crate) fn to_text(value: Value) -> String {
    match value {
        Value::S(text) => text,
        Value::N(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::B(bytes) => STANDARD.encode(bytes),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &Type, text: &str) -> (Value, Vec<String>) {
        let mut said = Vec::new();
        let value = parse(kind, text.as_bytes(), &mut |message| said.push(message)).unwrap();
        (value, said)
    }

    fn fault(text: &[u8]) -> Option<String> {
        parse(&Type::Any, text, &mut |_| {}).err()
    }

    #[test]
    fn what_is_no_json_is_named_with_its_place() {
        assert!(fault(b"{\"a\": }").unwrap().starts_with("line 1, column 7"), "{:?}", fault(b"{\"a\": }"));
        for wrong in ["", "{", "nul", "[1,]", "{} {}", "NaN", "01", "\"\\ud800\""] {
            assert!(fault(wrong.as_bytes()).is_some(), "{wrong}");
        }
        assert!(fault(b"\"\xFF\"").is_some());
    }

    #[test]
    fn depth_and_repeated_members_are_refused() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(fault(deep(33).as_bytes()), None);
        assert!(fault(deep(34).as_bytes()).is_some());
        assert!(fault(deep(100_000).as_bytes()).unwrap().contains("deeper"));
        assert_eq!(fault(br#"{"a":1,"a":2}"#).unwrap(), "the member `a` is there twice");
        assert_eq!(fault(br#"{"a":null,"a":null}"#).unwrap(), "the member `a` is there twice");
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
