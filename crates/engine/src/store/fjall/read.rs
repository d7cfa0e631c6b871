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

use bytes::Bytes;
use fjall::{Keyspace, Readable as _};

use super::{
    super::{Direction, Space, StoreError, batch::RESERVED_META_BYTE, directory::Directory},
    open::read_error,
};

/// What a reader needs of one instance of the database.
pub(super) struct Reader {
    data: Keyspace,
    log: Keyspace,
    meta: Keyspace,
    /// Set when another instance has taken over the files, which may then change or go at any time.
    retired: AtomicBool,
    /// The storage crate keeps its files open for as long as there are readers, so the lock stays too.
    _directory: Arc<Directory>,
}

impl Reader {
    pub(super) fn new(data: Keyspace, log: Keyspace, meta: Keyspace, directory: Arc<Directory>) -> Reader {
        Reader { data, log, meta, retired: AtomicBool::new(false), _directory: directory }
    }

    pub(super) fn keyspace(&self, space: Space) -> &Keyspace {
        match space {
            Space::Data => &self.data,
            Space::Log => &self.log,
            Space::Meta => &self.meta,
        }
    }

    pub(super) fn keyspaces(&self) -> impl Iterator<Item = &Keyspace> {
        [&self.data, &self.log, &self.meta].into_iter()
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

    pub(in super::super) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let View { snapshot, reader } = &*self.0;
        reader.check()?;
        if key.is_empty() || is_reserved(space, key) {
            return Ok(None);
        }
        let value = snapshot.get(reader.keyspace(space), key).map_err(read_error)?;
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
        let lower = after_reserved(space, lower);
        FjallRange {
            entries: snapshot.range::<&[u8], _>(reader.keyspace(space), (lower, upper)),
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
        Some(self.reader.check().and_then(|()| {
            let (key, value) = entry.into_inner().map_err(read_error)?;
            Ok((key.into(), value.into()))
        }))
    }
}

fn is_reserved(space: Space, key: &[u8]) -> bool {
    space == Space::Meta && key.first() == Some(&RESERVED_META_BYTE)
}

fn after_reserved(space: Space, lower: Bound<&[u8]>) -> Bound<&[u8]> {
    match lower {
        Bound::Unbounded if space == Space::Meta => Bound::Included(&[RESERVED_META_BYTE + 1]),
        Bound::Included(key) | Bound::Excluded(key)
            if is_reserved(space, key) || (space == Space::Meta && key.is_empty()) =>
        {
            Bound::Included(&[RESERVED_META_BYTE + 1])
        }
        _ => lower,
    }
}
