//! Filling a new encrypted database from elsewhere: nothing reaches the disk unsealed.
//!
//! Always true: the directory says that it is half restored from the first step to the last, so nobody takes what is there
//! for a database.

use std::path::Path;
use std::sync::Arc;

use seal::MasterKey;

use super::super::directory::Directory;
use super::super::{Batch, StoreError, StoreOptions};
use super::LOG_BYTES_MAX;
use super::open::{self, Opened};

/// An encrypted database that is being filled.
pub(crate) struct SealedLoad {
    directory: Arc<Directory>,
    options: StoreOptions,
    opened: Opened,
    /// What was written since the pages were last made durable: until then they are kept in memory.
    unsaved_bytes: u64,
}

impl SealedLoad {
    /// Begins in a directory that is empty, not there yet, or left by an interrupted restore.
    pub(crate) fn begin(
        path: &Path,
        options: StoreOptions,
        master: &dyn MasterKey,
    ) -> Result<SealedLoad, StoreError> {
        let directory = Arc::new(Directory::open_for_restore(path)?);
        let opened = open::create_files_of(&directory, &options, master)?;
        Ok(SealedLoad { directory, options, opened, unsaved_bytes: 0 })
    }

    /// Writes a batch without a number.
    pub(crate) fn write(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.check_space(batch.size_bytes())?;
        self.unsaved_bytes += batch.size_bytes() as u64;
        let instance = &self.opened.instance;
        super::write_batch(instance, batch).map_err(|error| instance.error(error))?;
        if self.unsaved_bytes > LOG_BYTES_MAX {
            self.save(0)?;
        }
        Ok(())
    }

    /// Numbers the last commit, makes everything durable and the directory a database.
    pub(crate) fn finish(mut self, commit: u64) -> Result<(), StoreError> {
        self.save(commit)?;
        let mark = &self.opened.mark;
        mark.write(commit).and_then(|()| mark.sync()).map_err(StoreError::io("writing the mark"))?;
        self.directory.complete_restore()
    }

    fn save(&mut self, commit: u64) -> Result<(), StoreError> {
        self.unsaved_bytes = 0;
        match open::write_pages(&self.opened.instance, commit)? {
            None => Ok(()),
            Some(full) => Err(StoreError::Io { doing: "writing pages", source: full }),
        }
    }

    fn check_space(&self, batch_bytes: usize) -> Result<(), StoreError> {
        let free_bytes = self.options.faults.free_bytes(self.directory.free_bytes()?);
        let needed_bytes = self.options.reserve_bytes.saturating_add(batch_bytes as u64);
        if free_bytes < needed_bytes { Err(StoreError::Full { free_bytes, needed_bytes }) } else { Ok(()) }
    }
}
