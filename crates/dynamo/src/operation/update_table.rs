//! UpdateTable: changes a table's settings, or makes or removes one index.

use super::{
    AttributeDefinition, BillingMode, Choice, KeySchemaElement, OnDemandThroughput, Opaque, Projection,
    ProvisionedThroughput, SSESpecification, StreamSpecification, TableClass, TableDescription,
    WarmThroughput,
};
use crate::rules::{CONTROL_TABLE, INDEX_KEY_SCHEMA, REQUIRED, REQUIRED_NAME};

shape! {
    /// A global index to add.
    pub struct CreateGlobalSecondaryIndexAction {
        index_name: Option<String> = "IndexName" => REQUIRED_NAME,
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema" => INDEX_KEY_SCHEMA,
        projection: Option<Projection> = "Projection" => REQUIRED,
        provisioned_throughput: Option<ProvisionedThroughput> = "ProvisionedThroughput",
        on_demand_throughput: Option<OnDemandThroughput> = "OnDemandThroughput",
        warm_throughput: Option<WarmThroughput> = "WarmThroughput",
    }
}

shape! {
    /// A global index to change.
    pub struct UpdateGlobalSecondaryIndexAction {
        index_name: Option<String> = "IndexName" => REQUIRED_NAME,
        provisioned_throughput: Option<ProvisionedThroughput> = "ProvisionedThroughput",
        on_demand_throughput: Option<OnDemandThroughput> = "OnDemandThroughput",
        warm_throughput: Option<WarmThroughput> = "WarmThroughput",
    }
}

shape! {
    /// A global index to remove.
    pub struct DeleteGlobalSecondaryIndexAction {
        index_name: Option<String> = "IndexName" => REQUIRED_NAME,
    }
}

shape! {
    /// One change to the global indexes; exactly one member is set.
    pub struct GlobalSecondaryIndexUpdate {
        update: Option<UpdateGlobalSecondaryIndexAction> = "Update",
        create: Option<CreateGlobalSecondaryIndexAction> = "Create",
        delete: Option<DeleteGlobalSecondaryIndexAction> = "Delete",
    }
}

shape! {
    /// Changes a table's settings, or makes or removes one index.
    pub struct UpdateTable {
        attribute_definitions: Option<Vec<AttributeDefinition>> = "AttributeDefinitions",
        table_name: Option<String> = "TableName" => CONTROL_TABLE,
        billing_mode: Option<Choice<BillingMode>> = "BillingMode",
        provisioned_throughput: Option<ProvisionedThroughput> = "ProvisionedThroughput",
        global_secondary_index_updates: Option<Vec<GlobalSecondaryIndexUpdate>> = "GlobalSecondaryIndexUpdates",
        stream_specification: Option<StreamSpecification> = "StreamSpecification",
        sse_specification: Option<SSESpecification> = "SSESpecification",
        replica_updates: Option<Opaque> = "ReplicaUpdates",
        table_class: Option<Choice<TableClass>> = "TableClass",
        deletion_protection_enabled: Option<bool> = "DeletionProtectionEnabled",
        on_demand_throughput: Option<OnDemandThroughput> = "OnDemandThroughput",
        warm_throughput: Option<WarmThroughput> = "WarmThroughput",
        global_table_witness_updates: Option<Opaque> = "GlobalTableWitnessUpdates",
        vector_index_updates: Option<Opaque> = "VectorIndexUpdates",
    }
}

shape! {
    /// Answers UpdateTable.
    pub struct UpdateTableReply {
        table_description: Option<TableDescription> = "TableDescription",
    }
}
