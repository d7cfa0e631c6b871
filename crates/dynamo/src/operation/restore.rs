//! RestoreTableFromBackup and RestoreTableToPointInTime: a new table from the past of another.

use super::{
    BillingMode, Choice, GlobalSecondaryIndex, LocalSecondaryIndex, OnDemandThroughput,
    ProvisionedThroughput, SSESpecification, TableDescription, Timestamp,
};
use crate::rules::{NAME, OPTIONAL_TABLE, REQUIRED_ARN, REQUIRED_NAME};

shape! {
    /// Makes a new table from a backup.
    pub struct RestoreTableFromBackup {
        target_table_name: Option<String> = "TargetTableName" => REQUIRED_NAME,
        backup_arn: Option<String> = "BackupArn" => REQUIRED_ARN,
        billing_mode_override: Option<Choice<BillingMode>> = "BillingModeOverride",
        global_secondary_index_override: Option<Vec<GlobalSecondaryIndex>> = "GlobalSecondaryIndexOverride",
        local_secondary_index_override: Option<Vec<LocalSecondaryIndex>> = "LocalSecondaryIndexOverride",
        provisioned_throughput_override: Option<ProvisionedThroughput> = "ProvisionedThroughputOverride",
        on_demand_throughput_override: Option<OnDemandThroughput> = "OnDemandThroughputOverride",
        sse_specification_override: Option<SSESpecification> = "SSESpecificationOverride",
    }
}

shape! {
    /// Answers RestoreTableFromBackup.
    pub struct RestoreTableFromBackupReply {
        table_description: Option<TableDescription> = "TableDescription",
    }
}

shape! {
    /// Makes a new table as another was at a moment.
    pub struct RestoreTableToPointInTime {
        source_table_arn: Option<String> = "SourceTableArn" => OPTIONAL_TABLE,
        source_table_name: Option<String> = "SourceTableName" => NAME,
        target_table_name: Option<String> = "TargetTableName" => REQUIRED_NAME,
        use_latest_restorable_time: Option<bool> = "UseLatestRestorableTime",
        restore_date_time: Option<Timestamp> = "RestoreDateTime",
        billing_mode_override: Option<Choice<BillingMode>> = "BillingModeOverride",
        global_secondary_index_override: Option<Vec<GlobalSecondaryIndex>> = "GlobalSecondaryIndexOverride",
        local_secondary_index_override: Option<Vec<LocalSecondaryIndex>> = "LocalSecondaryIndexOverride",
        provisioned_throughput_override: Option<ProvisionedThroughput> = "ProvisionedThroughputOverride",
        on_demand_throughput_override: Option<OnDemandThroughput> = "OnDemandThroughputOverride",
        sse_specification_override: Option<SSESpecification> = "SSESpecificationOverride",
    }
}

shape! {
    /// Answers RestoreTableToPointInTime.
    pub struct RestoreTableToPointInTimeReply {
        table_description: Option<TableDescription> = "TableDescription",
    }
}
