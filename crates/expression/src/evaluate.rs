//! Conditions and filters against stored items, without decoding them and without allocating.
//!
//! A missing attribute equals nothing and has no order, so of the comparisons only `<>` is true for it. Values of
//! different types are not equal and have no order either.

use std::cmp::Ordering;

use dynamo::{Number, Shape, StoredItem, ValueRef, ValueType};

use crate::condition::{Condition, Operand};
use crate::tree::Comparator;

/// What an operand came to.
#[derive(Clone, Copy)]
enum Found<'a> {
    Value(ValueRef<'a>),
    /// The result of `size`.
    Count(usize),
}

impl Condition {
    /// Whether the item meets the condition. No item is like an item without attributes.
    pub fn matches(&self, item: Option<&StoredItem>) -> bool {
        match self {
            Condition::All(parts) => parts.iter().all(|part| part.matches(item)),
            Condition::Any(parts) => parts.iter().any(|part| part.matches(item)),
            Condition::Not(inner) => !inner.matches(item),
            Condition::Compare { comparator, left, right } => {
                compare(*comparator, left.find(item), right.find(item))
            }
            Condition::Between { value, low, high } => {
                let value = value.find(item);
                compare(Comparator::Ge, value, low.find(item))
                    && compare(Comparator::Le, value, high.find(item))
            }
            Condition::In { value, list } => {
                let value = value.find(item);
                list.iter().any(|option| compare(Comparator::Eq, value, option.find(item)))
            }
            Condition::Exists(path) => item.is_some_and(|item| path.find(item).is_some()),
            Condition::NotExists(path) => item.is_none_or(|item| path.find(item).is_none()),
            Condition::HasType(value, value_type) => {
                value.find(item).is_some_and(|found| found.value_type() == *value_type)
            }
            Condition::BeginsWith(value, prefix) => match (value.find(item), prefix.find(item)) {
                (Some(Found::Value(value)), Some(Found::Value(prefix))) => value.starts_with(prefix),
                _ => false,
            },
            Condition::Contains(value, part) => match (value.find(item), part.find(item)) {
                (Some(Found::Value(value)), Some(part)) => contains(value, part),
                _ => false,
            },
        }
    }
}

impl Operand {
    fn find<'a>(&'a self, item: Option<&'a StoredItem>) -> Option<Found<'a>> {
        match self {
            Operand::Path(path) => path.find(item?).map(Found::Value),
            Operand::Value(value) => Some(Found::Value(value.as_ref())),
            Operand::Size(inner) => match inner.find(item)? {
                Found::Value(value) => size(value).map(Found::Count),
                Found::Count(_) => None,
            },
        }
    }
}

/// What `size` says; numbers, booleans and null have none.
fn size(value: ValueRef<'_>) -> Option<usize> {
    Some(match value.shape() {
        // DynamoDB counts the characters as UTF-16 does.
        Shape::S(text) if text.is_ascii() => text.len(),
        Shape::S(text) => text.encode_utf16().count(),
        Shape::B(bytes) => bytes.len(),
        Shape::Ss(set) | Shape::Ns(set) | Shape::Bs(set) => set.count_elements(),
        Shape::L(list) => list.count_elements(),
        Shape::M(map) => map.count_elements(),
        Shape::N(_) | Shape::Bool(_) | Shape::Null => return None,
    })
}

impl Found<'_> {
    fn value_type(self) -> ValueType {
        match self {
            Found::Value(value) => value.value_type(),
            Found::Count(_) => ValueType::N,
        }
    }

    /// The value as a number, if it is one.
    fn number(self) -> Option<Number> {
        match self {
            Found::Count(count) => i64::try_from(count).ok().map(Number::from),
            Found::Value(value) => match value.shape() {
                Shape::N(number) => Some(number.to_number()),
                _ => None,
            },
        }
    }

    fn equals(self, other: Found<'_>) -> bool {
        match (self, other) {
            (Found::Value(left), Found::Value(right)) => left == right,
            _ => self.number().is_some_and(|left| other.number() == Some(left)),
        }
    }

    fn order(self, other: Found<'_>) -> Option<Ordering> {
        match (self, other) {
            (Found::Value(left), Found::Value(right)) => left.compare(right),
            _ => Some(self.number()?.cmp(&other.number()?)),
        }
    }
}

fn compare(comparator: Comparator, left: Option<Found<'_>>, right: Option<Found<'_>>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return comparator == Comparator::Ne };
    let order = |accepted: fn(Ordering) -> bool| left.order(right).is_some_and(accepted);
    match comparator {
        Comparator::Eq => left.equals(right),
        Comparator::Ne => !left.equals(right),
        Comparator::Lt => order(Ordering::is_lt),
        Comparator::Le => order(Ordering::is_le),
        Comparator::Gt => order(Ordering::is_gt),
        Comparator::Ge => order(Ordering::is_ge),
    }
}

fn contains(value: ValueRef<'_>, part: Found<'_>) -> bool {
    if let Shape::L(mut list) = value.shape() {
        return list.any(|element| Found::Value(element).equals(part));
    }
    let part = match part {
        Found::Value(part) => part.shape(),
        Found::Count(_) => {
            let Shape::Ns(set) = value.shape() else { return false };
            return set.numbers().any(|element| Some(element.to_number()) == part.number());
        }
    };
    match (value.shape(), part) {
        (Shape::S(text), Shape::S(part)) => text.contains(part),
        (Shape::B(bytes), Shape::B(part)) => contains_bytes(bytes, part),
        (Shape::Ss(mut set), Shape::S(element)) => set.any(|other| other == element.as_bytes()),
        (Shape::Ns(set), Shape::N(element)) => set.numbers().any(|other| other == element),
        (Shape::Bs(mut set), Shape::B(element)) => set.any(|other| other == element),
        _ => false,
    }
}

/// True when `part` stands somewhere in `bytes`.
fn contains_bytes(bytes: &[u8], part: &[u8]) -> bool {
    let Some((first, rest)) = part.split_first() else { return true };
    let mut bytes = bytes;
    while let Some(start) = bytes.iter().position(|byte| byte == first) {
        let Some(tail) = bytes.get(start + 1..) else { return false };
        if tail.len() < rest.len() {
            return false;
        }
        if tail.starts_with(rest) {
            return true;
        }
        bytes = tail;
    }
    false
}

#[cfg(test)]
mod tests;
