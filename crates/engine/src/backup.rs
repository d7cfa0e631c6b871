//! Backups of tables, kept beside the tables: the items as they were at a moment, and the table they belong to.
//!
//! Always true: a backup that is `AVAILABLE` never changes, and outlives its table. Its items are a collection of their own, without
//! index entries, which are made anew when it is restored. The backup of a deleted table is the table's own collection.

use dynamo::operation::{
    BackupDescription, BackupDetails, BackupStatus, BackupSummary, BackupType, BillingMode,
    GlobalSecondaryIndexInfo, LocalSecondaryIndexInfo, ProvisionedThroughput, SSEDescription, SSEStatus,
    SSEType, SourceTableDetails, SourceTableFeatureDetails, StreamSpecification, TimeToLiveDescription,
    TimeToLiveStatus, Timestamp,
};
use dynamo::{ApiError, ErrorKind};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::arn::{Arn, Resource};
use crate::catalog::Catalog;
use crate::copying::Copying;
use crate::describe::{describe_limits, describe_projection, key_schema_elements, view_type};
use crate::engine::Inner;
use crate::layout::CollectionId;
use crate::table::{Index, Table, Throughput};

/// How long the backup of a deleted table is kept.
pub(crate) const SYSTEM_BACKUP_MILLISECONDS: i64 = 35 * 24 * 60 * 60 * 1000;

/// A backup of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Backup {
    /// Where its items are.
    pub(crate) id: CollectionId,
    /// The last part of its ARN.
    pub(crate) label: String,
    pub(crate) name: String,
    /// The table as it was.
    pub(crate) table: Table,
    pub(crate) created_milliseconds: i64,
    /// When it goes by itself: only the backup of a deleted table does.
    #[serde(default)]
    pub(crate) expires_milliseconds: Option<i64>,
    /// While it is being made.
    #[serde(default)]
    pub(crate) copying: Option<Copying>,
}

impl Backup {
    /// A backup that a client asked for.
    pub(crate) fn of_table(
        id: CollectionId,
        name: String,
        table: &Table,
        copying: Copying,
        now: i64,
    ) -> Backup {
        Backup {
            id,
            label: new_label(&table.name, id, now),
            name,
            table: table.clone(),
            created_milliseconds: now,
            expires_milliseconds: None,
            copying: Some(copying),
        }
    }

    /// What a deleted table leaves.
    pub(crate) fn of_deleted(table: &Table, now: i64) -> Backup {
        Backup {
            id: table.id,
            label: new_label(&table.name, table.id, now),
            name: format!("{}$DeletedTableBackup", table.name),
            table: table.clone(),
            created_milliseconds: now,
            expires_milliseconds: Some(now + SYSTEM_BACKUP_MILLISECONDS),
            copying: None,
        }
    }

    /// Who made it.
    pub(crate) fn kind(&self) -> BackupType {
        if self.expires_milliseconds.is_some() { BackupType::System } else { BackupType::User }
    }

    fn status(&self) -> BackupStatus {
        if self.copying.is_some() { BackupStatus::Creating } else { BackupStatus::Available }
    }
}

/// The last part of an ARN of a backup or export: its time and eight digits that tell those of one moment apart.
pub(crate) fn new_label(table: &str, id: CollectionId, now_milliseconds: i64) -> String {
    let digits = xxh3_64(format!("{table} {} {now_milliseconds}", id.0).as_bytes()) >> 32;
    format!("{:014}-{digits:08x}", now_milliseconds.max(0))
}

/// The backup with this ARN.
pub(crate) fn find_backup(catalog: &Catalog, arn: &str) -> Result<std::sync::Arc<Backup>, ApiError> {
    let Some(Resource::Backup(table, label)) = Arn::parse(arn).map(|arn| arn.resource) else {
        return Err(ApiError::validation(format!("Invalid BackupArn: {arn}")));
    };
    let mut backups = catalog.backups();
    backups
        .find(|backup| backup.label == label && backup.table.name == table)
        .cloned()
        .ok_or_else(|| ApiError::new(ErrorKind::BackupNotFound, format!("Backup not found: {arn}")))
}

impl Inner {
    /// The ARN of a backup.
    pub(crate) fn backup_arn(&self, backup: &Backup) -> String {
        self.arn(Resource::Backup(&backup.table.name, &backup.label))
    }

    /// A backup as CreateBackup and DescribeBackup tell of it.
    pub(crate) fn backup_details(&self, backup: &Backup) -> BackupDetails {
        BackupDetails {
            backup_arn: Some(self.backup_arn(backup)),
            backup_name: Some(backup.name.clone()),
            backup_size_bytes: Some(self.backup_totals(backup).1),
            backup_status: Some(backup.status()),
            backup_type: Some(backup.kind()),
            backup_creation_date_time: Some(Timestamp::from_milliseconds(backup.created_milliseconds)),
            backup_expiry_date_time: backup.expires_milliseconds.map(Timestamp::from_milliseconds),
        }
    }

