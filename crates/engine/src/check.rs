//! Compares everything that is stored with itself, while reads and writes go on.
//!
//! What is compared, in one snapshot: every file with its checksum; items with the keys they are stored under; indexes with what the
//! items imply, both ways; expiry lists and totals; streams, replayed from the end, with the items they led to; histories and
//! backups, that they can be read.
//!
//! Path of a check: CheckData -> [`Checker::start`] -> a thread of its own -> [`Progress`], which CheckData reads.

mod log;
mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use dynamo::operation::{CheckDataReply, CheckStatus};
use parking_lot::Mutex;

use crate::commit::View;
use crate::layout::{CollectionId, KeyRange};
use crate::meta::{self, MetaKey};
use crate::store::{Direction, Range, Space, Store, StoreError};
use crate::totals::Totals;

/// Findings that are told word by word; more are counted.
const FINDINGS_MAX: usize = 100;

/// The check of a database: none, one that runs, or the last one.
#[derive(Default)]
pub(crate) struct Checker {
    progress: Arc<Mutex<Progress>>,
    stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct Progress {
    status: Status,
    checked: u64,
    expected: u64,
    findings: Vec<String>,
    finding_count: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Status {
    #[default]
    NotStarted,
    Running,
    Done,
}

impl Drop for Checker {
    /// A check does not keep a database open.
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}

impl Checker {
    /// Begins a check, unless one runs.
    pub(crate) fn start(&self, view: View, store: Arc<dyn Store>) -> Result<(), StoreError> {
        let mut progress = self.progress.lock();
        if progress.status == Status::Running {
            return Ok(());
        }
        *progress = Progress { status: Status::Running, ..Progress::default() };
        let mut check = Check { view, progress: self.progress.clone(), stop: self.stop.clone(), unseen: 0 };
        let work = move || {
            let _ending = EndOfCheck(check.progress.clone());
            check.run(&*store);
        };
        let thread = std::thread::Builder::new().name("monotable-check".to_owned());
        thread.spawn(work).map(drop).map_err(|source| {
            progress.status = Status::NotStarted;
            StoreError::Io { doing: "starting the thread that checks", source: Arc::new(source) }
        })
    }

    /// How it is going.
    pub(crate) fn describe(&self) -> CheckDataReply {
        let progress = self.progress.lock();
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        CheckDataReply {
            status: Some(match progress.status {
                Status::NotStarted => CheckStatus::NotStarted,
                Status::Running => CheckStatus::Running,
                Status::Done => CheckStatus::Done,
            }),
            checked_entries: count(progress.checked),
            expected_entries: count(progress.expected.max(progress.checked)),
            finding_count: count(progress.finding_count),
            findings: progress.findings.clone(),
        }
    }
}

/// Whatever ends a check, it is over: a panic on damaged data is a finding like any other.
struct EndOfCheck(Arc<Mutex<Progress>>);

impl Drop for EndOfCheck {
    fn drop(&mut self) {
        let mut progress = self.0.lock();
        if std::thread::panicking() {
            progress.finding_count += 1;
            progress.findings.push("reading the data made the check panic".to_owned());
        }
        progress.status = Status::Done;
    }
}

/// A check while it runs.
struct Check {
    view: View,
    progress: Arc<Mutex<Progress>>,
    stop: Arc<AtomicBool>,
    /// Entries that were checked since the progress was last told.
    unseen: u64,
}

/// The database is being closed.
struct Stopped;

impl Check {
    fn run(&mut self, store: &dyn Store) {
        match store.check_files() {
            Ok(findings) => findings.into_iter().for_each(|finding| self.report(finding)),
            Err(error) => self.report(error.to_string()),
        }
        // A check that is stopped has nothing more to say.
        let _ = self.check_collections();
        if self.view.snapshot.is_stale() {
            let mut progress = self.progress.lock();
            progress.findings = vec!["the store was opened again meanwhile: check once more".to_owned()];
            progress.finding_count = 1;
        }
    }

    fn check_collections(&mut self) -> Result<(), Stopped> {
        let view = self.view.clone();
        let totals = Totals::load(&view.snapshot).unwrap_or_else(|error| {
            self.report(format!("the totals: {error}"));
            Totals::default()
        });
        self.expect(&view, &totals);
        self.check_meta(&view)?;
        for table in view.catalog.tables() {
            if let Err(error) = view.catalog.check_key(table) {
                self.report(format!("table {}: not checked: {}", table.name, error.message));
                continue;
            }
            self.check_table(table, &totals)?;
            self.check_stream(table)?;
            self.check_history(table)?;
        }
        for backup in view.catalog.backups() {
            if let Err(error) = view.catalog.check_key(&backup.table) {
                self.report(format!("backup {}: not checked: {}", backup.name, error.message));
                continue;
            }
            self.check_backup(backup, &totals)?;
        }
        self.tell();
        Ok(())
    }

    /// How much there is to do, as far as the totals know.
    fn expect(&self, view: &View, totals: &Totals) {
        let tables = view.catalog.tables().flat_map(|table| table.collections());
        let ids = tables.chain(view.catalog.backups().map(|backup| backup.id));
        let items: i64 = ids.map(|id| totals.of(id).items).sum();
        self.progress.lock().expected = u64::try_from(items).unwrap_or_default();
    }

    /// The records beside the tables need only be readable: the catalog was read from them.
    fn check_meta(&mut self, view: &View) -> Result<(), Stopped> {
        let kinds = [MetaKey::TOKEN, MetaKey::TOKEN_EXPIRY, MetaKey::COLLECTION_BYTES, MetaKey::TRIMMED];
        for kind in kinds {
            for entry in meta::entries(&view.snapshot, kind) {
                self.count()?;
                if let Err(error) = entry {
                    self.report(format!("the catalog: {error}"));
                    break;
                }
            }
        }
        Ok(())
    }

    fn range(view: &View, space: Space, id: CollectionId, direction: Direction) -> Range<'_> {
        let range = KeyRange::of_collection(id);
        let (lower, upper) = range.bounds();
        view.snapshot.range(space, lower, upper, direction)
    }

    /// One more entry.
    fn count(&mut self) -> Result<(), Stopped> {
        const TOLD_AFTER: u64 = 1000;
        self.unseen += 1;
        if self.unseen >= TOLD_AFTER {
            self.tell();
            if self.stop.load(Relaxed) {
                return Err(Stopped);
            }
        }
        Ok(())
    }

    fn tell(&mut self) {
        self.progress.lock().checked += std::mem::take(&mut self.unseen);
    }

    fn report(&self, finding: String) {
        let mut progress = self.progress.lock();
        progress.finding_count += 1;
        if progress.findings.len() < FINDINGS_MAX {
            progress.findings.push(finding);
        }
    }
}

#[cfg(test)]
mod damage;
#[cfg(test)]
mod tests;
