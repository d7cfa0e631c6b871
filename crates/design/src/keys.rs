//! What the keys of entities can be: templates as sets of texts.
//!
//! Always true: every value that the service accepts for an attribute is in the texts of its slot, so keys that are disjoint here are
//! disjoint in the table.

use dynamo::Value;

use crate::model::{Entity, Precision, Type};
use crate::template::{Format, Piece, Template};
use crate::texts::{Chars, Part, Texts};

/// Which texts a slot of type `string` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strings {
    /// Any text: what the type says.
    Any,
    /// Texts without delimiters: as if the type were `key`.
    WithoutDelimiters,
}

/// True if the literals that two templates begin with differ, so that they have no text in common: the cheap answer to most questions.
pub(crate) fn begin_differently(left: &Template, right: &Template) -> bool {
    match (left.pieces.first(), right.pieces.first()) {
        (Some(Piece::Literal(left)), Some(Piece::Literal(right))) => {
            left.bytes().zip(right.bytes()).any(|(left, right)| left != right)
        }
        _ => false,
    }
}

/// The texts that an entity can write with a template.
pub(crate) fn template_texts(
    entity: &Entity,
    template: &Template,
    delimiters: &str,
    strings: Strings,
) -> Texts {
    texts(template, delimiters, strings, |path| entity.type_at(path))
}

/// The texts of a template whose slots have the types that `type_of` gives; a slot of unknown type is a `key`.
pub(crate) fn texts(
    template: &Template,
    delimiters: &str,
    strings: Strings,
    type_of: impl Fn(&str) -> Option<Type>,
) -> Texts {
    let mut parts = Vec::new();
    for piece in &template.pieces {
        match piece {
            Piece::Literal(text) => parts.push(Part::Literal(text.clone())),
            Piece::Slot(slot) => {
                let kind = type_of(&slot.path).unwrap_or(Type::Key);
                parts.extend(slot_parts(&kind, slot.format, delimiters, strings));
            }
        }
    }
    Texts::new(parts)
}

fn slot_parts(kind: &Type, format: Format, delimiters: &str, strings: Strings) -> Vec<Part> {
    match format {
        Format::Padded(width) => vec![Part::exactly(Chars::digits(), usize::from(width))],
        Format::Shard(count) => vec![Part::exactly(Chars::digits(), Format::shard_digits(count))],
        Format::Truncated(kept) => timestamp_parts("dddd-dd-ddTdd:dd", usize::from(kept)),
        Format::Lower => cased(value_parts(kind, delimiters, strings), str::to_lowercase, ('A', 'Z')),
        Format::Upper => cased(value_parts(kind, delimiters, strings), str::to_uppercase, ('a', 'z')),
        Format::Plain => value_parts(kind, delimiters, strings),
    }
}

fn value_parts(kind: &Type, delimiters: &str, strings: Strings) -> Vec<Part> {
    let key = || Chars::any().without(&Chars::of(delimiters));
    match kind {
        Type::String | Type::Any | Type::Map(_) | Type::List(_) => match strings {
            Strings::Any => vec![Part::some(Chars::any())],
            Strings::WithoutDelimiters => vec![Part::some(key())],
        },
        Type::Key => vec![Part::some(key())],
        Type::Slug => {
            let chars =
                Chars::ranges(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('-', '-'), ('_', '_'), ('.', '.')]);
            // A delimiter that a slug could contain is refused in slugs, too.
            vec![Part::some(chars.without(&Chars::of(delimiters)))]
        }
        Type::Ulid => vec![Part::exactly(Chars::of("0123456789ABCDEFGHJKMNPQRSTVWXYZ"), 26)],
        Type::Ksuid => vec![Part::exactly(Chars::ranges(&[('a', 'z'), ('A', 'Z'), ('0', '9')]), 27)],
        Type::Uuid => uuid_parts(),
        Type::Time36 => vec![Part::exactly(Chars::ranges(&[('a', 'z'), ('0', '9')]), 20)],
        Type::Timestamp(Precision::Seconds, _) => timestamp_parts("dddd-dd-ddTdd:dd:ddZ", 20),
        Type::Timestamp(Precision::Milliseconds, _) => timestamp_parts("dddd-dd-ddTdd:dd:dd.dddZ", 24),
        Type::Timestamp(Precision::Varying, _) => vec![Part::some(Chars::of("0123456789-:.+TZ"))],
        Type::Date => timestamp_parts("dddd-dd-dd", 10),
        Type::Integer | Type::Epoch | Type::Ttl | Type::Version => vec![Part::some(Chars::of("-0123456789"))],
        Type::Number => vec![Part::some(Chars::of("-0123456789.E+"))],
        Type::Boolean => vec![Part::OneOf(vec!["false".to_owned(), "true".to_owned()])],
        Type::OneOf(values) => vec![Part::OneOf(values.iter().filter_map(|value| written(value)).collect())],
        Type::Binary | Type::StringSet | Type::NumberSet | Type::BinarySet => vec![Part::some(Chars::any())],
    }
}

/// A value as it stands in a key.
pub(crate) fn written(value: &Value) -> Option<String> {
    match value {
        Value::S(text) => Some(text.clone()),
        Value::N(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn timestamp_parts(picture: &str, kept: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for c in picture.chars().take(kept) {
        match (c, parts.last_mut()) {
            ('d', Some(Part::Run { min, max: Some(max), .. })) => {
                *min += 1;
                *max += 1;
            }
            ('d', _) => parts.push(Part::exactly(Chars::digits(), 1)),
            (_, Some(Part::Literal(text))) => text.push(c),
            _ => parts.push(Part::Literal(c.to_string())),
        }
    }
    parts
}

fn uuid_parts() -> Vec<Part> {
    let hex = || Chars::ranges(&[('0', '9'), ('a', 'f'), ('A', 'F')]);
    let mut parts = Vec::new();
    for (index, width) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            parts.push(Part::Literal("-".to_owned()));
        }
        parts.push(Part::exactly(hex(), width));
    }
    parts
}

fn cased(parts: Vec<Part>, change: fn(&str) -> String, gone: (char, char)) -> Vec<Part> {
    let parts = parts.into_iter().map(|part| match part {
        Part::Literal(text) => Part::Literal(change(&text)),
        Part::OneOf(choices) => Part::OneOf(choices.iter().map(|choice| change(choice)).collect()),
        Part::Run { chars, min, max } => {
            Part::Run { chars: chars.without(&Chars::ranges(&[gone])), min, max }
        }
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, format: Format) -> Texts {
        Texts::new(slot_parts(&Type::named(kind).unwrap(), format, "#", Strings::Any))
    }

    fn contains(texts: &Texts, text: &str) -> bool {
        texts.common(&Texts::new(vec![Part::Literal(text.to_owned())])).is_some()
    }

    #[test]
    fn slots_stand_for_the_texts_of_their_types() {
        assert!(contains(&of("created", Format::Plain), "2024-01-15T10:30:00.000Z"));
        assert!(!contains(&of("created", Format::Plain), "2024-01-15T10:30:00Z"));
        assert!(contains(&of("created", Format::Truncated(10)), "2024-01-15"));
        assert!(contains(&of("uuid", Format::Plain), "01234567-89ab-cdef-0123-456789abcdef"));
        assert!(contains(&of("number", Format::Padded(6)), "000042"));
        assert!(!contains(&of("key", Format::Plain), "a#b"));
        assert!(contains(&of("string", Format::Plain), "a#b"));
        assert!(!contains(&of("key", Format::Lower), "Ada"));
        assert!(contains(&of("ulid", Format::Shard(10)), "7"));
    }
}
