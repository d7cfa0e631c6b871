//! Backups on demand: CreateBackup, DescribeBackup, ListBackups and DeleteBackup.

use super::{
    BillingMode, Choice, GlobalSecondaryIndexInfo, KeySchemaElement, LocalSecondaryIndexInfo,
    OnDemandThroughput, ProvisionedThroughput, SSEDescription, StreamSpecification, TimeToLiveDescription,
    Timestamp,
};
use crate::rules::{ARN, CONTROL_TABLE, LIMIT_100, OPTIONAL_TABLE, REQUIRED_ARN, REQUIRED_NAME};

choices! {
    /// Where a backup is in its life.
    pub enum BackupStatus {
        Creating = "CREATING",
        Deleted = "DELETED",
        Available = "AVAILABLE",
    }
}

choices! {
    /// Who made a backup.
    pub enum BackupType {
        User = "USER",
        System = "SYSTEM",
        AwsBackup = "AWS_BACKUP",
    }
}

choices! {
    /// Whose backups are listed.
    pub enum BackupTypeFilter {
        User = "USER",
        System = "SYSTEM",
        AwsBackup = "AWS_BACKUP",
        All = "ALL",
    }
}

shape! {
    /// A backup.
    pub struct BackupDetails {
        backup_arn: Option<String> = "BackupArn",
        backup_name: Option<String> = "BackupName",
        backup_size_bytes: Option<i64> = "BackupSizeBytes",
        backup_status: Option<BackupStatus> = "BackupStatus",
        backup_type: Option<BackupType> = "BackupType",
        backup_creation_date_time: Option<Timestamp> = "BackupCreationDateTime",
        backup_expiry_date_time: Option<Timestamp> = "BackupExpiryDateTime",
    }
}

shape! {
    /// The table as it was when the backup was made.
    pub struct SourceTableDetails {
        table_name: Option<String> = "TableName",
        table_id: Option<String> = "TableId",
        table_arn: Option<String> = "TableArn",
        table_size_bytes: Option<i64> = "TableSizeBytes",
        key_schema: Option<Vec<KeySchemaElement>> = "KeySchema",
        table_creation_date_time: Option<Timestamp> = "TableCreationDateTime",
        provisioned_throughput: Option<ProvisionedThroughput> = "ProvisionedThroughput",
        on_demand_throughput: Option<OnDemandThroughput> = "OnDemandThroughput",
        item_count: Option<i64> = "ItemCount",
        billing_mode: Option<BillingMode> = "BillingMode",
    }
}

shape! {
    /// The table's features as they were when the backup was made.
    pub struct SourceTableFeatureDetails {
        local_secondary_indexes: Option<Vec<LocalSecondaryIndexInfo>> = "LocalSecondaryIndexes",
        global_secondary_indexes: Option<Vec<GlobalSecondaryIndexInfo>> = "GlobalSecondaryIndexes",
        stream_description: Option<StreamSpecification> = "StreamDescription",
        time_to_live_description: Option<TimeToLiveDescription> = "TimeToLiveDescription",
        sse_description: Option<SSEDescription> = "SSEDescription",
    }
}

shape! {
    /// A backup and the table it was made of.
    pub struct BackupDescription {
        backup_details: Option<BackupDetails> = "BackupDetails",
        source_table_details: Option<SourceTableDetails> = "SourceTableDetails",
        source_table_feature_details: Option<SourceTableFeatureDetails> = "SourceTableFeatureDetails",
    }
}

shape! {
    /// A backup in a list.
    pub struct BackupSummary {
        table_name: Option<String> = "TableName",
        table_id: Option<String> = "TableId",
        table_arn: Option<String> = "TableArn",
        backup_arn: Option<String> = "BackupArn",
        backup_name: Option<String> = "BackupName",
        backup_creation_date_time: Option<Timestamp> = "BackupCreationDateTime",
        backup_expiry_date_time: Option<Timestamp> = "BackupExpiryDateTime",
        backup_status: Option<BackupStatus> = "BackupStatus",
        backup_type: Option<BackupType> = "BackupType",
        backup_size_bytes: Option<i64> = "BackupSizeBytes",
    }
}

shape! {
    /// Makes a backup of a table.
    pub struct CreateBackup {
        table_name: Option<String> = "TableName" => CONTROL_TABLE,
        backup_name: Option<String> = "BackupName" => REQUIRED_NAME,
    }
}

shape! {
    /// Answers CreateBackup.
    pub struct CreateBackupReply {
        backup_details: Option<BackupDetails> = "BackupDetails",
    }
}

shape! {
    /// Tells of a backup.
    pub struct DescribeBackup {
        backup_arn: Option<String> = "BackupArn" => REQUIRED_ARN,
    }
}

shape! {
    /// Answers DescribeBackup.
    pub struct DescribeBackupReply {
        backup_description: Option<BackupDescription> = "BackupDescription",
    }
}

shape! {
    /// Lists backups.
    pub struct ListBackups {
        table_name: Option<String> = "TableName" => OPTIONAL_TABLE,
        limit: Option<i32> = "Limit" => LIMIT_100,
        time_range_lower_bound: Option<Timestamp> = "TimeRangeLowerBound",
        time_range_upper_bound: Option<Timestamp> = "TimeRangeUpperBound",
        exclusive_start_backup_arn: Option<String> = "ExclusiveStartBackupArn" => ARN,
        backup_type: Option<Choice<BackupTypeFilter>> = "BackupType",
    }
}

shape! {
    /// Answers ListBackups.
    pub struct ListBackupsReply {
        backup_summaries: Vec<BackupSummary> = "BackupSummaries",
        last_evaluated_backup_arn: Option<String> = "LastEvaluatedBackupArn",
    }
}

shape! {
    /// Removes a backup.
    pub struct DeleteBackup {
        backup_arn: Option<String> = "BackupArn" => REQUIRED_ARN,
    }
}

shape! {
    /// Answers DeleteBackup.
    pub struct DeleteBackupReply {
        backup_description: Option<BackupDescription> = "BackupDescription",
    }
}
