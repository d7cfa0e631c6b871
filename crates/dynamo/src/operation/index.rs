//! Secondary indexes: how they are asked for and described.

use super::{
    Choice, GlobalSecondaryIndexWarmThroughputDescription, KeySchemaElement, OnDemandThroughput,
    ProvisionedThroughput, ProvisionedThroughputDescription, WarmThroughput,
};
use crate::rules::{INDEX_KEY_SCHEMA, KEY_SCHEMA, NON_KEY_ATTRIBUTES, REQUIRED, REQUIRED_NAME};

choices! {
    /// Which attributes an index holds.
    pub enum ProjectionType {
        All = "ALL",
        Include = "INCLUDE",
        KeysOnly = "KEYS_ONLY",
    }
}

choices! {
    /// Where an index is in its life.
    pub enum IndexStatus {
        Creating = "CREATING",
        Updating = "UPDATING",
        Deleting = "DELETING",
        Active = "ACTIVE",
    }
}

shape! {
    /// The attributes an index holds.
    pub struct Projection {
        projection_type: Option<Choice<ProjectionType>> = "ProjectionType",
        non_key_attributes: Option<Vec<String>> = "NonKeyAttributes" => NON_KEY_ATTRIBUTES,
    }
}

shape! {
    /// A local index to make.
    pub struct LocalSecondaryIndex {
        index_name: Option<String> = "IndexName" => REQUIRED_NAME,
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema" => KEY_SCHEMA,
        projection: Option<Projection> = "Projection" => REQUIRED,
    }
}

shape! {
    /// A global index to make.
    pub struct GlobalSecondaryIndex {
        index_name: Option<String> = "IndexName" => REQUIRED_NAME,
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema" => INDEX_KEY_SCHEMA,
        projection: Option<Projection> = "Projection" => REQUIRED,
        provisioned_throughput: Option<ProvisionedThroughput> = "ProvisionedThroughput",
        on_demand_throughput: Option<OnDemandThroughput> = "OnDemandThroughput",
        warm_throughput: Option<WarmThroughput> = "WarmThroughput",
    }
}

shape! {
    /// A local index as it is.
    pub struct LocalSecondaryIndexDescription {
        index_name: Option<String> = "IndexName",
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema",
        projection: Option<Projection> = "Projection",
        index_size_bytes: Option<i64> = "IndexSizeBytes",
        item_count: Option<i64> = "ItemCount",
        index_arn: Option<String> = "IndexArn",
    }
}

shape! {
    /// A global index as it is.
    pub struct GlobalSecondaryIndexDescription {
        index_name: Option<String> = "IndexName",
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema",
        projection: Option<Projection> = "Projection",
        index_status: Option<IndexStatus> = "IndexStatus",
        backfilling: Option<bool> = "Backfilling",
        provisioned_throughput: Option<ProvisionedThroughputDescription> = "ProvisionedThroughput",
        index_size_bytes: Option<i64> = "IndexSizeBytes",
        item_count: Option<i64> = "ItemCount",
        index_arn: Option<String> = "IndexArn",
        on_demand_throughput: Option<OnDemandThroughput> = "OnDemandThroughput",
        warm_throughput: Option<GlobalSecondaryIndexWarmThroughputDescription> = "WarmThroughput",
    }
}

shape! {
    /// A local index as it was when a backup was made.
    pub struct LocalSecondaryIndexInfo {
        index_name: Option<String> = "IndexName",
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema",
        projection: Option<Projection> = "Projection",
    }
}

shape! {
    /// A global index as it was when a backup was made.
    pub struct GlobalSecondaryIndexInfo {
        index_name: Option<String> = "IndexName",
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema",
        projection: Option<Projection> = "Projection",
        provisioned_throughput: Option<ProvisionedThroughput> = "ProvisionedThroughput",
        on_demand_throughput: Option<OnDemandThroughput> = "OnDemandThroughput",
    }
}
