//! UpdateContinuousBackups and DescribeContinuousBackups: point-in-time recovery of a table.

use std::sync::Arc;

use dynamo::operation::{
    ContinuousBackupsDescription, DescribeContinuousBackups, DescribeContinuousBackupsReply,
    UpdateContinuousBackups, UpdateContinuousBackupsReply,
};
use dynamo::{ApiError, ErrorKind};

use crate::catalog::{CatalogChange, find_backed_up_table};
use crate::commit::{Changes, Latest};
use crate::copying::with_history;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::recovery::{self, DAYS_DEFAULT};
use crate::table::{Recovery, Table};

impl Engine {
    /// Switches point-in-time recovery of a table on or off. What was kept goes when it is switched off.
    pub fn update_continuous_backups(
        &self,
        request: UpdateContinuousBackups,
    ) -> Result<UpdateContinuousBackupsReply, ApiError> {
        request.check_fields()?;
        let name = request.table_name.clone().unwrap_or_default();
        self.inner.committer.run(move |latest| write(&request, latest))?;
        self.wake_housekeeper();
        Ok(UpdateContinuousBackupsReply {
            continuous_backups_description: Some(self.continuous_backups(&name)?),
        })
    }

    /// Tells whether a table can be restored, and to which moments.
    pub fn describe_continuous_backups(
        &self,
        request: DescribeContinuousBackups,
    ) -> Result<DescribeContinuousBackupsReply, ApiError> {
        request.check_fields()?;
        let name = request.table_name.unwrap_or_default();
        Ok(DescribeContinuousBackupsReply {
            continuous_backups_description: Some(self.continuous_backups(&name)?),
        })
    }

    fn continuous_backups(&self, name: &str) -> Result<ContinuousBackupsDescription, ApiError> {
        self.read(&self.view(), |view| {
            let table = find_backed_up_table(&view.catalog, name)?;
            let now = self.inner.committer.history_milliseconds();
            Ok(recovery::describe(&table, recovery::window(&table, now, &view.snapshot)?))
        })
    }
}

fn write(request: &UpdateContinuousBackups, latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let table = find_backed_up_table(latest.catalog, request.table_name.as_deref().unwrap_or_default())?;
    if table.is_restoring() {
        let message = format!("Table is being created: {}", table.name);
        return Err(ApiError::new(ErrorKind::ContinuousBackupsUnavailable, message).into());
    }
    let specification = request.point_in_time_recovery_specification.clone().unwrap_or_default();
    let catalog = if specification.point_in_time_recovery_enabled.unwrap_or_default() {
        let days = specification.recovery_period_in_days.unwrap_or(DAYS_DEFAULT);
        switch_on(&table, days, latest)
    } else {
        switch_off(&table, latest)
    };
    Ok(((), Changes { catalog, ..Changes::default() }))
}

fn switch_on(table: &Table, days: i32, latest: &Latest<'_>) -> Vec<CatalogChange> {
    let now = latest.history_milliseconds;
    let since_milliseconds = match &table.recovery {
        // What the shorter period did not keep does not come back with a longer one.
        Some(recovery) => recovery.since_milliseconds.max(recovery.horizon_milliseconds(now)),
        None => now,
    };
    let (history, made) = with_history(table, latest.catalog.next_id());
    let table = Table {
        history: Some(history),
        recovery: Some(Recovery { days, since_milliseconds }),
        ..table.clone()
    };
    made.into_iter().flatten().chain([CatalogChange::Put(Arc::new(table))]).collect()
}

/// The history goes with recovery, unless a copy still undoes changes by it.
fn switch_off(table: &Table, latest: &Latest<'_>) -> Vec<CatalogChange> {
    if table.recovery.is_none() {
        return Vec::new();
    }
    let is_read = |id| latest.catalog.copies().any(|copying| copying.reads(id));
    let unread = table.history.filter(|history| !is_read(*history));
    let history = table.history.filter(|_| unread.is_none());
    let table = Table { history, recovery: None, ..table.clone() };
    let put = CatalogChange::Put(Arc::new(table));
    unread.map(CatalogChange::Discard).into_iter().chain([put]).collect()
}
