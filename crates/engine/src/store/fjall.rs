//! A store on disk, in fjall: a log-structured merge tree with a journal in front.
//!
//! All spaces share one of the storage crate's keyspaces (`key`): creating one costs it 14 syncs or more, each has
//! memtables of its own, and one that is seldom written keeps all journals from being removed.
//!
//! Always true:
//! - A batch goes to the journal first, then to the memtables. `sync` is one fdatasync of the journal; batches are applied while it lasts.
//! - A failed write or sync stops all further writes (`Failed`). The storage crate does the same ("poisoned"), but
//!   does not tell the reason of a failure in its background threads, and does not recover by itself.
//! - A disk that is nearly full is noticed before a batch touches the journal (`Full`), so it leaves no trace.
//! - `reopen` never lets two writers share a journal file: what was left of it is copied into a new file first. The
//!   copy also puts pages on disk again that the kernel forgot when it failed to write them.
//! - An acknowledged commit that does not come back is an error when opening, not a silence (`commits`).

mod ahead;
mod contents;
mod creation;
mod empty;
mod files;
mod holes;
mod journal;
mod load;
mod manifest;
mod open;
mod read;
mod retired;
mod tail;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use std::{fs::File, path::Path, time::Duration};

use fjall::compaction::Leveled;
use fjall::{AbstractTree as _, Database, Keyspace, OwnedWriteBatch as WriteBatch, PersistMode};
use parking_lot::{Mutex, RwLock};

use super::{
    Batch, Faults, Snapshot, Store, StoreError, TableKeys, commits,
    directory::{Creation, Directory},
    error::is_full,
    key,
};
use ahead::Ahead;
use creation::Completion;
use open::Opened;
use read::Reader;
use retired::Retired;

#[cfg(all(test, target_os = "linux"))]
pub(super) use holes::writes_in_place;
pub(crate) use load::Load;
pub(crate) use read::{FjallRange, FjallSnapshot};

/// Settings that may differ from one opening to the next.
#[derive(Debug, Clone)]
pub(crate) struct StoreOptions {
    /// Memory for blocks read from disk.
    pub(crate) cache_bytes: u64,
    /// Free disk space below which writes are refused with `Full`. It leaves room for what the background threads
    /// write on their own: memtables being flushed and tables being merged.
    pub(crate) reserve_bytes: u64,
    /// Failures on demand, for tests.
    pub(crate) faults: Faults,
    /// The keys of single tables, which encrypted databases may have.
    pub(crate) table_keys: Arc<TableKeys>,
}

impl Default for StoreOptions {
    fn default() -> StoreOptions {
        StoreOptions {
            cache_bytes: 256 << 20,
            reserve_bytes: 128 << 20,
            faults: Faults::default(),
            table_keys: Arc::default(),
        }
    }
}

/// A database in a directory of its own.
pub(crate) struct FjallStore {
    directory: Arc<Directory>,
    options: StoreOptions,
    /// Held by whoever writes or reopens.
    writer: Mutex<Writer>,
    instance: RwLock<Instance>,
    /// Why writes are stopped.
    failure: Mutex<Option<StoreError>>,
    last_commit: AtomicU64,
    last_synced_commit: AtomicU64,
}

/// What only the one who writes touches.
struct Writer {
    ahead: Ahead,
    creation: Completion,
    retired: Retired,
}

/// The storage crate's database, or while it is being replaced a last view of it.
enum Instance {
    Running { database: Database, reader: Arc<Reader> },
    Frozen(FjallSnapshot),
}

impl FjallStore {
    /// Opens the database in a directory, or creates it where there is none or an empty one.
    pub(crate) fn open(path: &Path, options: StoreOptions) -> Result<FjallStore, StoreError> {
        let (directory, creation) = Directory::open(path)?;
        let directory = Arc::new(directory);
        if creation == Creation::Complete {
            directory.check_is_plain()?;
        }
        match creation {
            Creation::Incomplete => FjallStore::create(directory, options),
            Creation::Complete if directory.has_failed() => FjallStore::open_failed(directory, options),
            Creation::Complete => {
                let opened = open::open_database(&directory, &options)?;
                FjallStore::with_all_commits(directory, options, opened)
            }
        }
    }

