//! DeleteItem: removes the item with a key.

use std::collections::BTreeMap;

use super::{
    Choice, ConditionalOperator, ConsumedCapacity, ExpectedAttributeValue, ItemCollectionMetrics,
    ReturnConsumedCapacity, ReturnItemCollectionMetrics, ReturnValues, ReturnValuesOnConditionCheckFailure,
};
use crate::rules::{REQUIRED, TABLE};
use crate::{Item, StoredItem, Value};

shape! {
    /// Removes the item with a key.
    pub struct DeleteItem with faults {
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        table_name: Option<String> = "TableName" => TABLE,
        return_values: Option<Choice<ReturnValues>> = "ReturnValues",
        return_item_collection_metrics: Option<Choice<ReturnItemCollectionMetrics>> = "ReturnItemCollectionMetrics",
        key: Option<Item> = "Key" => REQUIRED,
        conditional_operator: Option<Choice<ConditionalOperator>> = "ConditionalOperator",
        expected: Option<BTreeMap<String, ExpectedAttributeValue>> = "Expected",
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
        condition_expression: Option<String> = "ConditionExpression",
        expression_attribute_values: Option<BTreeMap<String, Value>> = "ExpressionAttributeValues",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
    }
}

shape! {
    /// Answers DeleteItem.
    pub struct DeleteItemReply {
        attributes: Option<StoredItem> = "Attributes",
        consumed_capacity: Option<ConsumedCapacity> = "ConsumedCapacity",
        item_collection_metrics: Option<ItemCollectionMetrics> = "ItemCollectionMetrics",
    }
}

impl DeleteItem {
    /// A request to remove the item with this key.
    pub fn new(table_name: impl Into<String>, key: Item) -> DeleteItem {
        DeleteItem { table_name: Some(table_name.into()), key: Some(key), ..DeleteItem::default() }
    }
}
