//! Tables: how they are described.

use super::{
    Choice, GlobalSecondaryIndexDescription, LocalSecondaryIndexDescription, OnDemandThroughput,
    ProvisionedThroughputDescription, TableWarmThroughputDescription, Timestamp,
};
use crate::KeyType;
use crate::rules::{ATTRIBUTE_NAME, REQUIRED};

choices! {
    /// How capacity is paid for.
    pub enum BillingMode {
        Provisioned = "PROVISIONED",
        PayPerRequest = "PAY_PER_REQUEST",
    }
}

choices! {
    /// What a key attribute is for: `KeyType` in the API.
    pub enum KeyRole {
        Hash = "HASH",
        Range = "RANGE",
    }
}

choices! {
    /// Where a table is in its life.
    pub enum TableStatus {
        Creating = "CREATING",
        Updating = "UPDATING",
        Deleting = "DELETING",
        Active = "ACTIVE",
        InaccessibleEncryptionCredentials = "INACCESSIBLE_ENCRYPTION_CREDENTIALS",
        Archiving = "ARCHIVING",
        Archived = "ARCHIVED",
    }
}

choices! {
    /// The storage class.
    pub enum TableClass {
        Standard = "STANDARD",
        StandardInfrequentAccess = "STANDARD_INFREQUENT_ACCESS",
    }
}

choices! {
    /// What a stream record holds.
    pub enum StreamViewType {
        NewImage = "NEW_IMAGE",
        OldImage = "OLD_IMAGE",
        NewAndOldImages = "NEW_AND_OLD_IMAGES",
        KeysOnly = "KEYS_ONLY",
    }
}

choices! {
    /// Whether encryption is on.
    pub enum SSEStatus {
        Enabling = "ENABLING",
        Enabled = "ENABLED",
        Disabling = "DISABLING",
        Disabled = "DISABLED",
        Updating = "UPDATING",
    }
}

choices! {
    /// How encryption is done.
    pub enum SSEType {
        Aes256 = "AES256",
        Kms = "KMS",
    }
}

shape! {
    /// A key attribute and its type.
    pub struct AttributeDefinition {
        attribute_name: Option<String> = "AttributeName" => ATTRIBUTE_NAME,
        attribute_type: Option<Choice<KeyType>> = "AttributeType" => REQUIRED,
    }
}

shape! {
    /// A key attribute and what it is for.
    pub struct KeySchemaElement {
        attribute_name: Option<String> = "AttributeName" => ATTRIBUTE_NAME,
        key_type: Option<Choice<KeyRole>> = "KeyType" => REQUIRED,
    }
}

shape! {
    /// Whether a table has a stream, and what its records hold.
    pub struct StreamSpecification {
        stream_enabled: Option<bool> = "StreamEnabled" => REQUIRED,
        stream_view_type: Option<Choice<StreamViewType>> = "StreamViewType",
    }
}

shape! {
    /// How a table is to be encrypted.
    pub struct SSESpecification {
        enabled: Option<bool> = "Enabled",
        sse_type: Option<Choice<SSEType>> = "SSEType",
        kms_master_key_id: Option<String> = "KMSMasterKeyId",
    }
}

shape! {
    /// How a table is encrypted.
    pub struct SSEDescription {
        status: Option<SSEStatus> = "Status",
        sse_type: Option<SSEType> = "SSEType",
        kms_master_key_arn: Option<String> = "KMSMasterKeyArn",
        inaccessible_encryption_date_time: Option<Timestamp> = "InaccessibleEncryptionDateTime",
    }
}

shape! {
    /// How a table is paid for.
    pub struct BillingModeSummary {
        billing_mode: Option<BillingMode> = "BillingMode",
        last_update_to_pay_per_request_date_time: Option<Timestamp> = "LastUpdateToPayPerRequestDateTime",
    }
}

shape! {
    /// The storage class of a table.
    pub struct TableClassSummary {
        table_class: Option<TableClass> = "TableClass",
        last_update_date_time: Option<Timestamp> = "LastUpdateDateTime",
    }
}

shape! {
    /// Where a restored table came from.
    pub struct RestoreSummary {
        source_backup_arn: Option<String> = "SourceBackupArn",
        source_table_arn: Option<String> = "SourceTableArn",
        restore_date_time: Option<Timestamp> = "RestoreDateTime",
        restore_in_progress: Option<bool> = "RestoreInProgress",
    }
}

shape! {
    /// A table as it is.
    pub struct TableDescription {
        attribute_definitions: Option<Vec<AttributeDefinition>> = "AttributeDefinitions",
        table_name: Option<String> = "TableName",
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema",
        table_status: Option<TableStatus> = "TableStatus",
        creation_date_time: Option<Timestamp> = "CreationDateTime",
        provisioned_throughput: Option<ProvisionedThroughputDescription> = "ProvisionedThroughput",
        table_size_bytes: Option<i64> = "TableSizeBytes",
        item_count: Option<i64> = "ItemCount",
        table_arn: Option<String> = "TableArn",
        table_id: Option<String> = "TableId",
        billing_mode_summary: Option<BillingModeSummary> = "BillingModeSummary",
        local_secondary_indexes: Option<Vec<LocalSecondaryIndexDescription>> = "LocalSecondaryIndexes",
        global_secondary_indexes: Option<Vec<GlobalSecondaryIndexDescription>> = "GlobalSecondaryIndexes",
        stream_specification: Option<StreamSpecification> = "StreamSpecification",
        latest_stream_label: Option<String> = "LatestStreamLabel",
        latest_stream_arn: Option<String> = "LatestStreamArn",
        restore_summary: Option<RestoreSummary> = "RestoreSummary",
        sse_description: Option<SSEDescription> = "SSEDescription",
        table_class_summary: Option<TableClassSummary> = "TableClassSummary",
        deletion_protection_enabled: Option<bool> = "DeletionProtectionEnabled",
        on_demand_throughput: Option<OnDemandThroughput> = "OnDemandThroughput",
        warm_throughput: Option<TableWarmThroughputDescription> = "WarmThroughput",
    }
}

impl AttributeDefinition {
    /// A key attribute of this type.
    pub fn new(attribute_name: impl Into<String>, attribute_type: KeyType) -> AttributeDefinition {
        AttributeDefinition {
            attribute_name: Some(attribute_name.into()),
            attribute_type: Some(attribute_type.into()),
        }
    }
}

impl KeySchemaElement {
    /// A key attribute for this.
    pub fn new(attribute_name: impl Into<String>, key_type: KeyRole) -> KeySchemaElement {
        KeySchemaElement { attribute_name: Some(attribute_name.into()), key_type: Some(key_type.into()) }
    }
}
