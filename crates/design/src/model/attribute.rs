//! Attributes and their types.

use dynamo::{Value, ValueType};

use super::given::Given;
use crate::source::{Placed, Span};

/// An attribute of an entity, or a parameter of a pattern or operation.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Placed<String>,
    /// What it is for.
    pub about: String,
    /// Its type.
    pub kind: Type,
    /// Whether it may be absent.
    pub optional: bool,
    /// What it is when absent on creation.
    pub default: Option<Placed<Given>>,
    /// Where it is copied from, and kept equal to.
    pub from: Option<From>,
    /// False if it stands in the key only and is read from there.
    pub stored: bool,
    /// True if it is never returned.
    pub secret: bool,
    /// The most bytes of a text, list or map.
    pub max_bytes: Option<usize>,
    /// The most elements of a list or set.
    pub max_items: Option<usize>,
    /// For a `ttl`: the lifetime when none is given; the first that exists of durations and references.
    pub after: Vec<Placed<String>>,
    /// Where it is declared.
    pub span: Span,
}

/// A denormalised attribute: whose it really is.
#[derive(Clone, Debug)]
pub struct From {
    /// The entity and attribute, as `User.displayName`.
    pub source: Placed<String>,
    /// For each slot of the source's key, the attribute here that has its value.
    pub by: Vec<(Placed<String>, Placed<String>)>,
    /// Whether it follows changes of the source.
    pub refresh: bool,
}

impl From {
    /// The entity it comes from.
    pub fn entity(&self) -> &str {
        self.source.value.split_once('.').map_or(self.source.value.as_str(), |(entity, _)| entity)
    }

    /// The attribute it comes from.
    pub fn attribute(&self) -> &str {
        self.source.value.split_once('.').map_or("", |(_, attribute)| attribute)
    }

    /// The attribute here that has the value of a slot of the source's key.
    pub fn local<'a>(&'a self, slot: &'a str) -> &'a str {
        self.by.iter().find(|(name, _)| name.value == slot).map_or(slot, |(_, local)| local.value.as_str())
    }
}

/// The type of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Any text.
    String,
    /// A text that can stand in a key: not empty, no delimiter of the design.
    Key,
    /// ASCII letters, digits, `-`, `_` and `.`; not empty.
    Slug,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// Bytes.
    Binary,
    /// Anything.
    Any,
    /// A ULID, generated when absent.
    Ulid,
    /// A KSUID, generated when absent.
    Ksuid,
    /// A UUID, generated when absent.
    Uuid,
    /// Eight base36 digits of milliseconds and twelve random ones, generated when absent.
    Time36,
    /// ISO 8601 in UTC.
    Timestamp(Precision, TimeRole),
    /// `2024-01-15`
    Date,
    /// Seconds since 1970, as a number.
    Epoch,
    /// Seconds since 1970 after which the item may be removed.
    Ttl,
    /// Counts the writes of an item; checked and raised by every write.
    Version,
    /// One of these values.
    OneOf(Vec<Placed<Value>>),
    /// A map.
    Map(MapType),
    /// A list.
    List(Box<Type>),
    /// A set of texts.
    StringSet,
    /// A set of numbers.
    NumberSet,
    /// A set of byte strings.
    BinarySet,
}

/// The members of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct MapType {
    /// The members with a name.
    pub members: Vec<Attribute>,
    /// The type of members with other names, if there may be any.
    pub others: Option<Box<Type>>,
}

/// How a timestamp is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `2024-01-15T10:30:00Z`
    Seconds,
    /// `2024-01-15T10:30:00.000Z`
    Milliseconds,
    /// Any ISO 8601 text: other offsets, with or without fractions.
    Varying,
}

/// Who sets a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeRole {
    /// The caller.
    Given,
    /// Set once, on creation.
    Created,
    /// Set on every write.
    Updated,
}

impl PartialEq for Attribute {
    fn eq(&self, other: &Attribute) -> bool {
        self.name.value == other.name.value && self.kind == other.kind && self.optional == other.optional
    }
}

