//! One action applied to one top-level attribute.

use dynamo::Value;

use super::{Action, UpdateError};
use crate::path::Step;

/// Changes an attribute, which is `None` while the item does not have it. `value` is what SET assigns.
pub(super) fn change(
    attribute: &mut Option<Value>,
    action: &Action,
    value: Option<Value>,
    type_error: UpdateError,
) -> Result<(), UpdateError> {
    let Some((end, way)) = action.path().steps.split_last() else {
        return put(attribute, action, value, type_error);
    };
    let parent = attribute.as_mut().and_then(|root| walk(root, way)).ok_or(UpdateError::InvalidPath)?;
    match (parent, end) {
        (Value::M(map), Step::Name(name)) => {
            let mut place = map.remove(&**name);
            put(&mut place, action, value, type_error)?;
            map.extend(place.map(|value| (name.to_string(), value)));
            Ok(())
        }
        (Value::L(list), Step::Index(index)) => {
            let mut place = list.get_mut(*index).map(|value| std::mem::replace(value, Value::Null));
            put(&mut place, action, value, type_error)?;
            put_element(list, *index, place);
            Ok(())
        }
        _ => Err(UpdateError::InvalidPath),
    }
}

/// The value at the end of the steps.
fn walk<'a>(root: &'a mut Value, steps: &[Step]) -> Option<&'a mut Value> {
    steps.iter().try_fold(root, |value, step| match (value, step) {
        (Value::M(map), Step::Name(name)) => map.get_mut(&**name),
        (Value::L(list), Step::Index(index)) => list.get_mut(*index),
        _ => None,
    })
}

/// Gives a list its changed element back: in its place, at the end if it had none, or not at all.
fn put_element(list: &mut Vec<Value>, index: usize, element: Option<Value>) {
    match (list.get_mut(index), element) {
        (Some(place), Some(element)) => *place = element,
        (Some(_), None) => {
            list.remove(index);
        }
        (None, Some(element)) => list.push(element),
        (None, None) => {}
    }
}

fn put(
    place: &mut Option<Value>,
    action: &Action,
    value: Option<Value>,
    type_error: UpdateError,
) -> Result<(), UpdateError> {
    match action {
        Action::Set(..) => *place = value,
        Action::Remove(_) => *place = None,
        Action::Add(_, more) => add(place, more, type_error)?,
        Action::Delete(_, elements) => delete(place, elements, type_error)?,
    }
    Ok(())
}

fn add(place: &mut Option<Value>, more: &Value, type_error: UpdateError) -> Result<(), UpdateError> {
    let Some(value) = place else {
        *place = Some(more.clone());
        return Ok(());
    };
    match (value, more) {
        (Value::N(number), Value::N(more)) => *number = number.plus(*more).map_err(UpdateError::Number)?,
        (Value::Ss(set), Value::Ss(more)) => set.extend(more.iter().cloned()),
        (Value::Ns(set), Value::Ns(more)) => set.extend(more.iter().copied()),
        (Value::Bs(set), Value::Bs(more)) => set.extend(more.iter().cloned()),
        (Value::L(list), Value::L(more)) => list.extend(more.iter().cloned()),
        _ => return Err(type_error),
    }
    Ok(())
}

/// A set that loses its last element is gone: there are no empty sets.
fn delete(place: &mut Option<Value>, elements: &Value, type_error: UpdateError) -> Result<(), UpdateError> {
    let Some(value) = place else { return Ok(()) };
    let empty = match (value, elements) {
        (Value::Ss(set), Value::Ss(elements)) => {
            set.retain(|element| !elements.contains(element));
            set.is_empty()
        }
        (Value::Ns(set), Value::Ns(elements)) => {
            set.retain(|element| !elements.contains(element));
            set.is_empty()
        }
        (Value::Bs(set), Value::Bs(elements)) => {
            set.retain(|element| !elements.contains(element));
            set.is_empty()
        }
        _ => return Err(type_error),
    };
    if empty {
        *place = None;
    }
    Ok(())
}
