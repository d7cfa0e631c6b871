//! The keys of encrypted databases: replacing them, and encrypting a database that was plain.
//!
//! A master key can be replaced, and a data key added, while the database is open, here or in another process: only the envelope
//! changes. Whoever has the database open takes up a new data key by itself and seals everything again ([`crate::Engine::keep_house`]).

use std::path::Path;
use std::sync::Arc;

use seal::MasterKey;

use crate::engine::OpenError;
use crate::store::{self, SealedStore, StoreError, StoreOptions};

/// The keys of a database, as its files tell without any key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyStatus {
    /// The id of the master key that opens it.
    pub master_key: String,
    /// The numbers of its data keys, and how many pages each of them seals. The last one seals what is written.
    pub data_keys: Vec<(u32, u64)>,
}

impl KeyStatus {
    /// The keys of the database in a directory; `None` if it is not encrypted.
    pub fn of(directory: impl AsRef<Path>) -> Result<Option<KeyStatus>, OpenError> {
        let path = directory.as_ref();
        let status = store::key_status(path).map_err(|error| failed(path, error))?;
        Ok(status.map(|(master_key, data_keys)| KeyStatus { master_key, data_keys }))
    }
}

/// Wraps the data keys of a database with another master key. From then on only that one opens it.
pub fn rotate_master_key(
    directory: impl AsRef<Path>,
    old: &dyn MasterKey,
    new: &dyn MasterKey,
) -> Result<(), OpenError> {
    let path = directory.as_ref();
    store::rewrap(path, old, new).map_err(|error| failed(path, error))
}

/// Adds a data key: whoever has the database open, or opens it next, seals everything with it and then forgets the older ones.
pub fn add_data_key(directory: impl AsRef<Path>, master: &dyn MasterKey) -> Result<(), OpenError> {
    let path = directory.as_ref();
    store::add_data_key(path, master).map_err(|error| failed(path, error))
}

/// Encrypts a plain database that nobody has open. `copied` is told now and then how many entries have been copied.
///
/// The database is copied, the copy compared, put in its place and the plain one removed. If this is cut off, the database is
/// still the plain one or already the encrypted one; do it again, or open it.
pub fn encrypt(
    directory: impl AsRef<Path>,
    key: &Arc<dyn MasterKey>,
    copied: impl FnMut(u64),
) -> Result<(), OpenError> {
    let path = directory.as_ref();
    store::encrypt(path, StoreOptions::default(), key, copied).map_err(|error| failed(path, error))
}

/// Reads every page of an encrypted database that nobody has open. This finds all damage, and also what opening and reading do not:
/// pages that were put back as they once were.
pub fn check_encrypted(directory: impl AsRef<Path>, key: &dyn MasterKey) -> Result<(), OpenError> {
    let path = directory.as_ref();
    SealedStore::check(path, &StoreOptions::default(), key)
        .map_err(|source| OpenError::new(format!("{} does not pass: {source}", path.display()), source))
}

fn failed(path: &Path, source: StoreError) -> OpenError {
    OpenError::new(format!("the keys of {}: {source}", path.display()), source)
}
