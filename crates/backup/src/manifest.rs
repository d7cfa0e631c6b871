//! A manifest: the chunks of one backup.

use serde::{Deserialize, Serialize};

use crate::BackupError;
use crate::destination::Destination;
use crate::index::Summary;
use crate::log::Place;
use crate::vault::sha256;

/// What a backup is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) id: String,
    pub(crate) database: String,
    pub(crate) time_milliseconds: i64,
    pub(crate) commit: u64,
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
    /// Where the log of commits goes on, if it was kept.
    pub(crate) place: Option<Place>,
    /// In the order of their entries.
    pub(crate) chunks: Vec<ChunkRef>,
}

/// A chunk, as a manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkRef {
    pub(crate) hash: String,
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
    pub(crate) stored_bytes: u64,
}

impl ChunkRef {
    /// The name of its object.
    pub(crate) fn name(&self) -> String {
        chunk_name(&self.hash)
    }
}

/// Folders of at most a few thousand files.
pub(crate) fn chunk_name(hash: &str) -> String {
    format!("chunks/{}/{hash}", hash.get(..2).unwrap_or_default())
}

/// The name of a manifest.
pub(crate) fn manifest_name(id: &str) -> String {
    format!("backups/{id}")
}

impl Manifest {
    /// The manifest as it is written.
    pub(crate) fn body(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts and numbers only")
    }

    pub(crate) fn summary(&self, body: &[u8]) -> Summary {
        Summary {
            id: self.id.clone(),
            database: self.database.clone(),
            time_milliseconds: self.time_milliseconds,
            commit: self.commit,
            entries: self.entries,
            bytes: self.bytes,
            is_continued: self.place.is_some(),
            manifest: sha256(body),
        }
    }
}

impl Destination {
    /// The manifest of a backup in the index, if it is the one that the index means.
    pub(crate) fn manifest(&self, summary: &Summary) -> Result<Manifest, BackupError> {
        let name = manifest_name(&summary.id);
        let body = self.read_needed(&name)?;
        let manifest: Manifest =
            serde_json::from_slice(&body).map_err(|_| BackupError::damaged(&name, "cannot be read"))?;
        if manifest.summary(&body) == *summary {
            Ok(manifest)
        } else {
            Err(BackupError::damaged(&name, "is not the one that the index means"))
        }
    }
}
