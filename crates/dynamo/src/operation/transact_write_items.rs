//! TransactWriteItems: up to 100 writes and checks, all or none.

use std::collections::BTreeMap;

use super::{
    Choice, ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
    ReturnValuesOnConditionCheckFailure,
};
use crate::rules::{ACTIONS, REQUIRED, TABLE, TOKEN};
use crate::{Item, StoredItem, Value};

shape! {
    /// A condition that an item must meet.
    pub struct ConditionCheck with faults {
        table_name: Option<String> = "TableName" => TABLE,
        key: Option<Item> = "Key" => REQUIRED,
        condition_expression: Option<String> = "ConditionExpression" => REQUIRED,
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
        expression_attribute_values: Option<BTreeMap<String, Value>> = "ExpressionAttributeValues",
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
    }
}

shape! {
    /// An item to store.
    pub struct Put with faults {
        item: Option<StoredItem> = "Item" => REQUIRED,
        table_name: Option<String> = "TableName" => TABLE,
        condition_expression: Option<String> = "ConditionExpression",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
        expression_attribute_values: Option<BTreeMap<String, Value>> = "ExpressionAttributeValues",
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
    }
}

shape! {
    /// An item to remove.
    pub struct Delete with faults {
        key: Option<Item> = "Key" => REQUIRED,
        table_name: Option<String> = "TableName" => TABLE,
        condition_expression: Option<String> = "ConditionExpression",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
        expression_attribute_values: Option<BTreeMap<String, Value>> = "ExpressionAttributeValues",
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
    }
}

shape! {
    /// An item to change.
    pub struct Update with faults {
        key: Option<Item> = "Key" => REQUIRED,
        update_expression: Option<String> = "UpdateExpression" => REQUIRED,
        table_name: Option<String> = "TableName" => TABLE,
        condition_expression: Option<String> = "ConditionExpression",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
        expression_attribute_values: Option<BTreeMap<String, Value>> = "ExpressionAttributeValues",
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
    }
}

shape! {
    /// One action of a writing transaction; exactly one member is set.
    pub struct TransactWriteItem {
        condition_check: Option<ConditionCheck> = "ConditionCheck",
        put: Option<Put> = "Put",
        delete: Option<Delete> = "Delete",
        update: Option<Update> = "Update",
    }
}

shape! {
    /// Up to 100 writes and checks, all or none.
    pub struct TransactWriteItems {
        transact_items: Option<Vec<TransactWriteItem>> = "TransactItems" => ACTIONS,
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        return_item_collection_metrics: Option<Choice<ReturnItemCollectionMetrics>> = "ReturnItemCollectionMetrics",
        client_request_token: Option<String> = "ClientRequestToken" => TOKEN,
    }
}

shape! {
    /// Answers TransactWriteItems.
    pub struct TransactWriteItemsReply {
        consumed_capacity: Option<Vec<ConsumedCapacity>> = "ConsumedCapacity",
        item_collection_metrics: Option<BTreeMap<String, Vec<ItemCollectionMetrics>>> = "ItemCollectionMetrics",
    }
}