    /// A new database, which can be read at once and written to as soon as its creation is complete.
    fn create(directory: Arc<Directory>, options: StoreOptions) -> Result<FjallStore, StoreError> {
        let opened = open::begin_database(&directory, &options)?;
        let creation = Completion::begin(&directory);
        directory.forget_closing();
        Ok(FjallStore::new(directory, options, opened, creation))
    }

    /// A database that has at least the commits that it was closed with.
    fn with_all_commits(
        directory: Arc<Directory>,
        options: StoreOptions,
        opened: Opened,
    ) -> Result<FjallStore, StoreError> {
        let found = opened.last_commit;
        if let Some(closed) = directory.commit_when_closed().filter(|closed| *closed > found) {
            return Err(StoreError::corrupt(format!(
                "commit {closed} was there when it was closed, but only {found} came back"
            )));
        }
        directory.forget_closing();
        Ok(FjallStore::new(directory, options, opened, Completion::Done))
    }

    /// The directory, which stays locked for as long as the answer lives.
    pub(super) fn directory(&self) -> Arc<Directory> {
        self.directory.clone()
    }

    /// Opens a database whose last writes failed: mended if there is room for that, or else for reading only.
    fn open_failed(directory: Arc<Directory>, options: StoreOptions) -> Result<FjallStore, StoreError> {
        match open::mend_database(&directory, &options) {
            Ok(opened) => Ok(FjallStore::new(directory, options, opened, Completion::Done)),
            Err(error @ StoreError::Full { .. }) => {
                let opened = open::open_database(&directory, &options)?;
                let store = FjallStore::new(directory, options, opened, Completion::Done);
                store.stop(&format!("an earlier failure cannot be mended, as {error}"), None);
                Ok(store)
            }
            Err(error) => Err(error),
        }
    }

    fn new(
        directory: Arc<Directory>,
        options: StoreOptions,
        opened: Opened,
        creation: Completion,
    ) -> FjallStore {
        FjallStore {
            writer: Mutex::new(Writer {
                ahead: Ahead::new(directory.database()),
                creation,
                retired: Retired::default(),
            }),
            directory,
            options,
            failure: Mutex::new(None),
            last_commit: opened.last_commit.into(),
            last_synced_commit: opened.last_commit.into(),
            instance: RwLock::new(Instance::Running { database: opened.database, reader: opened.reader }),
        }
    }

    /// Opens a database that nobody flushes or merges, as it is while the storage crate overlooks that there is something to merge.
    #[cfg(test)]
    pub(crate) fn open_without_background(path: &Path) -> FjallStore {
        let directory = Arc::new(Directory::open(path).unwrap().0);
        let opened = open::open_without_background(&directory);
        FjallStore::new(directory, StoreOptions::default(), opened, Completion::Done)
    }

    /// Has everything applied so far written into a table, by this thread, and says how many runs of tables wait to be merged.
    #[cfg(test)]
    pub(crate) fn flush_here(&self) -> usize {
        let Instance::Running { reader, .. } = &*self.instance.read() else { return 0 };
        let tree = &reader.keyspace().tree;
        tree.flush_active_memtable(0).unwrap();
        tree.l0_run_count()
    }

    /// Has everything applied so far written into a table.
    #[cfg(test)]
    pub(crate) fn flush_to_table(&self) {
        if let Instance::Running { reader, .. } = &*self.instance.read() {
            reader.keyspace().rotate_memtable_and_wait().unwrap();
        }
    }

    /// Where the last batch is thought to end in the journal.
    #[cfg(test)]
    pub(crate) fn journal_written(&self) -> u64 {
        self.writer.lock().ahead.written()
    }

