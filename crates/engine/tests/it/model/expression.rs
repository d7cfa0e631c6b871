//! Conditions, updates and projections as trees, with their text for the engine and their meaning for the reference.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use dynamo::{Item, Number, Value, ValueType};

use crate::design::order;

/// A place in an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) root: &'static str,
    pub(crate) step: Option<Step>,
}

/// One level down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Name(&'static str),
    Index(usize),
}

/// Names and values of a request's expressions.
#[derive(Default)]
pub(crate) struct Placeholders {
    names: BTreeMap<String, String>,
    values: BTreeMap<String, Value>,
}

impl Placeholders {
    /// The placeholder of a name; a name has one.
    pub(crate) fn name(&mut self, name: &str) -> String {
        let placeholder = format!("#{name}");
        self.names.insert(placeholder.clone(), name.to_owned());
        placeholder
    }

    /// The placeholder of a value.
    pub(crate) fn value(&mut self, value: &Value) -> String {
        let placeholder = format!(":v{}", self.values.len());
        self.values.insert(placeholder.clone(), value.clone());
        placeholder
    }

    fn path(&mut self, path: &Path) -> String {
        let root = self.name(path.root);
        match path.step {
            None => root,
            Some(Step::Name(name)) => format!("{root}.{}", self.name(name)),
            Some(Step::Index(index)) => format!("{root}[{index}]"),
        }
    }

    /// The text of a projection.
    pub(crate) fn projection(&mut self, paths: &[Path]) -> Option<String> {
        let texts: Vec<String> = paths.iter().map(|path| self.path(path)).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    /// The names, if there are any.
    pub(crate) fn names(&self) -> Option<BTreeMap<String, String>> {
        (!self.names.is_empty()).then(|| self.names.clone())
    }

    /// The values, if there are any.
    pub(crate) fn values(&self) -> Option<BTreeMap<String, Value>> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }
}

/// What an item has at a place.
fn find<'a>(item: &'a Item, path: &Path) -> Option<&'a Value> {
    let root = item.get(path.root)?;
    match (path.step, root) {
        (None, _) => Some(root),
        (Some(Step::Name(name)), Value::M(map)) => map.get(name),
        (Some(Step::Index(index)), Value::L(list)) => list.get(index),
        _ => None,
    }
}

/// An item with only what is at these places.
pub(crate) fn project(item: &Item, paths: &[Path]) -> Item {
    let mut found = Item::new();
    for (root, value) in item {
        let steps: Vec<Option<Step>> =
            paths.iter().filter(|path| path.root == root).map(|path| path.step).collect();
        if steps.contains(&None) {
            found.insert(root.clone(), value.clone());
        } else if let Some(part) = part_of(value, &steps) {
            found.insert(root.clone(), part);
        }
    }
    found
}

