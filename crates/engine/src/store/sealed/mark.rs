//! The mark: the number of the last commit that was synced, in a small file of its own.
//!
//! A record at the end of the log that does not open was either being written in a crash, and nobody was told of it, or it was
//! altered since. The mark tells these apart: it is written after each sync, and before anybody is told. Where that fails,
//! writes stop: only the last of them is not covered then.
//!
//! It has two copies, written in turn, since a write can be cut short.
//!
//! Always true: the mark never says more than what is on disk. It is not synced itself, so after a loss of power it may say less: then
//! damage to the records after it looks like a crash.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use seal::{OVERHEAD_BYTES, SealError, Sealer};

use super::super::StoreError;
use super::file::{read_at, write_at};
use super::keys::Keys;

const PLACE: &[u8] = b"mark";
/// What a disk writes whole or not at all: the copies share none.
const SECTOR_BYTES: u64 = 512;

/// The mark of a database.
pub(super) struct Mark {
    file: File,
    keys: Keys,
    /// The copy that is written next, 0 or 1.
    next_copy: AtomicU64,
}

impl Mark {
    pub(super) fn new(file: File, keys: Keys) -> Mark {
        Mark { file, keys, next_copy: AtomicU64::new(0) }
    }

    /// Says that this commit is on disk.
    pub(super) fn write(&self, number: u64) -> io::Result<()> {
        let copy = self.next_copy.load(Relaxed);
        let sealed = self.keys.load().mark.seal(PLACE, &number.to_be_bytes());
        write_at(&self.file, &sealed, copy * SECTOR_BYTES)?;
        self.next_copy.store(1 - copy, Relaxed);
        Ok(())
    }

    /// Makes the mark itself durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// The last commit that was synced. What is written next leaves its copy alone.
    pub(super) fn read(&self) -> Result<u64, StoreError> {
        let copies = [0, 1].map(|copy| read_copy(&self.file, &self.keys.load().mark, copy));
        let (number, copy) = match copies {
            [Ok(first), Ok(second)] if first > second => (first, 0),
            [_, Ok(second)] => (second, 1),
            [Ok(first), Err(_)] => (first, 0),
            [Err(error), Err(_)] => {
                return Err(StoreError::corrupt(format!(
                    "the mark of the last commit does not open: {error}"
                )));
            }
        };
        self.next_copy.store(1 - copy, Relaxed);
        Ok(number)
    }
}

fn read_copy(file: &File, sealer: &Sealer, copy: u64) -> Result<u64, SealError> {
    let mut bytes = [0; 8 + OVERHEAD_BYTES];
    read_at(file, &mut bytes, copy * SECTOR_BYTES).map_err(|_| SealError::Altered)?;
    let plain = sealer.open(PLACE, &bytes)?;
    plain.try_into().map(u64::from_be_bytes).map_err(|_| SealError::Altered)
}
