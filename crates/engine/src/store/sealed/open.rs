//! Opening and creating an encrypted database.
//!
//! Path of an opening: envelope -> data keys -> pages of the last checkpoint -> log -> the mark says whether anything is missing -> a
//! checkpoint, so that a new log begins.

use std::fs::{self, File};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use redb::{Database, ReadableDatabase as _};
use seal::{Envelope, Keyring, MasterKey};

use super::super::directory::{Directory, sync_directory};
use super::super::error::is_full;
use super::super::{StoreError, StoreOptions, commits, key};
use super::convert;
use super::file::write_again;
use super::keys::{Keys, Sealers, open_keys, write_envelope};
use super::log::{self, Log};
use super::mark::Mark;
use super::pages::{Backend, Pages};
use super::read::{Instance, TABLE, guarded, store_error};
use super::rotate;

const DATA: &str = "data";
const LOG: &str = "log";
const MARK: &str = "mark";

/// A database that is running and was found whole.
pub(super) struct Opened {
    pub(super) keys: Keys,
    pub(super) instance: Arc<Instance>,
    pub(super) log: Log,
    pub(super) mark: Mark,
    pub(super) last_commit: u64,
    /// The disk is full: everything is there to be read, but the log could not be begun again.
    pub(super) full: Option<Arc<io::Error>>,
}

/// Creates the database of a directory.
pub(super) fn create(
    directory: &Arc<Directory>,
    options: &StoreOptions,
    master: &dyn MasterKey,
) -> Result<Opened, StoreError> {
    let opened = create_files_of(directory, options, master)?;
    directory.complete_creation()?;
    Ok(opened)
}

/// Creates the files of a database, which the directory is not yet.
pub(super) fn create_files_of(
    directory: &Arc<Directory>,
    options: &StoreOptions,
    master: &dyn MasterKey,
) -> Result<Opened, StoreError> {
    directory.clear()?;
    let envelope = Envelope::create(master).map_err(StoreError::key)?;
    write_envelope(directory.path(), &envelope)?;
    let keys = keys_of(&envelope.open(master).map_err(StoreError::key)?)?;
    create_files(directory, &keys).map_err(StoreError::io("creating the database"))?;
    let instance = start_instance(directory, options, &keys)?;
    write_pages(&instance, 0)?
        .map_or(Ok(()), |full| Err(StoreError::Io { doing: "writing pages", source: full }))?;
    let mark = Mark::new(open_file(directory, MARK)?, keys.clone());
    let log = new_log(directory, &keys, &mark, 0)?;
    Ok(Opened { keys, instance: Arc::new(instance), log, mark, last_commit: 0, full: None })
}

fn create_files(directory: &Directory, keys: &Keys) -> io::Result<()> {
    let path = directory.sealed();
    fs::create_dir(&path)?;
    for name in [DATA, LOG] {
        File::create(path.join(name))?;
    }
    let mark = Mark::new(File::create(path.join(MARK))?, keys.clone());
    mark.write(0)?;
    mark.sync()?;
    sync_directory(&path)
}

/// Opens the database of a directory.
pub(super) fn open(
    directory: &Arc<Directory>,
    options: &StoreOptions,
    master: &dyn MasterKey,
) -> Result<Opened, StoreError> {
    directory.check_is_encrypted()?;
    let keys = keys_of(&open_keys(directory.path(), master)?)?;
    if directory.has_failed() {
        write_all_again(&directory.sealed().join(DATA)).map_err(StoreError::io("writing pages again"))?;
    }
    let opened = start(directory, options, keys)?;
    if opened.full.is_none() {
        directory.forget_failure()?;
        convert::finish(directory)?;
    }
    Ok(opened)
}

/// Reads every page that is in use and compares it with the checksum that the page above it holds: that finds even a page that was put
/// back as it once was, at its own place.
pub(super) fn check(
    directory: &Arc<Directory>,
    options: &StoreOptions,
    master: &dyn MasterKey,
) -> Result<(), StoreError> {
    directory.check_is_encrypted()?;
    let keys = keys_of(&open_keys(directory.path(), master)?)?;
    // Before anything is written: what does not belong together is not to be built upon.
    let mut instance = start_instance(directory, options, &keys)?;
    if let Err(error) = instance.check_integrity() {
        instance.pages.detach();
        return Err(instance.error(error));
    }
    drop(instance);
    open(directory, options, master).map(drop)
}

fn keys_of(keyring: &Keyring) -> Result<Keys, StoreError> {
    Ok(Arc::new(ArcSwap::from_pointee(Sealers::new(keyring)?)))
}

/// Starts from what is on disk.
pub(super) fn start(
    directory: &Arc<Directory>,
    options: &StoreOptions,
    keys: Keys,
) -> Result<Opened, StoreError> {
    let mark = Mark::new(open_file(directory, MARK)?, keys.clone());
    let synced = mark.read()?;
    let instance = start_instance(directory, options, &keys)?;
    let log = log_path(directory);
    let caught_up = stored_number(&instance).and_then(|stored| replay(&instance, &log, &keys, stored));
    // What cannot be opened is left as it is.
    let last_commit = caught_up.inspect_err(|_| instance.pages.detach())?;
    if last_commit < synced {
        instance.pages.detach();
        return Err(StoreError::corrupt(format!(
            "commit {synced} was acknowledged, but only {last_commit} came back: the log or the data file was altered or put back"
        )));
    }
    let begun = match write_pages(&instance, last_commit)? {
        None => new_log(directory, &keys, &mark, last_commit),
        Some(full) => Err(StoreError::Io { doing: "writing pages", source: full }),
    };
    let (log, full) = match begun {
        Ok(log) => (log, None),
        Err(StoreError::Io { source, .. }) if is_full(&source) => {
            (Log::idle(open_file(directory, LOG)?, keys.clone()), Some(source))
        }
        Err(error) => return Err(error),
    };
    Ok(Opened { keys, instance: Arc::new(instance), log, mark, last_commit, full })
}

