//! PutItem: stores an item in the place of the one with the same key.

use std::collections::BTreeMap;

use super::{
    Choice, ConditionalOperator, ConsumedCapacity, ExpectedAttributeValue, ItemCollectionMetrics,
    ReturnConsumedCapacity, ReturnItemCollectionMetrics,
};
use crate::rules::{REQUIRED, TABLE};
use crate::{StoredItem, Value};

choices! {
    /// Which attributes a write returns.
    pub enum ReturnValues {
        AllNew = "ALL_NEW",
        UpdatedOld = "UPDATED_OLD",
        AllOld = "ALL_OLD",
        None = "NONE",
        UpdatedNew = "UPDATED_NEW",
    }
}

choices! {
    /// Whether a failed condition returns the item.
    pub enum ReturnValuesOnConditionCheckFailure {
        AllOld = "ALL_OLD",
        None = "NONE",
    }
}

shape! {
    /// Stores an item in the place of the one with the same key.
    ///
    /// After the field rules DynamoDB checks, in this order: expression and older parameters mixed; the fault of `Item`;
    /// `ReturnValues` (only NONE and ALL_OLD); the size of the item; `Expected` with its fault; the expressions with the
    /// fault of `ExpressionAttributeValues`; then the table and its key.
    pub struct PutItem with faults {
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        table_name: Option<String> = "TableName" => TABLE,
        item: Option<StoredItem> = "Item" => REQUIRED,
        conditional_operator: Option<Choice<ConditionalOperator>> = "ConditionalOperator",
        expected: Option<BTreeMap<String, ExpectedAttributeValue>> = "Expected",
        return_values: Option<Choice<ReturnValues>> = "ReturnValues",
        return_item_collection_metrics: Option<Choice<ReturnItemCollectionMetrics>> = "ReturnItemCollectionMetrics",
        return_values_on_condition_check_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>> = "ReturnValuesOnConditionCheckFailure",
        condition_expression: Option<String> = "ConditionExpression",
        expression_attribute_values: Option<BTreeMap<String, Value>> = "ExpressionAttributeValues",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
    }
}

shape! {
    /// Answers PutItem.
    pub struct PutItemReply {
        attributes: Option<StoredItem> = "Attributes",
        consumed_capacity: Option<ConsumedCapacity> = "ConsumedCapacity",
        item_collection_metrics: Option<ItemCollectionMetrics> = "ItemCollectionMetrics",
    }
}

impl PutItem {
    /// A request to store this item.
    pub fn new(table_name: impl Into<String>, item: impl Into<StoredItem>) -> PutItem {
        PutItem { table_name: Some(table_name.into()), item: Some(item.into()), ..PutItem::default() }
    }
}
