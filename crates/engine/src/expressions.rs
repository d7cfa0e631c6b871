//! The expressions of a request, and the parameters from before them, as conditions, updates and projections.
//!
//! DynamoDB looks at the parameters in a fixed order, which each operation spells out; here is one step each.

use std::collections::BTreeMap;

use dynamo::operation::{self, AttributeValueUpdate, ConditionalOperator, ExpectedAttributeValue};
use dynamo::{ApiError, Choice, Faults, Map, Value};
use expression::{Condition, KeyConditions, Projection, Substitutions, Update, legacy};

use crate::parameters::Parameters;

/// The names and values of a request, through which its expressions are read.
pub(crate) struct Expressions<'a> {
    substitutions: Substitutions<'a>,
}

impl<'a> Expressions<'a> {
    /// Checks the names and values.
    pub(crate) fn new(
        names: Option<&'a BTreeMap<String, String>>,
        values: Option<&'a Map>,
        faults: &Faults,
    ) -> Result<Expressions<'a>, ApiError> {
        let substitutions = Substitutions::new(names, values)?;
        if let Some(fault) = faults.of("ExpressionAttributeValues") {
            let inner = ApiError::from(fault.kind.clone());
            return Err(ApiError::validation(format!(
                "ExpressionAttributeValues contains invalid value: {} for key {}",
                inner.message,
                fault.key.as_deref().unwrap_or_default()
            )));
        }
        Ok(Expressions { substitutions })
    }

    /// The ConditionExpression.
    pub(crate) fn condition(&mut self, text: Option<&str>) -> Result<Option<Condition>, ApiError> {
        Ok(text.map(|text| self.substitutions.condition(text)).transpose()?)
    }

    /// The FilterExpression.
    pub(crate) fn filter(&mut self, text: Option<&str>) -> Result<Option<Condition>, ApiError> {
        Ok(text.map(|text| self.substitutions.filter(text)).transpose()?)
    }

    /// The KeyConditionExpression.
    pub(crate) fn key_condition(&mut self, text: Option<&str>) -> Result<Option<Condition>, ApiError> {
        Ok(text.map(|text| self.substitutions.key_condition(text)).transpose()?)
    }

    /// The UpdateExpression.
    pub(crate) fn update(&mut self, text: Option<&str>) -> Result<Option<Update>, ApiError> {
        Ok(text.map(|text| self.substitutions.update(text)).transpose()?)
    }

    /// The ProjectionExpression.
    pub(crate) fn projection(&mut self, text: Option<&str>) -> Result<Option<Projection>, ApiError> {
        Ok(text.map(|text| self.substitutions.projection(text)).transpose()?)
    }

    /// Refuses names and values that no expression used.
    pub(crate) fn finish(self) -> Result<(), ApiError> {
        Ok(self.substitutions.finish()?)
    }
}

/// AttributesToGet as a projection.
pub(crate) fn attributes_to_get(names: Option<&Vec<String>>) -> Result<Option<Projection>, ApiError> {
    Ok(names.map(|names| legacy::attributes_to_get(names)).transpose()?)
}

/// The condition of a write: an expression, or Expected.
pub(crate) struct ConditionParameters<'a> {
    pub(crate) expected: Option<BTreeMap<String, ExpectedAttributeValue>>,
    pub(crate) conditional_operator: Option<Choice<ConditionalOperator>>,
    pub(crate) expression: Option<&'a str>,
    pub(crate) names: Option<&'a BTreeMap<String, String>>,
    pub(crate) values: Option<&'a BTreeMap<String, Value>>,
    pub(crate) faults: &'a Faults,
}

impl<'a> ConditionParameters<'a> {
    /// An expression alone.
    pub(crate) fn of_expression(
        expression: Option<&'a str>,
        names: Option<&'a BTreeMap<String, String>>,
        values: Option<&'a BTreeMap<String, Value>>,
        faults: &'a Faults,
    ) -> ConditionParameters<'a> {
        ConditionParameters { expected: None, conditional_operator: None, expression, names, values, faults }
    }

    /// Refuses parameters that must not come together.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        Parameters {
            expressions: &[("ConditionExpression", self.expression.is_some())],
            legacy: &[
                ("Expected", self.expected.is_some()),
                ("ConditionalOperator", self.conditional_operator.is_some()),
            ],
            names: self.names.is_some(),
            values: self.values.is_some(),
        }
        .check()
    }

    /// The condition, if there is one.
    pub(crate) fn bind(self) -> Result<Option<Condition>, ApiError> {
        let before = expected(self.expected.as_ref(), self.conditional_operator.as_ref(), self.faults)?;
        // Most writes are without one.
        if self.expression.is_none() && self.names.is_none() && self.values.is_none() {
            return Ok(before);
        }
        let mut expressions = Expressions::new(self.names, self.values, self.faults)?;
        let condition = expressions.condition(self.expression)?;
        expressions.finish()?;
        Ok(condition.or(before))
    }
}

fn expected(
    expected: Option<&BTreeMap<String, ExpectedAttributeValue>>,
    operator: Option<&Choice<ConditionalOperator>>,
    faults: &Faults,
) -> Result<Option<Condition>, ApiError> {
    let operator = operator.and_then(Choice::known);
    let Some(expected) = expected.filter(|expected| !expected.is_empty()) else {
        legacy::check_operator_alone(operator)?;
        return Ok(None);
    };
    faults.check("Expected")?;
    Ok(Some(legacy::expected(expected, operator)?))
}

