//! An encrypted store on disk: redb, a B-tree of pages that are sealed one by one, with a sealed log in front.
//!
//! ```text
//! envelope      the data keys, wrapped with the master key
//! sealed/data   the pages (`slots.rs`)
//! sealed/log    what was committed since the pages were last made durable (`log.rs`)
//! sealed/mark   the number of the last commit that was synced (`mark.rs`)
//! ```
//!
//! Making pages durable takes two syncs and writes whole pages for small changes. So a commit goes to the log, which one sync makes
//! durable, and to pages in memory; the pages follow when the log has grown (`checkpoint`), and when the store is closed.
//!
//! Always true:
//! - Nothing reaches a file unsealed. Keys, values, the log and the mark are sealed; sizes, times and the number of writes are not hidden.
//! - Pages that a crash finds half written belong to nothing: the B-tree on disk is that of the last checkpoint, whole.
//! - A failed write or sync stops all further writes (`Failed`) until `reopen`. Reads go on.
//! - An acknowledged commit that does not come back is an error when opening, not a silence.
//!
//! Path of a write: `apply` -> `Log::append`, pages in memory -> `sync` (log, then mark) -> `checkpoint` (pages, then a new log).

mod check;
mod convert;
mod file;
mod keys;
mod load;
mod log;
mod mark;
mod open;
mod pages;
mod read;
mod rotate;
mod slots;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::{Mutex, RwLock};
use redb::{Durability, WriteTransaction};
use seal::MasterKey;

use super::directory::{Creation, Directory};
use super::error::is_full;
use super::{Batch, Snapshot, Store, StoreError, StoreOptions, key};
use check::Checking;
use keys::Keys;
use log::Log;
use mark::Mark;
use open::Opened;
use read::{Instance, TABLE, guarded};
use rotate::Rotation;

pub(crate) use convert::encrypt;
pub(crate) use load::SealedLoad;
pub(crate) use read::{SealedRange, SealedSnapshot};
pub(crate) use rotate::{add_data_key, key_status, rewrap};

/// The pages follow when the log has grown to this. It bounds what opening after a kill has to do again, how long a checkpoint holds up
/// writes, and the memory for pages that are not on disk yet.
const LOG_BYTES_MAX: u64 = 16 << 20;

/// An encrypted database in a directory of its own.
pub(crate) struct SealedStore {
    directory: Arc<Directory>,
    options: StoreOptions,
    keys: Keys,
    /// Held by whoever writes, syncs or reopens.
    writer: Mutex<Writer>,
    instance: RwLock<Arc<Instance>>,
    /// Why writes are stopped.
    failure: Mutex<Option<StoreError>>,
    last_commit: AtomicU64,
    last_synced_commit: AtomicU64,
    master: Arc<dyn MasterKey>,
    rotation: Mutex<Rotation>,
    checking: Checking,
}

struct Writer {
    log: Log,
    mark: Mark,
}

impl SealedStore {
    /// Opens the encrypted database in a directory, or creates it where there is none or an empty one.
    pub(crate) fn open(
        path: &Path,
        options: StoreOptions,
        master: &Arc<dyn MasterKey>,
    ) -> Result<SealedStore, StoreError> {
        let (directory, creation) = Directory::open(path)?;
        let directory = Arc::new(directory);
        let opened = match creation {
            Creation::Incomplete => open::create(&directory, &options, &**master),
            Creation::Complete => open::open(&directory, &options, &**master),
        }?;
        Ok(SealedStore::new(directory, options, opened, master.clone()))
    }

    /// Reads everything in an encrypted database that nobody has open, and finds what opening and reading parts of it cannot.
    pub(crate) fn check(
        path: &Path,
        options: &StoreOptions,
        master: &dyn MasterKey,
    ) -> Result<(), StoreError> {
        let (directory, creation) = Directory::open(path)?;
        match creation {
            Creation::Incomplete => Ok(()),
            Creation::Complete => open::check(&Arc::new(directory), options, master),
        }
    }

    fn new(
        directory: Arc<Directory>,
        options: StoreOptions,
        opened: Opened,
        master: Arc<dyn MasterKey>,
    ) -> SealedStore {
        let full = opened.full.clone();
        let store = SealedStore {
            directory,
            options,
            keys: opened.keys,
            writer: Mutex::new(Writer { log: opened.log, mark: opened.mark }),
            instance: RwLock::new(opened.instance),
            failure: Mutex::new(None),
            last_commit: opened.last_commit.into(),
            last_synced_commit: opened.last_commit.into(),
            master,
            rotation: Mutex::default(),
            checking: Checking::default(),
        };
        if let Some(error) = full {
            store.stop("the log could not be begun again", Some(copy_of(&error)));
        }
        store
    }

