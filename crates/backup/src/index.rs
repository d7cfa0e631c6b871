//! The index: which backups there are.
//!
//! Always true: a backup counts once it is in the index, and the index is written last. While `pruning` is set, somebody removes
//! chunks; a backup that began before or meanwhile does not get into the index.

use serde::{Deserialize, Serialize};

use crate::BackupError;
use crate::destination::Destination;
use crate::objects::Version;

/// The name of the index.
pub(crate) const INDEX: &str = "index";
/// Others may write the index at the same moment; each attempt reads it again.
const ATTEMPTS: usize = 20;

/// All backups of a place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    pub(crate) backups: Vec<Summary>,
    /// How often backups were removed.
    pub(crate) prunes: u64,
    /// Whether that is under way, or was interrupted.
    pub(crate) pruning: bool,
}

/// What is known of a backup without reading it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Its name.
    pub id: String,
    /// The database that it is of.
    pub database: String,
    /// The moment that it shows, in milliseconds since the epoch.
    pub time_milliseconds: i64,
    /// The number of the last commit in it.
    pub commit: u64,
    /// Stored entries.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether the log of commits goes on from it.
    pub is_continued: bool,
    /// The SHA-256 of its manifest.
    pub manifest: String,
}

impl Destination {
    /// The backups here, oldest first.
    pub fn backups(&self) -> Result<Vec<Summary>, BackupError> {
        let (mut index, _) = self.index()?.unwrap_or_default();
        index.backups.sort_by(|one, other| order(one).cmp(&order(other)));
        Ok(index.backups)
    }

    pub(crate) fn index(&self) -> Result<Option<(Index, Version)>, BackupError> {
        let Some((body, version)) = self.read(INDEX)? else { return Ok(None) };
        let index = serde_json::from_slice(&body);
        index.map(|index| Some((index, version))).map_err(|_| BackupError::damaged(INDEX, "cannot be read"))
    }

    /// Changes the index as it is now. The caller holds the guard of the place.
    pub(crate) fn change_index(
        &self,
        change: impl Fn(&mut Index) -> Result<(), BackupError>,
    ) -> Result<Index, BackupError> {
        for _ in 0..ATTEMPTS {
            let found = self.index()?;
            let (mut index, version) = match found {
                Some((index, version)) => (index, Some(version)),
                None => (Index::default(), None),
            };
            change(&mut index)?;
            let body = serde_json::to_vec_pretty(&index).expect("texts and numbers only");
            let stored = self.vault.wrap(INDEX, &body);
            if self.objects.replace(INDEX, stored.into(), version.as_ref())? {
                return Ok(index);
            }
        }
        Err(BackupError::Busy { place: self.place.clone() })
    }
}

/// Backups in the order of the moments they show.
pub(crate) fn order(summary: &Summary) -> (i64, u64, &str) {
    (summary.time_milliseconds, summary.commit, &summary.id)
}