    /// Has everything applied so far written into tables and merged into the last level.
    #[cfg(test)]
    pub(crate) fn merge_all_tables(&self) {
        self.flush_to_table();
        if let Instance::Running { reader, .. } = &*self.instance.read() {
            reader.keyspace().major_compact().unwrap();
        }
    }

    fn write(&self, batch: Batch, writer: &mut Writer) -> Result<u64, StoreError> {
        self.check_space(batch.size_bytes())?;
        let instance = self.instance.read();
        let Instance::Running { database, reader } = &*instance else {
            return Err(self.stop("a reopening was not completed", None));
        };
        self.wait_for_background_work(database, reader)?;
        let number = self.last_commit.load(Relaxed) + 1;
        writer.ahead.note_batch(batch.len(), batch.size_bytes());
        writer.retired.note_memtable(reader.keyspace().tree.active_memtable());
        self.options
            .faults
            .before_apply()
            .map_err(fjall::Error::Io)
            .and_then(|()| write_batch(database, reader, batch, number).commit())
            .map_err(|error| self.stop("a write failed", Some(error)))?;
        self.last_commit.store(number, Relaxed);
        Ok(number)
    }

    /// Hands what was applied so far to the operating system. Returns the journal in which it is, or at least the last of it: a journal is synced
    /// before the next one is begun.
    fn hand_out(&self, writer: &mut Writer) -> Result<Arc<File>, StoreError> {
        let instance = self.instance.read();
        let Instance::Running { database, .. } = &*instance else {
            return Err(self.stop("a reopening was not completed", None));
        };
        database
            .persist(PersistMode::Buffer)
            .and_then(|()| Ok(writer.ahead.newest_journal(&mut writer.retired)?))
            .map_err(|error| self.stop("a write failed", Some(error)))
    }

    /// Writes zeros ahead of the journal where they are due, and returns the file that they are in.
    fn extend_journal(&self, writer: &mut Writer) -> Result<Option<Arc<File>>, StoreError> {
        self.check_running()?;
        if !writer.ahead.is_due(&mut writer.retired) || self.check_space(0).is_err() {
            return Ok(None);
        }
        self.check_instance()?;
        // What fails here is not needed: a sync then takes what it took before.
        Ok(writer.ahead.extend().unwrap_or(None))
    }

    fn check_running(&self) -> Result<(), StoreError> {
        self.failure.lock().clone().map_or(Ok(()), Err)
    }

    fn check_space(&self, batch_bytes: usize) -> Result<(), StoreError> {
        let free_bytes = self.free_bytes()?;
        let needed_bytes = self.options.reserve_bytes.saturating_add(batch_bytes as u64);
        if free_bytes < needed_bytes { Err(StoreError::Full { free_bytes, needed_bytes }) } else { Ok(()) }
    }

