//! Opening fjall: its settings and why, and its errors in our words.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
};

use bytes::Bytes;
use fjall::{
    CompressionType, Database, DatabaseBuilder, Keyspace, KeyspaceCreateOptions, LsmError,
    config::{BlockSizePolicy, CompressionPolicy},
};

use super::{
    super::{
        StoreError, commits,
        directory::{Creation, Directory},
        error::is_full,
        key,
    },
    StoreOptions, creation, empty, journal, manifest,
    read::{Reader, entry_of},
    tail,
};

/// The most the journals may take before the memtables behind the oldest one are flushed.
/// It bounds what a reopening after a kill has to replay.
const JOURNALS_BYTES_MAX: u64 = 256 << 20;

const KEYSPACE: &str = "monotable";

/// A memtable is sealed and flushed at this size. It is fixed when a database is created.
/// Up to three sealed ones wait beside the active one, so this bounds the memory for writes.
const MEMTABLE_BYTES: u64 = 32 << 20;

/// One thread flushes, one merges, and one takes what the others leave: with two, the storage crate's flushing thread
/// spins on the queue for as long as the other one merges.
const BACKGROUND_THREADS: usize = 3;

/// A database that is running and was found whole.
pub(super) struct Opened {
    pub(super) database: Database,
    pub(super) reader: Arc<Reader>,
    pub(super) last_commit: u64,
}

/// Writes and opens an empty database. Its directory is not called a database yet, and what is there may not be durable.
pub(super) fn begin_database(
    directory: &Arc<Directory>,
    options: &StoreOptions,
) -> Result<Opened, StoreError> {
    directory.clear()?;
    empty::write(&directory.database()).map_err(StoreError::io("creating the database"))?;
    start(directory, Creation::Incomplete, options)
}

/// Creates a database, durably.
pub(super) fn create_database(
    directory: &Arc<Directory>,
    options: &StoreOptions,
) -> Result<Opened, StoreError> {
    let opened = begin_database(directory, options)?;
    creation::complete(directory)?;
    Ok(opened)
}

/// Creates a database that is to be filled before it is complete.
pub(super) fn start_restore(
    directory: &Arc<Directory>,
    options: &StoreOptions,
) -> Result<Opened, StoreError> {
    let opened = begin_database(directory, options)?;
    empty::sync(&directory.database()).map_err(StoreError::io("creating the database"))?;
    Ok(opened)
}

/// Opens the database of a directory.
pub(super) fn open_database(
    directory: &Arc<Directory>,
    options: &StoreOptions,
) -> Result<Opened, StoreError> {
    start(directory, Creation::Complete, options)
}

/// Opens a database whose last writes failed, here or in a process before.
pub(super) fn mend_database(
    directory: &Arc<Directory>,
    options: &StoreOptions,
) -> Result<Opened, StoreError> {
    journal::replace(&directory.database()).map_err(|error| copy_error(directory, error))?;
    let opened = start(directory, Creation::Complete, options)?;
    directory.forget_failure()?;
    Ok(opened)
}

fn copy_error(directory: &Directory, error: io::Error) -> StoreError {
    match (is_full(&error), directory.free_bytes(), journal::copies_bytes(&directory.database())) {
        (true, Ok(free_bytes), Ok(needed_bytes)) => StoreError::Full { free_bytes, needed_bytes },
        _ => StoreError::io("copying the journal")(error),
    }
}

fn start(
    directory: &Arc<Directory>,
    creation: Creation,
    options: &StoreOptions,
) -> Result<Opened, StoreError> {
    if creation == Creation::Complete {
        manifest::check_trees(&directory.database())?;
        tail::examine_journals(&directory.database())?;
    }
    let database = start_database(directory, options)?;
    opened(directory, creation, database)
}

fn opened(directory: &Arc<Directory>, creation: Creation, database: Database) -> Result<Opened, StoreError> {
    if creation == Creation::Complete && !database.keyspace_exists(KEYSPACE) {
        return Err(StoreError::corrupt("its keyspace is missing"));
    }
    let keyspace =
        database.keyspace(KEYSPACE, keyspace_options).map_err(|error| open_error(directory, error))?;
    let last_commit = commits::last_commit(&read_ring(&keyspace)?)?;
    Ok(Opened { database, reader: Arc::new(Reader::new(keyspace, directory.clone())), last_commit })
}

/// Opens a database that nobody flushes or merges.
#[cfg(test)]
pub(super) fn open_without_background(directory: &Arc<Directory>) -> Opened {
    let builder = builder(&directory.database(), 1 << 20).worker_threads_unchecked(0);
    opened(directory, Creation::Complete, builder.open().unwrap()).unwrap()
}

/// Has the storage crate make an empty database.
#[cfg(test)]
pub(super) fn create_with_storage_crate(path: &Path) -> fjall::Result<()> {
    builder(path, 1 << 20).open()?.keyspace(KEYSPACE, keyspace_options).map(drop)
}

fn start_database(directory: &Directory, options: &StoreOptions) -> Result<Database, StoreError> {
    let builder = builder(&directory.database(), options.cache_bytes);
    // Some damage makes the storage crate panic while opening.
    catch_unwind(AssertUnwindSafe(|| builder.open()))
        .map_err(|_| StoreError::corrupt("the storage crate panicked while opening it"))?
        .map_err(|error| open_error(directory, error))
}

fn builder(path: &Path, cache_bytes: u64) -> DatabaseBuilder<Database> {
    Database::builder(path)
        .cache_size(cache_bytes)
        .worker_threads(BACKGROUND_THREADS)
        .max_journaling_size(JOURNALS_BYTES_MAX)
        // The commit thread decides when the journal reaches the operating system and the disk.
        .manual_journal_persist(true)
        // Recovery compresses every value again to check a batch; a batch would count as damaged if another version
        // of the compressor gave other bytes.
        .journal_compression(CompressionType::None)
}

/// Stored with the database when it is created.
///
/// Stream records, too, are merged by levels and removed one by one. Dropping the oldest tables whole ("FIFO") would
/// be cheaper, but its limits know nothing of ours: by size it drops records that are not due, and as it never merges,
/// the number of runs grows until the storage crate halts all writes.
fn keyspace_options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .manual_journal_persist(true)
        .max_memtable_size(MEMTABLE_BYTES)
        // Most of a large database is where the blocks are larger; none is compressed (docs/decisions/0073).
        .data_block_size_policy(BlockSizePolicy::new([4 << 10, 4 << 10, 8 << 10]))
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::None))
}

fn read_ring(keyspace: &Keyspace) -> Result<Vec<(Bytes, Bytes)>, StoreError> {
    keyspace.range(key::stored_ring()).map(entry_of).collect()
}

/// What the operating system said, if that is what an error is about.
pub(super) fn io_error(error: &fjall::Error) -> Option<&io::Error> {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => Some(error),
        _ => None,
    }
}

/// An error while reading.
pub(super) fn read_error(error: fjall::Error) -> StoreError {
    match error {
        fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => {
            StoreError::io("reading")(error)
        }
        error => StoreError::Corrupt { detail: error.to_string().into(), source: Some(Arc::new(error)) },
    }
}

fn open_error(directory: &Directory, error: fjall::Error) -> StoreError {
    match error {
        fjall::Error::Locked => StoreError::Locked { path: directory.path().to_path_buf() },
        fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => {
            StoreError::io("opening the database")(error)
        }
        error => read_error(error),
    }
}