fn part_of(value: &Value, steps: &[Option<Step>]) -> Option<Value> {
    match value {
        Value::M(map) => {
            let wanted = |name: &str| {
                steps.iter().any(|step| matches!(step, Some(Step::Name(other)) if *other == name))
            };
            let part: Item = map
                .iter()
                .filter(|(name, _)| wanted(name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            (!part.is_empty()).then_some(Value::M(part))
        }
        Value::L(list) => {
            let wanted = |index: usize| steps.contains(&Some(Step::Index(index)));
            let part: Vec<Value> = list
                .iter()
                .enumerate()
                .filter(|(index, _)| wanted(*index))
                .map(|(_, value)| value.clone())
                .collect();
            (!part.is_empty()).then_some(Value::L(part))
        }
        _ => None,
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparator {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Comparator {
    pub(crate) const ALL: [Comparator; 6] =
        [Comparator::Eq, Comparator::Ne, Comparator::Lt, Comparator::Le, Comparator::Gt, Comparator::Ge];

    fn text(self) -> &'static str {
        match self {
            Comparator::Eq => "=",
            Comparator::Ne => "<>",
            Comparator::Lt => "<",
            Comparator::Le => "<=",
            Comparator::Gt => ">",
            Comparator::Ge => ">=",
        }
    }

    /// A missing value equals nothing and has no order.
    fn holds(self, left: Option<&Value>, right: &Value) -> bool {
        let ordering = left.and_then(|left| order(left, right));
        match self {
            Comparator::Eq => left == Some(right),
            Comparator::Ne => left != Some(right),
            Comparator::Lt => ordering == Some(Ordering::Less),
            Comparator::Le => ordering.is_some_and(Ordering::is_le),
            Comparator::Gt => ordering == Some(Ordering::Greater),
            Comparator::Ge => ordering.is_some_and(Ordering::is_ge),
        }
    }
}

/// A condition or filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    Exists(Path),
    Missing(Path),
    Compare(Path, Comparator, Value),
    Size(Path, Comparator, i64),
    Between(Path, Value, Value),
    In(Path, Vec<Value>),
    BeginsWith(Path, Value),
    Contains(Path, Value),
    Type(Path, ValueType),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

impl Condition {
    /// The text for the engine.
    pub(crate) fn text(&self, placeholders: &mut Placeholders) -> String {
        match self {
            Condition::Exists(path) => format!("attribute_exists({})", placeholders.path(path)),
            Condition::Missing(path) => format!("attribute_not_exists({})", placeholders.path(path)),
            Condition::Compare(path, comparator, value) => {
                format!("{} {} {}", placeholders.path(path), comparator.text(), placeholders.value(value))
            }
            Condition::Size(path, comparator, size) => {
                let (path, size) = (placeholders.path(path), placeholders.value(&Value::from(*size)));
                format!("size({path}) {} {size}", comparator.text())
            }
            Condition::Between(path, low, high) => {
                let path = placeholders.path(path);
                format!("{path} BETWEEN {} AND {}", placeholders.value(low), placeholders.value(high))
            }
            Condition::In(path, options) => {
                let path = placeholders.path(path);
                let options: Vec<String> = options.iter().map(|option| placeholders.value(option)).collect();
                format!("{path} IN ({})", options.join(", "))
            }
            Condition::BeginsWith(path, prefix) => {
                format!("begins_with({}, {})", placeholders.path(path), placeholders.value(prefix))
            }
            Condition::Contains(path, part) => {
                format!("contains({}, {})", placeholders.path(path), placeholders.value(part))
            }
            Condition::Type(path, kind) => {
                let kind = placeholders.value(&Value::from(kind.name()));
                format!("attribute_type({}, {kind})", placeholders.path(path))
            }
            Condition::And(left, right) => {
                format!("({}) AND ({})", left.text(placeholders), right.text(placeholders))
            }
            Condition::Or(left, right) => {
                format!("({}) OR ({})", left.text(placeholders), right.text(placeholders))
            }
            Condition::Not(inner) => format!("NOT ({})", inner.text(placeholders)),
        }
    }

    /// Whether an item meets it.
    pub(crate) fn holds(&self, item: &Item) -> bool {
        match self {
            Condition::Exists(path) => find(item, path).is_some(),
            Condition::Missing(path) => find(item, path).is_none(),
            Condition::Compare(path, comparator, value) => comparator.holds(find(item, path), value),
            Condition::Size(path, comparator, size) => {
                let found = find(item, path).and_then(size_of).map(Value::from);
                comparator.holds(found.as_ref(), &Value::from(*size))
            }
            Condition::Between(path, low, high) => {
                let value = find(item, path);
                Comparator::Ge.holds(value, low) && Comparator::Le.holds(value, high)
            }
            Condition::In(path, options) => options.iter().any(|option| find(item, path) == Some(option)),
            Condition::BeginsWith(path, prefix) => match (find(item, path), prefix) {
                (Some(Value::S(text)), Value::S(prefix)) => text.starts_with(prefix.as_str()),
                (Some(Value::B(bytes)), Value::B(prefix)) => bytes.starts_with(prefix),
                _ => false,
            },
            Condition::Contains(path, part) => find(item, path).is_some_and(|value| contains(value, part)),
            Condition::Type(path, kind) => find(item, path).is_some_and(|value| value.value_type() == *kind),
            Condition::And(left, right) => left.holds(item) && right.holds(item),
            Condition::Or(left, right) => left.holds(item) || right.holds(item),
            Condition::Not(inner) => !inner.holds(item),
        }
    }

    /// The top-level attributes it reads.
    pub(crate) fn roots(&self) -> Vec<&'static str> {
        match self {
            Condition::Exists(path)
            | Condition::Missing(path)
            | Condition::Compare(path, ..)
            | Condition::Size(path, ..)
            | Condition::Between(path, ..)
            | Condition::In(path, _)
            | Condition::BeginsWith(path, _)
            | Condition::Contains(path, _)
            | Condition::Type(path, _) => vec![path.root],
            Condition::And(left, right) | Condition::Or(left, right) => {
                [left.roots(), right.roots()].concat()
            }
            Condition::Not(inner) => inner.roots(),
        }
    }
}

fn size_of(value: &Value) -> Option<i64> {
    let size = match value {
        Value::S(text) => text.encode_utf16().count(),
        Value::B(bytes) => bytes.len(),
        Value::Ss(set) => set.len(),
        Value::Ns(set) => set.len(),
        Value::Bs(set) => set.len(),
        Value::L(list) => list.len(),
        Value::M(map) => map.len(),
        Value::N(_) | Value::Bool(_) | Value::Null => return None,
    };
    Some(i64::try_from(size).unwrap())
}

fn contains(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::L(list), part) => list.contains(part),
        (Value::S(text), Value::S(part)) => text.contains(part.as_str()),
        (Value::B(bytes), Value::B(part)) => {
            part.is_empty() || bytes.windows(part.len()).any(|window| window == &part[..])
        }
        (Value::Ss(set), Value::S(element)) => set.contains(element),
        (Value::Ns(set), Value::N(element)) => set.contains(element),
        (Value::Bs(set), Value::B(element)) => set.contains(element),
        _ => false,
    }
}

/// One change of an update.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Set(Path, Operand),
    Remove(Path),
    Add(&'static str, Value),
    Delete(&'static str, Value),
}

impl Action {
    /// The attribute that is changed as a whole.
    pub(crate) fn top_level_name(&self) -> Option<&'static str> {
        match self {
            Action::Set(path, _) | Action::Remove(path) => path.step.is_none().then_some(path.root),
            Action::Add(name, _) | Action::Delete(name, _) => Some(name),
        }
    }

    /// The type of what the action works with, where its text tells.
    pub(crate) fn known_type(&self) -> Option<ValueType> {
        match self {
            Action::Set(_, Operand::Value(value)) | Action::Add(_, value) | Action::Delete(_, value) => {
                Some(value.value_type())
            }
            Action::Set(_, Operand::Plus(..) | Operand::Minus(..)) => Some(ValueType::N),
            Action::Set(_, Operand::Append(..)) => Some(ValueType::L),
            Action::Set(..) | Action::Remove(_) => None,
        }
    }
}

/// What SET assigns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Value(Value),
    Path(Path),
    Plus(Path, Number),
    Minus(Path, Number),
    IfMissing(Path, Value),
    Append(Path, Vec<Value>),
}

