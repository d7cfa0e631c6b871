//! RestoreTableToPointInTime and RestoreTableFromBackup: a new table from the past of another.
//!
//! The table is there at once, empty and `CREATING`; housekeeping fills it ([`crate::copying`]) and makes it `ACTIVE`.

mod target;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dynamo::operation::{
    RestoreTableFromBackup, RestoreTableFromBackupReply, RestoreTableToPointInTime,
    RestoreTableToPointInTimeReply, SSESpecification, TableDescription,
};
use dynamo::{ApiError, ErrorKind};

use super::create_table::{named_key, number};
use crate::arn::{self, Resource};
use crate::backup::find_backup;
use crate::catalog::{Catalog, CatalogChange, find_backed_up_table};
use crate::commit::{Changes, Latest};
use crate::copying::{Copying, Undo};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::history;
use crate::options::Options;
use crate::recovery;
use crate::table::{Restored, Table};
use crate::table_key::{TableKey, give_key};
use target::{Overrides, restored_table};

impl Engine {
    /// Makes a new table as another was at a moment of the last days.
    pub fn restore_table_to_point_in_time(
        &self,
        request: RestoreTableToPointInTime,
    ) -> Result<RestoreTableToPointInTimeReply, ApiError> {
        let checked = check_moment(request)?;
        let options = self.inner.options.clone();
        let catalog = self.inner.committer.catalog();
        let encryption = checked.request.sse_specification_override.as_ref();
        let key = match catalog.table(arn::table_name(&checked.source)) {
            Some(source) => self.restored_key(source, encryption)?,
            None => None,
        };
        let write = move |latest: &Latest<'_>| restore_moment(&checked, key, &options, latest);
        let table = self.inner.committer.run(write)?;
        self.wake_housekeeper();
        let description = self.describe_made(&table);
        Ok(RestoreTableToPointInTimeReply { table_description: Some(description) })
    }

    /// Makes a new table from a backup.
    pub fn restore_table_from_backup(
        &self,
        request: RestoreTableFromBackup,
    ) -> Result<RestoreTableFromBackupReply, ApiError> {
        request.check_fields()?;
        let options = self.inner.options.clone();
        let catalog = self.inner.committer.catalog();
        let backup = find_backup(&catalog, request.backup_arn.as_deref().unwrap_or_default())?;
        let key = self.restored_key(&backup.table, request.sse_specification_override.as_ref())?;
        let write = move |latest: &Latest<'_>| restore_backup(&request, key, &options, latest);
        let table = self.inner.committer.run(write)?;
        self.wake_housekeeper();
        let description = self.describe_made(&table);
        Ok(RestoreTableFromBackupReply { table_description: Some(description) })
    }
}

impl Engine {
    /// The new table as it was made, empty: it may have been filled since.
    fn describe_made(&self, table: &Table) -> TableDescription {
        let mut description = self.inner.describe_new(table);
        (description.item_count, description.table_size_bytes) = (Some(0), Some(0));
        for index in description.local_secondary_indexes.iter_mut().flatten() {
            (index.item_count, index.index_size_bytes) = (Some(0), Some(0));
        }
        for index in description.global_secondary_indexes.iter_mut().flatten() {
            (index.item_count, index.index_size_bytes) = (Some(0), Some(0));
        }
        description
    }

    /// A key for the new table: wrapped with the same key of the customer's as that of the source, unless the request says otherwise.
    fn restored_key(
        &self,
        source: &Table,
        request: Option<&SSESpecification>,
    ) -> Result<Option<Arc<TableKey>>, ApiError> {
        let catalog = self.inner.committer.catalog();
        catalog.check_key(source)?;
        let inherited = source.key().and_then(|id| catalog.keys.get(id)).map(|key| key.named.as_str());
        self.inner.new_table_key(if request.is_some() { named_key(request) } else { inherited })
    }
}

/// A request for a moment whose members fit together.
struct CheckedMoment {
    source: String,
    /// None for the latest.
    milliseconds: Option<i64>,
    request: RestoreTableToPointInTime,
}

fn check_moment(request: RestoreTableToPointInTime) -> Result<CheckedMoment, ApiError> {
    request.check_fields()?;
    let source = match (&request.source_table_name, &request.source_table_arn) {
        (Some(source), None) | (None, Some(source)) => source.clone(),
        (None, None) => {
            return Err(ApiError::validation("Either SourceTableName or SourceTableArn must be specified"));
        }
        (Some(_), Some(_)) => {
            return Err(ApiError::validation(
                "Only one of SourceTableName and SourceTableArn may be specified",
            ));
        }
    };
    let latest = request.use_latest_restorable_time.unwrap_or_default();
    let milliseconds = match (request.restore_date_time, latest) {
        (Some(time), false) => Some(time.milliseconds),
        (None, true) => None,
        (None, false) => {
            return Err(ApiError::validation(
                "Either RestoreDateTime or UseLatestRestorableTime must be specified",
            ));
        }
        (Some(_), true) => {
            return Err(ApiError::validation(
                "RestoreDateTime cannot be specified when UseLatestRestorableTime is true",
            ));
        }
    };
    Ok(CheckedMoment { source, milliseconds, request })
}

