//! What the storage crate is done with, taken apart by a thread that nobody waits for (docs/decisions/0076).
//!
//! The storage crate drops a memtable that has become a table while it holds the lock of its versions: each of tens of thousands of entries is
//! freed while every read and write waits. And it removes a journal by its name: with the last name the file system frees 64 MB inside one of its own
//! commits, which the next syncs wait for. So both are held here a little longer: the memtable until nobody else has it, the journal until
//! it has no name any more and was cut off step by step.
//!
//! Always true: a journal that has a name is never changed here. Memory and space come back at most a few moments later.

use std::{
    any::Any,
    fs::File,
    io,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

/// How long to wait before looking again whether somebody else still has it.
const PAUSE: Duration = Duration::from_millis(20);

/// What is cut off a journal at once, and how long the disk then belongs to others.
const CUT_BYTES: u64 = 4 << 20;
const CUT_PAUSE: Duration = Duration::from_millis(2);

/// Something that was shared.
pub(super) type Shared = Arc<dyn Any + Send + Sync>;

/// Takes what is to be taken apart. The thread begins with the first of it, ends with this, and lets go of what is left.
#[derive(Default)]
pub(super) struct Retired {
    thread: Option<Sender<Remains>>,
    /// The memtable that is being written.
    memtable: Option<Shared>,
}

enum Remains {
    Memory(Shared),
    Journal { file: Arc<File>, path: PathBuf },
}

impl Retired {
    /// Notes the memtable that is being written. The one before it will have become a table soon.
    pub(super) fn note_memtable(&mut self, memtable: Shared) {
        if self.memtable.as_ref().is_some_and(|noted| Arc::ptr_eq(noted, &memtable)) {
            return;
        }
        if let Some(before) = self.memtable.replace(memtable) {
            self.take(Remains::Memory(before));
        }
    }

    /// Takes a journal that is not written any more. It will be removed once all of it is in tables.
    pub(super) fn take_journal(&mut self, file: Arc<File>, path: PathBuf) {
        self.take(Remains::Journal { file, path });
    }

    fn take(&mut self, remains: Remains) {
        // Where there can be no thread, everything is freed where it always was.
        let _ = self.thread.get_or_insert_with(start_thread).send(remains);
    }
}

fn start_thread() -> Sender<Remains> {
    let (remains, received) = channel();
    let thread = std::thread::Builder::new().name("monotable-free".to_owned());
    let _ = thread.spawn(move || take_apart(&received));
    remains
}

/// The life of the thread.
fn take_apart(received: &Receiver<Remains>) {
    let mut waiting: Vec<Remains> = Vec::new();
    loop {
        let next = if waiting.is_empty() {
            received.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            received.recv_timeout(PAUSE)
        };
        match next {
            Ok(remains) => waiting.push(remains),
            Err(RecvTimeoutError::Timeout) => waiting.retain(|remains| !remains.are_gone()),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl Remains {
    /// Takes them apart if nobody else has them any more.
    fn are_gone(&self) -> bool {
        match self {
            // Dropping it is what takes it apart.
            Remains::Memory(memory) => Arc::strong_count(memory) == 1,
            // What cannot be asked or cut off is freed when it is closed.
            Remains::Journal { file, path } => match has_no_name(file) {
                Ok(true) => {
                    let _ = cut_off(file);
                    true
                }
                // A file system may keep another name for as long as the file is open.
                Ok(false) => !path.exists(),
                Err(_) => true,
            },
        }
    }
}

#[cfg(unix)]
fn has_no_name(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(file.metadata()?.nlink() == 0)
}

#[cfg(not(unix))]
fn has_no_name(_file: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

fn cut_off(file: &File) -> io::Result<()> {
    let mut length = file.metadata()?.len();
    while length > 0 {
        length = length.saturating_sub(CUT_BYTES);
        file.set_len(length)?;
        std::thread::sleep(CUT_PAUSE);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn wait_until(mut is_so: impl FnMut() -> bool) {
        let started = Instant::now();
        while !is_so() {
            assert!(started.elapsed() < Duration::from_secs(30), "waited in vain");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_memtable_is_freed_by_the_thread_once_nobody_else_has_it() {
        struct Memtable(Sender<Option<String>>);
        impl Drop for Memtable {
            fn drop(&mut self) {
                let _ = self.0.send(std::thread::current().name().map(str::to_owned));
            }
        }
        let (sender, freed_by) = channel();
        let mut retired = Retired::default();
        let first: Shared = Arc::new(std::sync::Mutex::new(Memtable(sender)));
        retired.note_memtable(first.clone());
        retired.note_memtable(first.clone());
        retired.note_memtable(Arc::new(()));
        std::thread::sleep(PAUSE * 3);
        assert!(freed_by.try_recv().is_err(), "it was freed while it was in use");
        drop(first);
        let thread = freed_by.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(thread.as_deref(), Some("monotable-free"));
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_is_cut_off_once_it_has_no_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("1.jnl");
        let journal = Arc::new(File::create(&path).unwrap());
        let length = CUT_BYTES * 2 + 1;
        journal.set_len(length).unwrap();
        let mut retired = Retired::default();
        retired.take_journal(journal.clone(), path.clone());
        std::thread::sleep(PAUSE * 3);
        assert_eq!(journal.metadata().unwrap().len(), length);
        std::fs::remove_file(&path).unwrap();
        wait_until(|| journal.metadata().unwrap().len() == 0);
        wait_until(|| Arc::strong_count(&journal) == 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_that_keeps_another_name_is_let_go_of_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join("1.jnl"), directory.path().join(".hidden"));
        std::fs::write(&path, [1; 100]).unwrap();
        std::fs::hard_link(&path, &other).unwrap();
        let journal = Arc::new(File::options().write(true).open(&path).unwrap());
        let mut retired = Retired::default();
        retired.take_journal(journal.clone(), path.clone());
        std::fs::remove_file(&path).unwrap();
        wait_until(|| Arc::strong_count(&journal) == 1);
        assert_eq!(std::fs::read(&other).unwrap(), [1; 100]);
    }

    #[test]
    fn what_is_left_is_let_go_of_unchanged_at_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("1.jnl");
        std::fs::write(&path, [1; 100]).unwrap();
        let journal = Arc::new(File::options().write(true).open(&path).unwrap());
        let mut retired = Retired::default();
        retired.take_journal(journal.clone(), path.clone());
        drop(retired);
        wait_until(|| Arc::strong_count(&journal) == 1);
        assert_eq!(std::fs::read(&path).unwrap(), [1; 100]);
    }
}