/// The update breaks a rule for this item.
#[derive(Debug)]
pub(crate) struct Invalid;

/// The text of an update for the engine; none for an update that changes nothing.
pub(crate) fn update_text(actions: &[Action], placeholders: &mut Placeholders) -> Option<String> {
    let mut sections: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for action in actions {
        let (section, text) = match action {
            Action::Set(path, operand) => {
                let path = placeholders.path(path);
                ("SET", format!("{path} = {}", operand_text(operand, placeholders)))
            }
            Action::Remove(path) => ("REMOVE", placeholders.path(path)),
            Action::Add(name, value) => {
                ("ADD", format!("{} {}", placeholders.name(name), placeholders.value(value)))
            }
            Action::Delete(name, value) => {
                ("DELETE", format!("{} {}", placeholders.name(name), placeholders.value(value)))
            }
        };
        sections.entry(section).or_default().push(text);
    }
    let texts: Vec<String> =
        sections.into_iter().map(|(section, texts)| format!("{section} {}", texts.join(", "))).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

fn operand_text(operand: &Operand, placeholders: &mut Placeholders) -> String {
    match operand {
        Operand::Value(value) => placeholders.value(value),
        Operand::Path(path) => placeholders.path(path),
        Operand::Plus(path, number) => {
            format!("{} + {}", placeholders.path(path), placeholders.value(&Value::N(*number)))
        }
        Operand::Minus(path, number) => {
            format!("{} - {}", placeholders.path(path), placeholders.value(&Value::N(*number)))
        }
        Operand::IfMissing(path, value) => {
            format!("if_not_exists({}, {})", placeholders.path(path), placeholders.value(value))
        }
        Operand::Append(path, list) => {
            format!(
                "list_append({}, {})",
                placeholders.path(path),
                placeholders.value(&Value::L(list.clone()))
            )
        }
    }
}

/// The places that an update changes.
pub(crate) fn changed_paths(actions: &[Action]) -> Vec<Path> {
    let path = |action: &Action| match action {
        Action::Set(path, _) | Action::Remove(path) => path.clone(),
        Action::Add(root, _) | Action::Delete(root, _) => Path { root, step: None },
    };
    actions.iter().map(path).collect()
}

/// The item after an update: everything is read from the item as it was.
pub(crate) fn updated(old: &Item, actions: &[Action]) -> Result<Item, Invalid> {
    let mut new = old.clone();
    let mut lists: BTreeMap<&'static str, ListChanges> = BTreeMap::new();
    for action in actions {
        match action {
            Action::Set(path, operand) => {
                let value = operand.compute(old)?;
                match path.step {
                    Some(Step::Index(index)) => {
                        lists.entry(path.root).or_default().set.insert(index, value);
                    }
                    Some(Step::Name(name)) => {
                        map_of(&mut new, path.root)?.insert(name.to_owned(), value);
                    }
                    None => {
                        new.insert(path.root.to_owned(), value);
                    }
                }
            }
            Action::Remove(path) => match path.step {
                Some(Step::Index(index)) => lists.entry(path.root).or_default().removed.push(index),
                Some(Step::Name(name)) => {
                    map_of(&mut new, path.root)?.remove(name);
                }
                None => {
                    new.remove(path.root);
                }
            },
            Action::Add(root, more) => add(&mut new, root, more)?,
            Action::Delete(root, elements) => delete(&mut new, root, elements)?,
        }
    }
    for (root, changes) in lists {
        let Some(Value::L(list)) = new.get_mut(root) else { return Err(Invalid) };
        *list = changes.apply(std::mem::take(list));
    }
    Ok(new)
}

/// Changes to elements of one list; indexes mean the list as it was.
#[derive(Default)]
struct ListChanges {
    set: BTreeMap<usize, Value>,
    removed: Vec<usize>,
}

impl ListChanges {
    fn apply(mut self, list: Vec<Value>) -> Vec<Value> {
        let mut new = Vec::new();
        for (index, value) in list.into_iter().enumerate() {
            if !self.removed.contains(&index) {
                new.push(self.set.remove(&index).unwrap_or(value));
            }
        }
        new.extend(self.set.into_values());
        new
    }
}

fn map_of<'a>(item: &'a mut Item, root: &str) -> Result<&'a mut Item, Invalid> {
    match item.get_mut(root) {
        Some(Value::M(map)) => Ok(map),
        _ => Err(Invalid),
    }
}