fn restore_moment(
    checked: &CheckedMoment,
    key: Option<Arc<TableKey>>,
    options: &Options,
    latest: &Latest<'_>,
) -> Result<(Arc<Table>, Changes), Fault> {
    let request = &checked.request;
    let source = find_backed_up_table(latest.catalog, &checked.source)?;
    let (milliseconds, undo) = undo_to(&source, checked.milliseconds, latest)?;
    let overrides = Overrides {
        target: request.target_table_name.as_deref().unwrap_or_default(),
        billing_mode: request.billing_mode_override.as_ref(),
        global_indexes: request.global_secondary_index_override.as_deref(),
        local_indexes: request.local_secondary_index_override.as_deref(),
        units: request.provisioned_throughput_override.as_ref(),
        on_demand_limits: request.on_demand_throughput_override.as_ref(),
        encryption: request.sse_specification_override.as_ref(),
    };
    check_free(latest.catalog, overrides.target)?;
    let restored = Restored {
        table_arn: table_arn(options, &source.name),
        backup_arn: None,
        time_milliseconds: milliseconds,
        copying: Some(Copying::new(source.id, Some(undo))),
    };
    Ok(make(restored_table(&source, &overrides, options)?, restored, key, latest))
}

fn restore_backup(
    request: &RestoreTableFromBackup,
    key: Option<Arc<TableKey>>,
    options: &Options,
    latest: &Latest<'_>,
) -> Result<(Arc<Table>, Changes), Fault> {
    let arn = request.backup_arn.as_deref().unwrap_or_default();
    let backup = find_backup(latest.catalog, arn)?;
    if backup.copying.is_some() {
        let message = format!("Backup is being created: {arn}");
        return Err(ApiError::new(ErrorKind::BackupInUse, message).into());
    }
    let overrides = Overrides {
        target: request.target_table_name.as_deref().unwrap_or_default(),
        billing_mode: request.billing_mode_override.as_ref(),
        global_indexes: request.global_secondary_index_override.as_deref(),
        local_indexes: request.local_secondary_index_override.as_deref(),
        units: request.provisioned_throughput_override.as_ref(),
        on_demand_limits: request.on_demand_throughput_override.as_ref(),
        encryption: request.sse_specification_override.as_ref(),
    };
    check_free(latest.catalog, overrides.target)?;
    let restored = Restored {
        table_arn: table_arn(options, &backup.table.name),
        backup_arn: Some(arn.to_owned()),
        time_milliseconds: backup.created_milliseconds,
        copying: Some(Copying::new(backup.id, None)),
    };
    Ok(make(restored_table(&backup.table, &overrides, options)?, restored, key, latest))
}

fn table_arn(options: &Options, name: &str) -> String {
    crate::arn::Arn::new(options, Resource::Table(name)).to_string()
}

fn check_free(catalog: &Catalog, target: &str) -> Result<(), ApiError> {
    if catalog.table(target).is_some() {
        let message = format!("Table already exists: {target}");
        return Err(ApiError::new(ErrorKind::TableAlreadyExists, message));
    }
    Ok(())
}

/// The changes that lead back to a moment, if that can be reached, and the moment.
pub(super) fn undo_to(
    source: &Table,
    moment: Option<i64>,
    latest: &Latest<'_>,
) -> Result<(i64, Undo), Fault> {
    let now = latest.history_milliseconds;
    let window = recovery::window(source, now, latest.snapshot())?;
    let (Some(window), Some(history)) = (window, source.history) else {
        let message = format!("Point in time recovery is not enabled for table '{}'", source.name);
        return Err(ApiError::new(ErrorKind::PointInTimeRecoveryUnavailable, message).into());
    };
    let milliseconds = moment.unwrap_or(window.latest_milliseconds);
    if !(window.earliest_milliseconds..=window.latest_milliseconds).contains(&milliseconds) {
        return Err(ApiError::new(ErrorKind::InvalidRestoreTime, OUT_OF_WINDOW).into());
    }
    // What this group has written so far has the time of now, and is in no snapshot yet.
    let from = if milliseconds >= now {
        latest.next_sequence
    } else {
        history::first_after(history, milliseconds, latest.snapshot())?
    };
    Ok((milliseconds, Undo { history, from }))
}

const OUT_OF_WINDOW: &str = "An invalid restore time was specified. RestoreDateTime must be between \
                             EarliestRestorableDateTime and LatestRestorableDateTime.";

fn make(
    mut table: Table,
    restored: Restored,
    key: Option<Arc<TableKey>>,
    latest: &Latest<'_>,
) -> (Arc<Table>, Changes) {
    table.restored = Some(restored);
    give_key(&mut table, key.as_ref());
    let last_id = number(&mut table, latest);
    let table = Arc::new(table);
    let mut catalog = vec![CatalogChange::TakeIds(last_id), CatalogChange::Put(table.clone())];
    catalog.extend(key.map(CatalogChange::PutKey));
    (table, Changes { catalog, ..Changes::default() })
}
