//! Reading from redb.
//!
//! Always true: what comes out was opened whole; an altered page is an error.

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bytes::{Buf as _, Bytes};
use redb::{Database, ReadOnlyTable, ReadableDatabase as _, TableDefinition};

use super::super::directory::Directory;
use super::super::{Direction, Space, StoreError, TableKeys, key};
use super::pages::Pages;

/// All entries: the spaces told apart by the first byte of the key.
pub(super) const TABLE: TableDefinition<'static, &'static [u8], &'static [u8]> =
    TableDefinition::new("monotable");

type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// Calls the storage crate. Nothing altered reaches it, but pages that were put back as they once were do not belong together, and then
/// it may panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, redb::Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(redb::Error::Corrupted(MIXED.to_owned())))
}

/// What is said of pages that do not belong together.
pub(super) const MIXED: &str =
    "its pages do not belong together: some were put back as they once were, or the disk lost a write";

/// One instance of the database, with what its readers need.
pub(super) struct Instance {
    /// There until the instance is dropped.
    database: Option<Database>,
    pub(super) pages: Arc<Pages>,
    /// Set when another instance has taken over the file, which may then change at any time.
    retired: AtomicBool,
    /// The keys of single tables.
    table_keys: Arc<TableKeys>,
    /// Dropped last: the storage crate writes when it goes.
    _directory: Arc<Directory>,
}

impl Instance {
    pub(super) fn new(
        database: Database,
        pages: Arc<Pages>,
        directory: Arc<Directory>,
        table_keys: Arc<TableKeys>,
    ) -> Instance {
        let (database, retired) = (Some(database), AtomicBool::new(false));
        Instance { database, pages, retired, table_keys, _directory: directory }
    }

    /// The storage crate's database.
    pub(super) fn database(&self) -> &Database {
        self.database.as_ref().expect("it goes when the instance goes")
    }

    /// Reads all pages and compares them with their checksums; an error for anything but a clean database.
    pub(super) fn check_integrity(&mut self) -> Result<(), redb::Error> {
        let database = self.database.as_mut().expect("it goes when the instance goes");
        let is_clean = guarded(|| Ok(database.check_integrity()?))?;
        if is_clean { Ok(()) } else { Err(redb::Error::Corrupted(MIXED.to_owned())) }
    }

    /// Makes all snapshots of this instance answer `Stale`.
    pub(super) fn retire(&self) {
        self.retired.store(true, Relaxed);
    }

    pub(super) fn is_retired(&self) -> bool {
        self.retired.load(Relaxed)
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.is_retired() { Err(StoreError::Stale) } else { Ok(()) }
    }

    /// An error of the storage crate, in our words.
    pub(super) fn error(&self, error: impl Into<redb::Error>) -> StoreError {
        if self.is_retired() {
            return StoreError::Stale;
        }
        match self.pages.damage() {
            Some(damage) => StoreError::corrupt(damage),
            None => store_error(error.into()),
        }
    }
}

impl Drop for Instance {
    /// The storage crate writes when it goes.
    fn drop(&mut self) {
        let database = self.database.take();
        // Where that fails, the next opening begins with what was durable before.
        let _ = guarded(|| {
            drop(database);
            Ok(())
        });
    }
}

/// An error of the storage crate, in our words.
pub(super) fn store_error(error: redb::Error) -> StoreError {
    match error {
        redb::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            StoreError::corrupt(error.to_string())
        }
        redb::Error::Io(error) => StoreError::io("reading")(error),
        redb::Error::Corrupted(detail) => StoreError::corrupt(detail),
        error => StoreError::Corrupt { detail: error.to_string().into(), source: Some(Arc::new(error)) },
    }
}

/// A frozen view of the database.
#[derive(Clone)]
pub(crate) struct SealedSnapshot {
    view: Arc<View>,
    /// Whether values that are sealed with the key of a table are opened.
    opens_values: bool,
}

struct View {
    /// What failed when the view was taken: a snapshot is asked before it is read.
    table: Result<Table, StoreError>,
    instance: Arc<Instance>,
}

impl SealedSnapshot {
    pub(super) fn new(instance: Arc<Instance>) -> SealedSnapshot {
        let open = || Ok(instance.database().begin_read()?.open_table(TABLE)?);
        let table = guarded(open).map_err(|error| instance.error(error));
        SealedSnapshot { view: Arc::new(View { table, instance }), opens_values: true }
    }

    pub(in super::super) fn unopened(&self) -> SealedSnapshot {
        SealedSnapshot { view: self.view.clone(), opens_values: false }
    }

    pub(in super::super) fn table_keys(&self) -> &Arc<TableKeys> {
        &self.view.instance.table_keys
    }

    fn opened(&self, space: Space, key: &[u8], value: Bytes) -> Result<Bytes, StoreError> {
        if self.opens_values { self.view.instance.table_keys.open(space, key, value) } else { Ok(value) }
    }

    pub(in super::super) fn is_stale(&self) -> bool {
        self.view.instance.is_retired()
    }

    fn table(&self) -> Result<&Table, StoreError> {
        self.view.instance.check()?;
        self.view.table.as_ref().map_err(Clone::clone)
    }

    pub(in super::super) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let (table, stored) = (self.table()?, key::stored(space, key));
        let value = guarded(|| Ok(table.get(stored.as_slice())?));
        let value = value.map_err(|error| self.view.instance.error(error))?;
        // The file may have changed hands while it was read.
        self.view.instance.check()?;
        value.map(|value| self.opened(space, key, Bytes::copy_from_slice(value.value()))).transpose()
    }

    pub(in super::super) fn range(
        &self,
        space: Space,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        direction: Direction,
    ) -> SealedRange<'_> {
        let (lower, upper) = key::stored_range(space, lower, upper);
        let bounds = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
        let range = |table: &Table| guarded(|| Ok(table.range::<&[u8]>(bounds)?));
        let entries =
            self.table().and_then(|table| range(table).map_err(|error| self.view.instance.error(error)));
        SealedRange { entries: Some(entries), snapshot: self, space, direction }
    }
}

type Entries = redb::Range<'static, &'static [u8], &'static [u8]>;

/// The entries of a range.
pub(crate) struct SealedRange<'a> {
    /// Nothing after an error.
    entries: Option<Result<Entries, StoreError>>,
    snapshot: &'a SealedSnapshot,
    space: Space,
    direction: Direction,
}

impl Iterator for SealedRange<'_> {
    type Item = Result<(Bytes, Bytes), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match self.entries.as_mut()? {
            Ok(entries) => next_entry(entries, self.direction, &self.snapshot.view.instance)?,
            Err(error) => Err(error.clone()),
        };
        let next = next.and_then(|(key, value)| {
            let value = self.snapshot.opened(self.space, &key, value)?;
            Ok((key, value))
        });
        if next.is_err() {
            self.entries = None;
        }
        Some(next)
    }
}

fn next_entry(
    entries: &mut Entries,
    direction: Direction,
    instance: &Instance,
) -> Option<Result<(Bytes, Bytes), StoreError>> {
    let next = guarded(|| {
        let entry = match direction {
            Direction::Forward => entries.next(),
            Direction::Reverse => entries.next_back(),
        };
        Ok(entry.transpose()?)
    });
    let entry = next.map_err(|error| instance.error(error)).transpose()?;
    Some(entry.and_then(|(key, value)| {
        instance.check()?;
        let mut key = Bytes::copy_from_slice(key.value());
        key.advance(1);
        Ok((key, Bytes::copy_from_slice(value.value())))
    }))
}
