//! ExecuteStatement: one PartiQL statement.

use super::{Choice, ConsumedCapacity, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure};
use crate::rules::{LIMIT, NEXT_TOKEN, PARAMETERS, STATEMENT};
use crate::{Item, StoredItem, Value};

shape! {
    /// Runs one PartiQL statement.
    pub struct ExecuteStatement with faults {
        statement: Option<String> = "Statement" => STATEMENT,
        parameters: Option<Vec<Value>> = "Parameters" => PARAMETERS,
        consistent_read: Option<bool> = "ConsistentRead",
        next_token: Option<String> = "NextToken" => NEXT_TOKEN,
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        limit: Option<i32> = "Limit" => LIMIT,
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
    }
}

shape! {
    /// Answers ExecuteStatement.
    pub struct ExecuteStatementReply {
        items: Option<Vec<StoredItem>> = "Items",
        next_token: Option<String> = "NextToken",
        consumed_capacity: Option<ConsumedCapacity> = "ConsumedCapacity",
        last_evaluated_key: Option<Item> = "LastEvaluatedKey",
    }
}
