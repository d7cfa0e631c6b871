//! The parameters that expressions have replaced: Expected, AttributeUpdates, KeyConditions, QueryFilter, ScanFilter,
//! AttributesToGet and ConditionalOperator. They become the same conditions, updates and projections.

use std::collections::BTreeMap;
use std::sync::Arc;

use dynamo::operation::{
    AttributeAction, AttributeValueUpdate, ComparisonOperator, Condition as LegacyCondition,
    ConditionalOperator, ExpectedAttributeValue,
};
use dynamo::{ApiError, Choice, StoredValue, Value, ValueFault, ValueType, check_attribute_name};

use crate::condition::{Condition, Operand};
use crate::key_condition::{KeyConditions, KeyRange, KeyTest};
use crate::path::Path;
use crate::project::Projection;
use crate::tree::Comparator;
use crate::update::{Action, Assigned, Update};

/// What is wrong with a legacy parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LegacyError {
    /// Value and AttributeValueList for this attribute.
    ValueAndList(String),
    /// Exists and ComparisonOperator for this attribute.
    ExistsAndOperator(String),
    /// ComparisonOperator without a value for this attribute.
    OperatorWithoutValue(ComparisonOperator, String),
    /// AttributeValueList without ComparisonOperator for this attribute.
    ListWithoutOperator(String),
    /// Neither a value nor Exists false for this attribute.
    NoValue(Option<bool>, String),
    /// A value with Exists false for this attribute.
    ValueOfNothing(String),
    /// More or fewer values than the operator takes.
    ArgumentCount(ComparisonOperator),
    /// Values of different types.
    MixedTypes,
    /// A type that the operator does not take.
    ArgumentType(ComparisonOperator, ValueType),
    /// BETWEEN a value and a smaller one.
    BetweenOrder,
    /// ConditionalOperator with nothing to join.
    OperatorAlone,
    /// ConditionalOperator with a single condition.
    OperatorForOne,
    /// PUT or ADD without a value.
    UpdateWithoutValue,
    /// A type that cannot be added to or deleted from.
    UpdateType(AttributeAction, ValueType),
    /// AttributesToGet names an attribute twice.
    DuplicateName(String),
    /// A name that no attribute has.
    Name(ValueFault),
}

fn check_names<'a>(mut names: impl Iterator<Item = &'a String>) -> Result<(), LegacyError> {
    names.try_for_each(|name| check_attribute_name(name)).map_err(LegacyError::Name)
}

impl From<LegacyError> for ApiError {
    fn from(error: LegacyError) -> ApiError {
        let reason = match error {
            LegacyError::Name(fault) => return ApiError::from(fault),
            LegacyError::BetweenOrder => {
                return ApiError::validation(
                    "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
                );
            }
            LegacyError::OperatorAlone => {
                return ApiError::validation("ConditionalOperator cannot be used without Filter or Expected");
            }
            LegacyError::OperatorForOne => {
                return ApiError::validation(
                    "ConditionalOperator can only be used when Filter or Expected has two or more elements",
                );
            }
            other => other.reason(),
        };
        ApiError::validation(format!("One or more parameter values were invalid: {reason}"))
    }
}

