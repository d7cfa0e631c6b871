//! A whole database as entries: read from a frozen one, loaded into a new one.
//!
//! Always true: entries come in the order of their spaces and keys. What is of one copy only (its log of commits, its identity)
//! is left out. A database that is being loaded is none until it is finished: its directory cannot be opened before.
//!
//! Path of a backup: `Engine::freeze` -> [`Frozen::entries`] and [`Frozen::records_after`].
//! Path of a restore: [`Loading::begin`] -> `put` and `apply` -> `finish` -> `Engine::open`.

use std::ops::Bound;
use std::path::Path;

use bytes::Bytes;
use seal::MasterKey;

use crate::commit::{Changes, Latest, Moment};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::meta::{self, MetaKey};
use crate::shipping::{self, CommitRecord, LogPlace, LogState, space_number, space_of, stays};
use crate::store::{Batch, Direction, Load, SealedLoad, Space, StoreError, StoreOptions};

/// Records that are forgotten in one commit.
const FORGET_STEP: usize = 4096;

/// Why entries could not be read or loaded.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct TransferError(StoreError);

impl TransferError {
    /// Whether another process, or this one, has the database open.
    pub fn is_locked(&self) -> bool {
        matches!(self.0, StoreError::Locked { .. })
    }
}

impl From<StoreError> for TransferError {
    fn from(error: StoreError) -> TransferError {
        TransferError(error)
    }
}

/// One stored entry. What it means is known to the engine only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of its space.
    pub space: u8,
    /// Its key.
    pub key: Bytes,
    /// Its value.
    pub value: Bytes,
}

/// Everything in a database at one moment; it is on disk, and never changes.
pub struct Frozen {
    moment: Moment,
}

impl Frozen {
    /// The number of the last commit in it.
    pub fn commit(&self) -> u64 {
        self.moment.commit
    }

    /// The moment: every commit up to it is there, and none after it.
    pub fn time_milliseconds(&self) -> i64 {
        self.moment.time_milliseconds
    }

    /// The place in the log of commits after all that is there, if the log is kept.
    pub fn place(&self) -> Option<LogPlace> {
        self.moment.place
    }

    /// All entries, in order.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry, TransferError>> + '_ {
        [Space::Data, Space::Log, Space::Meta].into_iter().flat_map(|space| {
            let entries =
                self.moment.snapshot.range(space, Bound::Unbounded, Bound::Unbounded, Direction::Forward);
            entries.filter_map(move |entry| match entry {
                Ok((key, _)) if stays(space, &key) => None,
                Ok((key, value)) => Some(Ok(Entry { space: space_number(space), key, value })),
                Err(error) => Some(Err(error.into())),
            })
        })
    }

    /// The records of the log of commits after a position, in order, up to about so many bytes.
    pub fn records_after(&self, position: u64, bytes_max: usize) -> Result<Vec<CommitRecord>, TransferError> {
        Ok(shipping::records_after(&self.moment.snapshot, position, bytes_max)?)
    }
}

impl Engine {
    /// The time, from the engine's clock.
    pub fn now_milliseconds(&self) -> i64 {
        self.inner.committer.now_milliseconds()
    }

    /// Makes everything committed so far durable and freezes it. Reads and writes go on meanwhile.
    pub fn freeze(&self) -> Result<Frozen, TransferError> {
        let moment = self.inner.committer.freeze()?;
        // What is sealed with the key of a table leaves the database as it is.
        Ok(Frozen { moment: Moment { snapshot: moment.snapshot.unopened(), ..moment } })
    }

    /// Keeps a log of commits from now on, of at most so many bytes; no record of it gets an earlier time than this. Goes on with
    /// the log that is there, if nothing was committed since.
    pub fn start_shipping(&self, bytes_max: u64, not_before_milliseconds: i64) -> Result<(), TransferError> {
        Ok(self.inner.committer.start_shipping(bytes_max, not_before_milliseconds)?)
    }

    /// Ends the log of commits. Its records stay until they are forgotten.
    pub fn stop_shipping(&self) {
        self.inner.committer.stop_shipping();
    }

    /// How the log of commits stands, if it is kept.
    pub fn log_state(&self) -> Option<LogState> {
        self.inner.committer.log_state()
    }

    /// Forgets the records of the log of commits up to a position: they are in a safe place.
    pub fn forget_records(&self, position: u64) -> Result<(), TransferError> {
        loop {
            let forget = move |latest: &Latest<'_>| forget(latest, position);
            let (count, bytes_end) = self.inner.committer.run_alone(forget).map_err(store_error)?;
            self.inner.committer.log_forgotten(bytes_end);
            if count < FORGET_STEP {
                return Ok(());
            }
        }
    }

