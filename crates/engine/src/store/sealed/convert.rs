//! Makes an encrypted database of a plain one.
//!
//! ```text
//! encrypting/           the encrypted copy, a database of its own until it is whole and was compared
//! sealed/, envelope     renamed from there; with the second, the database is an encrypted one
//! fjall/                removed then
//! ```
//!
//! Always true: at each moment the directory opens as one of the two, with everything in it. What was cut off is begun again, or finished when
//! the encrypted database is next opened.

use std::fs;
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use seal::MasterKey;

use super::super::directory::{Directory, ENVELOPE, sync_directory};
use super::super::{Batch, Direction, FjallStore, Range, Snapshot, Space, Store, StoreError, StoreOptions};
use super::SealedStore;

const COPY: &str = "encrypting";
const SPACES: [Space; 3] = [Space::Data, Space::Log, Space::Meta];
const BATCH_BYTES: usize = 1 << 20;

/// Encrypts the plain database in a directory that nobody has open, and tells of each batch of entries that was copied.
pub(crate) fn encrypt(
    path: &Path,
    options: StoreOptions,
    master: &Arc<dyn MasterKey>,
    mut copied: impl FnMut(u64),
) -> Result<(), StoreError> {
    let plain = FjallStore::open(path, options.clone())?;
    let directory = plain.directory();
    let copy = path.join(COPY);
    remove(&copy)?;
    let encrypted = SealedStore::open(&copy, options, master)?;
    let snapshot = plain.snapshot();
    copy_entries(&snapshot, &encrypted, &mut copied)?;
    encrypted.continue_from(plain.last_commit())?;
    compare(&snapshot, &encrypted.snapshot())?;
    // The directory stays locked until the copy is in its place.
    drop((encrypted, snapshot, plain));
    put_in_place(&directory, &copy)
}

fn copy_entries(
    snapshot: &Snapshot,
    encrypted: &SealedStore,
    copied: &mut impl FnMut(u64),
) -> Result<(), StoreError> {
    let mut count = 0;
    let mut batch = Batch::default();
    for space in SPACES {
        for entry in all(snapshot, space) {
            let (key, value) = entry?;
            batch.put(space, key, value);
            count += 1;
            if batch.size_bytes() >= BATCH_BYTES {
                encrypted.apply(std::mem::take(&mut batch))?;
                copied(count);
            }
        }
    }
    encrypted.apply(batch)?;
    copied(count);
    Ok(())
}

fn all(snapshot: &Snapshot, space: Space) -> Range<'_> {
    snapshot.range(space, Bound::Unbounded, Bound::Unbounded, Direction::Forward)
}

/// The copy is read again, whole.
fn compare(plain: &Snapshot, encrypted: &Snapshot) -> Result<(), StoreError> {
    for space in SPACES {
        let mut copies = all(encrypted, space);
        for entry in all(plain, space) {
            if copies.next().transpose()? != Some(entry?) {
                return Err(StoreError::corrupt(
                    "the encrypted copy is not the same; the plain database was left as it is",
                ));
            }
        }
        if copies.next().is_some() {
            return Err(StoreError::corrupt(
                "the encrypted copy holds more; the plain database was left as it is",
            ));
        }
    }
    Ok(())
}

fn put_in_place(directory: &Directory, copy: &Path) -> Result<(), StoreError> {
    remove(&directory.sealed())?;
    let rename = || -> io::Result<()> {
        fs::rename(copy.join("sealed"), directory.sealed())?;
        sync_directory(directory.path())?;
        fs::rename(copy.join(ENVELOPE), directory.path().join(ENVELOPE))?;
        sync_directory(directory.path())
    };
    rename().map_err(StoreError::io("putting the encrypted copy in its place"))?;
    finish(directory)
}

/// Removes the plain files of a database that was encrypted.
pub(super) fn finish(directory: &Directory) -> Result<(), StoreError> {
    remove(&directory.database())?;
    remove(&directory.path().join(COPY))
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("removing what an encryption left")(error))
        }
        _ => Ok(()),
    }
}

impl SealedStore {
    /// Counts commits on from this number: sequence numbers of streams must not be used twice.
    fn continue_from(&self, number: u64) -> Result<(), StoreError> {
        let mut writer = self.writer.lock();
        self.check_running()?;
        self.checkpoint(&mut writer)?;
        let number = number.max(self.last_commit.load(Relaxed));
        self.last_commit.store(number, Relaxed);
        self.checkpoint(&mut writer)
    }
}
