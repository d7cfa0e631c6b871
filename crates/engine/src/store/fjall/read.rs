//! Reading from fjall.
//!
//! Always true: keys and values come out as they lie in memtables and cached blocks, without a copy.

use std::{
    marker::PhantomData,
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use bytes::{Buf as _, Bytes};
use fjall::{AbstractTree as _, Guard, Keyspace, Readable as _};

use super::{
    super::{Direction, Space, StoreError, directory::Directory, key},
    open::read_error,
};

/// What a reader needs of one instance of the database.
pub(super) struct Reader {
    keyspace: Keyspace,
    /// Set when another instance has taken over the files, which may then change or go at any time.
    retired: AtomicBool,
    /// The storage crate keeps its files open for as long as there are readers, so the lock stays too.
    _directory: Arc<Directory>,
}

impl Reader {
    pub(super) fn new(keyspace: Keyspace, directory: Arc<Directory>) -> Reader {
        Reader { keyspace, retired: AtomicBool::new(false), _directory: directory }
    }

    pub(super) fn keyspace(&self) -> &Keyspace {
        &self.keyspace
    }

    /// Once the files have changed hands, an error says nothing but that.
    fn error(&self, error: StoreError) -> StoreError {
        self.check().err().unwrap_or(error)
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.retired.load(Relaxed) { Err(StoreError::Stale) } else { Ok(()) }
    }
}

/// A frozen view of the database.
#[derive(Clone)]
pub(crate) struct FjallSnapshot(Arc<View>);

struct View {
    snapshot: fjall::Snapshot,
    reader: Arc<Reader>,
}

impl FjallSnapshot {
    pub(super) fn new(snapshot: fjall::Snapshot, reader: Arc<Reader>) -> FjallSnapshot {
        FjallSnapshot(Arc::new(View { snapshot, reader }))
    }

    /// Makes this and all other snapshots of the same instance answer `Stale`.
    pub(super) fn retire(&self) {
        self.0.reader.retired.store(true, Relaxed);
    }

    pub(super) fn reader(&self) -> Arc<Reader> {
        self.0.reader.clone()
    }

    /// Has the versions of the tables dropped that are older than what this sees, and with them the files that are in no later one. No older
    /// snapshot may be left.
    ///
    /// The storage crate does so after a flush or a merge only, and looks at the snapshots that there are just then: what the last merge replaced
    /// would stay for as long as nobody writes.
    pub(super) fn forget_before(&self, reader: &Reader) {
        let keyspace = reader.keyspace();
        // What fails here is tried again, and at the latest the next opening removes the files.
        let _ =
            keyspace.tree.get_version_history_lock().maintenance(keyspace.path(), self.0.snapshot.seqno());
    }

    pub(in super::super) fn is_stale(&self) -> bool {
        self.0.reader.check().is_err()
    }

    pub(in super::super) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let View { snapshot, reader } = &*self.0;
        reader.check()?;
        let value = snapshot.get(&reader.keyspace, key::stored(space, key));
        let value = value.map_err(|error| reader.error(read_error(error)))?;
        Ok(value.map(Bytes::from))
    }

    pub(in super::super) fn range(
        &self,
        space: Space,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        direction: Direction,
    ) -> FjallRange<'_> {
        let View { snapshot, reader } = &*self.0;
        FjallRange {
            entries: snapshot.range(&reader.keyspace, key::stored_range(space, lower, upper)),
            reader: reader.clone(),
            direction,
            snapshot: PhantomData,
        }
    }
}

/// The entries of a range.
pub(crate) struct FjallRange<'a> {
    entries: fjall::Iter,
    reader: Arc<Reader>,
    direction: Direction,
    snapshot: PhantomData<&'a FjallSnapshot>,
}

impl Iterator for FjallRange<'_> {
    type Item = Result<(Bytes, Bytes), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = match self.direction {
            Direction::Forward => self.entries.next(),
            Direction::Reverse => self.entries.next_back(),
        }?;
        Some(self.reader.check().and_then(|()| entry_of(entry)).map_err(|error| self.reader.error(error)))
    }
}

/// An entry without the byte of its space.
pub(super) fn entry_of(entry: Guard) -> Result<(Bytes, Bytes), StoreError> {
    let (key, value) = entry.into_inner().map_err(read_error)?;
    let mut key = Bytes::from(key);
    key.advance(1);
    Ok((key, value.into()))
}
