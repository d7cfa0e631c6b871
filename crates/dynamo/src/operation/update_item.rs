//! UpdateItem: changes the item with a key, or makes it.

use std::collections::BTreeMap;

use super::{
    AttributeValueUpdate, Choice, ConditionalOperator, ConsumedCapacity, ExpectedAttributeValue,
    ItemCollectionMetrics, ReturnConsumedCapacity, ReturnItemCollectionMetrics, ReturnValues,
    ReturnValuesOnConditionCheckFailure,
};
use crate::rules::{REQUIRED, TABLE};
use crate::{Item, StoredItem, Value};

shape! {
    /// Changes the item with a key, or makes it.
    pub struct UpdateItem with faults {
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        table_name: Option<String> = "TableName" => TABLE,
        return_item_collection_metrics: Option<Choice<ReturnItemCollectionMetrics>> = "ReturnItemCollectionMetrics",
        return_values: Option<Choice<ReturnValues>> = "ReturnValues",
        key: Option<Item> = "Key" => REQUIRED,
        conditional_operator: Option<Choice<ConditionalOperator>> = "ConditionalOperator",
        expected: Option<BTreeMap<String, ExpectedAttributeValue>> = "Expected",
        attribute_updates: Option<BTreeMap<String, AttributeValueUpdate>> = "AttributeUpdates",
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
        condition_expression: Option<String> = "ConditionExpression",
        update_expression: Option<String> = "UpdateExpression",
        expression_attribute_values: Option<BTreeMap<String, Value>> = "ExpressionAttributeValues",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
    }
}

shape! {
    /// Answers UpdateItem.
    pub struct UpdateItemReply {
        attributes: Option<StoredItem> = "Attributes",
        consumed_capacity: Option<ConsumedCapacity> = "ConsumedCapacity",
        item_collection_metrics: Option<ItemCollectionMetrics> = "ItemCollectionMetrics",
    }
}

impl UpdateItem {
    /// A request to change the item with this key.
    pub fn new(table_name: impl Into<String>, key: Item, update_expression: impl Into<String>) -> UpdateItem {
        UpdateItem {
            table_name: Some(table_name.into()),
            key: Some(key),
            update_expression: Some(update_expression.into()),
            ..UpdateItem::default()
        }
    }
}
