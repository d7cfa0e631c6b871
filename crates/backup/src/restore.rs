//! Makes a database from a backup.
//!
//! Always true: everything is checked as it is read, and the directory is no database before all of it was.
//!
//! Path: `plan` -> chunks -> parts of the log, up to the moment -> a database.

use std::path::Path;

use engine::{CommitRecord, Loading, LogPlace, TransferError};
use seal::MasterKey;

use crate::chunk::{entries, inflate};
use crate::destination::Destination;
use crate::lanes::in_lanes;
use crate::log::Place;
use crate::manifest::{ChunkRef, Manifest};
use crate::plan::{Log, plan};
use crate::time::time_text;
use crate::{BackupError, Progress};

/// What is restored, and where to.
#[derive(Clone, Copy, Debug)]
pub struct Restore<'a> {
    /// The directory of the new database: empty, not there yet, or left by an interrupted restore.
    pub directory: &'a Path,
    /// The backup; without it, the newest that fits.
    pub id: Option<&'a str>,
    /// The moment, in milliseconds since the epoch; without it, the last that is known.
    pub at_milliseconds: Option<i64>,
}

/// A database that was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The backup that it was begun with.
    pub id: String,
    /// The moment it shows: that of the last commit, or of the backup.
    pub time_milliseconds: i64,
    /// The number of its last commit.
    pub commit: u64,
    /// Entries that were loaded.
    pub entries: u64,
    /// Commits of the log that were made again.
    pub commits: u64,
    /// Whether the log goes on after a gap, so that later commits are not there.
    pub ends_at_gap: bool,
}

/// Makes a database from a backup. Progress counts entries.
pub fn restore(
    destination: &Destination,
    work: Restore<'_>,
    progress: Progress<'_>,
) -> Result<Restored, BackupError> {
    restore_into(destination, work, || Loading::begin(work.directory), progress)
}

/// As [`restore`], into a database that is encrypted with this key: nothing reaches the disk unsealed.
pub fn restore_encrypted(
    destination: &Destination,
    work: Restore<'_>,
    key: &dyn MasterKey,
    progress: Progress<'_>,
) -> Result<Restored, BackupError> {
    restore_into(destination, work, || Loading::begin_encrypted(work.directory, key), progress)
}

fn restore_into(
    destination: &Destination,
    work: Restore<'_>,
    begin: impl FnOnce() -> Result<Loading, TransferError>,
    progress: Progress<'_>,
) -> Result<Restored, BackupError> {
    let plan = plan(destination, work.id, work.at_milliseconds)?;
    let manifest = destination.manifest(&plan.backup)?;
    // A moment that is not covered is refused before a long work.
    if let (Log::Until(at), Some(place)) = (plan.log, manifest.place) {
        check_covered(destination, &manifest, place, at)?;
    }
    let mut loading = begin()?;
    load(destination, &manifest, &mut loading, progress)?;
    let mut restored = Restored {
        id: manifest.id.clone(),
        time_milliseconds: manifest.time_milliseconds,
        commit: manifest.commit,
        entries: manifest.entries,
        commits: 0,
        ends_at_gap: false,
    };
    if let (Log::All | Log::Until(_), Some(place)) = (plan.log, manifest.place) {
        let until = if let Log::Until(at) = plan.log { at } else { i64::MAX };
        replay(destination, &manifest, place, until, &mut loading, &mut restored)?;
    }
    loading.finish(restored.commit)?;
    Ok(restored)
}

/// Reads a chunk and checks it.
pub(crate) fn read_chunk(
    destination: &Destination,
    chunk: &ChunkRef,
) -> Result<Vec<engine::Entry>, BackupError> {
    let name = chunk.name();
    let bytes = inflate(&name, &destination.read_needed(&name)?)?;
    if destination.vault.name_of(&bytes) != chunk.hash {
        return Err(BackupError::damaged(&name, "holds something else than its name says"));
    }
    let entries = entries(&name, bytes)?;
    if entries.len() as u64 == chunk.entries {
        Ok(entries)
    } else {
        Err(BackupError::damaged(&name, "has not as many entries as it should"))
    }
}

