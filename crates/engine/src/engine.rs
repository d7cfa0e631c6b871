//! The engine: opens a database and runs operations on it.

use std::path::Path;
use std::sync::Arc;
use std::task::Waker;

use dynamo::ApiError;
use dynamo::operation::{Operation, Reply};

use crate::backup_order::BackupOrders;
use crate::catalog::Catalog;
use crate::check::Checker;
use crate::commit::{Committer, View};
use crate::fault::Fault;
use crate::housekeeping::{Housekeeper, KeyHouse};
use crate::metrics::{Metrics, MetricsSnapshot};
use crate::operation::Decide;
use crate::options::{Durability, Options};
use crate::store::{FjallStore, MemoryStore, SealedStore, Store, StoreError, StoreOptions};

/// A store is not opened again more than twice a second, so a reader never meets more.
const STALE_VIEWS_MAX: usize = 3;

/// A database in this process. Cloning it gives another handle to the same database, which closes with the last one.
///
/// ```
/// use monotable_engine::Engine;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::in_memory();
/// # let _ = engine;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Engine {
    // Dropped before `inner`: it waits for its thread, so the database is closed once the last handle is gone.
    housekeeper: Option<Arc<Housekeeper>>,
    pub(crate) inner: Arc<Inner>,
}

/// What all handles share.
pub(crate) struct Inner {
    pub(crate) committer: Committer,
    pub(crate) options: Options,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) checker: Checker,
    pub(crate) key_house: KeyHouse,
    pub(crate) backup_orders: BackupOrders,
}

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct OpenError {
    message: String,
    #[source]
    source: StoreError,
}

impl OpenError {
    pub(crate) fn new(message: String, source: StoreError) -> OpenError {
        OpenError { message, source }
    }

    /// Whether somebody has the database open: this process, or another one.
    pub fn is_locked(&self) -> bool {
        matches!(self.source, StoreError::Locked { .. })
    }
}

