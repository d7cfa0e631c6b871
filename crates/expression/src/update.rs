//! Updates: what an update expression or AttributeUpdates makes of an item.
//!
//! Everything on the right-hand side is read from the item as it was. Indexes of lists mean the list as it was, whatever else
//! is removed from or added to it; an index beyond its end appends, smaller indexes first.
//!
//! Path of an update: values of SET are computed from the old item -> the top-level attributes that are changed inside are
//! decoded and changed -> they take their places among the others, whose bytes are copied as they are ([`ItemEditor`]). What is only moved, from the request
//! or from another attribute, is copied as stored too.

use std::collections::BTreeMap;

use dynamo::{
    ApiError, Item, ItemEditor, Number, NumberError, Shape, StoredItem, StoredValue, Value, ValueRef,
    ValueType,
};

use crate::path::{Path, Step};
use crate::project::Projection;

mod change;

/// An update with names and values filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    actions: Vec<Action>,
    /// AttributeUpdates say some things in other words.
    legacy: bool,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Gives the path this value.
    Set(Path, Assigned),
    /// Removes what is at the path.
    Remove(Path),
    /// Adds a number to a number or elements to a set. From AttributeUpdates also appends a list to a list.
    Add(Path, Value),
    /// Takes elements from a set.
    Delete(Path, Value),
}

/// The right-hand side of SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assigned {
    /// A value of the request.
    Value(StoredValue),
    /// What the item had at a path.
    Path(Path),
    /// A sum of numbers.
    Plus(Box<Assigned>, Box<Assigned>),
    /// A difference of numbers.
    Minus(Box<Assigned>, Box<Assigned>),
    /// What the item had at a path, or something else if it had nothing there.
    IfNotExists(Path, Box<Assigned>),
    /// Two lists, one after the other.
    ListAppend(Box<Assigned>, Box<Assigned>),
}

/// Why an update cannot be applied to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateError {
    /// The item has no map or list where the path needs one.
    InvalidPath,
    /// What the item has is not of the type that the operation needs.
    OperandType,
    /// The item has nothing at a path that is read.
    MissingAttribute,
    /// AttributeUpdates: the attribute is not of the type that is to be added or deleted.
    TypeMismatch,
    /// A result that is not a DynamoDB number.
    Number(NumberError),
}

impl From<UpdateError> for ApiError {
    fn from(error: UpdateError) -> ApiError {
        ApiError::validation(match error {
            UpdateError::InvalidPath => {
                "The document path provided in the update expression is invalid for update"
            }
            UpdateError::OperandType => "An operand in the update expression has an incorrect data type",
            UpdateError::MissingAttribute => {
                "The provided expression refers to an attribute that does not exist in the item"
            }
            UpdateError::TypeMismatch => "Type mismatch for attribute to update",
            UpdateError::Number(error) => return error.into(),
        })
    }
}

impl Action {
    /// The path that is changed.
    pub fn path(&self) -> &Path {
        match self {
            Action::Set(path, _) | Action::Remove(path) | Action::Add(path, _) | Action::Delete(path, _) => {
                path
            }
        }
    }

    /// The type that the request alone tells of what the action works with.
    pub fn known_type(&self) -> Option<ValueType> {
        match self {
            Action::Set(_, assigned) => assigned.known_type(),
            Action::Remove(_) => None,
            Action::Add(_, value) | Action::Delete(_, value) => Some(value.value_type()),
        }
    }

    /// True for what can only take away.
    fn only_removes(&self) -> bool {
        matches!(self, Action::Remove(_) | Action::Delete(..))
    }
}

impl Assigned {
    fn known_type(&self) -> Option<ValueType> {
        match self {
            Assigned::Value(value) => Some(value.as_ref().value_type()),
            Assigned::Plus(..) | Assigned::Minus(..) => Some(ValueType::N),
            Assigned::ListAppend(..) => Some(ValueType::L),
            Assigned::Path(_) | Assigned::IfNotExists(..) => None,
        }
    }
}

impl Update {
    /// An update of these actions, whose paths neither overlap nor conflict.
    pub fn new(actions: Vec<Action>) -> Update {
        Update { actions, legacy: false }
    }

