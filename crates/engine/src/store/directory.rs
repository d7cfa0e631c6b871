//! The directory of a database: whose it is, which format it has, and that only one process has it open.
//!
//! ```text
//! lock        held by the process that has the database open; the first file to be created
//! monotable   "monotable format 2": written last, so its presence means that creation was completed
//! restoring   present from the beginning of a restore to its end: what is there is no database yet
//! failed      present from a failed write or sync until the journals have been rewritten
//! closed      the last commit, written when the database is closed; gone while it is open
//! fjall/      the storage crate's files
//! ```
//!
//! An encrypted database has, instead of the last:
//!
//! ```text
//! envelope    its data keys, wrapped with the master key; `envelope.lock` is held by whoever replaces it
//! sealed/     its files (`sealed.rs`)
//! ```
//!
//! Always true: a directory that holds anything else, or nothing of ours, is not touched.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::xxh3_64;

use super::StoreError;

/// The format this version writes, and the newest it reads. It reads all older ones, too, and makes them its own:
///
/// 1. Index entries hold copies.
/// 2. They may refer to their items.
pub(super) const FORMAT: u32 = 2;

const LOCK: &str = "lock";
const FORMAT_FILE: &str = "monotable";
const FORMAT_FILE_TEMPORARY: &str = "monotable.new";
const RESTORING: &str = "restoring";
const FAILED: &str = "failed";
const CLOSED: &str = "closed";
const DATABASE: &str = "fjall";
const SEALED: &str = "sealed";
/// The wrapped keys of an encrypted database.
pub(super) const ENVELOPE: &str = "envelope";
/// Held by whoever replaces the envelope.
pub(super) const ENVELOPE_LOCK: &str = "envelope.lock";
/// The next envelope, until it is renamed.
pub(super) const ENVELOPE_TEMPORARY: &str = "envelope.new";
const FORMAT_PREFIX: &str = "monotable format ";

/// A directory that is ours and locked for as long as this value lives.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    /// Released by the operating system when the file is closed, even after a kill.
    lock: File,
}

impl Drop for Directory {
    /// Closing is not enough: a child process that is just being started shares the file until it runs its own program.
    fn drop(&mut self) {
        // Where this fails, closing the file is what is left to do.
        let _ = self.lock.unlock();
    }
}

/// How far the creation of a database got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Creation {
    /// It was never begun, or not completed: nothing can have been stored.
    Incomplete,
    /// There is a database of a format we read.
    Complete,
}

impl Directory {
    /// Checks and locks a directory, which is created if it does not exist.
    pub(super) fn open(path: &Path) -> Result<(Directory, Creation), StoreError> {
        fs::create_dir_all(path).map_err(StoreError::io("creating the database directory"))?;
        inspect(path)?;
        let lock = lock(path)?;
        // Looked at again: another process may have completed or begun something before we had the lock.
        let creation = inspect(path)?;
        let directory = Directory { path: path.to_path_buf(), lock };
        directory.raise_format()?;
        Ok((directory, creation))
    }

    /// Checks, locks and marks a directory to be filled: one that is empty, not there yet, or left by an interrupted restore.
    pub(super) fn open_for_restore(path: &Path) -> Result<Directory, StoreError> {
        fs::create_dir_all(path).map_err(StoreError::io("creating the database directory"))?;
        inspect_for_restore(path)?;
        let lock = lock(path)?;
        inspect_for_restore(path)?;
        let directory = Directory { path: path.to_path_buf(), lock };
        File::create(path.join(RESTORING))
            .and_then(|file| file.sync_all())
            .and_then(|()| sync_directory(path))
            .map_err(StoreError::io("marking the directory of a restore"))?;
        Ok(directory)
    }

    /// Makes what was restored a database, durably.
    pub(super) fn complete_restore(&self) -> Result<(), StoreError> {
        self.complete_creation()?;
        // From here on the mark says nothing; without it the directory looks like any other.
        fs::remove_file(self.path.join(RESTORING))
            .and_then(|()| sync_directory(&self.path))
            .map_err(StoreError::io("removing the mark of a restore"))
    }