fn add(item: &mut Item, root: &str, more: &Value) -> Result<(), Invalid> {
    match (item.get_mut(root), more) {
        (None, more) => {
            item.insert(root.to_owned(), more.clone());
        }
        (Some(Value::N(number)), Value::N(more)) => *number = number.plus(*more).map_err(|_| Invalid)?,
        (Some(Value::Ss(set)), Value::Ss(more)) => set.extend(more.iter().cloned()),
        (Some(Value::Ns(set)), Value::Ns(more)) => set.extend(more),
        (Some(Value::Bs(set)), Value::Bs(more)) => set.extend(more.iter().cloned()),
        _ => return Err(Invalid),
    }
    Ok(())
}

fn delete(item: &mut Item, root: &str, elements: &Value) -> Result<(), Invalid> {
    let is_empty = match (item.get_mut(root), elements) {
        (None, _) => false,
        (Some(Value::Ss(set)), Value::Ss(elements)) => {
            set.retain(|element| !elements.contains(element));
            set.is_empty()
        }
        (Some(Value::Ns(set)), Value::Ns(elements)) => {
            set.retain(|element| !elements.contains(element));
            set.is_empty()
        }
        (Some(Value::Bs(set)), Value::Bs(elements)) => {
            set.retain(|element| !elements.contains(element));
            set.is_empty()
        }
        _ => return Err(Invalid),
    };
    if is_empty {
        item.remove(root);
    }
    Ok(())
}

impl Operand {
    fn compute(&self, item: &Item) -> Result<Value, Invalid> {
        let number = |path: &Path| match find(item, path) {
            Some(Value::N(number)) => Ok(*number),
            _ => Err(Invalid),
        };
        match self {
            Operand::Value(value) => Ok(value.clone()),
            Operand::Path(path) => find(item, path).cloned().ok_or(Invalid),
            Operand::Plus(path, more) => number(path)?.plus(*more).map(Value::N).map_err(|_| Invalid),
            Operand::Minus(path, less) => number(path)?.minus(*less).map(Value::N).map_err(|_| Invalid),
            Operand::IfMissing(path, value) => Ok(find(item, path).unwrap_or(value).clone()),
            Operand::Append(path, more) => match find(item, path) {
                Some(Value::L(list)) => Ok(Value::L([list.clone(), more.clone()].concat())),
                _ => Err(Invalid),
            },
        }
    }
}
