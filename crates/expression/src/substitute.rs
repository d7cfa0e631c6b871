//! ExpressionAttributeNames and ExpressionAttributeValues, which all expressions of a request share.
//!
//! Path of a request's expressions: [`Substitutions::new`], then each expression in DynamoDB's order (update before
//! condition; key condition, filter, projection), then [`Substitutions::finish`], which refuses what none has used.

use std::collections::BTreeMap;

use dynamo::{Map, Value};

use crate::bind::{bind_condition, bind_projection, bind_update};
use crate::cache::{cached_condition, cached_projection, cached_update};
use crate::condition::Condition;
use crate::error::{ExpressionError, ExpressionKind, Fault};
use crate::project::Projection;
use crate::token::is_placeholder;
use crate::update::Update;

/// The longest placeholder, with its first character.
const PLACEHOLDER_BYTES_MAX: usize = 255;

/// The names and values of a request, and which of them were used.
#[derive(Debug)]
pub struct Substitutions<'a> {
    names: Entries<'a, String>,
    values: Entries<'a, Value>,
}

/// Placeholders in ascending order with what they stand for and whether they were used.
#[derive(Debug)]
struct Entries<'a, T> {
    entries: Vec<(&'a str, &'a T, bool)>,
}

impl<'a> Substitutions<'a> {
    /// Takes the names and values of a request; refuses empty maps and keys that are not placeholders.
    pub fn new(
        names: Option<&'a BTreeMap<String, String>>,
        values: Option<&'a Map>,
    ) -> Result<Substitutions<'a>, ExpressionError> {
        if names.is_some_and(BTreeMap::is_empty) {
            return Err(ExpressionError::NamesEmpty);
        }
        for key in names.into_iter().flatten().map(|(key, _)| key) {
            check_key(key, b'#', ExpressionError::NameKey, ExpressionError::NameKeyTooLong)?;
        }
        if let Some((key, _)) = names.into_iter().flatten().find(|(_, name)| name.is_empty()) {
            return Err(ExpressionError::NameEmpty(key.clone()));
        }
        let is_long = |name: &str| name.len() > dynamo::limits::ATTRIBUTE_NAME_BYTES_MAX;
        if let Some((key, _)) = names.into_iter().flatten().find(|(_, name)| is_long(name)) {
            return Err(ExpressionError::NameTooLong(key.clone()));
        }
        if values.is_some_and(BTreeMap::is_empty) {
            return Err(ExpressionError::ValuesEmpty);
        }
        for key in values.into_iter().flatten().map(|(key, _)| key) {
            check_key(key, b':', ExpressionError::ValueKey, ExpressionError::ValueKeyTooLong)?;
        }
        Ok(Substitutions { names: Entries::new(names), values: Entries::new(values) })
    }

    /// Parses and binds a ConditionExpression.
    pub fn condition(&mut self, text: &str) -> Result<Condition, ExpressionError> {
        self.any_condition(ExpressionKind::Condition, text)
    }

    /// Parses and binds a FilterExpression.
    pub fn filter(&mut self, text: &str) -> Result<Condition, ExpressionError> {
        self.any_condition(ExpressionKind::Filter, text)
    }

    /// Parses and binds a KeyConditionExpression; [`crate::KeyConditions::from_condition`] looks at it more closely.
    pub fn key_condition(&mut self, text: &str) -> Result<Condition, ExpressionError> {
        self.any_condition(ExpressionKind::KeyCondition, text)
    }

    fn any_condition(&mut self, kind: ExpressionKind, text: &str) -> Result<Condition, ExpressionError> {
        let tree = cached_condition(kind, text)?;
        bind_condition(&tree, self).map_err(|fault| fault.of(kind))
    }

    /// Parses and binds an UpdateExpression.
    pub fn update(&mut self, text: &str) -> Result<Update, ExpressionError> {
        let tree = cached_update(text)?;
        bind_update(&tree, self).map_err(|fault| fault.of(ExpressionKind::Update))
    }

    /// Parses and binds a ProjectionExpression.
    pub fn projection(&mut self, text: &str) -> Result<Projection, ExpressionError> {
        let tree = cached_projection(text)?;
        bind_projection(&tree, self).map_err(|fault| fault.of(ExpressionKind::Projection))
    }

    /// Refuses names, then values, that no expression has used.
    pub fn finish(self) -> Result<(), ExpressionError> {
        let names = self.names.unused();
        if !names.is_empty() {
            return Err(ExpressionError::UnusedNames(names));
        }
        let values = self.values.unused();
        if !values.is_empty() {
            return Err(ExpressionError::UnusedValues(values));
        }
        Ok(())
    }

    /// What `#name` stands for.
    pub(crate) fn name(&mut self, placeholder: &str) -> Result<&'a str, Fault> {
        let name = self.names.find(placeholder).map(String::as_str);
        name.ok_or_else(|| Fault::NameUndefined(placeholder.to_owned()))
    }

    /// What `:value` stands for.
    pub(crate) fn value(&mut self, placeholder: &str) -> Result<&'a Value, Fault> {
        self.values.find(placeholder).ok_or_else(|| Fault::ValueUndefined(placeholder.to_owned()))
    }
}

fn check_key(
    key: &str,
    sign: u8,
    wrong: fn(String) -> ExpressionError,
    too_long: fn(String) -> ExpressionError,
) -> Result<(), ExpressionError> {
    if !is_placeholder(key, sign) {
        return Err(wrong(key.to_owned()));
    }
    if key.len() > PLACEHOLDER_BYTES_MAX {
        return Err(too_long(key.to_owned()));
    }
    Ok(())
}

impl<'a, T> Entries<'a, T> {
    fn new(map: Option<&'a BTreeMap<String, T>>) -> Entries<'a, T> {
        let entries = map.into_iter().flatten().map(|(key, value)| (key.as_str(), value, false));
        Entries { entries: entries.collect() }
    }

    fn find(&mut self, placeholder: &str) -> Option<&'a T> {
        let place = self.entries.binary_search_by_key(&placeholder, |(key, ..)| key).ok()?;
        let (_, value, used) = self.entries.get_mut(place)?;
        *used = true;
        Some(value)
    }

    fn unused(&self) -> Vec<String> {
        self.entries.iter().filter(|(.., used)| !used).map(|(key, ..)| (*key).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests;