impl Engine {
    /// Opens the database in a directory, or makes one where there is none.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Engine, OpenError> {
        let settings = StoreOptions {
            cache_bytes: options.cache_bytes,
            reserve_bytes: options.reserve_bytes,
            ..StoreOptions::default()
        };
        let opened =
            open_store(path.as_ref(), settings, &options).and_then(|store| Engine::start(store, options));
        opened.map_err(|source| OpenError {
            message: format!("cannot open the database {}: {source}", path.as_ref().display()),
            source,
        })
    }

    /// A database that lives in memory and is gone with its last handle.
    pub fn in_memory() -> Engine {
        Engine::in_memory_with(Options::default())
    }

    /// A database in memory with these settings; the durability is [`Durability::InMemory`] whatever they say.
    pub fn in_memory_with(options: Options) -> Engine {
        let options = Options { durability: Durability::InMemory, ..options };
        Engine::start(Arc::new(MemoryStore::new()), options)
            .expect("an empty store in memory has nothing to fail on")
    }

    pub(crate) fn start(store: Arc<dyn Store>, options: Options) -> Result<Engine, StoreError> {
        let metrics = Arc::new(Metrics::default());
        let committer = Committer::start(store, &options, metrics.clone())?;
        let interval = options.housekeeping;
        let inner = Arc::new(Inner {
            committer,
            options,
            metrics,
            checker: Checker::default(),
            key_house: KeyHouse::default(),
            backup_orders: BackupOrders::default(),
        });
        let housekeeper = interval.and_then(|interval| Housekeeper::start(Arc::downgrade(&inner), interval));
        Ok(Engine { housekeeper: housekeeper.map(Arc::new), inner })
    }

    /// Runs an operation and waits for its reply.
    pub fn run(&self, operation: Operation) -> Result<Reply, ApiError> {
        crate::operation::run(self, operation)
    }

    /// Starts an operation and calls `answer` when it is done: on this thread for what only reads, and for writes that wait for a
    /// disk later, on the thread that commits. Nothing waits in between.
    ///
    /// Many writes are answered at once. Whom their `answer` returns is woken after the last of them, and once: who has nobody to wake, or wakes
    /// somebody itself, returns none.
    pub fn submit(
        &self,
        operation: Operation,
        answer: impl FnOnce(Result<Reply, ApiError>) -> Option<Waker> + Send + 'static,
    ) {
        crate::operation::submit(self, operation, answer);
    }

    /// Whether an operation may have to wait for the disk: then [`Engine::submit`] answers it without a thread that waits. All others
    /// are answered by [`Engine::run`] as soon.
    pub fn may_wait(operation: &Operation) -> bool {
        crate::operation::may_wait(operation)
    }

    /// Commits a write and waits until it is as durable as promised.
    pub(crate) fn commit<T: Send + 'static>(&self, decide: impl Decide<T>) -> Result<T, ApiError> {
        self.inner.committer.run(decide).map_err(ApiError::from)
    }

    /// Counts of what the engine did so far.
    pub fn metrics(&self) -> MetricsSnapshot {
        self.inner.metrics.read()
    }

    /// Why writes are refused now, if they are.
    pub fn failure(&self) -> Option<String> {
        self.inner.committer.failure().map(|failure| failure.to_string())
    }

    /// What the database takes on disk.
    pub fn size_on_disk_bytes(&self) -> Result<u64, ApiError> {
        self.inner.committer.size_on_disk_bytes().map_err(|error| Fault::Store(error).into())
    }

    /// Does one small step of replacing the data keys of an encrypted database and of its tables, and says whether there is more to
    /// do. This happens by itself where the engine keeps house.
    pub fn rotate_keys_once(&self) -> Result<bool, ApiError> {
        self.inner.keep_keys_once().map_err(ApiError::from)
    }

    /// How many pages of how many were looked at, while the data key of an encrypted database is being replaced.
    pub fn key_rotation(&self) -> Option<(u64, u64)> {
        self.inner.committer.key_rotation()
    }

    /// Makes everything written so far durable, whatever the durability.
    pub fn sync(&self) -> Result<(), ApiError> {
        self.inner.committer.sync().map_err(|error| Fault::Store(error).into())
    }

    /// Does the work that otherwise happens by itself, until there is none left: removes what expired, fills new indexes, trims
    /// streams and tokens, empties what was deleted.
    pub fn keep_house(&self) -> Result<(), ApiError> {
        self.inner.keep_house().map_err(ApiError::from)
    }

    /// Has the housekeeper look for work now, if there is one.
    pub(crate) fn wake_housekeeper(&self) {
        if let Some(housekeeper) = &self.housekeeper {
            housekeeper.wake();
        }
    }

    /// The tables now. A writer asks for no more: a snapshot that is alive while the store in memory is written to makes it copy.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.inner.committer.catalog()
    }

    /// Reads from a view. If the store is opened again meanwhile, that view is gone and a new one is read.
    pub(crate) fn read<T>(
        &self,
        view: &View,
        mut read: impl FnMut(&View) -> Result<T, Fault>,
    ) -> Result<T, ApiError> {
        let mut outcome = read(view);
        for _ in 0..STALE_VIEWS_MAX {
            if !matches!(outcome, Err(Fault::Store(StoreError::Stale))) {
                break;
            }
            outcome = read(&self.view());
        }
        outcome.map_err(ApiError::from)
    }

    pub(crate) fn view(&self) -> View {
        self.inner.committer.view()
    }
}

fn open_store(path: &Path, settings: StoreOptions, options: &Options) -> Result<Arc<dyn Store>, StoreError> {
    match &options.key {
        None => FjallStore::open(path, settings).map(|store| Arc::new(store) as _),
        Some(key) => SealedStore::open(path, settings, key).map(|store| Arc::new(store) as _),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Batch, Space};

    #[test]
    fn a_reader_whose_view_went_with_a_reopening_reads_a_new_one() {
        let directory = tempfile::tempdir().unwrap();
        let settings = StoreOptions { reserve_bytes: 0, ..StoreOptions::default() };
        let faults = settings.faults.clone();
        let store = Arc::new(FjallStore::open(directory.path(), settings).unwrap());
        let options = Options { housekeeping: None, ..Options::default() };
        let engine = Engine::start(store.clone(), options).unwrap();
        let view = engine.view();
        let mut batch = Batch::default();
        batch.put(Space::Data, &b"key"[..], &b"value"[..]);
        faults.fail_next_apply();
        store.apply(batch).unwrap_err();
        store.reopen().unwrap();

        assert!(view.snapshot.is_stale());
        // Nothing was published since.
        assert!(!engine.view().snapshot.is_stale());
        let mut reads = 0;
        let read = engine.read(&view, |view| {
            reads += 1;
            Ok(view.snapshot.get(Space::Data, b"key")?)
        });
        assert_eq!((read.unwrap(), reads), (None, 2));
    }
}
