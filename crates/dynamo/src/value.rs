//! Attribute values: the ten types DynamoDB knows, as a tree.
//!
//! A [`Value`] is what a request brings and what an update builds. What is read from the store stays in its
//! stored form (see [`crate::stored`]) and becomes a tree only where somebody needs one.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::Number;

/// Attributes by name.
pub type Map = BTreeMap<String, Value>;

/// An item: its attributes by name.
pub type Item = Map;

/// One attribute value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Text; may be empty, except in a key.
    S(String),
    /// A number of up to 38 digits.
    N(Number),
    /// Bytes; may be empty, except in a key.
    B(Bytes),
    /// True or false.
    Bool(bool),
    /// Null: present, and nothing. Not the same as a missing attribute.
    Null,
    /// A set of texts; never empty.
    Ss(BTreeSet<String>),
    /// A set of numbers; never empty.
    Ns(BTreeSet<Number>),
    /// A set of byte strings; never empty.
    Bs(BTreeSet<Bytes>),
    /// Values in order.
    L(Vec<Value>),
    /// Values by name.
    M(Map),
}

/// The type of a value, named as DynamoDB names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
    /// Boolean.
    Bool,
    /// Null.
    Null,
    /// String set.
    Ss,
    /// Number set.
    Ns,
    /// Binary set.
    Bs,
    /// List.
    L,
    /// Map.
    M,
}

impl ValueType {
    /// All types.
    pub const ALL: [ValueType; 10] = {
        use ValueType::*;
        [S, N, B, Bool, Null, Ss, Ns, Bs, L, M]
    };

    /// The descriptor in DynamoDB JSON, such as `SS`.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::S => "S",
            ValueType::N => "N",
            ValueType::B => "B",
            ValueType::Bool => "BOOL",
            ValueType::Null => "NULL",
            ValueType::Ss => "SS",
            ValueType::Ns => "NS",
            ValueType::Bs => "BS",
            ValueType::L => "L",
            ValueType::M => "M",
        }
    }

    /// The type with this descriptor.
    pub fn from_name(name: &str) -> Option<ValueType> {
        Some(match name {
            "S" => ValueType::S,
            "N" => ValueType::N,
            "B" => ValueType::B,
            "BOOL" => ValueType::Bool,
            "NULL" => ValueType::Null,
            "SS" => ValueType::Ss,
            "NS" => ValueType::Ns,
            "BS" => ValueType::Bs,
            "L" => ValueType::L,
            "M" => ValueType::M,
            _ => return None,
        })
    }

    /// True for the three set types.
    pub fn is_set(self) -> bool {
        matches!(self, ValueType::Ss | ValueType::Ns | ValueType::Bs)
    }
}

impl Value {
    /// The type of this value.
    pub fn value_type(&self) -> ValueType {
        match self {
            Value::S(_) => ValueType::S,
            Value::N(_) => ValueType::N,
            Value::B(_) => ValueType::B,
            Value::Bool(_) => ValueType::Bool,
            Value::Null => ValueType::Null,
            Value::Ss(_) => ValueType::Ss,
            Value::Ns(_) => ValueType::Ns,
            Value::Bs(_) => ValueType::Bs,
            Value::L(_) => ValueType::L,
            Value::M(_) => ValueType::M,
        }
    }

    /// How deep lists and maps are nested: 0 for a scalar or set, 1 for a flat list or map. An item of depth 32 at most
    /// may be stored.
    pub fn depth(&self) -> usize {
        match self {
            Value::L(list) => 1 + list.iter().map(Value::depth).max().unwrap_or(0),
            Value::M(map) => 1 + map.values().map(Value::depth).max().unwrap_or(0),
            _ => 0,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::S(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::S(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::N(Number::from(number))
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        Value::N(number)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<Bytes> for Value {
    fn from(bytes: Bytes) -> Value {
        Value::B(bytes)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Value {
        Value::M(map)
    }
}

impl From<Vec<Value>> for Value {
    fn from(list: Vec<Value>) -> Value {
        Value::L(list)
    }
}
