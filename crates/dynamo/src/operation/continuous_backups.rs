//! DescribeContinuousBackups and UpdateContinuousBackups: point-in-time recovery of a table.

use super::Timestamp;
use crate::rules::{CONTROL_TABLE, RECOVERY_DAYS, REQUIRED};

choices! {
    /// Whether a kind of backup is on.
    pub enum BackupSwitch {
        Enabled = "ENABLED",
        Disabled = "DISABLED",
    }
}

shape! {
    /// Whether a table can be restored to any second, and for how long.
    pub struct PointInTimeRecoverySpecification {
        point_in_time_recovery_enabled: Option<bool> = "PointInTimeRecoveryEnabled" => REQUIRED,
        recovery_period_in_days: Option<i32> = "RecoveryPeriodInDays" => RECOVERY_DAYS,
    }
}

shape! {
    /// From when to when a table can be restored.
    pub struct PointInTimeRecoveryDescription {
        point_in_time_recovery_status: Option<BackupSwitch> = "PointInTimeRecoveryStatus",
        recovery_period_in_days: Option<i32> = "RecoveryPeriodInDays",
        earliest_restorable_date_time: Option<Timestamp> = "EarliestRestorableDateTime",
        latest_restorable_date_time: Option<Timestamp> = "LatestRestorableDateTime",
    }
}

shape! {
    /// The continuous backups of a table.
    pub struct ContinuousBackupsDescription {
        continuous_backups_status: Option<BackupSwitch> = "ContinuousBackupsStatus",
        point_in_time_recovery_description: Option<PointInTimeRecoveryDescription> = "PointInTimeRecoveryDescription",
    }
}

shape! {
    /// Tells of the continuous backups of a table.
    pub struct DescribeContinuousBackups {
        table_name: Option<String> = "TableName" => CONTROL_TABLE,
    }
}

shape! {
    /// Answers DescribeContinuousBackups.
    pub struct DescribeContinuousBackupsReply {
        continuous_backups_description: Option<ContinuousBackupsDescription> = "ContinuousBackupsDescription",
    }
}

shape! {
    /// Switches point-in-time recovery of a table on or off.
    pub struct UpdateContinuousBackups {
        table_name: Option<String> = "TableName" => CONTROL_TABLE,
        point_in_time_recovery_specification: Option<PointInTimeRecoverySpecification> = "PointInTimeRecoverySpecification" => REQUIRED,
    }
}

shape! {
    /// Answers UpdateContinuousBackups.
    pub struct UpdateContinuousBackupsReply {
        continuous_backups_description: Option<ContinuousBackupsDescription> = "ContinuousBackupsDescription",
    }
}