    /// Which database this is. One that has no name yet takes this one.
    pub fn identity(&self, fresh: &str) -> Result<String, TransferError> {
        let key = meta::key(MetaKey::IDENTITY, b"");
        let known = self.view().snapshot.get(Space::Meta, &key)?;
        match known.and_then(|name| String::from_utf8(name.into()).ok()) {
            Some(name) => Ok(name),
            None => self.rename(fresh).map(|()| fresh.to_owned()),
        }
    }

    /// Gives the database another identity: what it was is continued elsewhere.
    pub fn rename(&self, fresh: &str) -> Result<(), TransferError> {
        let name = Bytes::copy_from_slice(fresh.as_bytes());
        let rename = move |_: &Latest<'_>| {
            let mut changes = Changes::default();
            changes.batch.put(Space::Meta, meta::key(MetaKey::IDENTITY, b""), name);
            Ok(((), changes))
        };
        self.inner.committer.run(rename).map_err(store_error)?;
        Ok(self.inner.committer.sync()?)
    }
}

fn forget(latest: &Latest<'_>, position: u64) -> Result<((usize, u64), Changes), Fault> {
    let (keys, bytes_end) = shipping::keys_up_to(latest.snapshot(), position, FORGET_STEP)?;
    let mut changes = Changes::default();
    let count = keys.len();
    for key in keys {
        changes.batch.remove(Space::Log, key);
    }
    Ok(((count, bytes_end), changes))
}

/// These commits read nothing that a client could have got wrong.
fn store_error(fault: Fault) -> TransferError {
    TransferError(match fault {
        Fault::Store(error) => error,
        Fault::Api(error) => StoreError::corrupt(error.to_string()),
    })
}

/// A database that is being made from entries.
pub struct Loading {
    load: AnyLoad,
}

enum AnyLoad {
    Plain(Load),
    Encrypted(Box<SealedLoad>),
}

impl Loading {
    /// Begins in a directory that is empty, not there yet, or left by an interrupted restore.
    pub fn begin(path: impl AsRef<Path>) -> Result<Loading, TransferError> {
        Ok(Loading { load: AnyLoad::Plain(Load::begin(path.as_ref(), StoreOptions::default())?) })
    }

    /// As [`Loading::begin`], for a database that is encrypted with this key: nothing reaches the disk unsealed.
    pub fn begin_encrypted(path: impl AsRef<Path>, key: &dyn MasterKey) -> Result<Loading, TransferError> {
        let load = SealedLoad::begin(path.as_ref(), StoreOptions::default(), key)?;
        Ok(Loading { load: AnyLoad::Encrypted(Box::new(load)) })
    }

    /// Stores entries.
    pub fn put(&mut self, entries: impl IntoIterator<Item = Entry>) -> Result<(), TransferError> {
        let mut batch = Batch::default();
        for Entry { space, key, value } in entries {
            let space = space_of(space).filter(|_| Batch::takes_key(&key));
            let space = space.ok_or_else(|| StoreError::corrupt("an entry that no database has"))?;
            batch.put(space, key, value);
        }
        self.write(batch)
    }

    /// Makes the writes of a commit again.
    pub fn apply(&mut self, record: &CommitRecord) -> Result<(), TransferError> {
        self.write(record.batch())
    }

    fn write(&mut self, batch: Batch) -> Result<(), TransferError> {
        match &mut self.load {
            AnyLoad::Encrypted(load) => load.write(batch)?,
            AnyLoad::Plain(_) if batch.iter().any(|write| is_table_key(write.space, &write.key)) => {
                return Err(StoreError::PlainWithTableKeys.into());
            }
            AnyLoad::Plain(load) => load.write(batch)?,
        }
        Ok(())
    }

    /// Makes it a database, whose last commit has this number.
    pub fn finish(self, commit: u64) -> Result<(), TransferError> {
        match self.load {
            AnyLoad::Plain(load) => load.finish(commit)?,
            AnyLoad::Encrypted(load) => load.finish(commit)?,
        }
        Ok(())
    }
}

/// Whether an entry is the wrapped key of a table, which only encrypted databases have.
fn is_table_key(space: Space, key: &[u8]) -> bool {
    space == Space::Meta && key.starts_with(&meta::key(MetaKey::TABLE_KEY, b""))
}

#[cfg(test)]
mod tests;
