//! GetItem: reads the item with a key.

use std::collections::BTreeMap;

use super::{Choice, ConsumedCapacity, ReturnConsumedCapacity};
use crate::rules::{ATTRIBUTES_TO_GET, REQUIRED, TABLE};
use crate::{Item, StoredItem};

shape! {
    /// Reads the item with a key.
    pub struct GetItem with faults {
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        attributes_to_get: Option<Vec<String>> = "AttributesToGet" => ATTRIBUTES_TO_GET,
        table_name: Option<String> = "TableName" => TABLE,
        key: Option<Item> = "Key" => REQUIRED,
        consistent_read: Option<bool> = "ConsistentRead",
        projection_expression: Option<String> = "ProjectionExpression",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
    }
}

shape! {
    /// Answers GetItem.
    pub struct GetItemReply {
        item: Option<StoredItem> = "Item",
        consumed_capacity: Option<ConsumedCapacity> = "ConsumedCapacity",
    }
}

impl GetItem {
    /// A request to read the item with this key.
    pub fn new(table_name: impl Into<String>, key: Item) -> GetItem {
        GetItem { table_name: Some(table_name.into()), key: Some(key), ..GetItem::default() }
    }
}
