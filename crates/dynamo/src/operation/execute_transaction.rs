//! ExecuteTransaction: up to 100 PartiQL statements, all or none.

use super::{
    Choice, ConsumedCapacity, ItemResponse, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
};
use crate::Value;
use crate::rules::{ACTIONS, PARAMETERS, STATEMENT, TOKEN};

shape! {
    /// One statement of a transaction.
    pub struct ParameterizedStatement with faults {
        statement: Option<String> = "Statement" => STATEMENT,
        parameters: Option<Vec<Value>> = "Parameters" => PARAMETERS,
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
    }
}

shape! {
    /// Runs up to 100 PartiQL statements, all or none.
    pub struct ExecuteTransaction {
        transact_statements: Option<Vec<ParameterizedStatement>> = "TransactStatements" => ACTIONS,
        client_request_token: Option<String> = "ClientRequestToken" => TOKEN,
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
    }
}

shape! {
    /// Answers ExecuteTransaction.
    pub struct ExecuteTransactionReply {
        responses: Option<Vec<ItemResponse>> = "Responses",
        consumed_capacity: Option<Vec<ConsumedCapacity>> = "ConsumedCapacity",
    }
}
