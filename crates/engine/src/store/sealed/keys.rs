//! The keys of an encrypted database: its envelope on disk, and the sealers made from it.
//!
//! Always true: the envelope is replaced whole, by renaming, so that there is always one that opens; and a data key stands in it
//! for as long as anything on disk is sealed with it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use seal::{Envelope, Keyring, MasterKey, Sealer};

use super::super::StoreError;
use super::super::directory::{ENVELOPE, ENVELOPE_LOCK, ENVELOPE_TEMPORARY, sync_directory};

/// The sealers of everything but tables, of one set of data keys.
#[derive(Debug)]
pub(super) struct Sealers {
    /// Pages of the data file.
    pub(super) pages: Sealer,
    /// Records of the log.
    pub(super) log: Sealer,
    /// The mark of what was synced.
    pub(super) mark: Sealer,
}

impl Sealers {
    pub(super) fn new(keyring: &Keyring) -> Result<Sealers, StoreError> {
        let sealer = |purpose| keyring.sealer(purpose).map_err(StoreError::key);
        Ok(Sealers { pages: sealer("pages")?, log: sealer("log")?, mark: sealer("mark")? })
    }
}

/// The sealers in use, which a rotation replaces. What looked at the older ones a moment ago may still seal with them.
pub(super) type Keys = Arc<ArcSwap<Sealers>>;

/// The envelope of the database in this directory.
pub(super) fn read_envelope(directory: &Path) -> Result<Envelope, StoreError> {
    let text = fs::read(directory.join(ENVELOPE)).map_err(StoreError::io("reading the envelope"))?;
    Envelope::from_json(&text).map_err(StoreError::key)
}

/// Replaces the envelope by what follows from it, while nobody else does.
pub(super) fn update_envelope(
    directory: &Path,
    change: impl FnOnce(&Envelope) -> Result<Envelope, StoreError>,
) -> Result<(), StoreError> {
    if !directory.join(ENVELOPE).exists() {
        return Err(StoreError::NotEncrypted { path: directory.to_path_buf() });
    }
    let lock = File::create(directory.join(ENVELOPE_LOCK)).map_err(StoreError::io("locking the envelope"))?;
    // Given back when the file is closed, even after a kill.
    lock.lock().map_err(StoreError::io("locking the envelope"))?;
    let envelope = read_envelope(directory)?;
    write_envelope(directory, &change(&envelope)?)
}

/// Replaces the envelope, durably.
pub(super) fn write_envelope(directory: &Path, envelope: &Envelope) -> Result<(), StoreError> {
    let write = || -> io::Result<()> {
        let temporary = directory.join(ENVELOPE_TEMPORARY);
        let mut file = File::create(&temporary)?;
        file.write_all(envelope.to_json().as_bytes())?;
        file.sync_all()?;
        fs::rename(temporary, directory.join(ENVELOPE))?;
        sync_directory(directory)
    };
    write().map_err(StoreError::io("writing the envelope"))
}

/// Opens the envelope of a database.
pub(super) fn open_keys(directory: &Path, master: &dyn MasterKey) -> Result<Keyring, StoreError> {
    read_envelope(directory)?.open(master).map_err(StoreError::key)
}
