//! The mark: the number of the last commit that was synced, in a small file of its own.
//!
//! A record at the end of the log that does not open was either being written in a crash, and nobody was told of it, or it was
//! altered since. The mark tells these apart: it is written after each sync, and before anybody is told.
//!
//! Always true: the mark never says more than what is on disk. It is not synced itself, so after a loss of power it may say less: then
//! damage to the records after it looks like a crash.

use std::fs::File;
use std::io;

use seal::{OVERHEAD_BYTES, Sealer};

use super::super::StoreError;
use super::file::{read_at, write_at};
use super::keys::Keys;

const PLACE: &[u8] = b"mark";

/// The mark of a database.
pub(super) struct Mark {
    file: File,
    keys: Keys,
}

impl Mark {
    pub(super) fn new(file: File, keys: Keys) -> Mark {
        Mark { file, keys }
    }

    /// Says that this commit is on disk.
    pub(super) fn write(&self, number: u64) -> io::Result<()> {
        write_at(&self.file, &self.keys.load().mark.seal(PLACE, &number.to_be_bytes()), 0)
    }

    /// Makes the mark itself durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// The last commit that was synced.
    pub(super) fn read(&self) -> Result<u64, StoreError> {
        read(&self.file, &self.keys.load().mark)
    }
}

fn read(file: &File, sealer: &Sealer) -> Result<u64, StoreError> {
    let mut sealed = [0; 8 + OVERHEAD_BYTES];
    let altered = |reason: &dyn std::fmt::Display| {
        StoreError::corrupt(format!("the mark of the last commit does not open: {reason}"))
    };
    read_at(file, &mut sealed, 0).map_err(|error| altered(&error))?;
    let plain = sealer.open(PLACE, &sealed).map_err(|error| altered(&error))?;
    plain.try_into().map(u64::from_be_bytes).map_err(|_| altered(&"it is no number"))
}
