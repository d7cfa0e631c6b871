//! Objects as files of a directory.
//!
//! Always true: a file is written under another name, synced and then renamed, so that a name never stands for half an object.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{Guard, Listed, Objects, Version};
use crate::BackupError;

/// Begins the names of files that are being written.
const UNFINISHED: &str = ".unfinished-";
/// Locked by whoever makes or prunes backups.
const LOCK: &str = ".lock";

/// A directory.
#[derive(Debug)]
pub(crate) struct Local {
    root: PathBuf,
    /// Directories in which files appeared that may not survive a loss of power yet.
    unsettled: Mutex<BTreeSet<PathBuf>>,
    next: AtomicU64,
}

impl Local {
    /// The directory need not exist before something is written.
    pub(crate) fn new(root: &Path) -> Local {
        Local { root: root.to_path_buf(), unsettled: Mutex::default(), next: AtomicU64::new(0) }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.root.join(name);
        let folder = path.parent().unwrap_or(&self.root).to_path_buf();
        self.make_folder(&folder)?;
        let number = self.next.fetch_add(1, Relaxed);
        let unfinished = folder.join(format!("{UNFINISHED}{}-{number}", std::process::id()));
        let written = write_synced(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, &path));
        if written.is_err() {
            // Best effort: it is not taken for an object, and swept up later.
            let _ = fs::remove_file(&unfinished);
        }
        self.unsettled.lock().insert(folder);
        written
    }

    /// Makes a folder with those above it, and notes where names appeared.
    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        if folder.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(folder)?;
        let above = folder.ancestors().skip(1).take_while(|above| above.starts_with(&self.root));
        self.unsettled.lock().extend(above.map(Path::to_path_buf));
        Ok(())
    }

    fn failed(&self, doing: &str, name: &str) -> impl FnOnce(io::Error) -> BackupError {
        let doing = format!("{doing} {}", self.root.join(name).display());
        move |error| BackupError::Unreachable { doing, reason: error.to_string() }
    }
}

/// Shows every file of a folder and of those in it.
fn walk(folder: &Path, found: &mut dyn FnMut(&Path, &str, u64) -> io::Result<()>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let metadata = match entry.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        if metadata.is_dir() {
            walk(&path, found)?;
        } else {
            found(&path, &entry.file_name().to_string_lossy(), metadata.len())?;
        }
    }
    Ok(())
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

impl Objects for Local {
    fn get(&self, name: &str) -> Result<Option<(Bytes, Version)>, BackupError> {
        match fs::read(self.root.join(name)) {
            Ok(bytes) => Ok(Some((bytes.into(), Version::default()))),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(self.failed("reading", name)(error)),
        }
    }

    fn put(&self, name: &str, bytes: Bytes) -> Result<(), BackupError> {
        self.write(name, &bytes).map_err(self.failed("writing", name))
    }

    /// Whoever replaces holds the guard.
    fn replace(&self, name: &str, bytes: Bytes, _seen: Option<&Version>) -> Result<bool, BackupError> {
        self.settle()?;
        self.put(name, bytes)?;
        self.settle()?;
        Ok(true)
    }

    fn remove(&self, name: &str) -> Result<(), BackupError> {
        match fs::remove_file(self.root.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.failed("removing", name)(error)),
            _ => Ok(()),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, BackupError> {
        let mut listed = Vec::new();
        let mut note = |path: &Path, file: &str, size_bytes: u64| {
            let name = path.strip_prefix(&self.root).ok().filter(|_| !file.starts_with('.'));
            if let Some(name) = name {
                let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
                listed.push(Listed { name: parts.join("/"), size_bytes });
            }
            Ok(())
        };
        walk(&self.root.join(folder), &mut note).map_err(self.failed("listing", folder))?;
        listed.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(listed)
    }

    fn settle(&self) -> Result<(), BackupError> {
        let folders = std::mem::take(&mut *self.unsettled.lock());
        for folder in folders.iter().rev().filter(|_| cfg!(unix)) {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(self.failed("syncing", ""))?;
        }
        Ok(())
    }

    fn guard(&self) -> Result<Guard, BackupError> {
        self.make_folder(&self.root).map_err(self.failed("making", ""))?;
        let file = File::options().create(true).truncate(false).write(true).open(self.root.join(LOCK));
        let file = file.map_err(self.failed("creating", LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => {
                Err(BackupError::Busy { place: self.root.display().to_string() })
            }
            Err(TryLockError::Error(error)) => Err(self.failed("locking", LOCK)(error)),
        }
    }

    fn sweep(&self) -> Result<(), BackupError> {
        let mut remove = |path: &Path, file: &str, _: u64| {
            if file.starts_with(UNFINISHED) { fs::remove_file(path) } else { Ok(()) }
        };
        walk(&self.root, &mut remove).map_err(self.failed("sweeping", ""))
    }

    /// Two: one waits for the disk while the other compresses.
    fn lanes(&self) -> usize {
        2
    }
}
