//! What can go wrong underneath the engine, sorted by what to do about it.

use std::{error::Error, io, path::PathBuf, sync::Arc};

use seal::SealError;

use super::Missing;

/// A failure of the store. Clients see only InternalServerError; the log has the rest.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum StoreError {
    /// The disk has too little space left, so the batch was not applied and nothing else happened.
    /// *Retry* once space has returned; no `reopen` is needed.
    #[error("the disk is full: {free_bytes} bytes are free, {needed_bytes} are needed (reserve included)")]
    Full {
        /// What the file system has left for us.
        free_bytes: u64,
        /// The batch, what it costs in the background, and the reserve.
        needed_bytes: u64,
    },

    /// Writes are stopped, because an earlier one failed in a way that leaves the end of the log in doubt.
    /// *Retry* after `reopen`; *report* it if that fails too.
    #[error("writes are stopped: {reason}")]
    Failed {
        /// What failed first.
        reason: Arc<str>,
        /// Whether the disk was (nearly) full then: `reopen` helps once space has returned.
        disk_was_full: bool,
        /// The failure itself, unless it happened in a background thread.
        source: Option<Arc<dyn Error + Send + Sync>>,
    },

    /// The operating system refused to read or to open. *Retry* once; *report* it if it stays.
    #[error("{doing} failed: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the operating system said.
        source: Arc<io::Error>,
    },

    /// What is on disk is not what was written. *Repair*: restore a backup; *report* the hardware.
    #[error("the database is damaged: {detail}")]
    Corrupt {
        /// What was found.
        detail: Arc<str>,
        /// The storage crate's own finding, if it was the one to notice.
        source: Option<Arc<dyn Error + Send + Sync>>,
    },

    /// The store was reopened after this snapshot was taken. *Retry* with a new snapshot.
    #[error("the store was reopened after this snapshot was taken")]
    Stale,

    /// Another process, or this one, has the database open. *Report*; retry when it is closed.
    #[error("{} is open already, in this process or another", path.display())]
    Locked {
        /// The directory of the database.
        path: PathBuf,
    },

    /// The directory holds files that are not ours; nothing was touched. *Report*.
    #[error("{} is not empty and not a Monotable database: it holds {found:?}", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// One of the files that do not belong.
        found: String,
    },

    /// A restore into the directory was interrupted; it is no database yet. *Repair*: restore again.
    #[error("a restore into {} was not completed: restore into it again, or remove it", path.display())]
    HalfRestored {
        /// The directory.
        path: PathBuf,
    },

    /// The directory holds a database already; nothing was touched. *Report*.
    #[error("{} holds a database already", path.display())]
    Exists {
        /// The directory of the database.
        path: PathBuf,
    },

    /// There is no disk to read from or to write to. *Report*.
    #[error("a database in memory cannot be backed up")]
    InMemory,

    /// A newer Monotable wrote the database; nothing was touched. *Report*: open it with that version.
    #[error("{} has format {found}; this version reads up to format {supported}", path.display())]
    NewerFormat {
        /// The directory of the database.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format this version reads.
        supported: u32,
    },

    /// The database is encrypted and no key was given; nothing was touched. *Report*: give the key.
    #[error(
        "{} is encrypted: give its master key (--key-file FILE, the environment variable MONOTABLE_KEY, or --kms-key-id ID)",
        path.display()
    )]
    KeyNeeded {
        /// The directory of the database.
        path: PathBuf,
    },

    /// A key was given for a database that is not encrypted; nothing was touched. *Report*: leave the key out, or encrypt it.
    #[error(
        "{} is not encrypted, but a key was given: open it without one, or encrypt it with `monotable key encrypt`",
        path.display()
    )]
    NotEncrypted {
        /// The directory of the database.
        path: PathBuf,
    },

    /// The keys of an encrypted database cannot be had. *Report*: the source says which key is needed.
    #[error("the keys of the database do not open: {source}")]
    Key {
        /// What is wrong with the key or the envelope.
        source: Arc<SealError>,
    },

    /// The key of a table cannot be had; everything else works. *Retry* once it is there again.
    #[error("the key of the table cannot be used: {reason}")]
    TableKey {
        /// What is wrong with it.
        reason: Arc<str>,
    },

    /// There are tables with keys of their own, which only an encrypted database has. *Report*: give a key.
    #[error(
        "tables in it have keys of their own, so it must be encrypted: give a master key for it (--key-file FILE, the \
         environment variable MONOTABLE_KEY, or --kms-key-id ID)"
    )]
    PlainWithTableKeys,

    /// The file that names the format does not say what it should. *Repair* it if the rest is sound.
    #[error("{} does not name a Monotable format: {found:?}", path.display())]
    UnreadableFormat {
        /// The file.
        path: PathBuf,
        /// How it begins.
        found: String,
    },
}

impl StoreError {
    /// For an operation of the operating system.
    pub(super) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> StoreError {
        move |source| StoreError::Io { doing, source: Arc::new(source) }
    }

    /// For keys that do not open.
    pub(super) fn key(source: SealError) -> StoreError {
        StoreError::Key { source: Arc::new(source) }
    }

    /// For a value that a missing key of a table seals.
    pub(crate) fn table_key(missing: &Missing) -> StoreError {
        StoreError::TableKey { reason: missing.reason.clone() }
    }

    /// For something on disk that nobody wrote.
    pub(crate) fn corrupt(detail: impl Into<Arc<str>>) -> StoreError {
        StoreError::Corrupt { detail: detail.into(), source: None }
    }
}

/// Whether an error of the operating system means that there is no space left for us.
pub(super) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}
