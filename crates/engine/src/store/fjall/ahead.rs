//! Zeros ahead of the journal: blocks that a sync need not take.
//!
//! The storage crate makes a journal as 64 MB of holes and fills it from its beginning. A sync of data in what was a hole also has to make durable
//! which blocks the file has now, which costs two to three times as much as the data alone. So zeros are really written where there are only
//! holes, some way ahead of the writer and after writers were answered.
//!
//! Always true:
//! - Only zeros are written, only into holes and only within the length of a journal: what it reads as is the same before and after, now and after a
//!   loss of power.
//! - Meanwhile nobody else writes to the journal: whoever extends it holds the lock of the one writer, and the storage crate's buffer is empty.
//!   So how far the writer is need not be known exactly: a wrong idea of it costs time, never data.
//!
//! A journal that was opened again has no holes: the storage crate cuts it off behind its last batch and makes it longer with each write. Its syncs
//! cost what they cost, until the next journal is begun.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    holes::{data_end, fill, writes_in_place},
    journal::all_journals,
    retired::Retired,
};

/// What a batch takes in the journal beside its keys and values: its beginning, its end and the number of its commit.
const BATCH_BYTES: u64 = 13 + 13 + WRITE_BYTES + 16;
/// What each write takes there, with the byte of its space.
const WRITE_BYTES: u64 = 21 + 1;

/// What is written ahead at once: as much as the journal has, so that small databases stay small, between these bounds.
const PORTION_BYTES_MIN: u64 = 256 << 10;
const PORTION_BYTES_MAX: u64 = 1 << 20;

/// A portion is added when less than this is left of the one before.
const LEFT_BYTES_MIN: u64 = 128 << 10;

/// A group of more bytes pays more for its bytes than for its blocks, and would pay for writing them twice.
const GROUP_BYTES_MAX: u64 = 96 << 10;

const PAGE_BYTES: u64 = 4 << 10;

/// The journal that is being written, and how far zeros are ahead.
pub(super) struct Ahead {
    directory: PathBuf,
    journal: Option<Journal>,
    /// What was written since the journal was last looked at.
    group_bytes: u64,
}

struct Journal {
    file: Arc<File>,
    path: PathBuf,
    /// Where the next journal will be.
    next: PathBuf,
    /// Whether writing ahead is known to help here.
    is_prepared: bool,
    length: u64,
    /// No batch ends behind this place.
    written: u64,
    /// Where the zeros end.
    prepared: u64,
}

impl Ahead {
    /// Begins with the newest journal of a database that nobody writes to yet.
    pub(super) fn new(directory: PathBuf) -> Ahead {
        let journal = newest(&directory);
        Ahead { directory, journal, group_bytes: 0 }
    }

    /// Notes that a batch is written to the journal.
    pub(super) fn note_batch(&mut self, writes: usize, bytes: usize) {
        self.group_bytes += BATCH_BYTES + WRITE_BYTES * writes as u64 + bytes as u64;
    }

    /// Where the journal's last batch ends, as far as is known.
    #[cfg(test)]
    pub(super) fn written(&self) -> u64 {
        self.journal.as_ref().map_or(0, |journal| journal.written)
    }

    /// Whether there is something to extend. Asked once for each group.
    pub(super) fn is_due(&mut self, retired: &mut Retired) -> bool {
        let group_bytes = std::mem::take(&mut self.group_bytes);
        self.follow(retired);
        let Some(journal) = &mut self.journal else { return false };
        // In a new journal that is more than there is, if some of it went to the one before.
        journal.written += group_bytes;
        journal.is_prepared
            && group_bytes <= GROUP_BYTES_MAX
            && journal.prepared < journal.length
            && journal.written + LEFT_BYTES_MIN > journal.prepared
    }

    /// The journal that batches go to now, or went to until a moment ago.
    pub(super) fn newest_journal(&mut self, retired: &mut Retired) -> io::Result<Arc<File>> {
        self.follow(retired);
        let missing = || io::Error::new(io::ErrorKind::NotFound, "the journal cannot be opened");
        self.journal.as_ref().map(|journal| journal.file.clone()).ok_or_else(missing)
    }

    /// Goes on to the newest journal once this one is not it any more. Journals are removed in their order, so while this one is there and the next
    /// is not, it is the newest; where nobody looked for long, both may be gone.
    fn follow(&mut self, retired: &mut Retired) {
        if self.journal.as_ref().is_none_or(|journal| journal.next.exists() || !journal.path.exists()) {
            let before = std::mem::replace(&mut self.journal, newest(&self.directory));
            if let Some(before) = before {
                retired.take_journal(before.file, before.path);
            }
        }
    }

    /// Writes the next portion. Returns the file, to be synced, if there was a place for it.
    pub(super) fn extend(&mut self) -> io::Result<Option<Arc<File>>> {
        let Some(journal) = &mut self.journal else { return Ok(None) };
        // Whole pages: one that is written in part is no hole.
        let begin = journal.written.max(journal.prepared).next_multiple_of(PAGE_BYTES);
        let portion = journal.written.clamp(PORTION_BYTES_MIN, PORTION_BYTES_MAX);
        let end = (begin + portion.next_multiple_of(PAGE_BYTES)).min(journal.length);
        journal.prepared = end.max(journal.prepared);
        if begin < end && fill(&journal.file, begin, end)? {
            Ok(Some(journal.file.clone()))
        } else {
            Ok(None)
        }
    }
}

/// The newest journal.
fn newest(directory: &Path) -> Option<Journal> {
    let path = all_journals(directory).ok()?.pop()?;
    let number: u64 = path.file_stem()?.to_str()?.parse().ok()?;
    let file = File::options().write(true).open(&path).ok()?;
    let length = file.metadata().ok()?.len();
    let written = data_end(&file).ok()?;
    Some(Journal {
        is_prepared: writes_in_place(&file),
        file: Arc::new(file),
        next: path.with_file_name(format!("{}.jnl", number + 1)),
        path,
        length,
        written,
        prepared: written,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_journal_is_found_where_several_came_and_went_meanwhile() {
        let directory = tempfile::tempdir().unwrap();
        let journal = |number: u64| directory.path().join(format!("{number}.jnl"));
        std::fs::write(journal(4), [1; 4]).unwrap();
        let mut ahead = Ahead::new(directory.path().to_path_buf());
        let mut retired = Retired::default();
        assert_eq!(ahead.newest_journal(&mut retired).unwrap().metadata().unwrap().len(), 4);
        std::fs::write(journal(5), [1; 5]).unwrap();
        assert_eq!(ahead.newest_journal(&mut retired).unwrap().metadata().unwrap().len(), 5);
        std::fs::write(journal(9), [1; 9]).unwrap();
        std::fs::remove_file(journal(4)).unwrap();
        std::fs::remove_file(journal(5)).unwrap();
        assert_eq!(ahead.newest_journal(&mut retired).unwrap().metadata().unwrap().len(), 9);
    }
}