impl LegacyError {
    fn reason(self) -> String {
        match self {
            LegacyError::ValueAndList(name) => {
                format!("Value and AttributeValueList cannot be used together for Attribute: {name}")
            }
            LegacyError::ExistsAndOperator(name) => {
                format!("Exists and ComparisonOperator cannot be used together for Attribute: {name}")
            }
            LegacyError::OperatorWithoutValue(operator, name) => format!(
                "Value or AttributeValueList must be used with ComparisonOperator: {} for Attribute: {name}",
                operator.name()
            ),
            LegacyError::ListWithoutOperator(name) => {
                format!("AttributeValueList can only be used with a ComparisonOperator for Attribute: {name}")
            }
            LegacyError::NoValue(exists, name) => {
                let exists = exists.map_or_else(|| "null".to_owned(), |exists| exists.to_string());
                format!("Value must be provided when Exists is {exists} for Attribute: {name}")
            }
            LegacyError::ValueOfNothing(name) => {
                format!("Value cannot be used when Exists is false for Attribute: {name}")
            }
            LegacyError::ArgumentCount(operator) => {
                format!("Invalid number of argument(s) for the {} ComparisonOperator", operator.name())
            }
            LegacyError::MixedTypes => {
                "AttributeValues inside AttributeValueList must be of same type".to_owned()
            }
            LegacyError::ArgumentType(operator, value_type) => format!(
                "ComparisonOperator {} is not valid for {} AttributeValue type",
                operator.name(),
                value_type.name()
            ),
            LegacyError::UpdateWithoutValue => {
                "Only DELETE action is allowed when no attribute value is specified".to_owned()
            }
            LegacyError::UpdateType(AttributeAction::Delete, value_type) => {
                format!("DELETE action with value is not supported for the type {}", value_type.name())
            }
            LegacyError::UpdateType(_, value_type) => {
                format!("ADD action is not supported for the type {}", value_type.name())
            }
            LegacyError::DuplicateName(name) => format!("Duplicate value in attribute name: {name}"),
            LegacyError::Name(_)
            | LegacyError::BetweenOrder
            | LegacyError::OperatorAlone
            | LegacyError::OperatorForOne => String::new(),
        }
    }
}

fn takes_count(operator: ComparisonOperator, count: usize) -> bool {
    match operator {
        ComparisonOperator::NotNull | ComparisonOperator::Null => count == 0,
        ComparisonOperator::In => count > 0,
        ComparisonOperator::Between => count == 2,
        _ => count == 1,
    }
}

fn takes_type(operator: ComparisonOperator, value_type: ValueType) -> bool {
    use ValueType::*;
    match operator {
        ComparisonOperator::Eq | ComparisonOperator::Ne => true,
        ComparisonOperator::BeginsWith => matches!(value_type, S | B),
        ComparisonOperator::Contains | ComparisonOperator::NotContains => {
            matches!(value_type, S | N | B | Bool | Null)
        }
        _ => matches!(value_type, S | N | B),
    }
}

/// The operator of a filter or key condition, which the field rules demand.
fn operator_of(entry: &LegacyCondition) -> ComparisonOperator {
    entry.comparison_operator.as_ref().and_then(Choice::known).unwrap_or(ComparisonOperator::Eq)
}

/// The condition that Expected and ConditionalOperator stand for.
pub fn expected(
    expected: &BTreeMap<String, ExpectedAttributeValue>,
    operator: Option<ConditionalOperator>,
) -> Result<Condition, LegacyError> {
    check_names(expected.keys())?;
    let conditions = expected.iter().map(|(name, entry)| expected_condition(name, entry));
    let conditions = conditions.collect::<Result<Vec<_>, LegacyError>>()?;
    join(conditions, operator)
}

/// The condition that QueryFilter or ScanFilter and ConditionalOperator stand for.
pub fn filter(
    filter: &BTreeMap<String, LegacyCondition>,
    operator: Option<ConditionalOperator>,
) -> Result<Condition, LegacyError> {
    check_names(filter.keys())?;
    let conditions = filter.iter().map(|(name, entry)| {
        let values = entry.attribute_value_list.as_deref().unwrap_or_default();
        check_arguments(operator_of(entry), values)?;
        Ok(condition(name, operator_of(entry), values))
    });
    let conditions = conditions.collect::<Result<Vec<_>, LegacyError>>()?;
    join(conditions, operator)
}

/// ConditionalOperator without Expected or a filter is refused.
pub fn check_operator_alone(operator: Option<ConditionalOperator>) -> Result<(), LegacyError> {
    operator.map_or(Ok(()), |_| Err(LegacyError::OperatorAlone))
}