    /// The same with the messages of AttributeUpdates.
    pub(crate) fn legacy(actions: Vec<Action>) -> Update {
        Update { actions, legacy: true }
    }

    /// The actions.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The paths that are changed, in the order of the text.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.actions.iter().map(Action::path)
    }

    /// The names of the top-level attributes that are changed, in the order of the text; a name may come again.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.paths().map(|path| &*path.root)
    }

    /// The paths that are read, on right-hand sides.
    pub fn read_paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        for action in &self.actions {
            if let Action::Set(_, value) = action {
                value.collect_paths(&mut paths);
            }
        }
        paths
    }

    /// The item after the update. Without an old item it begins with the attributes of the key. `None` when there was no item
    /// and all actions only take away: then none is created.
    pub fn apply(&self, old: Option<&StoredItem>, key: &Item) -> Result<Option<StoredItem>, UpdateError> {
        if old.is_none() && !self.actions.is_empty() && self.actions.iter().all(Action::only_removes) {
            return Ok(None);
        }
        let created = old.is_none().then(|| StoredItem::encode(key));
        let Some(base) = old.or(created.as_ref()) else { return Ok(None) };
        let values = self.assigned_values(base)?;
        let changes = self.changes(base, values)?;
        Ok(Some(merge(base, &changes)))
    }

    /// What the changed paths held before; `None` if nothing.
    pub fn updated_old(&self, old: Option<&StoredItem>) -> Option<StoredItem> {
        self.updated(old?)
    }

    /// What the changed paths hold now; `None` if nothing.
    pub fn updated_new(&self, new: &StoredItem) -> Option<StoredItem> {
        self.updated(new)
    }

    fn updated(&self, item: &StoredItem) -> Option<StoredItem> {
        let found = Projection::of(self.paths()).apply(item);
        found.attributes().next().is_some().then_some(found)
    }

    /// The values of SET, in the order of the actions.
    fn assigned_values<'a>(&'a self, base: &'a StoredItem) -> Result<Vec<Option<New<'a>>>, UpdateError> {
        let assigned = |action: &'a Action| match action {
            Action::Set(_, value) => value.compute(base).map(Some),
            _ => Ok(None),
        };
        self.actions.iter().map(assigned).collect()
    }

    /// The changed top-level attributes by name; `None` for those that are gone.
    fn changes<'a>(
        &'a self,
        base: &StoredItem,
        values: Vec<Option<New<'a>>>,
    ) -> Result<Changes<'a>, UpdateError> {
        let mut changes = Changes::new();
        for (action, value) in in_order(self.actions.iter().zip(values).collect()) {
            let path = action.path();
            if let (Action::Set(..), false) = (action, path.is_nested()) {
                changes.insert(&path.root, value);
                continue;
            }
            if action.only_removes() && path.is_nested() && path.find(base).is_none() {
                // What the item did not have is not taken away, even if something else has come to its place.
                check_parent(path, base)?;
                continue;
            }
            let mut attribute = match changes.remove(&*path.root) {
                Some(before) => before.map(New::into_value),
                None => base.get(&path.root).map(ValueRef::decode),
            };
            change::change(&mut attribute, action, value.map(New::into_value), self.type_error())?;
            changes.insert(&path.root, attribute.map(New::Built));
        }
        Ok(changes)
    }

    fn type_error(&self) -> UpdateError {
        if self.legacy { UpdateError::TypeMismatch } else { UpdateError::OperandType }
    }
}

/// A nested path needs a map or list to lead into.
fn check_parent(path: &Path, item: &StoredItem) -> Result<(), UpdateError> {
    let Some((end, way)) = path.steps.split_last() else { return Ok(()) };
    let parent = Path { root: path.root.clone(), steps: way.to_vec() };
    match (parent.find(item).map(ValueRef::shape), end) {
        (Some(Shape::M(_)), Step::Name(_)) | (Some(Shape::L(_)), Step::Index(_)) => Ok(()),
        _ => Err(UpdateError::InvalidPath),
    }
}

