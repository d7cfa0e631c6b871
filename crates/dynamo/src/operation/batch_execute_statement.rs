//! BatchExecuteStatement: up to 25 PartiQL statements, each by itself.

use super::{Choice, ConsumedCapacity, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure};
use crate::rules::{PARAMETERS, STATEMENT, STATEMENTS};
use crate::{StoredItem, Value};

shape! {
    /// One statement of a batch.
    pub struct BatchStatementRequest with faults {
        statement: Option<String> = "Statement" => STATEMENT,
        parameters: Option<Vec<Value>> = "Parameters" => PARAMETERS,
        consistent_read: Option<bool> = "ConsistentRead",
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
    }
}

shape! {
    /// Runs up to 25 PartiQL statements, each by itself.
    pub struct BatchExecuteStatement {
        statements: Option<Vec<BatchStatementRequest>> = "Statements" => STATEMENTS,
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
    }
}

shape! {
    /// Why a statement of a batch failed.
    pub struct BatchStatementError {
        code: Option<String> = "Code",
        message: Option<String> = "Message",
        item: Option<StoredItem> = "Item",
    }
}

shape! {
    /// What a statement of a batch gave.
    pub struct BatchStatementResponse {
        error: Option<BatchStatementError> = "Error",
        table_name: Option<String> = "TableName",
        item: Option<StoredItem> = "Item",
    }
}

shape! {
    /// Answers BatchExecuteStatement.
    pub struct BatchExecuteStatementReply {
        responses: Option<Vec<BatchStatementResponse>> = "Responses",
        consumed_capacity: Option<Vec<ConsumedCapacity>> = "ConsumedCapacity",
    }
}