/// The update and condition of UpdateItem.
pub(crate) struct UpdateParameters<'a> {
    pub(crate) attribute_updates: Option<BTreeMap<String, AttributeValueUpdate>>,
    pub(crate) expected: Option<BTreeMap<String, ExpectedAttributeValue>>,
    pub(crate) conditional_operator: Option<Choice<ConditionalOperator>>,
    pub(crate) update: Option<&'a str>,
    pub(crate) condition: Option<&'a str>,
    pub(crate) names: Option<&'a BTreeMap<String, String>>,
    pub(crate) values: Option<&'a BTreeMap<String, Value>>,
    pub(crate) faults: &'a Faults,
}

impl UpdateParameters<'_> {
    /// Refuses parameters that must not come together.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        Parameters {
            expressions: &[
                ("UpdateExpression", self.update.is_some()),
                ("ConditionExpression", self.condition.is_some()),
            ],
            legacy: &[
                ("AttributeUpdates", self.attribute_updates.is_some()),
                ("Expected", self.expected.is_some()),
                ("ConditionalOperator", self.conditional_operator.is_some()),
            ],
            names: self.names.is_some(),
            values: self.values.is_some(),
        }
        .check()
    }

    /// The update, which may do nothing but make the item, and the condition.
    pub(crate) fn bind(self) -> Result<(Update, Option<Condition>), ApiError> {
        self.faults.check("AttributeUpdates")?;
        let updates = self.attribute_updates.as_ref().map(legacy::attribute_updates).transpose()?;
        let before = expected(self.expected.as_ref(), self.conditional_operator.as_ref(), self.faults)?;
        let mut expressions = Expressions::new(self.names, self.values, self.faults)?;
        let update = expressions.update(self.update)?;
        let condition = expressions.condition(self.condition)?;
        expressions.finish()?;
        let update = update.or(updates).unwrap_or_else(|| Update::new(Vec::new()));
        Ok((update, condition.or(before)))
    }
}

/// The filter and projection of Query and Scan.
pub(crate) struct ReadParameters<'a> {
    /// QueryFilter or ScanFilter.
    pub(crate) filter_name: &'static str,
    pub(crate) legacy_filter: Option<BTreeMap<String, operation::Condition>>,
    pub(crate) conditional_operator: Option<Choice<ConditionalOperator>>,
    pub(crate) attributes_to_get: Option<Vec<String>>,
    pub(crate) filter: Option<&'a str>,
    pub(crate) projection: Option<&'a str>,
    pub(crate) names: Option<&'a BTreeMap<String, String>>,
    pub(crate) values: Option<&'a BTreeMap<String, Value>>,
    pub(crate) faults: &'a Faults,
}

impl<'a> ReadParameters<'a> {
    /// Refuses parameters that must not come together; Query has a key condition beside them.
    pub(crate) fn check(
        &self,
        key_expression: Option<bool>,
        legacy_keys: Option<bool>,
    ) -> Result<(), ApiError> {
        let mut expressions = vec![
            ("ProjectionExpression", self.projection.is_some()),
            ("FilterExpression", self.filter.is_some()),
        ];
        expressions.extend(key_expression.map(|is_present| ("KeyConditionExpression", is_present)));
        let mut legacy = vec![
            ("AttributesToGet", self.attributes_to_get.is_some()),
            (self.filter_name, self.legacy_filter.is_some()),
            ("ConditionalOperator", self.conditional_operator.is_some()),
        ];
        // KeyConditions may stand beside a filter expression, as long as there is no key condition expression.
        legacy.extend(
            legacy_keys.map(|is_present| ("KeyConditions", is_present && key_expression == Some(true))),
        );
        let (names, values) = (self.names.is_some(), self.values.is_some());
        Parameters { expressions: &expressions, legacy: &legacy, names, values }.check()
    }

    /// The filter from before expressions.
    pub(crate) fn bind_legacy_filter(&self) -> Result<Option<Condition>, ApiError> {
        self.faults.check(self.filter_name)?;
        let operator = self.conditional_operator.as_ref().and_then(Choice::known);
        if let Some(filter) = self.legacy_filter.as_ref().filter(|filter| !filter.is_empty()) {
            return Ok(Some(legacy::filter(filter, operator)?));
        }
        legacy::check_operator_alone(operator)?;
        Ok(None)
    }

    /// The names and values.
    pub(crate) fn expressions(&self) -> Result<Expressions<'a>, ApiError> {
        Expressions::new(self.names, self.values, self.faults)
    }
}

/// The key condition of a query, from an expression or KeyConditions.
pub(crate) fn key_conditions(
    expression: Option<&Condition>,
    before: Option<&BTreeMap<String, operation::Condition>>,
) -> Result<KeyConditions, ApiError> {
    match (expression, before) {
        (Some(condition), _) => Ok(KeyConditions::from_condition(condition)?),
        (None, Some(conditions)) => Ok(legacy::key_conditions(conditions)?),
        (None, None) => Err(ApiError::validation(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
        )),
    }
}

/// Raises what is wrong with a value of ExclusiveStartKey.
pub(crate) fn check_start_key_values(faults: &Faults) -> Result<(), ApiError> {
    let Some(fault) = faults.of("ExclusiveStartKey") else { return Ok(()) };
    let error = ApiError::from(fault.kind.clone());
    // DynamoDB says what the value is part of for some mistakes and not for others.
    let is_bare =
        ["contains duplicates", "number set", "numeric value", "significant digits", "number with magnitude"]
            .iter()
            .any(|words| error.message.contains(words));
    if is_bare {
        return Err(error);
    }
    Err(ApiError::validation(format!("The provided starting key is invalid: {}", error.message)))
}
