//! TransactGetItems: reads up to 100 items as they are at one moment.

use std::collections::BTreeMap;

use super::{Choice, ConsumedCapacity, ReturnConsumedCapacity};
use crate::rules::{ACTIONS, REQUIRED, TABLE};
use crate::{Item, StoredItem};

shape! {
    /// One item to read.
    pub struct Get with faults {
        key: Option<Item> = "Key" => REQUIRED,
        table_name: Option<String> = "TableName" => TABLE,
        projection_expression: Option<String> = "ProjectionExpression",
        expression_attribute_names: Option<BTreeMap<String, String>> = "ExpressionAttributeNames",
    }
}

shape! {
    /// One action of a reading transaction.
    pub struct TransactGetItem {
        get: Option<Get> = "Get" => REQUIRED,
    }
}

shape! {
    /// Reads up to 100 items as they are at one moment.
    pub struct TransactGetItems {
        transact_items: Option<Vec<TransactGetItem>> = "TransactItems" => ACTIONS,
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
    }
}

shape! {
    /// An item that was read; nothing when there is none.
    pub struct ItemResponse {
        item: Option<StoredItem> = "Item",
    }
}

shape! {
    /// Answers TransactGetItems.
    pub struct TransactGetItemsReply {
        responses: Option<Vec<ItemResponse>> = "Responses",
        consumed_capacity: Option<Vec<ConsumedCapacity>> = "ConsumedCapacity",
    }
}
