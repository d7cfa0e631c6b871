//! Filling a new database from elsewhere.
//!
//! Always true: the directory says that it is half restored from the first step to the last, so nobody takes what is there
//! for a database. Numbers of commits go on from where the entries come from: stream records are numbered by them.

use std::{path::Path, sync::Arc};

use fjall::{OwnedWriteBatch as WriteBatch, PersistMode};

use super::{
    super::{Batch, StoreError, commits, directory::Directory},
    StoreOptions, is_behind, key,
    open::{self, Opened},
};

/// Markers in one batch.
const MARKERS_STEP: usize = 1024;

/// A database that is being filled.
pub(crate) struct Load {
    directory: Arc<Directory>,
    options: StoreOptions,
    opened: Opened,
}

impl Load {
    /// Begins in a directory that is empty, not there yet, or left by an interrupted restore.
    pub(crate) fn begin(path: &Path, options: StoreOptions) -> Result<Load, StoreError> {
        let directory = Arc::new(Directory::open_for_restore(path)?);
        let opened = open::start_restore(&directory, &options)?;
        Ok(Load { directory, options, opened })
    }

    /// Writes a batch without a number.
    pub(crate) fn write(&self, batch: Batch) -> Result<(), StoreError> {
        self.check_space(batch.size_bytes())?;
        let Opened { database, reader, .. } = &self.opened;
        while is_behind(reader.keyspace()) {
            database.persist(PersistMode::Buffer).map_err(write_error)?;
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut writes = WriteBatch::with_capacity(database.clone(), batch.len());
        for write in batch {
            let key = key::stored(write.space, &write.key);
            match write.value {
                Some(value) => writes.insert(reader.keyspace(), key, value),
                None => writes.remove(reader.keyspace(), key),
            }
        }
        writes.commit().map_err(write_error)
    }

    /// Numbers the last commit, makes everything durable and the directory a database.
    pub(crate) fn finish(self, commit: u64) -> Result<(), StoreError> {
        let Opened { database, reader, .. } = &self.opened;
        let first = commit.saturating_sub(commits::WINDOW - 1).max(1);
        let numbers: Vec<u64> = (first..=commit).collect();
        for step in numbers.chunks(MARKERS_STEP) {
            let mut writes = WriteBatch::with_capacity(database.clone(), step.len());
            for (slot, number) in step.iter().map(|number| commits::marker(*number)) {
                writes.insert(reader.keyspace(), key::stored_slot(&slot), number);
            }
            writes.commit().map_err(write_error)?;
        }
        database.persist(PersistMode::SyncAll).map_err(write_error)?;
        self.directory.complete_restore()
    }

    fn check_space(&self, batch_bytes: usize) -> Result<(), StoreError> {
        let free_bytes = self.options.faults.free_bytes(self.directory.free_bytes()?);
        let needed_bytes = self.options.reserve_bytes.saturating_add(batch_bytes as u64);
        if free_bytes < needed_bytes { Err(StoreError::Full { free_bytes, needed_bytes }) } else { Ok(()) }
    }
}

fn write_error(error: fjall::Error) -> StoreError {
    let reason = format!("a write failed: {error}").into();
    StoreError::Failed { reason, disk_was_full: false, source: Some(Arc::new(error)) }
}
