//! Point-in-time recovery: from when to when a table can be restored.
//!
//! Always true: what is said to be restorable is. The state at a moment has every commit whose time is that moment or before it, and
//! none after; everything between the earliest and the latest moment is in the history.

use bytes::Bytes;
use dynamo::operation::{
    BackupSwitch, ContinuousBackupsDescription, PointInTimeRecoveryDescription, Timestamp,
};

use crate::layout::CollectionId;
use crate::meta::{self, MetaKey};
use crate::store::{Batch, Snapshot, Space, StoreError};
use crate::table::{Recovery, Table};

/// For how many days a table can be restored where nobody said otherwise: the longest.
pub(crate) const DAYS_DEFAULT: i32 = 35;

const DAY_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

impl Recovery {
    /// Before this moment nothing need be kept.
    pub(crate) fn horizon_milliseconds(&self, now_milliseconds: i64) -> i64 {
        now_milliseconds - i64::from(self.days) * DAY_MILLISECONDS
    }
}

/// The moments to which a table can be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) earliest_milliseconds: i64,
    pub(crate) latest_milliseconds: i64,
}

/// The moments to which a table can be restored now, if recovery is on. `now` is the time that a commit would have.
pub(crate) fn window(table: &Table, now: i64, snapshot: &Snapshot) -> Result<Option<Window>, StoreError> {
    let (Some(recovery), Some(history)) = (&table.recovery, table.history) else { return Ok(None) };
    let trimmed = snapshot.get(Space::Meta, &trimmed_key(history))?;
    let trimmed = trimmed.and_then(|time| time.first_chunk().map(|time| i64::from_be_bytes(*time)));
    let kept = recovery.horizon_milliseconds(now).max(recovery.since_milliseconds);
    Ok(Some(Window { earliest_milliseconds: kept.max(trimmed.unwrap_or(kept)), latest_milliseconds: now }))
}

/// Remembers that changes up to this time are gone from a history, lest a clock that goes back promises them.
pub(crate) fn put_trimmed(history: CollectionId, milliseconds: i64, batch: &mut Batch) {
    let time = Bytes::copy_from_slice(&milliseconds.to_be_bytes());
    batch.put(Space::Meta, trimmed_key(history), time);
}

fn trimmed_key(history: CollectionId) -> Bytes {
    meta::collection_key(MetaKey::TRIMMED, history)
}

/// The continuous backups of a table, as DynamoDB describes them.
pub(crate) fn describe(table: &Table, window: Option<Window>) -> ContinuousBackupsDescription {
    let status = if window.is_some() { BackupSwitch::Enabled } else { BackupSwitch::Disabled };
    let time = |milliseconds: i64| Timestamp::from_milliseconds(milliseconds);
    ContinuousBackupsDescription {
        continuous_backups_status: Some(BackupSwitch::Enabled),
        point_in_time_recovery_description: Some(PointInTimeRecoveryDescription {
            point_in_time_recovery_status: Some(status),
            recovery_period_in_days: table.recovery.as_ref().map(|recovery| recovery.days),
            earliest_restorable_date_time: window.map(|window| time(window.earliest_milliseconds)),
            latest_restorable_date_time: window.map(|window| time(window.latest_milliseconds)),
        }),
    }
}