    fn instance(&self) -> Arc<Instance> {
        self.instance.read().clone()
    }

    fn write(&self, writer: &mut Writer, batch: Batch) -> Result<u64, StoreError> {
        self.check_space(batch.size_bytes())?;
        if self.checking.is_checkpoint_due(writer.log.size_bytes()) {
            self.checkpoint(writer)?;
        }
        let number = self.last_commit.load(Relaxed) + 1;
        self.options
            .faults
            .before_apply()
            .and_then(|()| writer.log.append(number, &batch))
            .map_err(|error| self.stop("a write failed", Some(error)))?;
        let instance = self.instance();
        write_batch(&instance, batch).map_err(|error| self.stop_for(&instance, "a write failed", error))?;
        self.check_pages(&instance)?;
        self.last_commit.store(number, Relaxed);
        Ok(number)
    }

    fn persist(&self, writer: &Writer) -> Result<(), StoreError> {
        let number = self.last_commit.load(Relaxed);
        self.options
            .faults
            .before_sync()
            .and_then(|()| writer.log.sync())
            .map_err(|error| self.stop("a sync failed", Some(error)))?;
        self.last_synced_commit.store(number, Relaxed);
        // The commit is on disk and will come back, so it is no failure of this write; it is the last one.
        if let Err(error) = writer.mark.write(number) {
            self.stop("the mark could not be written", Some(error));
        }
        Ok(())
    }

    /// Makes the pages durable and begins the log again.
    fn checkpoint(&self, writer: &mut Writer) -> Result<(), StoreError> {
        self.checking.checkpoints.fetch_add(1, Relaxed);
        let (instance, number) = (self.instance(), self.last_commit.load(Relaxed));
        open::make_durable(&instance, number)
            .map_err(|error| self.stop_for(&instance, "a checkpoint failed", error))?;
        self.check_pages(&instance)?;
        open::begin_log_again(&mut writer.log, &writer.mark, number)
            .map_err(|error| self.stop("a checkpoint failed", Some(error)))?;
        self.last_synced_commit.store(number, Relaxed);
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn checkpoint_now(&self) -> Result<(), StoreError> {
        self.checkpoint(&mut self.writer.lock())
    }

    fn check_running(&self) -> Result<(), StoreError> {
        self.failure.lock().clone().map_or(Ok(()), Err)
    }

    /// The storage crate is not told of failures of the file, so that it can be read from afterwards.
    fn check_pages(&self, instance: &Instance) -> Result<(), StoreError> {
        match instance.pages.failure() {
            None => Ok(()),
            Some(error) => Err(self.stop("a write of pages failed", Some(copy_of(&error)))),
        }
    }

    fn check_space(&self, batch_bytes: usize) -> Result<(), StoreError> {
        let free_bytes = self.free_bytes()?;
        let needed_bytes = self.options.reserve_bytes.saturating_add(batch_bytes as u64);
        if free_bytes < needed_bytes { Err(StoreError::Full { free_bytes, needed_bytes }) } else { Ok(()) }
    }

    fn free_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.options.faults.free_bytes(self.directory.free_bytes()?))
    }

    fn stop_for(&self, instance: &Instance, doing: &str, error: redb::Error) -> StoreError {
        match (instance.pages.failure(), error) {
            (Some(failure), _) => self.stop(doing, Some(copy_of(&failure))),
            (None, redb::Error::Io(error)) => self.stop(doing, Some(error)),
            (None, error) => self.stop(doing, Some(io::Error::other(error))),
        }
    }

    /// Stops all writes and returns why. The first reason stays: later failures follow from it.
    fn stop(&self, doing: &str, error: Option<io::Error>) -> StoreError {
        let mut failure = self.failure.lock();
        if let Some(first) = &*failure {
            return first.clone();
        }
        self.directory.note_failure();
        let disk_was_full = error.as_ref().is_some_and(is_full)
            || self.free_bytes().is_ok_and(|free| free < self.options.reserve_bytes);
        let reason = error.as_ref().map_or_else(|| doing.to_owned(), |error| format!("{doing}: {error}"));
        let source = error.map(|error| Arc::new(error) as _);
        let first = StoreError::Failed { reason: reason.into(), disk_was_full, source };
        *failure = Some(first.clone());
        first
    }

    fn reopening_error(&self, error: io::Error) -> StoreError {
        match (is_full(&error), self.free_bytes()) {
            (true, Ok(free_bytes)) => {
                StoreError::Full { free_bytes, needed_bytes: self.options.reserve_bytes }
            }
            _ => StoreError::io("writing pages again")(error),
        }
    }

    fn check_nothing_lost(&self, opened: &Opened) -> Result<(), StoreError> {
        let (synced, found) = (self.last_synced_commit.load(Relaxed), opened.last_commit);
        if found < synced {
            return Err(StoreError::corrupt(format!(
                "commit {synced} was synced, but only {found} came back"
            )));
        }
        Ok(())
    }

    fn install(&self, writer: &mut Writer, opened: Opened) {
        *writer = Writer { log: opened.log, mark: opened.mark };
        *self.instance.write() = opened.instance;
        self.last_commit.store(opened.last_commit, Relaxed);
        self.last_synced_commit.store(opened.last_commit, Relaxed);
    }
}