    /// Where the storage crate keeps its files.
    pub(super) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Where an encrypted database keeps its files.
    pub(super) fn sealed(&self) -> PathBuf {
        self.path.join(SEALED)
    }

    /// An error for a database that is not encrypted.
    pub(super) fn check_is_encrypted(&self) -> Result<(), StoreError> {
        if is_encrypted(&self.path)? {
            Ok(())
        } else {
            Err(StoreError::NotEncrypted { path: self.path.clone() })
        }
    }

    /// An error for a database that is encrypted.
    pub(super) fn check_is_plain(&self) -> Result<(), StoreError> {
        if is_encrypted(&self.path)? {
            Err(StoreError::KeyNeeded { path: self.path.clone() })
        } else {
            Ok(())
        }
    }

    /// The directory itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what an interrupted creation left behind.
    pub(super) fn clear(&self) -> Result<(), StoreError> {
        let removals = [
            fs::remove_dir_all(self.database()),
            fs::remove_dir_all(self.sealed()),
            fs::remove_file(self.path.join(ENVELOPE)),
        ];
        for removal in removals {
            match removal {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io("removing an incomplete database")(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes the creation complete, durably.
    pub(super) fn complete_creation(&self) -> Result<(), StoreError> {
        self.write_format().map_err(StoreError::io("writing the format file"))
    }

    /// An older version must not open what this one writes into a database that it made.
    fn raise_format(&self) -> Result<(), StoreError> {
        match format_of(&self.path)? {
            Some(found) if found < FORMAT => self.complete_creation(),
            _ => Ok(()),
        }
    }

    fn write_format(&self) -> io::Result<()> {
        let temporary = self.path.join(FORMAT_FILE_TEMPORARY);
        let mut file = File::create(&temporary)?;
        writeln!(file, "{FORMAT_PREFIX}{FORMAT}")?;
        file.sync_all()?;
        fs::rename(temporary, self.path.join(FORMAT_FILE))?;
        sync_directory(&self.path)
    }

    /// Remembers beyond this process that a write or sync failed. As far as the disk allows: it just failed.
    pub(super) fn note_failure(&self) {
        let _ = File::create(self.path.join(FAILED)).and_then(|file| file.sync_all());
    }

    /// Whether a failure was noted and not yet forgotten.
    pub(super) fn has_failed(&self) -> bool {
        self.path.join(FAILED).exists()
    }

    /// Forgets a noted failure.
    pub(super) fn forget_failure(&self) -> Result<(), StoreError> {
        match fs::remove_file(self.path.join(FAILED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("removing the note of a failure")(error))
            }
            _ => Ok(()),
        }
    }

    /// Notes with which commit the database is closed. Where that fails, the note is missing at the next opening: no harm.
    pub(super) fn note_closing(&self, commit: u64) {
        let text = format!("{commit} {:016x}\n", xxh3_64(&commit.to_be_bytes()));
        let _ = fs::write(self.path.join(CLOSED), text);
    }

    /// The commit with which the database was closed, if that was noted and can be read.
    pub(super) fn commit_when_closed(&self) -> Option<u64> {
        let text = fs::read_to_string(self.path.join(CLOSED)).ok()?;
        let (commit, checksum) = text.trim_end().split_once(' ')?;
        let commit: u64 = commit.parse().ok()?;
        (format!("{:016x}", xxh3_64(&commit.to_be_bytes())) == checksum).then_some(commit)
    }

    /// Removes the note. Should it stay, it is true all the same: commits are never taken back.
    pub(super) fn forget_closing(&self) {
        let _ = fs::remove_file(self.path.join(CLOSED));
    }

    /// What the file system has left for us.
    #[cfg(unix)]
    pub(super) fn free_bytes(&self) -> Result<u64, StoreError> {
        let status = rustix::fs::statvfs(&self.path)
            .map_err(|error| StoreError::io("asking for the free space")(error.into()))?;
        Ok(status.f_bavail.saturating_mul(status.f_frsize))
    }

    /// Not known on this system: a full disk shows when a write fails.
    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the signature of the other systems")]
    pub(super) fn free_bytes(&self) -> Result<u64, StoreError> {
        Ok(u64::MAX)
    }

    /// What all files take on disk.
    pub(super) fn size_bytes(&self) -> Result<u64, StoreError> {
        tree_size_bytes(&self.path).map_err(StoreError::io("measuring the database"))
    }
}

/// Whether the database in a directory is encrypted.
pub(super) fn is_encrypted(path: &Path) -> Result<bool, StoreError> {
    let has = |name: &str| path.join(name).exists();
    // While a plain database is being encrypted, there are files of both.
    if !has(ENVELOPE) && has(SEALED) && !has(DATABASE) {
        return Err(StoreError::corrupt(
            "the file `envelope`, which holds its wrapped keys, is missing: put back a copy of it",
        ));
    }
    Ok(has(ENVELOPE))
}

/// Makes names created in or removed from a directory durable.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

fn lock(path: &Path) -> Result<File, StoreError> {
    let file = File::options().create(true).truncate(false).write(true).open(path.join(LOCK));
    let file = file.map_err(StoreError::io("creating the lock file"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: path.to_path_buf() }),
        Err(TryLockError::Error(error)) => Err(StoreError::io("locking the database")(error)),
    }
}

fn inspect(path: &Path) -> Result<Creation, StoreError> {
    match format_of(path)? {
        Some(_) => Ok(Creation::Complete),
        None => check_nothing_foreign(path).map(|()| Creation::Incomplete),
    }
}

fn inspect_for_restore(path: &Path) -> Result<(), StoreError> {
    if path.join(FORMAT_FILE).exists() {
        return Err(StoreError::Exists { path: path.to_path_buf() });
    }
    match check_nothing_foreign(path) {
        Err(StoreError::HalfRestored { .. }) => Ok(()),
        outcome => outcome,
    }
}

/// The format of the database in a directory, if there is one that we read.
fn format_of(path: &Path) -> Result<Option<u32>, StoreError> {
    let text = match fs::read(path.join(FORMAT_FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("reading the format file")(error)),
    };
    let text = String::from_utf8_lossy(&text);
    match text.strip_prefix(FORMAT_PREFIX).and_then(|number| number.trim_end().parse::<u32>().ok()) {
        Some(found) if (1..=FORMAT).contains(&found) => Ok(Some(found)),
        Some(found) if found > FORMAT => {
            Err(StoreError::NewerFormat { path: path.to_path_buf(), found, supported: FORMAT })
        }
        _ => Err(StoreError::UnreadableFormat {
            path: path.join(FORMAT_FILE),
            found: text.chars().take(80).collect(),
        }),
    }
}

fn check_nothing_foreign(path: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(path).map_err(StoreError::io("listing the database directory"))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(StoreError::io("listing the database directory"))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    // Our lock is created first, so other files of ours without it were not left by an interrupted creation.
    let begun = names.iter().any(|name| name == LOCK);
    let known = [LOCK, DATABASE, CLOSED, FORMAT_FILE_TEMPORARY, SEALED, ENVELOPE, ENVELOPE_TEMPORARY];
    let ours = |name: &str| begun && known.contains(&name);
    let is_half_restored = begun && names.iter().any(|name| name == RESTORING);
    match names.into_iter().find(|name| !(ours(name) || is_half_restored && name == RESTORING)) {
        None if is_half_restored => Err(StoreError::HalfRestored { path: path.to_path_buf() }),
        Some(found) => Err(StoreError::Foreign { path: path.to_path_buf(), found }),
        None => Ok(()),
    }
}

fn tree_size_bytes(path: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => total += tree_size_bytes(&entry.path())?,
            Ok(metadata) => total += allocated_bytes(&metadata),
            // Background work removes files at any time.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// The storage crate's journal is a sparse file of 64 MB, so the length says little.
#[cfg(unix)]
pub(super) fn allocated_bytes(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
pub(super) fn allocated_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_directory_is_free_though_a_child_process_shares_its_files() {
        let parent = tempfile::tempdir().unwrap();
        let (directory, _) = Directory::open(parent.path()).unwrap();
        let inherited = directory.lock.try_clone().unwrap();
        assert!(matches!(Directory::open(parent.path()), Err(StoreError::Locked { .. })));
        drop(directory);
        Directory::open(parent.path()).unwrap();
        drop(inherited);
    }
}