    /// A backup with the table that it was made of.
    pub(crate) fn describe_backup_of(&self, backup: &Backup) -> BackupDescription {
        BackupDescription {
            backup_details: Some(self.backup_details(backup)),
            source_table_details: Some(self.source_table_details(backup)),
            source_table_feature_details: Some(feature_details(&backup.table)),
        }
    }

    /// A backup as ListBackups tells of it.
    pub(crate) fn backup_summary(&self, backup: &Backup) -> BackupSummary {
        let details = self.backup_details(backup);
        BackupSummary {
            table_name: Some(backup.table.name.clone()),
            table_id: Some(backup.table.uuid.clone()),
            table_arn: Some(self.arn(Resource::Table(&backup.table.name))),
            backup_arn: details.backup_arn,
            backup_name: details.backup_name,
            backup_creation_date_time: details.backup_creation_date_time,
            backup_expiry_date_time: details.backup_expiry_date_time,
            backup_status: details.backup_status,
            backup_type: details.backup_type,
            backup_size_bytes: details.backup_size_bytes,
        }
    }

    /// Items and bytes: exact once the backup is there, and those of the table until then.
    fn backup_totals(&self, backup: &Backup) -> (i64, i64) {
        let id = backup.copying.as_ref().map_or(backup.id, |copying| copying.source);
        let totals = self.committer.totals_of(id);
        (totals.items, totals.bytes)
    }

    fn source_table_details(&self, backup: &Backup) -> SourceTableDetails {
        let table = &backup.table;
        let settings = &table.settings;
        let (items, bytes) = self.backup_totals(backup);
        let mode = if settings.on_demand { BillingMode::PayPerRequest } else { BillingMode::Provisioned };
        SourceTableDetails {
            table_name: Some(table.name.clone()),
            table_id: Some(table.uuid.clone()),
            table_arn: Some(self.arn(Resource::Table(&table.name))),
            table_size_bytes: Some(bytes),
            key_schema: Some(key_schema_elements(&table.schema)),
            table_creation_date_time: Some(Timestamp::from_milliseconds(table.created_milliseconds)),
            provisioned_throughput: Some(units(&settings.throughput)),
            on_demand_throughput: describe_limits(settings.on_demand_limits),
            item_count: Some(items),
            billing_mode: Some(mode),
        }
    }
}

fn feature_details(table: &Table) -> SourceTableFeatureDetails {
    let local: Vec<_> = table.local_indexes().map(local_info).collect();
    let global: Vec<_> = table.global_indexes().map(global_info).collect();
    SourceTableFeatureDetails {
        local_secondary_indexes: Some(local).filter(|indexes| !indexes.is_empty()),
        global_secondary_indexes: Some(global).filter(|indexes| !indexes.is_empty()),
        stream_description: table.stream.as_ref().map(|stream| StreamSpecification {
            stream_enabled: Some(true),
            stream_view_type: Some(view_type(stream.view).into()),
        }),
        time_to_live_description: table.time_to_live.as_ref().map(|ttl| TimeToLiveDescription {
            time_to_live_status: Some(TimeToLiveStatus::Enabled),
            attribute_name: Some(ttl.attribute.clone()),
        }),
        sse_description: table.settings.encryption.as_ref().map(|encryption| SSEDescription {
            status: Some(SSEStatus::Enabled),
            sse_type: Some(SSEType::Kms),
            kms_master_key_arn: encryption.key_arn.clone(),
            inaccessible_encryption_date_time: None,
        }),
    }
}

fn local_info(index: &Index) -> LocalSecondaryIndexInfo {
    LocalSecondaryIndexInfo {
        index_name: Some(index.name.clone()),
        key_schema: Some(key_schema_elements(&index.schema)),
        projection: Some(describe_projection(&index.projection)),
    }
}

fn global_info(index: &Index) -> GlobalSecondaryIndexInfo {
    GlobalSecondaryIndexInfo {
        index_name: Some(index.name.clone()),
        key_schema: Some(key_schema_elements(&index.schema)),
        projection: Some(describe_projection(&index.projection)),
        provisioned_throughput: Some(units(&index.throughput)),
        on_demand_throughput: describe_limits(index.on_demand_limits),
    }
}

fn units(throughput: &Throughput) -> ProvisionedThroughput {
    ProvisionedThroughput {
        write_capacity_units: Some(throughput.write_units),
        read_capacity_units: Some(throughput.read_units),
    }
}
