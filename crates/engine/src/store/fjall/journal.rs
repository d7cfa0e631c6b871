//! Fresh copies of the journals after a failure.
//!
//! Two things can be wrong with a journal whose write or sync failed. The instance that failed still has it open, and
//! flushes the rest of its buffer into it when its last reader goes, over whatever a newer instance has put there.
//! And a page that the kernel could not write may count as clean: it is read back from memory, is not on disk, and no
//! later sync writes it. A copy under the same name is free of both.
//!
//! Always true: under a journal's name there is at all times the old file or the complete, synced copy.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use super::super::directory::{allocated_bytes, sync_directory};

/// The storage crate's own lock. A reader of the failed instance may still hold it; ours protects the directory.
const STORAGE_LOCK: &str = "lock";

/// A failure during the change from one journal to the next concerns both; all earlier ones were synced whole.
const JOURNALS_IN_DOUBT: usize = 2;

const CHUNK_BYTES: usize = 1 << 20;

/// Replaces the newest journals by copies, and the lock by a new one.
pub(super) fn replace(database: &Path) -> io::Result<()> {
    for journal in newest_journals(database)? {
        let copy = journal.with_extension("copy");
        copy_journal(&journal, &copy).and_then(|()| fs::rename(&copy, journal)).inspect_err(|_| {
            // On a full disk half a copy is in the way of everything else.
            let _ = fs::remove_file(&copy);
        })?;
    }
    fs::remove_file(database.join(STORAGE_LOCK))?;
    File::create_new(database.join(STORAGE_LOCK))?;
    sync_directory(database)
}

/// The space that copies need.
pub(super) fn copies_bytes(database: &Path) -> io::Result<u64> {
    newest_journals(database)?.iter().map(|journal| Ok(allocated_bytes(&journal.metadata()?))).sum()
}

/// The journals that a failure may concern, the newest first.
fn newest_journals(database: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(all_journals(database)?.into_iter().rev().take(JOURNALS_IN_DOUBT).collect())
}

/// All journals, the oldest first.
pub(super) fn all_journals(database: &Path) -> io::Result<Vec<PathBuf>> {
    let mut journals = Vec::new();
    for entry in fs::read_dir(database)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        if let Some(number) = number.filter(|_| path.extension().is_some_and(|extension| extension == "jnl"))
        {
            journals.push((number, path));
        }
    }
    journals.sort();
    Ok(journals.into_iter().map(|(_, path)| path).collect())
}

/// Byte by byte through our own memory: a copy by the file system could share the blocks that are not on disk.
/// Chunks of zeros become holes, and are left out at the end: a journal begins as 64 MB of them.
fn copy_journal(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    let mut to = File::create(to)?;
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    let mut position = 0;
    while (&mut from).take(CHUNK_BYTES as u64).read_to_end(&mut chunk)? > 0 {
        if chunk.iter().any(|&byte| byte != 0) {
            to.seek(SeekFrom::Start(position))?;
            to.write_all(&chunk)?;
        }
        position += chunk.len() as u64;
        chunk.clear();
    }
    to.sync_all()
}
