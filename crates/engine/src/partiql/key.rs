//! What a WHERE says about keys: its conditions one by one, and those that fix an attribute.

use dynamo::{Item, StoredValue};
use expression::tree::Comparator;
use expression::{Condition, Operand};

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
