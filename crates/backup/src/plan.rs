//! Which backup a restore begins with, and how far the log must lead.

use crate::BackupError;
use crate::destination::Destination;
use crate::index::Summary;
use crate::time::time_text;

/// What a restore is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) backup: Summary,
    pub(crate) log: Log,
}

/// How much of the log is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    /// Nothing: the backup as it is.
    Nothing,
    /// All that is there, up to a gap.
    All,
    /// Commits up to this moment, which must be covered.
    Until(i64),
}

/// Chooses the backup: that with the id, or the newest one at or before the moment, or the newest one.
pub(crate) fn plan(
    destination: &Destination,
    id: Option<&str>,
    at: Option<i64>,
) -> Result<Plan, BackupError> {
    let backups = destination.backups()?;
    let Some(first) = backups.first() else {
        return Err(BackupError::NoBackup { place: destination.place.clone() });
    };
    let is_early = |summary: &&Summary| at.is_none_or(|at| summary.time_milliseconds <= at);
    let found = match id {
        Some(id) => {
            let named = backups.iter().find(|summary| summary.id == id);
            let named = named.ok_or_else(|| BackupError::UnknownId { id: id.to_owned() })?;
            Some(named).filter(is_early)
        }
        None => backups.iter().rev().find(is_early),
    };
    let backup = found.cloned().ok_or_else(|| BackupError::TooEarly {
        asked: time_text(at.unwrap_or_default()),
        first: time_text(
            id.and_then(|id| backups.iter().find(|summary| summary.id == id))
                .unwrap_or(first)
                .time_milliseconds,
        ),
    })?;
    let log = match (id, at) {
        _ if !backup.is_continued => Log::Nothing,
        (_, Some(at)) => Log::Until(at),
        (Some(_), None) => Log::Nothing,
        (None, None) => Log::All,
    };
    Ok(Plan { backup, log })
}