impl Store for SealedStore {
    fn snapshot(&self) -> Snapshot {
        Snapshot::Sealed(SealedSnapshot::new(self.instance()))
    }

    fn apply(&self, batch: Batch) -> Result<u64, StoreError> {
        let mut writer = self.writer.lock();
        self.check_running()?;
        if batch.is_empty() {
            return Ok(self.last_commit.load(Relaxed));
        }
        self.write(&mut writer, batch)
    }

    fn flush(&self) -> Result<(), StoreError> {
        // The log was written to the operating system already.
        self.check_running()
    }

    fn sync(&self) -> Result<(), StoreError> {
        let writer = self.writer.lock();
        self.check_running()?;
        self.persist(&writer)
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let mut writer = self.writer.lock();
        if self.failure().is_none() {
            return Ok(());
        }
        self.check_space(0)?;
        let old = self.instance();
        old.pages.detach();
        old.pages.write_again().map_err(|error| self.reopening_error(error))?;
        // From here on the file may change under the old instance.
        old.retire();
        let opened = open::start(&self.directory, &self.options, self.keys.clone())?;
        self.check_nothing_lost(&opened)?;
        let is_full = opened.full.is_some();
        self.install(&mut writer, opened);
        // It can be read from; writes stay stopped for the reason they were.
        if is_full {
            return self.check_running();
        }
        self.directory.forget_failure()?;
        *self.failure.lock() = None;
        Ok(())
    }

    fn failure(&self) -> Option<StoreError> {
        self.check_running().err()
    }

    fn last_commit(&self) -> u64 {
        self.last_commit.load(Relaxed)
    }

    fn size_bytes(&self) -> Result<u64, StoreError> {
        self.directory.size_bytes()
    }

    fn keep_keys(&self) -> Result<bool, StoreError> {
        self.rotate_once()
    }

    fn key_rotation(&self) -> Option<(u64, u64)> {
        self.rotation_progress()
    }

    fn data_key(&self) -> u32 {
        self.keys.load().pages.keyring().current()
    }

    fn check_files(&self) -> Result<Vec<String>, StoreError> {
        self.check_pages_and_log()
    }
}

impl Drop for SealedStore {
    /// What is in the log is in the pages then, so that the next opening finds it there. Where this fails, it finds it in the log.
    fn drop(&mut self) {
        let mut writer = self.writer.lock();
        if self.check_running().is_ok() {
            let _ = self.checkpoint(&mut writer);
        }
        drop(writer);
    }
}

/// Applies a batch to the pages in memory.
fn write_batch(instance: &Instance, batch: Batch) -> Result<(), redb::Error> {
    guarded(|| {
        let mut transaction = instance.database().begin_write()?;
        transaction.set_durability(Durability::None)?;
        fill(&transaction, batch)?;
        Ok(transaction.commit()?)
    })
}

fn fill(transaction: &WriteTransaction, batch: Batch) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(TABLE)?;
    for write in batch {
        let key = key::stored(write.space, &write.key);
        match write.value {
            Some(value) => drop(table.insert(key.as_slice(), &*value)?),
            None => drop(table.remove(key.as_slice())?),
        }
    }
    Ok(())
}

fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
