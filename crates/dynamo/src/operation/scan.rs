//! Scan: reads a table or an index from end to end, or a segment of it.

use std::collections::BTreeMap;

use super::{Choice, Condition, ConditionalOperator, ConsumedCapacity, ReturnConsumedCapacity, Select};
use crate::rules::{ATTRIBUTES_TO_GET, LIMIT, NAME, SEGMENT, TABLE, TOTAL_SEGMENTS};
use crate::{Item, StoredItem, Value};

shape! {
    /// Reads a table or an index from end to end, or a segment of it.
    pub struct Scan with faults {
        select: Option<Choice<Select>> = "Select",
        index_name: Option<String> = "IndexName" => NAME,
        total_segments: Option<i32> = "TotalSegments" => TOTAL_SEGMENTS,
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        table_name: Option<String> = "TableName" => TABLE,
        conditional_operator: Option<Choice<ConditionalOperator>> = "ConditionalOperator",
        scan_filter: Option<BTreeMap<String, Condition>> = "ScanFilter",
        segment: Option<i32> = "Segment" => SEGMENT,
        limit: Option<i32> = "Limit" => LIMIT,
        attributes_to_get: Option<Vec<String>> = "AttributesToGet" => ATTRIBUTES_TO_GET,
        exclusive_start_key: Option<Item> = "ExclusiveStartKey",
        consistent_read: Option<bool> = "ConsistentRead",
        filter_expression: Option<String> = "FilterExpression",
        projection_expression: Option<String> = "ProjectionExpression",
        expression_attribute_values: Option<BTreeMap<String, Value>> = "ExpressionAttributeValues",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
    }
}

shape! {
    /// Answers Scan.
    pub struct ScanReply {
        items: Option<Vec<StoredItem>> = "Items",
        count: i32 = "Count",
        scanned_count: i32 = "ScannedCount",
        last_evaluated_key: Option<Item> = "LastEvaluatedKey",
        consumed_capacity: Option<ConsumedCapacity> = "ConsumedCapacity",
    }
}

impl Scan {
    /// A request to read the whole table.
    pub fn new(table_name: impl Into<String>) -> Scan {
        Scan { table_name: Some(table_name.into()), ..Scan::default() }
    }
}
