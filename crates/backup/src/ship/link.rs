//! The log here and its copy there: where they meet, and how the copy goes on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{CommitRecord, Engine, Frozen, LogPlace};
use seal::MasterKey;

use crate::BackupError;
use crate::destination::Destination;
use crate::identity::fresh_name;
use crate::log::Head;
use crate::objects::Objects;
use crate::segment::{SEGMENT_BYTES, Segment};

/// A destination that is connected when it is needed.
pub(super) struct Link {
    objects: Arc<dyn Objects>,
    place: String,
    key: Option<Arc<dyn MasterKey>>,
    connected: Option<Connected>,
}

impl Link {
    pub(super) fn new(objects: Arc<dyn Objects>, place: String, key: Option<Arc<dyn MasterKey>>) -> Link {
        Link { objects, place, key, connected: None }
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn disconnect(&mut self) {
        self.connected = None;
    }

    /// What is known of the destination, read again after a failure.
    pub(super) fn connect(
        &mut self,
        engine: &Engine,
        log_bytes_max: u64,
    ) -> Result<&mut Connected, BackupError> {
        let connected = if let Some(connected) = self.connected.take() {
            connected
        } else {
            let key = self.key.as_deref();
            let destination = Destination::on(self.objects.clone(), &self.place, key, true)?;
            Connected::read(destination, engine, log_bytes_max)?
        };
        Ok(self.connected.insert(connected))
    }
}

/// What is known of the destination.
pub(super) struct Connected {
    pub(super) destination: Destination,
    pub(super) database: String,
    head: Option<Head>,
    head_written: Instant,
    needs_backup: bool,
    newest_backup_milliseconds: Option<i64>,
    /// Where the log ended when it had nothing left to ship; a mark of its own may be after what was shipped.
    quiet_end: Option<LogPlace>,
}

impl Connected {
    fn read(destination: Destination, engine: &Engine, log_bytes_max: u64) -> Result<Connected, BackupError> {
        let mut database = engine.identity(&fresh_name()?)?;
        let mut head = destination.head(&database)?;
        if let Some(found) = &head
            && !is_ours(engine, found)?
        {
            // Another copy of this database went on from where this one was: from here on it is another one.
            tracing::warn!(
                place = destination.place,
                "the log there is of another copy; this one begins anew"
            );
            database = fresh_name()?;
            engine.rename(&database)?;
            head = None;
        }
        if let Some(head) = &head {
            engine.start_shipping(log_bytes_max, head.time_milliseconds.saturating_add(1))?;
        }
        remove_uncounted(&destination, &database, head.as_ref())?;
        let backup = newest_backup(&destination, &database, head.as_ref())?;
        Ok(Connected {
            destination,
            database,
            head,
            head_written: Instant::now(),
            needs_backup: backup.is_none(),
            newest_backup_milliseconds: backup,
            quiet_end: None,
        })
    }

    /// Whether the log at the destination leads on from no backup.
    pub(super) fn needs_backup(&self) -> bool {
        self.needs_backup
    }

    /// The moment of the newest backup that was there when the destination was reached; once.
    pub(super) fn take_newest_backup(&mut self) -> Option<i64> {
        self.newest_backup_milliseconds.take()
    }

    pub(super) fn backed_up(&mut self) {
        self.needs_backup = false;
    }

    pub(super) fn head_age(&self) -> Duration {
        self.head_written.elapsed()
    }

    /// Whether something was committed since the last turn.
    pub(super) fn has_news(&self, engine: &Engine) -> bool {
        let state = engine.log_state();
        self.quiet_end.is_none()
            || state.map(|state| state.end) != self.quiet_end
            || state.is_some_and(|state| state.is_full)
    }

    /// Ships all records that are not there yet, and then the head.
    pub(super) fn ship(&mut self, frozen: &Frozen) -> Result<(), BackupError> {
        let mut end = self.head.as_ref().map_or_else(LogPlace::default, |head| head.end.into());
        let mut whole_since = self.head.as_ref().map_or(0, |head| head.whole_since);
        loop {
            let records = frozen.records_after(end.position, SEGMENT_BYTES)?;
            if records.is_empty() {
                break;
            }
            for run in records.chunk_by(|one, next| next.follows(one.place())) {
                let segment = Segment { previous: end.position, records: run.to_vec() };
                if !run.first().is_some_and(|first| first.follows(end)) {
                    whole_since = run.first().map_or(0, CommitRecord::position);
                    self.needs_backup = true;
                }
                self.destination.write_segment(&self.database, &segment)?;
                end = run.last().map_or(end, CommitRecord::place);
            }
        }
        self.write_head(Head {
            database: self.database.clone(),
            end: end.into(),
            time_milliseconds: frozen.time_milliseconds(),
            whole_since,
        })
    }

    fn write_head(&mut self, head: Head) -> Result<(), BackupError> {
        if self.destination.head(&self.database)? != self.head {
            return Err(BackupError::Forked { place: self.destination.place.clone() });
        }
        self.destination.objects.settle()?;
        self.destination.write_head(&head)?;
        self.head = Some(head);
        self.head_written = Instant::now();
        Ok(())
    }

    /// Forgets in the database what is at the destination.
    pub(super) fn forget(&mut self, engine: &Engine) -> Result<(), BackupError> {
        let Some(head) = &self.head else { return Ok(()) };
        let before = engine.log_state().map(|state| state.end.position);
        engine.forget_records(head.end.position)?;
        // If nothing was committed meanwhile, there is only the mark that forgetting leaves.
        let after = engine.log_state().map(|state| state.end);
        let is_quiet = before == Some(head.end.position)
            && after.is_some_and(|after| after.position <= head.end.position + 1);
        self.quiet_end = after.filter(|_| is_quiet);
        Ok(())
    }
}

/// Whether a log ends with what this database has, or had until it was shipped.
fn is_ours(engine: &Engine, head: &Head) -> Result<bool, BackupError> {
    let frozen = engine.freeze()?;
    let end = LogPlace::from(head.end);
    let known = frozen.records_after(end.position.saturating_sub(1), 1)?;
    Ok(known.first().is_some_and(|first| {
        // The record itself, the one after it, or one after a gap: then a new backup bridges it.
        first.place() == end || first.follows(end) || first.position() > end.position + 1
    }))
}

/// Removes parts that were written, but not counted by the head before the writer ended.
fn remove_uncounted(
    destination: &Destination,
    database: &str,
    head: Option<&Head>,
) -> Result<(), BackupError> {
    let end = head.map_or(0, |head| head.end.position);
    for part in destination.parts(database)?.iter().filter(|part| part.last > end) {
        destination.objects.remove(&part.name)?;
    }
    Ok(())
}

/// The moment of the newest backup from which the log leads on without a gap.
fn newest_backup(
    destination: &Destination,
    database: &str,
    head: Option<&Head>,
) -> Result<Option<i64>, BackupError> {
    let Some(head) = head else { return Ok(None) };
    for summary in destination.backups()?.iter().rev() {
        if !summary.is_continued || summary.database != database {
            continue;
        }
        let place = match destination.manifest(summary) {
            // A backup that cannot be restored is none.
            Err(error) if error.is_damage() => continue,
            manifest => manifest?.place,
        };
        let leads_on = place.is_some_and(|place| place.position + 1 >= head.whole_since);
        return Ok(leads_on.then_some(summary.time_milliseconds));
    }
    Ok(None)
}