/// The changed top-level attributes by name; `None` for those that are gone.
type Changes<'a> = BTreeMap<&'a str, Option<New<'a>>>;

/// A new value: somewhere as stored, or made by the update.
enum New<'a> {
    Stored(ValueRef<'a>),
    Built(Value),
}

impl New<'_> {
    fn into_value(self) -> Value {
        match self {
            New::Stored(value) => value.decode(),
            New::Built(value) => value,
        }
    }
}

/// First what sets and adds, in ascending order so that appended elements are sorted; then what takes away, in descending
/// order so that no index moves before it is used.
fn in_order<'a>(mut actions: Vec<(&'a Action, Option<New<'a>>)>) -> Vec<(&'a Action, Option<New<'a>>)> {
    if actions.iter().any(|(action, _)| action.path().is_nested()) {
        actions.sort_by(|(one, _), (two, _)| {
            let removes = one.only_removes().cmp(&two.only_removes());
            let paths = one.path().cmp(two.path());
            removes.then(if one.only_removes() { paths.reverse() } else { paths })
        });
    }
    actions
}

/// The item with the changed attributes in their places.
fn merge(base: &StoredItem, changes: &Changes<'_>) -> StoredItem {
    let mut editor = ItemEditor::new(base);
    for (name, value) in changes {
        match value {
            Some(New::Stored(value)) => editor.put_stored(name, *value),
            Some(New::Built(value)) => editor.put(name, value),
            None => editor.remove(name),
        }
    }
    editor.finish()
}

/// Of a sum with too many digits DynamoDB says that it is too large.
fn sum_error(error: NumberError) -> UpdateError {
    UpdateError::Number(match error {
        NumberError::TooManyDigits => NumberError::TooLarge,
        other => other,
    })
}

impl Assigned {
    /// The value, read from the item as it was.
    fn compute<'a>(&'a self, item: &'a StoredItem) -> Result<New<'a>, UpdateError> {
        match self {
            Assigned::Value(value) => Ok(New::Stored(value.as_ref())),
            Assigned::Path(path) => path.find(item).map(New::Stored).ok_or(UpdateError::MissingAttribute),
            Assigned::Plus(left, right) => {
                let sum = left.number(item)?.plus(right.number(item)?);
                sum.map(Value::N).map(New::Built).map_err(sum_error)
            }
            Assigned::Minus(left, right) => {
                let difference = left.number(item)?.minus(right.number(item)?);
                difference.map(Value::N).map(New::Built).map_err(sum_error)
            }
            Assigned::IfNotExists(path, otherwise) => match path.find(item) {
                Some(value) => Ok(New::Stored(value)),
                None => otherwise.compute(item),
            },
            Assigned::ListAppend(first, second) => {
                let (mut list, more) = (first.list(item)?, second.list(item)?);
                list.extend(more);
                Ok(New::Built(Value::L(list)))
            }
        }
    }

    fn number(&self, item: &StoredItem) -> Result<Number, UpdateError> {
        match self.compute(item)? {
            New::Built(Value::N(number)) => Ok(number),
            New::Stored(value) => match value.shape() {
                Shape::N(number) => Ok(number.to_number()),
                _ => Err(UpdateError::OperandType),
            },
            New::Built(_) => Err(UpdateError::OperandType),
        }
    }

    fn list(&self, item: &StoredItem) -> Result<Vec<Value>, UpdateError> {
        match self.compute(item)?.into_value() {
            Value::L(list) => Ok(list),
            _ => Err(UpdateError::OperandType),
        }
    }

    fn collect_paths<'a>(&'a self, paths: &mut Vec<&'a Path>) {
        match self {
            Assigned::Value(_) => {}
            Assigned::Path(path) => paths.push(path),
            Assigned::IfNotExists(path, otherwise) => {
                paths.push(path);
                otherwise.collect_paths(paths);
            }
            Assigned::Plus(left, right)
            | Assigned::Minus(left, right)
            | Assigned::ListAppend(left, right) => {
                left.collect_paths(paths);
                right.collect_paths(paths);
            }
        }
    }
}

#[cfg(test)]
mod tests;
