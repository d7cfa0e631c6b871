//! Expressions with placeholders: every name behind a `#`, every value behind a `:`, so that no reserved word is in the way.

use std::collections::BTreeMap;

use dynamo::{Item, StoredItem, Value};
use expression::Substitutions;

use super::value::fill;
use crate::condition::{Comparator, Condition, Operand, Path, PathStep};

/// The names and values of one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Placeholders {
    pub(super) names: BTreeMap<String, String>,
    pub(super) values: Item,
}

impl Placeholders {
    /// The placeholder of a name.
    pub(super) fn name(&mut self, name: &str) -> String {
        let mut placeholder = word('#', name);
        let stem = placeholder.len();
        let mut number = 2;
        while self.names.get(&placeholder).is_some_and(|other| other != name) {
            placeholder.truncate(stem);
            placeholder.push_str(&number.to_string());
            number += 1;
        }
        self.names.entry(placeholder.clone()).or_insert_with(|| name.to_owned());
        placeholder
    }

    /// The placeholders of a path with dots.
    pub(super) fn dotted(&mut self, path: &str) -> String {
        if !path.contains('.') {
            return self.name(path);
        }
        path.split('.').map(|name| self.name(name)).collect::<Vec<_>>().join(".")
    }

    /// The placeholder of a value; `hint` is what it is called after.
    pub(super) fn value(&mut self, hint: &str, value: Value) -> String {
        let mut placeholder = word(':', hint);
        let stem = placeholder.len();
        let mut number = 2;
        while self.values.get(&placeholder).is_some_and(|other| *other != value) {
            placeholder.truncate(stem);
            placeholder.push_str(&number.to_string());
            number += 1;
        }
        self.values.entry(placeholder.clone()).or_insert(value);
        placeholder
    }

    fn path(&mut self, path: &Path) -> String {
        let mut text = String::new();
        for step in &path.steps {
            match step {
                PathStep::Name(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&self.name(name));
                }
                PathStep::Index(index) => text.extend(["[", &index.to_string(), "]"]),
            }
        }
        text
    }

    /// The condition as DynamoDB takes it; slots are filled from the scope. None if a slot has no value.
    pub(super) fn condition(&mut self, condition: &Condition, scope: &Item) -> Option<String> {
        Some(match condition {
            Condition::And(list) => self.joined(list, " AND ", scope)?,
            Condition::Or(list) => format!("({})", self.joined(list, " OR ", scope)?),
            Condition::Not(inner) => format!("NOT {}", self.condition(inner, scope)?),
            Condition::Compare(left, comparator, right, _) => {
                let hint = hint(left).or_else(|| hint(right));
                let left = self.operand(left, hint.as_deref(), scope)?;
                format!("{left} {} {}", comparator.symbol(), self.operand(right, hint.as_deref(), scope)?)
            }
            Condition::Between(value, low, high, _) => {
                let hint = hint(value);
                let value = self.operand(value, None, scope)?;
                let low = self.operand(low, hint.as_deref(), scope)?;
                format!("{value} BETWEEN {low} AND {}", self.operand(high, hint.as_deref(), scope)?)
            }
            Condition::In(value, list, _) => {
                let hint = hint(value);
                let value = self.operand(value, None, scope)?;
                let list = list.iter().map(|operand| self.operand(operand, hint.as_deref(), scope));
                format!("{value} IN ({})", list.collect::<Option<Vec<_>>>()?.join(", "))
            }
            Condition::Exists(path) => format!("attribute_exists({})", self.path(path)),
            Condition::NotExists(path) => format!("attribute_not_exists({})", self.path(path)),
            Condition::HasType(path, operand, _) => {
                let path = self.path(path);
                format!("attribute_type({path}, {})", self.operand(operand, Some("type"), scope)?)
            }
            Condition::BeginsWith(left, right, _) => {
                let hint = hint(left);
                let left = self.operand(left, None, scope)?;
                format!("begins_with({left}, {})", self.operand(right, hint.as_deref(), scope)?)
            }
            Condition::Contains(left, right, _) => {
                let hint = hint(left);
                let left = self.operand(left, None, scope)?;
                format!("contains({left}, {})", self.operand(right, hint.as_deref(), scope)?)
            }
        })
    }

    fn joined(&mut self, list: &[Condition], word: &str, scope: &Item) -> Option<String> {
        let parts = list.iter().map(|inner| self.condition(inner, scope)).collect::<Option<Vec<_>>>()?;
        Some(parts.join(word))
    }

    fn operand(&mut self, operand: &Operand, hint: Option<&str>, scope: &Item) -> Option<String> {
        let hint = hint.unwrap_or("value");
        Some(match operand {
            Operand::Path(path) => self.path(path),
            Operand::Size(path) => format!("size({})", self.path(path)),
            Operand::Text(template, _) => self.value(hint, fill(template, scope)?),
            Operand::Number(number, _) => self.value(hint, Value::N(*number)),
            Operand::Boolean(flag, _) => self.value(hint, Value::Bool(*flag)),
            Operand::Null(_) => self.value(hint, Value::Null),
        })
    }

    /// Names and values for a request: none rather than empty maps, which DynamoDB refuses.
    #[expect(clippy::type_complexity, reason = "two members of every request")]
    pub(super) fn into_parts(self) -> (Option<BTreeMap<String, String>>, Option<BTreeMap<String, Value>>) {
        let Placeholders { names, values } = self;
        ((!names.is_empty()).then_some(names), (!values.is_empty()).then_some(values))
    }

    /// The names for a request: none rather than an empty map, which DynamoDB refuses.
    pub(super) fn names_or_none(&self) -> Option<BTreeMap<String, String>> {
        (!self.names.is_empty()).then(|| self.names.clone())
    }

    /// The values for a request: none rather than an empty map, which DynamoDB refuses.
    pub(super) fn values_or_none(&self) -> Option<BTreeMap<String, Value>> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }
}

