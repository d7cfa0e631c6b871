//! Conditions with names and values filled in, ready to be evaluated. Placeholders, legacy parameters and other languages
//! all end here.
//!
//! Always true of a condition that was bound: its operands have passed the checks of DynamoDB, so evaluating it cannot fail.

use dynamo::{StoredValue, Value, ValueType};

use crate::path::Path;
use crate::tree::Comparator;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// True when all are; of none it is true.
    All(Vec<Condition>),
    /// True when one is; of none it is false.
    Any(Vec<Condition>),
    /// True when the other is not.
    Not(Box<Condition>),
    /// Two values compared.
    Compare {
        /// How.
        comparator: Comparator,
        /// The left side.
        left: Operand,
        /// The right side.
        right: Operand,
    },
    /// A value within bounds, both included.
    Between {
        /// The value.
        value: Operand,
        /// The lower bound.
        low: Operand,
        /// The upper bound.
        high: Operand,
    },
    /// A value equal to one of several.
    In {
        /// The value.
        value: Operand,
        /// What it may be.
        list: Vec<Operand>,
    },
    /// There is something at the path.
    Exists(Path),
    /// There is nothing at the path.
    NotExists(Path),
    /// The value has this type.
    HasType(Operand, ValueType),
    /// A text or binary begins with another.
    BeginsWith(Operand, Operand),
    /// A text or binary has another in it, or a set or list has an element.
    Contains(Operand, Operand),
}

/// A value, or where to find one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// What the item has at a path.
    Path(Path),
    /// A value of the request.
    Value(StoredValue),
    /// How long a text or binary is, or how many elements a set, list or map has.
    Size(Box<Operand>),
}

impl Operand {
    /// An operand with this value.
    pub fn value(value: &Value) -> Operand {
        Operand::Value(StoredValue::encode(value))
    }

    /// The path it reads, if any.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Operand::Path(path) => Some(path),
            Operand::Value(_) => None,
            Operand::Size(inner) => inner.path(),
        }
    }
}

impl Condition {
    /// Calls `visit` with every path that the condition reads, in order.
    pub fn visit_paths<'a>(&'a self, visit: &mut dyn FnMut(&'a Path)) {
        match self {
            Condition::All(parts) | Condition::Any(parts) => {
                for part in parts {
                    part.visit_paths(visit);
                }
            }
            Condition::Not(inner) => inner.visit_paths(visit),
            Condition::Exists(path) | Condition::NotExists(path) => visit(path),
            other => other.operands().into_iter().flatten().filter_map(Operand::path).for_each(visit),
        }
    }

    /// The operands of a condition that has no other condition in it.
    fn operands(&self) -> [&[Operand]; 3] {
        use std::slice::from_ref;
        match self {
            Condition::Compare { left, right, .. } => [from_ref(left), from_ref(right), &[]],
            Condition::Between { value, low, high } => [from_ref(value), from_ref(low), from_ref(high)],
            Condition::In { value, list } => [from_ref(value), list, &[]],
            Condition::HasType(value, _) => [from_ref(value), &[], &[]],
            Condition::BeginsWith(value, part) | Condition::Contains(value, part) => {
                [from_ref(value), from_ref(part), &[]]
            }
            _ => [&[], &[], &[]],
        }
    }

    /// The paths that the condition reads, in order.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        self.visit_paths(&mut |path| paths.push(path));
        paths
    }
}