fn load(
    destination: &Destination,
    manifest: &Manifest,
    loading: &mut Loading,
    progress: Progress<'_>,
) -> Result<(), BackupError> {
    let mut count = 0;
    in_lanes(
        destination.objects.lanes(),
        |hand_over| manifest.chunks.iter().try_for_each(hand_over),
        |chunk| read_chunk(destination, chunk),
        |entries| {
            count += entries.len() as u64;
            loading.put(entries)?;
            progress(count, Some(manifest.entries));
            Ok(())
        },
    )
}

fn check_covered(
    destination: &Destination,
    manifest: &Manifest,
    place: Place,
    at: i64,
) -> Result<(), BackupError> {
    if let Some(head) = destination.head(&manifest.database)?
        && head.whole_since <= place.position + 1
        && at <= head.time_milliseconds
    {
        return Ok(());
    }
    let mut reached = manifest.time_milliseconds;
    let end = walk(destination, &manifest.database, place.into(), at, |record| {
        reached = record.time_milliseconds();
        Ok(())
    })?;
    let until = match end {
        End::Later => return Ok(()),
        End::Head { time_milliseconds } => time_milliseconds,
        End::Gap => reached,
    };
    if at <= until {
        return Ok(());
    }
    Err(BackupError::NotCovered {
        asked: time_text(at),
        from: time_text(manifest.time_milliseconds),
        until: time_text(until),
    })
}

fn replay(
    destination: &Destination,
    manifest: &Manifest,
    place: Place,
    until: i64,
    loading: &mut Loading,
    restored: &mut Restored,
) -> Result<(), BackupError> {
    let end = walk(destination, &manifest.database, place.into(), until, |record| {
        loading.apply(record)?;
        restored.commits += 1;
        restored.commit = record.commit();
        restored.time_milliseconds = record.time_milliseconds();
        Ok(())
    })?;
    restored.ends_at_gap = matches!(end, End::Gap);
    Ok(())
}

/// Where a walk through the log ended.
pub(crate) enum End {
    /// At a commit after the moment.
    Later,
    /// At the end of the log, which holds everything up to this moment.
    Head { time_milliseconds: i64 },
    /// Where commits are missing: nobody could take them when they were made.
    Gap,
}

/// Goes through the log from a place on, up to a moment, and checks that every record follows the one before.
pub(crate) fn walk(
    destination: &Destination,
    database: &str,
    from: LogPlace,
    until: i64,
    mut visit: impl FnMut(&CommitRecord) -> Result<(), BackupError>,
) -> Result<End, BackupError> {
    let name = crate::log::head_name(database);
    let head = destination.head(database)?.ok_or_else(|| BackupError::damaged(&name, "is missing"))?;
    let parts = destination.parts(database)?;
    let mut place = from;
    // The place itself may be one that no record ever had.
    let mut last_part = None;
    for part in parts.iter().filter(|part| part.first > from.position && part.last <= head.end.position) {
        let segment = destination.read_segment(part)?;
        let fits = last_part.map_or(segment.previous <= from.position, |last| segment.previous == last);
        if !fits {
            return Err(BackupError::damaged(
                &part.name,
                "does not follow the part before it: one is missing",
            ));
        }
        if part.first != place.position + 1 {
            return Ok(End::Gap);
        }
        let Some(next) = segment.follow(place) else {
            return Err(BackupError::damaged(&part.name, "does not follow what is before it"));
        };
        for record in &segment.records {
            if record.time_milliseconds() > until {
                return Ok(End::Later);
            }
            visit(record)?;
        }
        place = next;
        last_part = Some(part.last);
    }
    if last_part.is_none_or(|last| last < head.end.position) && head.end.position > from.position {
        return Err(BackupError::damaged(&name, "means parts of the log that are missing"));
    }
    Ok(End::Head { time_milliseconds: head.time_milliseconds })
}