    fn free_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.options.faults.free_bytes(self.directory.free_bytes()?))
    }

    /// Waits while flushes and merges are far behind.
    ///
    /// The storage crate does so too, later, but for ever if the thread it waits for has died of a full disk.
    fn wait_for_background_work(&self, database: &Database, reader: &Reader) -> Result<(), StoreError> {
        while is_behind(reader.keyspace()) {
            self.check_background(database)?;
            if database.active_compactions() == 0 && database.outstanding_flushes() == 0 {
                self.merge(reader)?;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Merges tables here and now.
    ///
    /// The storage crate looks for something to merge after each flush only, and overlooks what comes to be during a long merge. When writes wait
    /// because of that there are no more flushes: they would wait for ever.
    fn merge(&self, reader: &Reader) -> Result<(), StoreError> {
        // Versions that nobody sees any more stay; the next merge removes them.
        let oldest_seen = 0;
        reader
            .keyspace()
            .tree
            .compact(Arc::new(Leveled::default()), oldest_seen)
            .map_err(|error| self.stop("merging tables failed", Some(error.into())))
    }

    /// Buffered persisting does nothing much, but it says whether a background thread has failed.
    fn check_background(&self, database: &Database) -> Result<(), StoreError> {
        database
            .persist(PersistMode::Buffer)
            .map_err(|error| self.stop("a background thread of the storage crate failed", Some(error)))
    }

    fn check_instance(&self) -> Result<(), StoreError> {
        match &*self.instance.read() {
            Instance::Running { database, .. } => self.check_background(database),
            Instance::Frozen(_) => Ok(()),
        }
    }

    /// Stops all writes and returns why. The first reason stays: later failures follow from it.
    fn stop(&self, doing: &str, error: Option<fjall::Error>) -> StoreError {
        if let Some(first) = &*self.failure.lock() {
            return first.clone();
        }
        self.directory.note_failure();
        let disk_was_full = error.as_ref().and_then(open::io_error).is_some_and(is_full);
        let reason = error.as_ref().map_or_else(|| doing.to_owned(), |error| format!("{doing}: {error}"));
        self.refuse(reason, disk_was_full, error.map(|error| Arc::new(error) as _))
    }

    /// Stops all writes to what has not become a database. Nothing is noted: the next opening begins its creation again.
    fn stop_before_creation(&self, error: StoreError) -> StoreError {
        let disk_was_full = matches!(&error, StoreError::Io { source, .. } if is_full(source));
        self.refuse(error.to_string(), disk_was_full, Some(Arc::new(error)))
    }

    fn refuse(
        &self,
        reason: String,
        disk_was_full: bool,
        source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    ) -> StoreError {
        let disk_was_full =
            disk_was_full || self.free_bytes().is_ok_and(|free| free < self.options.reserve_bytes);
        let failure = StoreError::Failed { reason: reason.into(), disk_was_full, source };
        self.failure.lock().get_or_insert(failure).clone()
    }

    /// Ends the running instance with its threads. What it had applied can still be read.
    fn freeze(&self) {
        let mut instance = self.instance.write();
        if let Instance::Running { database, reader } = &*instance {
            let view = FjallSnapshot::new(database.snapshot(), reader.clone());
            let running = std::mem::replace(&mut *instance, Instance::Frozen(view));
            drop(instance);
            drop(running);
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

    fn install(&self, opened: Opened) {
        let mut instance = self.instance.write();
        if let Instance::Frozen(view) = &*instance {
            view.retire();
        }
        *instance = Instance::Running { database: opened.database, reader: opened.reader };
        self.last_commit.store(opened.last_commit, Relaxed);
        self.last_synced_commit.store(opened.last_commit, Relaxed);
        *self.failure.lock() = None;
    }
}

impl Drop for FjallStore {
    /// Notes the last commit, so that a journal that loses its end until the next opening is not taken for a torn one.
    fn drop(&mut self) {
        // Where it failed there is nothing to note: there will be no such database.
        if self.writer.get_mut().creation.wait().is_err() {
            return;
        }
        let last = self.last_commit.load(Relaxed);
        if self.failure.get_mut().is_none() && self.last_synced_commit.load(Relaxed) == last {
            self.directory.note_closing(last);
        }
    }
}

impl Store for FjallStore {
    fn snapshot(&self) -> Snapshot {
        Snapshot::Disk(match &*self.instance.read() {
            Instance::Running { database, reader } => FjallSnapshot::new(database.snapshot(), reader.clone()),
            Instance::Frozen(view) => view.clone(),
        })
    }

    fn apply(&self, batch: Batch) -> Result<u64, StoreError> {
        let mut writer = self.writer.lock();
        self.check_running()?;
        if batch.is_empty() {
            return Ok(self.last_commit.load(Relaxed));
        }
        writer.creation.wait().map_err(|error| self.stop_before_creation(error))?;
        self.write(batch, &mut writer)
    }

    fn flush(&self) -> Result<(), StoreError> {
        let _writer = self.writer.lock();
        self.check_running()?;
        match &*self.instance.read() {
            Instance::Running { database, .. } => database
                .persist(PersistMode::Buffer)
                .map_err(|error| self.stop("a write failed", Some(error))),
            Instance::Frozen(_) => Err(self.stop("a reopening was not completed", None)),
        }
    }

    fn sync(&self) -> Result<(), StoreError> {
        let mut writer = self.writer.lock();
        self.check_running()?;
        let journal = self.hand_out(&mut writer)?;
        let number = self.last_commit.load(Relaxed);
        // The next batches are applied meanwhile.
        drop(writer);
        let synced = self.options.faults.before_sync().and_then(|()| journal.sync_data());
        synced.map_err(|error| self.stop("a sync failed", Some(error.into())))?;
        self.last_synced_commit.fetch_max(number, Relaxed);
        Ok(())
    }

    fn prepare(&self) -> Result<(), StoreError> {
        let extended = self.extend_journal(&mut self.writer.lock())?;
        // Without the lock: the next group may be applied meanwhile.
        let synced = extended.map_or(Ok(()), |journal| journal.sync_data());
        synced.map_err(|error| self.stop("a sync failed", Some(error.into())))
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let mut writer = self.writer.lock();
        if self.failure().is_none() {
            return Ok(());
        }
        self.check_space(0)?;
        let is_created = writer.creation.wait().is_ok();
        self.freeze();
        let opened = if is_created {
            open::mend_database(&self.directory, &self.options)?
        } else {
            open::create_database(&self.directory, &self.options)?
        };
        self.check_nothing_lost(&opened)?;
        writer.creation = Completion::Done;
        self.install(opened);
        writer.ahead = Ahead::new(self.directory.database());
        Ok(())
    }

    fn failure(&self) -> Option<StoreError> {
        // An instance that has failed is not touched again: the question would write out its buffer. Where somebody writes or syncs just now, it
        // would wait for them, and they notice a failure themselves.
        let asked = |()| self.writer.try_lock().map_or(Ok(()), |_writer| self.check_instance());
        self.check_running().and_then(asked).err()
    }

    fn last_commit(&self) -> u64 {
        self.last_commit.load(Relaxed)
    }

    fn forget_before(&self, shown: &Snapshot) {
        let Snapshot::Disk(shown) = shown else { return };
        // Nobody takes a snapshot meanwhile, so none can be older than it seems when they are counted.
        let instance = self.instance.write();
        let Instance::Running { database, reader } = &*instance else { return };
        let is_only_one = database.supervisor.snapshot_tracker.open_snapshots() == 1;
        let reader = reader.clone();
        drop(instance);
        if is_only_one {
            shown.forget_before(&reader);
        }
    }

    fn size_bytes(&self) -> Result<u64, StoreError> {
        self.directory.size_bytes()
    }

    fn check_files(&self) -> Result<Vec<String>, StoreError> {
        manifest::check_trees(&self.directory.database())?;
        let snapshot = match &*self.instance.read() {
            Instance::Running { reader, .. } => reader.clone(),
            Instance::Frozen(view) => view.reader(),
        };
        files::damaged_tables(snapshot.keyspace())
    }
}

/// The storage crate halts at 4 sealed memtables and at 30 runs in the first level.
fn is_behind(keyspace: &Keyspace) -> bool {
    keyspace.sealed_memtable_count() >= 3 || keyspace.tree.l0_run_count() >= 24
}

fn write_batch(database: &Database, reader: &Reader, batch: Batch, number: u64) -> WriteBatch {
    let mut writes = WriteBatch::with_capacity(database.clone(), batch.len() + 1);
    for write in batch {
        let key = key::stored(write.space, &write.key);
        match write.value {
            Some(value) => writes.insert(reader.keyspace(), key, value),
            None => writes.remove(reader.keyspace(), key),
        }
    }
    let (slot, number) = commits::marker(number);
    writes.insert(reader.keyspace(), key::stored_slot(&slot), number);
    writes
}
