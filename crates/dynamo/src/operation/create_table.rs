//! CreateTable: makes a table with its indexes.

use super::{
    AttributeDefinition, BillingMode, Choice, GlobalSecondaryIndex, KeyRole, KeySchemaElement,
    LocalSecondaryIndex, OnDemandThroughput, Opaque, ProvisionedThroughput, SSESpecification,
    StreamSpecification, TableClass, TableDescription, Tag, WarmThroughput,
};
use crate::KeyType;
use crate::rules::{KEY_SCHEMA, NEW_TABLE, REQUIRED};

shape! {
    /// Makes a table with its indexes.
    pub struct CreateTable {
        attribute_definitions: Option<Vec<AttributeDefinition>> = "AttributeDefinitions" => REQUIRED,
        table_name: Option<String> = "TableName" => NEW_TABLE,
        billing_mode: Option<Choice<BillingMode>> = "BillingMode",
        provisioned_throughput: Option<ProvisionedThroughput> = "ProvisionedThroughput",
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema" => KEY_SCHEMA,
        local_secondary_indexes: Option<Vec<LocalSecondaryIndex>> = "LocalSecondaryIndexes",
        global_secondary_indexes: Option<Vec<GlobalSecondaryIndex>> = "GlobalSecondaryIndexes",
        stream_specification: Option<StreamSpecification> = "StreamSpecification",
        sse_specification: Option<SSESpecification> = "SSESpecification",
        tags: Option<Vec<Tag>> = "Tags",
        table_class: Option<Choice<TableClass>> = "TableClass",
        deletion_protection_enabled: Option<bool> = "DeletionProtectionEnabled",
        warm_throughput: Option<WarmThroughput> = "WarmThroughput",
        resource_policy: Option<String> = "ResourcePolicy",
        on_demand_throughput: Option<OnDemandThroughput> = "OnDemandThroughput",
        vector_indexes: Option<Opaque> = "VectorIndexes",
    }
}

shape! {
    /// Answers CreateTable.
    pub struct CreateTableReply {
        table_description: Option<TableDescription> = "TableDescription",
    }
}

impl CreateTable {
    /// A request to make an on-demand table with this partition key and, if given, sort key.
    pub fn new(
        table_name: impl Into<String>,
        partition_key: (&str, KeyType),
        sort_key: Option<(&str, KeyType)>,
    ) -> CreateTable {
        let keys =
            [(partition_key, KeyRole::Hash)].into_iter().chain(sort_key.map(|key| (key, KeyRole::Range)));
        let (definitions, schema) = keys
            .map(|((name, key_type), role)| {
                (AttributeDefinition::new(name, key_type), KeySchemaElement::new(name, role))
            })
            .unzip();
        CreateTable {
            table_name: Some(table_name.into()),
            attribute_definitions: Some(definitions),
            key_schema: Some(schema),
            billing_mode: Some(BillingMode::PayPerRequest.into()),
            ..CreateTable::default()
        }
    }
}
