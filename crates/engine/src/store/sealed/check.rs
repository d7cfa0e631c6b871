//! Verifies every page that is in use while the database is used: each is read from the file, past the cache, and compared with the
//! checksum that the page above it holds. So altered pages are found, and those that were put back as they once were.
//!
//! A second instance of the storage crate looks at the pages of the last checkpoint. Nothing of that state is overwritten before the next
//! checkpoint, or a crash would be its end; so checkpoints wait while a check runs, and the log grows meanwhile.
//! Where it grows too much, the checkpoint is made all the same. What such a check then takes for damage is looked at again while
//! writes wait.
//!
//! Always true: a check writes nothing to the data file, and what it reports was wrong on disk.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use redb::{Database, StorageBackend};

use super::super::StoreError;
use super::log;
use super::pages::{Pages, check_whole_pages, place_of};
use super::read::{MIXED, guarded};
use super::slots::PAGE_BYTES;
use super::{LOG_BYTES_MAX, SealedStore, Writer};

const PAGE: u64 = PAGE_BYTES as u64;
/// Memory of the second instance.
const CACHE_BYTES: usize = 8 << 20;
/// How far the log may grow while a check runs.
const CHECKED_LOG_BYTES_MAX: u64 = 512 << 20;

/// Who checks, and how many checkpoints there were.
#[derive(Default)]
pub(super) struct Checking {
    /// Held by whoever checks.
    alone: Mutex<()>,
    running: AtomicU64,
    pub(super) checkpoints: AtomicU64,
}

impl Checking {
    /// Whether a log of this size is to be followed by the pages.
    pub(super) fn is_checkpoint_due(&self, log_bytes: u64) -> bool {
        let limit = if self.running.load(Relaxed) == 0 { LOG_BYTES_MAX } else { CHECKED_LOG_BYTES_MAX };
        log_bytes > limit
    }
}

impl SealedStore {
    /// What is wrong with the pages and the log.
    pub(super) fn check_pages_and_log(&self) -> Result<Vec<String>, StoreError> {
        let _alone = self.checking.alone.lock();
        let mut findings = Vec::new();
        let mut writer = self.writer.lock();
        self.check_running()?;
        findings.extend(self.check_log(&writer)?);
        let frozen = self.freeze(&mut writer)?;
        let checkpoints = self.checking.checkpoints.load(Relaxed);
        self.checking.running.store(1, Relaxed);
        drop(writer);
        let found = verify(frozen);
        self.checking.running.store(0, Relaxed);
        let Err(finding) = found else { return Ok(findings) };
        if self.checking.checkpoints.load(Relaxed) == checkpoints {
            findings.push(finding);
            return Ok(findings);
        }
        let mut writer = self.writer.lock();
        self.check_running()?;
        let frozen = self.freeze(&mut writer)?;
        findings.extend(verify(frozen).err());
        drop(writer);
        Ok(findings)
    }

    /// The log holds what was committed since the last checkpoint, whole.
    fn check_log(&self, writer: &Writer) -> Result<Option<String>, StoreError> {
        if !writer.log.has_records() {
            return Ok(None);
        }
        let last_commit = self.last_commit.load(Relaxed);
        let found = log::read(&super::open::log_path(&self.directory), &self.keys.load().log)?;
        let last = found.last().map_or(0, |(number, _)| *number);
        let is_whole = last == last_commit;
        Ok((!is_whole).then(|| {
            format!(
                "the log was altered: of the commits up to {last_commit}, what follows {last} does not open"
            )
        }))
    }

    /// The pages as they are on disk after a checkpoint that is made now.
    fn freeze(&self, writer: &mut Writer) -> Result<Frozen, StoreError> {
        self.checkpoint(writer)?;
        let instance = self.instance();
        let (header, length) = instance.pages.frozen().map_err(StoreError::io("reading the data file"))?;
        let changes = Mutex::new(Changes { header, written: HashMap::new() });
        Ok(Frozen { pages: instance.pages.clone(), length, changes, damage: Arc::default() })
    }
}

/// The pages of a checkpoint. What the storage crate writes when it opens and closes them stays in memory.
struct Frozen {
    pages: Arc<Pages>,
    /// How many pages there were.
    length: u64,
    changes: Mutex<Changes>,
    /// The first page that did not open: the storage crate forgets the reason of a failed read.
    damage: Arc<Mutex<Option<String>>>,
}

struct Changes {
    header: Box<[u8]>,
    written: HashMap<u64, Box<[u8]>>,
}

impl std::fmt::Debug for Frozen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Frozen").field("length", &self.length).finish_non_exhaustive()
    }
}

fn verify(frozen: Frozen) -> Result<(), String> {
    let damage = frozen.damage.clone();
    let outcome = guarded(|| {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        let mut database = builder.create_with_backend(frozen)?;
        Ok(database.check_integrity()?)
    });
    let found = match outcome {
        Ok(true) => return Ok(()),
        Ok(false) => MIXED.to_owned(),
        Err(error) => error.to_string(),
    };
    Err(damage.lock().take().unwrap_or(found))
}

impl StorageBackend for Frozen {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length * PAGE)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (page, within) = place_of(offset);
        let changes = self.changes.lock();
        if page == 0 {
            let part = changes.header.get(within..within + out.len());
            out.copy_from_slice(part.ok_or(io::ErrorKind::InvalidInput)?);
            return Ok(());
        }
        check_whole_pages(within, out.len())?;
        for (page, out) in (page..).zip(out.chunks_exact_mut(PAGE_BYTES)) {
            match changes.written.get(&page) {
                Some(written) => out.copy_from_slice(written),
                None => self.pages.read_from_file(page, out).inspect_err(|error| {
                    self.damage.lock().get_or_insert_with(|| error.to_string());
                })?,
            }
        }
        Ok(())
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (page, within) = place_of(offset);
        let mut changes = self.changes.lock();
        if page == 0 {
            let place = changes.header.get_mut(within..within + data.len());
            place.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(data);
            return Ok(());
        }
        check_whole_pages(within, data.len())?;
        for (page, plain) in (page..).zip(data.chunks_exact(PAGE_BYTES)) {
            changes.written.insert(page, plain.into());
        }
        Ok(())
    }
}
