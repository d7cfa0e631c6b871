//! Key conditions: from a condition, or from KeyConditions, to the part of an index that a query reads.
//!
//! Path of a key condition: [`Condition`] -> [`KeyConditions`], one condition for each attribute, which needs no table ->
//! [`KeyConditions::resolve`] with the table's or index's key -> [`KeyCondition`].

use std::sync::Arc;

use dynamo::{ApiError, KeyType, StoredValue};

use crate::condition::{Condition, Operand};
use crate::path::Path;
use crate::tree::{Comparator, Function};

/// The key attributes of a table or index, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySchema<'a> {
    /// The partition key attributes.
    pub partition: Vec<(&'a str, KeyType)>,
    /// The sort key attributes.
    pub sort: Vec<(&'a str, KeyType)>,
}

/// What is asked of each key attribute; at most one condition for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyConditions {
    conditions: Vec<(Arc<str>, KeyTest)>,
}

/// What is asked of one key attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyTest {
    /// It has this value.
    Equal(StoredValue),
    /// It lies in this range.
    Range(KeyRange),
    /// An operator that no index can answer, from KeyConditions.
    NotIndexable,
}

/// A range of a sort key attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyRange {
    /// Below.
    Lt(StoredValue),
    /// Below or equal.
    Le(StoredValue),
    /// Above.
    Gt(StoredValue),
    /// Above or equal.
    Ge(StoredValue),
    /// From the first to the second, both included.
    Between(StoredValue, StoredValue),
    /// Beginning with this text or binary.
    BeginsWith(StoredValue),
}

/// The part of a table or index that a query reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCondition {
    /// The values of all partition key attributes.
    pub partition: Vec<StoredValue>,
    /// The values of the first sort key attributes, those that are tested for equality.
    pub sort: Vec<StoredValue>,
    /// The range of the sort key attribute after those, if it is limited.
    pub range: Option<KeyRange>,
}