/// What KeyConditions ask.
pub fn key_conditions(conditions: &BTreeMap<String, LegacyCondition>) -> Result<KeyConditions, LegacyError> {
    let tests = conditions.iter().map(|(name, entry)| {
        let values = entry.attribute_value_list.as_deref().unwrap_or_default();
        check_arguments(operator_of(entry), values)?;
        Ok((Arc::from(name.as_str()), key_test(operator_of(entry), values)))
    });
    Ok(KeyConditions::new(tests.collect::<Result<Vec<_>, LegacyError>>()?))
}

/// The update that AttributeUpdates stand for.
pub fn attribute_updates(updates: &BTreeMap<String, AttributeValueUpdate>) -> Result<Update, LegacyError> {
    check_names(updates.keys())?;
    let actions = updates.iter().map(|(name, update)| action(name, update));
    Ok(Update::legacy(actions.collect::<Result<Vec<_>, LegacyError>>()?))
}

/// The projection that AttributesToGet stands for.
pub fn attributes_to_get(names: &[String]) -> Result<Projection, LegacyError> {
    check_names(names.iter())?;
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    if let Some([name, _]) = sorted.array_windows().find(|[one, two]| one == two) {
        return Err(LegacyError::DuplicateName((*name).to_owned()));
    }
    Ok(Projection::of_names(sorted))
}

fn join(
    mut conditions: Vec<Condition>,
    operator: Option<ConditionalOperator>,
) -> Result<Condition, LegacyError> {
    if operator.is_some() && conditions.len() < 2 {
        return Err(LegacyError::OperatorForOne);
    }
    Ok(match operator {
        Some(ConditionalOperator::Or) => Condition::Any(conditions),
        _ if conditions.len() == 1 => conditions.remove(0),
        _ => Condition::All(conditions),
    })
}

fn expected_condition(name: &str, entry: &ExpectedAttributeValue) -> Result<Condition, LegacyError> {
    if entry.value.is_some() && entry.attribute_value_list.is_some() {
        return Err(LegacyError::ValueAndList(name.to_owned()));
    }
    if let Some(operator) = entry.comparison_operator.as_ref().and_then(Choice::known) {
        return expected_comparison(name, operator, entry);
    }
    if entry.attribute_value_list.is_some() {
        return Err(LegacyError::ListWithoutOperator(name.to_owned()));
    }
    match (entry.exists.unwrap_or(true), &entry.value) {
        (true, None) => Err(LegacyError::NoValue(entry.exists, name.to_owned())),
        (true, Some(value)) => Ok(condition(name, ComparisonOperator::Eq, std::slice::from_ref(value))),
        (false, Some(_)) => Err(LegacyError::ValueOfNothing(name.to_owned())),
        (false, None) => Ok(Condition::NotExists(Path::top_level(name))),
    }
}

fn expected_comparison(
    name: &str,
    operator: ComparisonOperator,
    entry: &ExpectedAttributeValue,
) -> Result<Condition, LegacyError> {
    if entry.exists.is_some() {
        return Err(LegacyError::ExistsAndOperator(name.to_owned()));
    }
    let one = entry.value.as_ref().map(std::slice::from_ref);
    let values = entry.attribute_value_list.as_deref().or(one);
    if values.is_none() && !takes_count(operator, 0) {
        return Err(LegacyError::OperatorWithoutValue(operator, name.to_owned()));
    }
    let values = values.unwrap_or_default();
    check_arguments(operator, values)?;
    Ok(condition(name, operator, values))
}

fn check_arguments(operator: ComparisonOperator, values: &[Value]) -> Result<(), LegacyError> {
    if !takes_count(operator, values.len()) {
        return Err(LegacyError::ArgumentCount(operator));
    }
    if values.array_windows().any(|[one, two]| one.value_type() != two.value_type()) {
        return Err(LegacyError::MixedTypes);
    }
    if let Some(value) = values.iter().find(|value| !takes_type(operator, value.value_type())) {
        return Err(LegacyError::ArgumentType(operator, value.value_type()));
    }
    match (operator, values) {
        (ComparisonOperator::Between, [low, high]) if is_above(low, high) => Err(LegacyError::BetweenOrder),
        _ => Ok(()),
    }
}

