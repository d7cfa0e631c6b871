//! BatchGetItem: reads up to 100 items by key.

use std::collections::BTreeMap;

use super::{Choice, ConsumedCapacity, ReturnConsumedCapacity};
use crate::rules::{ATTRIBUTES_TO_GET, BATCH_GET_ITEMS, BATCH_KEYS};
use crate::{Item, StoredItem};

shape! {
    /// The keys to read in one table.
    pub struct KeysAndAttributes with faults {
        keys: Option<Vec<Item>> = "Keys" => BATCH_KEYS,
        attributes_to_get: Option<Vec<String>> = "AttributesToGet" => ATTRIBUTES_TO_GET,
        consistent_read: Option<bool> = "ConsistentRead",
        projection_expression: Option<String> = "ProjectionExpression",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
    }
}

shape! {
    /// Reads up to 100 items by key.
    pub struct BatchGetItem {
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        request_items: Option<BTreeMap<String, KeysAndAttributes>> = "RequestItems" => BATCH_GET_ITEMS,
    }
}

shape! {
    /// Answers BatchGetItem.
    pub struct BatchGetItemReply {
        responses: Option<BTreeMap<String, Vec<StoredItem>>> = "Responses",
        unprocessed_keys: Option<BTreeMap<String, KeysAndAttributes>> = "UnprocessedKeys",
        consumed_capacity: Option<Vec<ConsumedCapacity>> = "ConsumedCapacity",
    }
}
