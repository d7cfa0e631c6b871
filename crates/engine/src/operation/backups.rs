//! CreateBackup, DescribeBackup, ListBackups and DeleteBackup.

use std::sync::Arc;

use dynamo::operation::{
    BackupStatus, BackupType, BackupTypeFilter, Choice, CreateBackup, CreateBackupReply, DeleteBackup,
    DeleteBackupReply, DescribeBackup, DescribeBackupReply, ListBackups, ListBackupsReply,
};
use dynamo::{ApiError, ErrorKind};

use crate::arn::{self, Arn, Resource};
use crate::backup::{Backup, find_backup};
use crate::catalog::{CatalogChange, find_backed_up_table};
use crate::commit::{Changes, Latest};
use crate::copying::{Copying, Undo, with_history};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::layout::CollectionId;

/// Backups on one page.
const BACKUPS_PER_PAGE: i32 = 100;

impl Engine {
    /// Makes a backup of a table as it is at this commit; it is copied in the background while writes go on.
    pub fn create_backup(&self, request: CreateBackup) -> Result<CreateBackupReply, ApiError> {
        request.check_fields()?;
        let backup = self.inner.committer.run(move |latest| create(&request, latest))?;
        self.wake_housekeeper();
        Ok(CreateBackupReply { backup_details: Some(self.inner.backup_details(&backup)) })
    }

    /// Tells of a backup and the table it was made of.
    pub fn describe_backup(&self, request: DescribeBackup) -> Result<DescribeBackupReply, ApiError> {
        request.check_fields()?;
        let backup = find_backup(&self.catalog(), request.backup_arn.as_deref().unwrap_or_default())?;
        Ok(DescribeBackupReply { backup_description: Some(self.inner.describe_backup_of(&backup)) })
    }

    /// Lists backups, the oldest first.
    pub fn list_backups(&self, request: ListBackups) -> Result<ListBackupsReply, ApiError> {
        request.check_fields()?;
        let start = request.exclusive_start_backup_arn.as_deref().map(place_of).transpose()?;
        let catalog = self.catalog();
        let mut backups: Vec<&Arc<Backup>> =
            catalog.backups().filter(|backup| is_wanted(backup, &request)).collect();
        backups.sort_by(|left, right| place(left).cmp(&place(right)));
        // Its place is in the ARN, so paging goes on even where that backup was deleted meanwhile.
        backups.retain(|backup| start.is_none_or(|start| place(backup) > start));
        let limit = usize::try_from(request.limit.unwrap_or(BACKUPS_PER_PAGE)).unwrap_or_default();
        let page = backups.get(..limit).unwrap_or(&backups);
        let has_more = page.len() < backups.len();
        Ok(ListBackupsReply {
            backup_summaries: page.iter().map(|backup| self.inner.backup_summary(backup)).collect(),
            last_evaluated_backup_arn: page
                .last()
                .filter(|_| has_more)
                .map(|backup| self.inner.backup_arn(backup)),
        })
    }

    /// Removes a backup that is neither being made nor being restored.
    pub fn delete_backup(&self, request: DeleteBackup) -> Result<DeleteBackupReply, ApiError> {
        request.check_fields()?;
        let backup = self.inner.committer.run(move |latest| delete(&request, latest))?;
        self.wake_housekeeper();
        let mut description = self.inner.describe_backup_of(&backup);
        if let Some(details) = &mut description.backup_details {
            details.backup_status = Some(BackupStatus::Deleted);
        }
        Ok(DeleteBackupReply { backup_description: Some(description) })
    }
}

fn create(request: &CreateBackup, latest: &Latest<'_>) -> Result<(Arc<Backup>, Changes), Fault> {
    let table = find_backed_up_table(latest.catalog, request.table_name.as_deref().unwrap_or_default())?;
    latest.catalog.check_key(&table)?;
    if table.is_restoring() {
        let message = format!("Table is being created: {}", table.name);
        return Err(ApiError::new(ErrorKind::TableInUse, message).into());
    }
    let id = latest.catalog.next_id();
    let (history, made) = with_history(&table, id + 1);
    let copying = Copying::new(table.id, Some(Undo { history, from: latest.next_sequence }));
    let name = request.backup_name.clone().unwrap_or_default();
    let backup = Backup::of_table(CollectionId(id), name, &table, copying, latest.now_milliseconds);
    let backup = Arc::new(backup);
    let mut catalog = vec![CatalogChange::TakeIds(id)];
    catalog.extend(made.into_iter().flatten());
    catalog.push(CatalogChange::PutBackup(backup.clone()));
    Ok((backup, Changes { catalog, ..Changes::default() }))
}

fn delete(request: &DeleteBackup, latest: &Latest<'_>) -> Result<(Arc<Backup>, Changes), Fault> {
    let arn = request.backup_arn.as_deref().unwrap_or_default();
    let backup = find_backup(latest.catalog, arn)?;
    if backup.copying.is_some() || latest.catalog.copies().any(|copying| copying.source == backup.id) {
        let message = format!("Backup is being created or restored: {arn}");
        return Err(ApiError::new(ErrorKind::BackupInUse, message).into());
    }
    let catalog = vec![CatalogChange::ForgetBackup(backup.id)];
    Ok((backup, Changes { catalog, ..Changes::default() }))
}

/// Where a backup stands in lists: by its time.
fn place(backup: &Backup) -> (&str, &str) {
    (&backup.label, &backup.table.name)
}

fn place_of(arn: &str) -> Result<(&str, &str), ApiError> {
    match Arn::parse(arn).map(|arn| arn.resource) {
        Some(Resource::Backup(table, label)) => Ok((label, table)),
        _ => Err(ApiError::validation(format!("Invalid ExclusiveStartBackupArn: {arn}"))),
    }
}

fn is_wanted(backup: &Backup, request: &ListBackups) -> bool {
    let kind = request.backup_type.as_ref().and_then(Choice::known).unwrap_or(BackupTypeFilter::User);
    let is_kind = match kind {
        BackupTypeFilter::All => true,
        BackupTypeFilter::User => backup.kind() == BackupType::User,
        BackupTypeFilter::System => backup.kind() == BackupType::System,
        BackupTypeFilter::AwsBackup => false,
    };
    let created = backup.created_milliseconds;
    let table = request.table_name.as_deref().map(arn::table_name);
    is_kind
        && table.is_none_or(|name| backup.table.name == name)
        && request.time_range_lower_bound.is_none_or(|bound| bound.milliseconds <= created)
        && request.time_range_upper_bound.is_none_or(|bound| created < bound.milliseconds)
}
