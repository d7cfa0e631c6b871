//! BatchWriteItem: puts and deletes up to 25 items.

use std::collections::BTreeMap;

use super::{
    Choice, ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
};
use crate::rules::{BATCH_WRITE_ITEMS, REQUIRED};
use crate::{Item, StoredItem};

shape! {
    /// A delete in a batch.
    pub struct DeleteRequest with faults {
        key: Option<Item> = "Key" => REQUIRED,
    }
}

shape! {
    /// A put in a batch.
    pub struct PutRequest with faults {
        item: Option<StoredItem> = "Item" => REQUIRED,
    }
}

shape! {
    /// A put or a delete.
    pub struct WriteRequest {
        delete_request: Option<DeleteRequest> = "DeleteRequest",
        put_request: Option<PutRequest> = "PutRequest",
    }
}

shape! {
    /// Puts and deletes up to 25 items.
    ///
    /// After the field rules DynamoDB checks for each table, in this order: a request without a put or delete; for each
    /// request the fault of `Item` or `Key` and the size of the item; then the tables, and duplicates among the keys.
    pub struct BatchWriteItem {
        return_consumed_capacity: Option<Choice<ReturnConsumedCapacity>> = "ReturnConsumedCapacity",
        return_item_collection_metrics: Option<Choice<ReturnItemCollectionMetrics>> = "ReturnItemCollectionMetrics",
        request_items: Option<BTreeMap<String, Vec<WriteRequest>>> = "RequestItems" => BATCH_WRITE_ITEMS,
    }
}

shape! {
    /// Answers BatchWriteItem.
    pub struct BatchWriteItemReply {
        unprocessed_items: Option<BTreeMap<String, Vec<WriteRequest>>> = "UnprocessedItems",
        item_collection_metrics: Option<BTreeMap<String, Vec<ItemCollectionMetrics>>> = "ItemCollectionMetrics",
        consumed_capacity: Option<Vec<ConsumedCapacity>> = "ConsumedCapacity",
    }
}
