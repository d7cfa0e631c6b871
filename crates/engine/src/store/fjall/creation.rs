//! The end of a creation: the files of an empty database are made durable, and its directory is called a database.
//!
//! That takes some fifteen syncs, one after the other, and nobody who only reads has to wait for them. So they are done on a thread of their own, and
//! the first write waits until they are.
//!
//! Always true: nothing is written to a database before its directory is one. A creation that is cut off, or that fails, leaves a directory
//! without anything in it that anybody wrote, and the next opening begins it again.

use std::{sync::Arc, thread::JoinHandle};

use super::{
    super::{StoreError, directory::Directory},
    empty,
};

/// How far it is.
pub(super) enum Completion {
    /// The directory is a database.
    Done,
    /// Under way, on a thread.
    Underway(JoinHandle<Result<(), StoreError>>),
    /// The directory is no database. Its creation has to be begun again.
    Failed(StoreError),
}

impl Completion {
    /// Begins it. Where there is no thread to be had it is done here.
    pub(super) fn begin(directory: &Arc<Directory>) -> Completion {
        let (there, here) = (directory.clone(), directory.clone());
        std::thread::Builder::new()
            .name("monotable-create".to_owned())
            .spawn(move || complete(&there))
            .map_or_else(|_| Completion::of(complete(&here)), Completion::Underway)
    }

    /// Waits for its end.
    pub(super) fn wait(&mut self) -> Result<(), StoreError> {
        match std::mem::replace(self, Completion::Done) {
            Completion::Done => return Ok(()),
            Completion::Underway(thread) => {
                *self = Completion::of(thread.join().unwrap_or_else(|_| {
                    Err(StoreError::corrupt("the thread that was to complete its creation panicked"))
                }));
            }
            Completion::Failed(error) => *self = Completion::Failed(error),
        }
        match self {
            Completion::Failed(error) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn of(outcome: Result<(), StoreError>) -> Completion {
        outcome.map_or_else(Completion::Failed, |()| Completion::Done)
    }
}

/// Does it here and now.
pub(super) fn complete(directory: &Directory) -> Result<(), StoreError> {
    empty::sync(&directory.database()).map_err(StoreError::io("creating the database"))?;
    directory.complete_creation()
}

#[cfg(test)]
mod tests {
    use super::super::super::directory::Creation;
    use super::*;

    fn state_of(path: &std::path::Path) -> Creation {
        Directory::open(path).unwrap().1
    }

    #[test]
    fn a_directory_is_a_database_once_its_creation_was_waited_for() {
        let parent = tempfile::tempdir().unwrap();
        let directory = Arc::new(Directory::open(parent.path()).unwrap().0);
        empty::write(&directory.database()).unwrap();
        let mut completion = Completion::begin(&directory);
        completion.wait().unwrap();
        completion.wait().unwrap();
        drop(directory);
        assert_eq!(state_of(parent.path()), Creation::Complete);
    }

    #[test]
    fn a_creation_that_failed_is_no_database_and_stays_failed() {
        let parent = tempfile::tempdir().unwrap();
        let directory = Arc::new(Directory::open(parent.path()).unwrap().0);
        // Nothing was written that could be synced.
        let mut completion = Completion::begin(&directory);
        assert!(completion.wait().is_err());
        empty::write(&directory.database()).unwrap();
        assert!(completion.wait().is_err());
        drop(directory);
        assert_eq!(state_of(parent.path()), Creation::Incomplete);
    }
}
