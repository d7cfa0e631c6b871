//! Where objects lie: names and bytes, in a directory or an object store.
//!
//! Always true: an object appears whole or not at all, and one that `settle` has returned for stays. Names are made of letters,
//! digits, `-` and `/`.

mod local;
mod remote;

use bytes::Bytes;

use crate::BackupError;

pub(crate) use local::Local;
pub(crate) use remote::Remote;

/// What an object was when it was read, to replace it only if it still is that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) tag: Option<String>,
    pub(crate) version: Option<String>,
}

/// An object as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) size_bytes: u64,
}

/// What keeps others from working in the same place, until it is dropped.
pub(crate) type Guard = Box<dyn Send + Sync>;

/// A place for objects.
pub(crate) trait Objects: Send + Sync {
    /// Reads an object, if there is one with this name.
    fn get(&self, name: &str) -> Result<Option<(Bytes, Version)>, BackupError>;

    /// Writes an object, in the place of one with this name.
    fn put(&self, name: &str, bytes: Bytes) -> Result<(), BackupError>;

    /// Writes an object if it still is what it was when it was read, or still is not there. Says whether it was.
    fn replace(&self, name: &str, bytes: Bytes, seen: Option<&Version>) -> Result<bool, BackupError>;

    /// Removes an object, which need not exist.
    fn remove(&self, name: &str) -> Result<(), BackupError>;

    /// All objects whose names begin with this folder.
    fn list(&self, folder: &str) -> Result<Vec<Listed>, BackupError>;

    /// Returns once everything written so far survives a loss of power.
    fn settle(&self) -> Result<(), BackupError>;

    /// Keeps others from working here, where the place allows that; elsewhere `replace` notices them.
    fn guard(&self) -> Result<Guard, BackupError>;

    /// Removes what interrupted writes left. Only with the guard.
    fn sweep(&self) -> Result<(), BackupError>;

    /// How many requests at a time are worth it.
    fn lanes(&self) -> usize;
}