fn hint(operand: &Operand) -> Option<String> {
    match operand {
        Operand::Path(path) => Some(path.dotted().rsplit('.').next().unwrap_or_default().to_owned()),
        _ => None,
    }
}

/// A sign and a name with only what a placeholder may have.
fn word(sign: char, name: &str) -> String {
    let mut word = String::with_capacity(name.len() + 1);
    word.push(sign);
    word.extend(name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(100));
    word
}

/// Whether a condition holds for an item, by the rules of DynamoDB. A slot without a value makes it false.
pub fn holds(condition: &Condition, item: &Item, scope: &Item) -> bool {
    if let Some(answer) = simply(condition, item, scope) {
        return answer;
    }
    let mut placeholders = Placeholders::default();
    let Some(text) = placeholders.condition(condition, scope) else { return false };
    let (names, values) = (placeholders.names_or_none(), placeholders.values_or_none());
    let bound = Substitutions::new(names.as_ref(), values.as_ref())
        .and_then(|mut substitutions| substitutions.condition(&text));
    bound.is_ok_and(|condition| condition.matches(Some(&StoredItem::encode(item))))
}

/// The answer for what most conditions are: attributes that are there or not, or are equal to values, all of them together. None for
/// everything else, which is left to the expressions of DynamoDB.
fn simply(condition: &Condition, item: &Item, scope: &Item) -> Option<bool> {
    let found = |path: &Path| match path.steps.as_slice() {
        [PathStep::Name(name)] => Some(item.get(name)),
        _ => None,
    };
    match condition {
        Condition::And(list) => {
            let mut all = true;
            for inner in list {
                all &= simply(inner, item, scope)?;
            }
            Some(all)
        }
        Condition::Exists(path) => found(path).map(|value| value.is_some()),
        Condition::NotExists(path) => found(path).map(|value| value.is_none()),
        Condition::Compare(Operand::Path(path), Comparator::Equal, right, _) => {
            let value = found(path)?;
            Some(match right {
                Operand::Text(template, _) => {
                    fill(template, scope).is_some_and(|right| value == Some(&right))
                }
                Operand::Number(number, _) => value == Some(&Value::N(*number)),
                Operand::Boolean(flag, _) => value == Some(&Value::Bool(*flag)),
                _ => return None,
            })
        }
        _ => None,
    }
}
