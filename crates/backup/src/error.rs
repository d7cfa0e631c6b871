//! What can go wrong with a backup, in words that say what to do.

use engine::TransferError;
use seal::SealError;

/// Why a backup was not made, read or restored.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BackupError {
    /// The address means nothing.
    #[error("{address} is no place for backups: {reason}")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The place did not answer, or refused.
    #[error("{doing} failed: {reason}")]
    Unreachable {
        /// What was being done.
        doing: String,
        /// What the place said.
        reason: String,
    },
    /// There is nothing.
    #[error("there is no backup in {place}")]
    NoBackup {
        /// Where it was looked for.
        place: String,
    },
    /// Something is not what was written.
    #[error("the backup is damaged: {name} {detail}")]
    Damaged {
        /// The object.
        name: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A newer version wrote it.
    #[error("{name} was written by a newer version of Monotable")]
    Newer {
        /// The object.
        name: String,
    },
    /// It cannot be read without its key.
    #[error("the backup in {place} is sealed: its master key is needed")]
    NeedsKey {
        /// Where it is.
        place: String,
    },
    /// A key was given for what is not sealed.
    #[error("the backup in {place} is not sealed, but a key was given: seal into another place")]
    NotSealed {
        /// Where it is.
        place: String,
    },
    /// The key is wrong, or cannot be used.
    #[error(transparent)]
    Key(#[from] SealError),
    /// The database could not be read or written.
    #[error(transparent)]
    Database(#[from] TransferError),
    /// Another backup or prune works in the same place.
    #[error("another backup or prune is at work in {place}: wait for it to end")]
    Busy {
        /// The place.
        place: String,
    },
    /// A prune was interrupted, or is under way elsewhere.
    #[error("a prune of {place} was interrupted or is under way: `monotable backup prune` completes it")]
    Pruning {
        /// The place.
        place: String,
    },
    /// A prune may have removed what this backup meant to share.
    #[error("{place} was pruned meanwhile: make the backup again")]
    Pruned {
        /// The place.
        place: String,
    },
    /// No backup has this id.
    #[error("there is no backup {id}")]
    UnknownId {
        /// What was asked for.
        id: String,
    },
    /// The moment is before everything that was kept.
    #[error("nothing was kept of {asked}: the first backup is of {first}")]
    TooEarly {
        /// The moment that was asked for.
        asked: String,
        /// The first that there is.
        first: String,
    },
    /// The moment is after what was shipped, or in a gap.
    #[error("what happened up to {asked} is not known: from {from} on, the backup reaches {until}")]
    NotCovered {
        /// The moment that was asked for.
        asked: String,
        /// When the backup before it was made.
        from: String,
        /// How far its log reaches.
        until: String,
    },
    /// Another server ships the log of the same database.
    #[error("another server ships the log of this database to {place}")]
    Forked {
        /// The place.
        place: String,
    },
}

impl BackupError {
    pub(crate) fn damaged(name: &str, detail: impl Into<String>) -> BackupError {
        BackupError::Damaged { name: name.to_owned(), detail: detail.into() }
    }

    /// Whether something is not what was written.
    pub fn is_damage(&self) -> bool {
        matches!(self, BackupError::Damaged { .. })
    }
}