/// Makes all pages durable. Returns what the disk said if it is full: then they are in memory only.
pub(super) fn write_pages(instance: &Instance, number: u64) -> Result<Option<Arc<io::Error>>, StoreError> {
    make_durable(instance, number).map_err(|error| instance.error(error))?;
    match instance.pages.failure() {
        Some(error) if !is_full(&error) => Err(StoreError::Io { doing: "writing pages", source: error }),
        full => Ok(full),
    }
}

fn start_instance(
    directory: &Arc<Directory>,
    options: &StoreOptions,
    keys: &Keys,
) -> Result<Instance, StoreError> {
    let file = open_file(directory, DATA)?;
    rotate::replay_journal(&directory.sealed(), &file, &keys.load().pages)
        .map_err(StoreError::io("finishing a step of a rotation"))?;
    let pages = Pages::open(file, keys.clone(), options.faults.clone())
        .map_err(|error| store_error(redb::Error::Io(error)))?;
    let pages = Arc::new(pages);
    let mut builder = Database::builder();
    builder.set_cache_size(usize::try_from(options.cache_bytes).unwrap_or(usize::MAX));
    let backend = Backend(pages.clone());
    // Nothing altered reaches the storage crate, but what it has not been tried with must not end the process.
    let database = catch_unwind(AssertUnwindSafe(|| builder.create_with_backend(backend)))
        .map_err(|_| StoreError::corrupt("the storage crate panicked while opening it"))?
        .map_err(|error| pages.damage().map_or_else(|| store_error(error.into()), StoreError::corrupt))?;
    Ok(Instance::new(database, pages, directory.clone(), options.table_keys.clone()))
}

/// Makes all pages durable, with the number of the last commit that they hold.
pub(super) fn make_durable(instance: &Instance, number: u64) -> Result<(), redb::Error> {
    guarded(|| {
        let mut transaction = instance.database().begin_write()?;
        // Two syncs, and the state of the allocator with them: opening after a kill need not look at all pages.
        transaction.set_quick_repair(true);
        {
            let mut table = transaction.open_table(TABLE)?;
            let (slot, _) = commits::marker(0);
            table.insert(key::stored_slot(&slot).as_slice(), &number.to_be_bytes()[..])?;
        }
        Ok(transaction.commit()?)
    })
}

fn stored_number(instance: &Instance) -> Result<u64, StoreError> {
    let read = || -> Result<Option<u64>, redb::Error> {
        let table = instance.database().begin_read()?.open_table(TABLE)?;
        let (slot, _) = commits::marker(0);
        let number = table.get(key::stored_slot(&slot).as_slice())?;
        Ok(number.and_then(|number| number.value().try_into().ok()).map(u64::from_be_bytes))
    };
    let number = guarded(read).map_err(|error| instance.error(error))?;
    number.ok_or_else(|| StoreError::corrupt("the number of its last commit is missing"))
}

/// Applies what the log holds beyond the pages, and returns the number of the last commit.
fn replay(instance: &Instance, path: &Path, keys: &Keys, stored: u64) -> Result<u64, StoreError> {
    let mut last = stored;
    for (number, batch) in log::read(path, &keys.load().log)? {
        if number <= stored {
            continue;
        }
        if number != last + 1 {
            return Err(StoreError::corrupt(format!(
                "commit {} is missing between the data file and the log",
                last + 1
            )));
        }
        super::write_batch(instance, batch).map_err(|error| instance.error(error))?;
        last = number;
    }
    Ok(last)
}

fn new_log(directory: &Directory, keys: &Keys, mark: &Mark, number: u64) -> Result<Log, StoreError> {
    let file = open_file(directory, LOG)?;
    let begin = || -> io::Result<Log> {
        let log = Log::begin(file, keys.clone(), random_name()?)?;
        mark.write(number)?;
        mark.sync()?;
        Ok(log)
    };
    begin().map_err(StoreError::io("beginning a log"))
}

/// Begins the log again once its records are in the pages on disk.
pub(super) fn begin_log_again(log: &mut Log, mark: &Mark, number: u64) -> io::Result<()> {
    mark.write(number)?;
    mark.sync()?;
    log.begin_again(random_name()?)
}

/// Where the log is.
pub(super) fn log_path(directory: &Directory) -> PathBuf {
    directory.sealed().join(LOG)
}

fn random_name() -> io::Result<[u8; 16]> {
    seal::random_bytes().map_err(io::Error::other)
}

fn open_file(directory: &Directory, name: &str) -> Result<File, StoreError> {
    let file = File::options().read(true).write(true).open(directory.sealed().join(name));
    file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::corrupt(format!("its file sealed/{name} is missing")),
        _ => StoreError::io("opening the database")(error),
    })
}

fn write_all_again(path: &Path) -> io::Result<()> {
    let file = File::options().read(true).write(true).open(path)?;
    write_again(&file, 0..u64::MAX)?;
    file.sync_all()
}
