//! What a WHERE says about keys: its conditions one by one, and those that fix an attribute.

use dynamo::{Item, KeyValue, StoredValue};
use expression::tree::Comparator;
use expression::{Condition, Operand};

use super::error::StatementError;
use crate::layout::KeySchema;

/// The conditions that all must hold.
pub(super) fn conjuncts(condition: Option<&Condition>) -> Vec<Condition> {
    let mut found = Vec::new();
    if let Some(condition) = condition {
        collect(condition, &mut found);
    }
    found
}

fn collect(condition: &Condition, found: &mut Vec<Condition>) {
    match condition {
        Condition::All(parts) => parts.iter().for_each(|part| collect(part, found)),
        other => found.push(other.clone()),
    }
}

/// The conditions as one; nothing if there are none.
pub(super) fn joined(mut conditions: Vec<Condition>) -> Option<Condition> {
    if conditions.len() > 1 { Some(Condition::All(conditions)) } else { conditions.pop() }
}

/// True for the attribute itself, not for something in it.
pub(super) fn is_attribute(operand: &Operand, name: &str) -> bool {
    matches!(operand, Operand::Path(path) if !path.is_nested() && &*path.root == name)
}

/// The value that a condition fixes an attribute to.
pub(super) fn equal_value<'a>(condition: &'a Condition, name: &str) -> Option<&'a StoredValue> {
    match condition {
        Condition::Compare { comparator: Comparator::Eq, left, right } => match (left, right) {
            (path, Operand::Value(value)) | (Operand::Value(value), path) if is_attribute(path, name) => {
                Some(value)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Takes the conditions that fix the key of one item; `None` if they do not fix all of it.
pub(super) fn take_key(schema: &KeySchema, conditions: &mut Vec<Condition>) -> Option<Item> {
    let mut key = Item::new();
    for attribute in schema.attributes() {
        let place =
            conditions.iter().position(|condition| equal_value(condition, &attribute.name).is_some())?;
        let condition = conditions.remove(place);
        let value = equal_value(&condition, &attribute.name)?;
        key.insert(attribute.name.clone(), value.as_ref().decode());
    }
    Some(key)
}

/// Takes the key of the one item that a write names.
pub(super) fn take_written_key(
    schema: &KeySchema,
    conditions: &mut Vec<Condition>,
) -> Result<Item, StatementError> {
    let key = take_key(schema, conditions).ok_or(StatementError::NoKey)?;
    let is_twice = |name: &str| conditions.iter().any(|condition| equal_value(condition, name).is_some());
    match schema.attributes().find(|attribute| is_twice(&attribute.name)) {
        Some(attribute) => Err(StatementError::KeyTwice(attribute.name.clone())),
        None => Ok(key),
    }
}

/// Values that key attributes are compared with have the types of the keys.
pub(super) fn check_key_types(schema: &KeySchema, conditions: &[Condition]) -> Result<(), StatementError> {
    for attribute in schema.attributes() {
        let fits = |value: &StoredValue| {
            KeyValue::from_stored(value.as_ref()).is_some_and(|value| value.key_type() == attribute.key_type)
        };
        let compared = conditions.iter().flat_map(|condition| compared_values(condition, &attribute.name));
        if !compared.into_iter().all(fits) {
            return Err(StatementError::KeyType(attribute.name.clone()));
        }
    }
    Ok(())
}

/// The values that a condition compares an attribute with.
fn compared_values<'a>(condition: &'a Condition, name: &str) -> Vec<&'a StoredValue> {
    let operands: Vec<&Operand> = match condition {
        Condition::Compare { left, right, .. } if is_attribute(left, name) => vec![right],
        Condition::Compare { left, right, .. } if is_attribute(right, name) => vec![left],
        Condition::Between { value, low, high } if is_attribute(value, name) => vec![low, high],
        Condition::In { value, list } if is_attribute(value, name) => list.iter().collect(),
        Condition::BeginsWith(value, prefix) if is_attribute(value, name) => vec![prefix],
        _ => Vec::new(),
    };
    operands
        .into_iter()
        .filter_map(|operand| if let Operand::Value(value) = operand { Some(value) } else { None })
        .collect()
}