impl Type {
    /// The types that are a single word, as a design writes them.
    pub(crate) fn named(word: &str) -> Option<Type> {
        use Precision::*;
        use TimeRole::*;
        Some(match word {
            "string" => Type::String,
            "key" => Type::Key,
            "slug" => Type::Slug,
            "number" => Type::Number,
            "integer" => Type::Integer,
            "boolean" => Type::Boolean,
            "binary" => Type::Binary,
            "any" => Type::Any,
            "map" => Type::Map(MapType { members: Vec::new(), others: Some(Box::new(Type::Any)) }),
            "ulid" => Type::Ulid,
            "ksuid" => Type::Ksuid,
            "uuid" => Type::Uuid,
            "time36" => Type::Time36,
            "timestamp" => Type::Timestamp(Milliseconds, Given),
            "timestamp(seconds)" => Type::Timestamp(Seconds, Given),
            "timestamp(any)" => Type::Timestamp(Varying, Given),
            "created" => Type::Timestamp(Milliseconds, Created),
            "created(seconds)" => Type::Timestamp(Seconds, Created),
            "updated" => Type::Timestamp(Milliseconds, Updated),
            "updated(seconds)" => Type::Timestamp(Seconds, Updated),
            "date" => Type::Date,
            "epoch" => Type::Epoch,
            "ttl" => Type::Ttl,
            "version" => Type::Version,
            "string-set" => Type::StringSet,
            "number-set" => Type::NumberSet,
            "binary-set" => Type::BinarySet,
            _ => return None,
        })
    }

    /// The words of [`Type::named`], for suggestions and for the schema.
    pub(crate) const NAMES: [&'static str; 27] = [
        "string",
        "key",
        "slug",
        "number",
        "integer",
        "boolean",
        "binary",
        "any",
        "map",
        "ulid",
        "ksuid",
        "uuid",
        "time36",
        "timestamp",
        "timestamp(seconds)",
        "timestamp(any)",
        "created",
        "created(seconds)",
        "updated",
        "updated(seconds)",
        "date",
        "epoch",
        "ttl",
        "version",
        "string-set",
        "number-set",
        "binary-set",
    ];

    /// The name of the type, as a reader of the design knows it.
    pub fn name(&self) -> String {
        match self {
            Type::OneOf(values) => {
                let words = values.iter().map(|value| shown(value)).collect::<Vec<_>>();
                format!("one of {}", words.join(", "))
            }
            Type::Map(map) if map.members.is_empty() => "map".to_owned(),
            Type::Map(map) => {
                let names = map.members.iter().map(|member| member.name.value.as_str()).collect::<Vec<_>>();
                format!("map of {}", names.join(", "))
            }
            Type::List(element) => format!("list of {}", element.name()),
            other => Type::NAMES
                .into_iter()
                .find(|name| Type::named(name).as_ref() == Some(other))
                .unwrap_or("value")
                .to_owned(),
        }
    }

    /// The type of its values in DynamoDB; none if there are several.
    pub fn value_type(&self) -> Option<ValueType> {
        Some(match self {
            Type::String | Type::Key | Type::Slug | Type::Ulid | Type::Ksuid | Type::Uuid | Type::Time36 => {
                ValueType::S
            }
            Type::Timestamp(..) | Type::Date => ValueType::S,
            Type::Number | Type::Integer | Type::Epoch | Type::Ttl | Type::Version => ValueType::N,
            Type::Boolean => ValueType::Bool,
            Type::Binary => ValueType::B,
            Type::Any => return None,
            Type::OneOf(values) => {
                let first = values.first()?.value_type();
                return values.iter().all(|value| value.value_type() == first).then_some(first);
            }
            Type::Map(_) => ValueType::M,
            Type::List(_) => ValueType::L,
            Type::StringSet => ValueType::Ss,
            Type::NumberSet => ValueType::Ns,
            Type::BinarySet => ValueType::Bs,
        })
    }

    /// True if a value is made when none is given.
    pub fn is_generated(&self) -> bool {
        matches!(self, Type::Ulid | Type::Ksuid | Type::Uuid | Type::Time36 | Type::Version)
            || matches!(self, Type::Timestamp(_, TimeRole::Created | TimeRole::Updated))
    }

    /// True for numbers.
    pub fn is_number(&self) -> bool {
        self.value_type() == Some(ValueType::N)
    }
}

/// A value as a design writes it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::S(text) => format!("\"{text}\""),
        Value::N(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        other => other.value_type().name().to_owned(),
    }
}

impl Attribute {
    /// An attribute of this type that must be there, at no particular place.
    pub(crate) fn plain(name: Placed<String>, kind: Type) -> Attribute {
        let span = name.span;
        Attribute {
            name,
            about: String::new(),
            kind,
            optional: false,
            default: None,
            from: None,
            stored: true,
            secret: false,
            max_bytes: None,
            max_items: None,
            after: Vec::new(),
            span,
        }
    }
}
