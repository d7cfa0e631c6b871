//! Query: reads items of one partition in the order of their sort keys.

use std::collections::BTreeMap;

use super::{Choice, Condition, ConditionalOperator, ConsumedCapacity, ReturnConsumedCapacity};
use crate::rules::{ATTRIBUTES_TO_GET, NAME, QUERY_LIMIT, TABLE};
use crate::{Item, StoredItem, Value};

choices! {
    /// Which attributes are returned.
    pub enum Select {
        SpecificAttributes = "SPECIFIC_ATTRIBUTES",
        Count = "COUNT",
        AllAttributes = "ALL_ATTRIBUTES",
        AllProjectedAttributes = "ALL_PROJECTED_ATTRIBUTES",
    }
}

shape! {
    /// Reads items of one partition in the order of their sort keys.
    pub struct Query with faults {
        select: Option<Choice<Select>> = "Select",
        index_name: Option<String> = "IndexName" => NAME,
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        query_filter: Option<BTreeMap<String, Condition>> = "QueryFilter",
        table_name: Option<String> = "TableName" => TABLE,
        conditional_operator: Option<Choice<ConditionalOperator>> = "ConditionalOperator",
        attributes_to_get: Option<Vec<String>> = "AttributesToGet" => ATTRIBUTES_TO_GET,
        limit: Option<i32> = "Limit" => QUERY_LIMIT,
        key_conditions: Option<BTreeMap<String, Condition>> = "KeyConditions",
        exclusive_start_key: Option<Item> = "ExclusiveStartKey",
        consistent_read: Option<bool> = "ConsistentRead",
        scan_index_forward: Option<bool> = "ScanIndexForward",
        key_condition_expression: Option<String> = "KeyConditionExpression",
        filter_expression: Option<String> = "FilterExpression",
        projection_expression: Option<String> = "ProjectionExpression",
        expression_attribute_values: Option<BTreeMap<String, Value>> = "ExpressionAttributeValues",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
    }
}

shape! {
    /// Answers Query.
    pub struct QueryReply {
        items: Option<Vec<StoredItem>> = "Items",
        count: i32 = "Count",
        scanned_count: i32 = "ScannedCount",
        last_evaluated_key: Option<Item> = "LastEvaluatedKey",
        consumed_capacity: Option<ConsumedCapacity> = "ConsumedCapacity",
    }
}

impl Query {
    /// A request to read the items that meet this condition on their keys.
    pub fn new(table_name: impl Into<String>, key_condition_expression: impl Into<String>) -> Query {
        Query {
            table_name: Some(table_name.into()),
            key_condition_expression: Some(key_condition_expression.into()),
            ..Query::default()
        }
    }
}
