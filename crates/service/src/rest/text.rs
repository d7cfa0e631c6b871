//! Values and answers as texts, for whoever asks without HTTP: a command line, a file.

use design::{Pattern, Type};
use dynamo::Value;

use super::{json, operation, pattern, value, write_entity};
use crate::answer::{Answer, Entity};

/// A value of a type, from a text that a person types: texts as they are, everything else as JSON.
pub fn value_from_argument(kind: &Type, text: &str) -> Value {
    let is_written_as_json = matches!(
        kind,
        Type::Map(_) | Type::List(_) | Type::StringSet | Type::NumberSet | Type::BinarySet | Type::Any
    );
    if !is_written_as_json {
        return value::from_text(kind, text);
    }
    let mut is_sound = true;
    let found = value::parse(kind, text.as_bytes(), &mut |_| is_sound = false).ok();
    found.filter(|_| is_sound).unwrap_or_else(|| Value::S(text.to_owned()))
}

/// A value as JSON.
pub fn value_json(value: &Value) -> String {
    let mut out = Vec::new();
    json::write_value(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The answer of a pattern as JSON.
pub fn answer_json(pattern: &Pattern, answer: &Answer) -> String {
    String::from_utf8(pattern::answer_bytes(pattern, answer)).unwrap_or_default()
}

/// Items as JSON.
pub fn items_json(items: &[Entity]) -> String {
    String::from_utf8(operation::items_bytes(items, write_entity)).unwrap_or_default()
}