/// What is wrong with a key condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyConditionError {
    /// An operator or function that is not for keys.
    Operator(&'static str),
    /// `size`.
    NestedOperation,
    /// A path into a map or list.
    NestedAttribute,
    /// The first operand is not the key attribute.
    FirstOperand(&'static str),
    /// Two attributes in one condition.
    TwoAttributes,
    /// Two values compared.
    NoAttribute,
    /// Two conditions for one attribute.
    Twice,
    /// No condition, or so many in KeyConditions that no table has as many keys.
    None,
    /// So many conditions, more than the key has attributes.
    TooMany(usize, usize),
    /// Partition key attributes that have no equality.
    PartitionEquality(Vec<String>),
    /// Sort key attributes that have no equality and stand before one that has a condition.
    SortEquality(Vec<String>, String),
    /// A key attribute that needs a condition and has none.
    Missed(String),
    /// KeyConditions with an operator that no index can answer.
    NotIndexable,
    /// A value that is not of the key's type.
    Type,
    /// A range where equality is needed, or a condition on an attribute that is not a key.
    NotSupported,
}

impl From<KeyConditionError> for ApiError {
    fn from(error: KeyConditionError) -> ApiError {
        let fixed = match error {
            KeyConditionError::Operator(operator) => {
                return ApiError::validation(format!(
                    "Invalid operator used in KeyConditionExpression: {operator}"
                ));
            }
            KeyConditionError::FirstOperand(operator) => {
                return ApiError::validation(format!(
                    "Invalid condition in KeyConditionExpression: {operator} operator must have the key attribute \
                     as its first operand"
                ));
            }
            KeyConditionError::Missed(name) => {
                return ApiError::validation(format!("Query condition missed key schema element: {name}"));
            }
            KeyConditionError::TooMany(count, attributes) => {
                return ApiError::validation(format!(
                    "The number of query conditions ({count}) exceeds the number of key attributes defined in the schema \
                     ({attributes})"
                ));
            }
            KeyConditionError::PartitionEquality(names) => {
                return ApiError::validation(format!(
                    "HASH key attributes {} must have equality conditions specified in the query",
                    names.join(", ")
                ));
            }
            KeyConditionError::SortEquality(names, later) => {
                return ApiError::validation(format!(
                    "RANGE key attributes {} must have equality conditions specified in the query because a condition is \
                     present on key attribute {later}",
                    names.join(", ")
                ));
            }
            KeyConditionError::NestedOperation => "KeyConditionExpressions cannot contain nested operations",
            KeyConditionError::NestedAttribute => {
                "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes"
            }
            KeyConditionError::TwoAttributes => {
                "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
            }
            KeyConditionError::NoAttribute => {
                "Invalid condition in KeyConditionExpression: No key attribute specified"
            }
            KeyConditionError::Twice => {
                "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"
            }
            KeyConditionError::None => "Conditions can be of length 1 or 2 only",
            KeyConditionError::NotIndexable => {
                "Attempted conditional constraint is not an indexable operation"
            }
            KeyConditionError::Type => {
                "One or more parameter values were invalid: Condition parameter type does not match schema type"
            }
            KeyConditionError::NotSupported => "Query key condition not supported",
        };
        ApiError::validation(fixed)
    }
}

impl KeyConditions {
    /// One condition for each attribute.
    pub fn new(conditions: Vec<(Arc<str>, KeyTest)>) -> KeyConditions {
        KeyConditions { conditions }
    }

    /// Takes a KeyConditionExpression apart. DynamoDB does this after all expressions of the request were bound.
    pub fn from_condition(condition: &Condition) -> Result<KeyConditions, KeyConditionError> {
        let mut found = KeyConditions { conditions: Vec::new() };
        found.collect(condition)?;
        Ok(found)
    }

    fn collect(&mut self, condition: &Condition) -> Result<(), KeyConditionError> {
        if let Condition::All(parts) = condition {
            return parts.iter().try_for_each(|part| self.collect(part));
        }
        let (name, test) = test_of(condition)?;
        if self.conditions.iter().any(|(other, _)| *other == name) {
            return Err(KeyConditionError::Twice);
        }
        self.conditions.push((name, test));
        Ok(())
    }

    /// The attributes that have a condition.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().map(|(name, _)| &**name)
    }

    /// What to read of a table or index with these keys.
    pub fn resolve(&self, schema: &KeySchema<'_>) -> Result<KeyCondition, KeyConditionError> {
        let attributes = schema.partition.len() + schema.sort.len();
        if self.conditions.is_empty() {
            return Err(KeyConditionError::None);
        }
        if self.conditions.len() > attributes {
            return Err(KeyConditionError::TooMany(self.conditions.len(), attributes));
        }
        if schema.partition.len() > 1 || schema.sort.len() > 1 {
            self.check_equalities(schema)?;
        }
        let mut found = KeyCondition { partition: Vec::new(), sort: Vec::new(), range: None };
        for (name, key_type) in &schema.partition {
            let test = self.checked_test(name, *key_type)?;
            match test.ok_or_else(|| KeyConditionError::Missed((*name).to_owned()))? {
                KeyTest::Equal(value) => found.partition.push(value.clone()),
                _ => return Err(KeyConditionError::NotSupported),
            }
        }
        self.resolve_sort(schema, &mut found)?;
        Ok(found)
    }

    /// Keys of several attributes have complaints of their own.
    fn check_equalities(&self, schema: &KeySchema<'_>) -> Result<(), KeyConditionError> {
        let test =
            |name: &str| self.conditions.iter().find(|(other, _)| **other == *name).map(|(_, test)| test);
        let is_unequal = |name: &str| !matches!(test(name), Some(KeyTest::Equal(_)));
        let unequal = |names: &[(&str, KeyType)]| -> Vec<String> {
            names.iter().filter(|(name, _)| is_unequal(name)).map(|(name, _)| (*name).to_owned()).collect()
        };
        let partition = unequal(&schema.partition);
        if !partition.is_empty() {
            return Err(KeyConditionError::PartitionEquality(partition));
        }
        let Some(last) = schema.sort.iter().rposition(|(name, _)| test(name).is_some()) else {
            return Ok(());
        };
        let (before, from) = schema.sort.split_at(last);
        let before = unequal(before);
        match from.first() {
            Some((later, _)) if !before.is_empty() => {
                Err(KeyConditionError::SortEquality(before, (*later).to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Sort key attributes count from the left: no gap, and nothing after a range.
    fn resolve_sort(
        &self,
        schema: &KeySchema<'_>,
        found: &mut KeyCondition,
    ) -> Result<(), KeyConditionError> {
        let mut left = self.conditions.len() - schema.partition.len().min(self.conditions.len());
        for (name, key_type) in &schema.sort {
            if left == 0 {
                return Ok(());
            }
            let test = self.checked_test(name, *key_type)?;
            match test.ok_or_else(|| KeyConditionError::Missed((*name).to_owned()))? {
                _ if found.range.is_some() => return Err(KeyConditionError::NotSupported),
                KeyTest::Equal(value) => found.sort.push(value.clone()),
                KeyTest::Range(range) => found.range = Some(range.clone()),
                KeyTest::NotIndexable => return Err(KeyConditionError::NotIndexable),
            }
            left -= 1;
        }
        if left > 0 { Err(KeyConditionError::NotSupported) } else { Ok(()) }
    }

    /// The condition on an attribute, if it can be answered and has the key's type.
    fn checked_test(&self, name: &str, key_type: KeyType) -> Result<Option<&KeyTest>, KeyConditionError> {
        let Some((_, test)) = self.conditions.iter().find(|(other, _)| **other == *name) else {
            return Ok(None);
        };
        if *test == KeyTest::NotIndexable {
            return Err(KeyConditionError::NotIndexable);
        }
        if test
            .values()
            .into_iter()
            .flatten()
            .any(|value| value.as_ref().value_type() != key_type.value_type())
        {
            return Err(KeyConditionError::Type);
        }
        Ok(Some(test))
    }
}

impl KeyTest {
    fn values(&self) -> [Option<&StoredValue>; 2] {
        match self {
            KeyTest::Equal(value) => [Some(value), None],
            KeyTest::Range(range) => range.values(),
            KeyTest::NotIndexable => [None, None],
        }
    }
}

impl KeyRange {
    /// The bounds.
    pub fn values(&self) -> [Option<&StoredValue>; 2] {
        match self {
            KeyRange::Lt(value)
            | KeyRange::Le(value)
            | KeyRange::Gt(value)
            | KeyRange::Ge(value)
            | KeyRange::BeginsWith(value) => [Some(value), None],
            KeyRange::Between(low, high) => [Some(low), Some(high)],
        }
    }

    /// Whether a value lies in the range; not if it has another type than the bounds.
    pub fn contains(&self, value: dynamo::ValueRef<'_>) -> bool {
        use std::cmp::Ordering;
        let is = |bound: &StoredValue, accepted: fn(Ordering) -> bool| {
            value.compare(bound.as_ref()).is_some_and(accepted)
        };
        match self {
            KeyRange::Lt(bound) => is(bound, Ordering::is_lt),
            KeyRange::Le(bound) => is(bound, Ordering::is_le),
            KeyRange::Gt(bound) => is(bound, Ordering::is_gt),
            KeyRange::Ge(bound) => is(bound, Ordering::is_ge),
            KeyRange::Between(low, high) => is(low, Ordering::is_ge) && is(high, Ordering::is_le),
            KeyRange::BeginsWith(prefix) => value.starts_with(prefix.as_ref()),
        }
    }
}

/// The attribute of a condition and what is asked of it.
fn test_of(condition: &Condition) -> Result<(Arc<str>, KeyTest), KeyConditionError> {
    match condition {
        Condition::Compare { comparator: Comparator::Ne, .. } => Err(KeyConditionError::Operator("<>")),
        Condition::Compare { comparator, left, right } => {
            let (name, values) = attribute_and_values([left, right])?;
            let comparator = if left.path().is_some() { *comparator } else { comparator.mirrored() };
            one_value(name, values, |value| comparison(comparator, value))
        }
        Condition::Between { value, low, high } => {
            first_is_attribute(value, "BETWEEN")?;
            let (name, values) = attribute_and_values([value, low, high])?;
            match <[StoredValue; 2]>::try_from(values) {
                Ok([low, high]) => Ok((name, KeyTest::Range(KeyRange::Between(low, high)))),
                Err(_) => Err(KeyConditionError::NoAttribute),
            }
        }
        Condition::BeginsWith(value, prefix) => {
            first_is_attribute(value, Function::BeginsWith.name())?;
            let (name, values) = attribute_and_values([value, prefix])?;
            one_value(name, values, |value| KeyTest::Range(KeyRange::BeginsWith(value)))
        }
        other => Err(KeyConditionError::Operator(refused_operator(other))),
    }
}

fn refused_operator(condition: &Condition) -> &'static str {
    match condition {
        Condition::Any(_) => "OR",
        Condition::Not(_) => "NOT",
        Condition::In { .. } => "IN",
        Condition::Exists(_) => Function::AttributeExists.name(),
        Condition::NotExists(_) => Function::AttributeNotExists.name(),
        Condition::HasType(..) => Function::AttributeType.name(),
        _ => Function::Contains.name(),
    }
}

fn comparison(comparator: Comparator, value: StoredValue) -> KeyTest {
    KeyTest::Range(match comparator {
        Comparator::Eq | Comparator::Ne => return KeyTest::Equal(value),
        Comparator::Lt => KeyRange::Lt(value),
        Comparator::Le => KeyRange::Le(value),
        Comparator::Gt => KeyRange::Gt(value),
        Comparator::Ge => KeyRange::Ge(value),
    })
}

fn one_value(
    name: Arc<str>,
    values: Vec<StoredValue>,
    test: impl FnOnce(StoredValue) -> KeyTest,
) -> Result<(Arc<str>, KeyTest), KeyConditionError> {
    values.into_iter().next().map(|value| (name, test(value))).ok_or(KeyConditionError::NoAttribute)
}

fn first_is_attribute(operand: &Operand, operator: &'static str) -> Result<(), KeyConditionError> {
    match operand {
        Operand::Path(_) => Ok(()),
        _ => Err(KeyConditionError::FirstOperand(operator)),
    }
}

/// The one attribute among the operands, and the values.
fn attribute_and_values<const N: usize>(
    operands: [&Operand; N],
) -> Result<(Arc<str>, Vec<StoredValue>), KeyConditionError> {
    let mut attribute: Option<&Path> = None;
    let mut values = Vec::with_capacity(N);
    for operand in operands {
        match operand {
            Operand::Path(_) if attribute.is_some() => return Err(KeyConditionError::TwoAttributes),
            Operand::Path(path) if path.is_nested() => return Err(KeyConditionError::NestedAttribute),
            Operand::Path(path) => attribute = Some(path),
            Operand::Value(value) => values.push(value.clone()),
            Operand::Size(_) => return Err(KeyConditionError::NestedOperation),
        }
    }
    let attribute = attribute.ok_or(KeyConditionError::NoAttribute)?;
    Ok((attribute.root.clone(), values))
}

#[cfg(test)]
mod tests;
