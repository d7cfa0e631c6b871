//! What an operation cost, and how large an item collection is.

use std::collections::BTreeMap;

use crate::Item;

choices! {
    /// Whether the reply says what the operation cost.
    pub enum ReturnConsumedCapacity {
        Indexes = "INDEXES",
        Total = "TOTAL",
        None = "NONE",
    }
}

choices! {
    /// Whether the reply says how large the item collection is.
    pub enum ReturnItemCollectionMetrics {
        Size = "SIZE",
        None = "NONE",
    }
}

shape! {
    /// What an operation cost on a table or an index.
    pub struct Capacity {
        read_capacity_units: Option<f64> = "ReadCapacityUnits",
        write_capacity_units: Option<f64> = "WriteCapacityUnits",
        capacity_units: Option<f64> = "CapacityUnits",
    }
}

shape! {
    /// What an operation cost.
    pub struct ConsumedCapacity {
        table_name: Option<String> = "TableName",
        capacity_units: Option<f64> = "CapacityUnits",
        read_capacity_units: Option<f64> = "ReadCapacityUnits",
        write_capacity_units: Option<f64> = "WriteCapacityUnits",
        table: Option<Capacity> = "Table",
        local_secondary_indexes: Option<BTreeMap<String, Capacity>> = "LocalSecondaryIndexes",
        global_secondary_indexes: Option<BTreeMap<String, Capacity>> = "GlobalSecondaryIndexes",
    }
}

shape! {
    /// The items that share a partition key, on a table with local indexes.
    pub struct ItemCollectionMetrics {
        item_collection_key: Option<Item> = "ItemCollectionKey",
        size_estimate_range_gb: Option<Vec<f64>> = "SizeEstimateRangeGB",
    }
}