fn is_above(low: &Value, high: &Value) -> bool {
    let (low, high) = (StoredValue::encode(low), StoredValue::encode(high));
    low.as_ref().compare(high.as_ref()).is_some_and(std::cmp::Ordering::is_gt)
}

/// The condition, once its values were checked.
fn condition(name: &str, operator: ComparisonOperator, values: &[Value]) -> Condition {
    let path = Path::top_level(name);
    let attribute = Operand::Path(path.clone());
    let mut operands = values.iter().map(Operand::value);
    let mut next = || operands.next().unwrap_or_else(|| Operand::value(&Value::Null));
    let comparator = match operator {
        ComparisonOperator::Eq => Comparator::Eq,
        ComparisonOperator::Ne => Comparator::Ne,
        ComparisonOperator::Le => Comparator::Le,
        ComparisonOperator::Lt => Comparator::Lt,
        ComparisonOperator::Ge => Comparator::Ge,
        ComparisonOperator::Gt => Comparator::Gt,
        ComparisonOperator::NotNull => return Condition::Exists(path),
        ComparisonOperator::Null => return Condition::NotExists(path),
        ComparisonOperator::Contains => return Condition::Contains(attribute, next()),
        ComparisonOperator::BeginsWith => return Condition::BeginsWith(attribute, next()),
        // What is missing contains nothing, and still NOT_CONTAINS is false for it.
        ComparisonOperator::NotContains => {
            let contains = Condition::Contains(attribute, next());
            return Condition::All(vec![Condition::Exists(path), Condition::Not(Box::new(contains))]);
        }
        ComparisonOperator::In => return Condition::In { value: attribute, list: operands.collect() },
        ComparisonOperator::Between => {
            return Condition::Between { value: attribute, low: next(), high: next() };
        }
    };
    Condition::Compare { comparator, left: attribute, right: next() }
}

fn key_test(operator: ComparisonOperator, values: &[Value]) -> KeyTest {
    let mut values = values.iter().map(StoredValue::encode);
    let mut next = || values.next().unwrap_or_else(|| StoredValue::encode(&Value::Null));
    KeyTest::Range(match operator {
        ComparisonOperator::Eq => return KeyTest::Equal(next()),
        ComparisonOperator::Le => KeyRange::Le(next()),
        ComparisonOperator::Lt => KeyRange::Lt(next()),
        ComparisonOperator::Ge => KeyRange::Ge(next()),
        ComparisonOperator::Gt => KeyRange::Gt(next()),
        ComparisonOperator::BeginsWith => KeyRange::BeginsWith(next()),
        ComparisonOperator::Between => KeyRange::Between(next(), next()),
        _ => return KeyTest::NotIndexable,
    })
}

fn action(name: &str, update: &AttributeValueUpdate) -> Result<Action, LegacyError> {
    let path = Path::top_level(name);
    let action = update.action.as_ref().and_then(Choice::known).unwrap_or(AttributeAction::Put);
    let Some(value) = &update.value else {
        return match action {
            AttributeAction::Delete => Ok(Action::Remove(path)),
            _ => Err(LegacyError::UpdateWithoutValue),
        };
    };
    let value_type = value.value_type();
    match action {
        AttributeAction::Put => Ok(Action::Set(path, Assigned::Value(StoredValue::encode(value)))),
        AttributeAction::Delete if value_type.is_set() => Ok(Action::Delete(path, value.clone())),
        AttributeAction::Add if value_type.is_set() || matches!(value_type, ValueType::N | ValueType::L) => {
            Ok(Action::Add(path, value.clone()))
        }
        refused => Err(LegacyError::UpdateType(refused, value_type)),
    }
}

#[cfg(test)]
mod tests;
