//! Checks backups: reads everything that a restore would read, and says all that is wrong with it.
//!
//! Always true: what verifies without a finding is restored without an error, unless it changes in between.

use std::collections::{BTreeMap, BTreeSet};

use engine::LogPlace;

use crate::destination::Destination;
use crate::index::Summary;
use crate::lanes::in_lanes;
use crate::log::{Head, head_name};
use crate::manifest::{ChunkRef, Manifest};
use crate::restore::read_chunk;
use crate::{BackupError, Progress};

/// Something that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The object.
    pub name: String,
    /// What is wrong with it.
    pub detail: String,
}

/// What was looked at, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Backups.
    pub backups: u64,
    /// Chunks that they consist of.
    pub chunks: u64,
    /// Entries of these.
    pub entries: u64,
    /// Parts of logs.
    pub parts: u64,
    /// Commits in these.
    pub commits: u64,
    /// How far the log reaches, in milliseconds since the epoch, if there is one.
    pub log_until_milliseconds: Option<i64>,
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
}

impl Verified {
    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.findings.is_empty()
    }

    /// Notes damage; whatever else went wrong ends the work.
    fn note<T>(&mut self, outcome: Result<T, BackupError>) -> Result<Option<T>, BackupError> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(BackupError::Damaged { name, detail }) => {
                self.findings.push(Finding { name, detail });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Checks one backup or all, with the logs that go on from them. Progress counts chunks.
pub fn verify(
    destination: &Destination,
    id: Option<&str>,
    progress: Progress<'_>,
) -> Result<Verified, BackupError> {
    let mut verified = Verified::default();
    let Some(backups) = verified.note(destination.backups())? else { return Ok(verified) };
    let chosen: Vec<Summary> =
        backups.into_iter().filter(|summary| id.is_none_or(|id| id == summary.id)).collect();
    if let Some(id) = id.filter(|_| chosen.is_empty()) {
        return Err(BackupError::UnknownId { id: id.to_owned() });
    }
    let mut manifests = Vec::new();
    for summary in &chosen {
        verified.backups += 1;
        manifests.extend(verified.note(destination.manifest(summary))?);
    }
    verify_chunks(destination, &manifests, &mut verified, progress)?;
    for (database, place) in first_places(&manifests) {
        verify_log(destination, database, place, &mut verified)?;
    }
    verified.findings.sort();
    verified.findings.dedup();
    Ok(verified)
}

/// For each log, the first place from which it must lead on.
fn first_places(manifests: &[Manifest]) -> BTreeMap<&str, LogPlace> {
    let mut places = BTreeMap::new();
    for manifest in manifests {
        if let Some(place) = manifest.place {
            let first = places.entry(manifest.database.as_str()).or_insert(place);
            if place.position < first.position {
                *first = place;
            }
        }
    }
    places.into_iter().map(|(database, place)| (database, place.into())).collect()
}

fn verify_chunks(
    destination: &Destination,
    manifests: &[Manifest],
    verified: &mut Verified,
    progress: Progress<'_>,
) -> Result<(), BackupError> {
    let mut seen = BTreeSet::new();
    let all = manifests.iter().flat_map(|manifest| &manifest.chunks);
    let chunks: Vec<&ChunkRef> = all.filter(|chunk| seen.insert((&chunk.hash, chunk.entries))).collect();
    let count = chunks.len() as u64;
    in_lanes(
        destination.objects.lanes(),
        |hand_over| chunks.iter().copied().try_for_each(hand_over),
        |chunk| Ok(read_chunk(destination, chunk).map(|entries| entries.len() as u64)),
        |outcome| {
            verified.chunks += 1;
            verified.entries += verified.note(outcome)?.unwrap_or_default();
            progress(verified.chunks, Some(count));
            Ok(())
        },
    )
}

fn verify_log(
    destination: &Destination,
    database: &str,
    from: LogPlace,
    verified: &mut Verified,
) -> Result<(), BackupError> {
    let name = head_name(database);
    let head = destination.head(database);
    let head = head.and_then(|head| head.ok_or_else(|| BackupError::damaged(&name, "is missing")));
    let Some(head) = verified.note(head)? else { return Ok(()) };
    let known = verified.log_until_milliseconds.unwrap_or(i64::MIN);
    verified.log_until_milliseconds = Some(known.max(head.time_milliseconds));
    let outcome = follow_parts(destination, &head, from, verified);
    verified.note(outcome).map(drop)
}

/// Follows the log over its gaps to its head. The first part that does not fit ends it: nothing after it can be reached.
fn follow_parts(
    destination: &Destination,
    head: &Head,
    from: LogPlace,
    verified: &mut Verified,
) -> Result<(), BackupError> {
    let (mut place, mut last) = (from, None);
    let parts = destination.parts(&head.database)?;
    for part in parts.iter().filter(|part| part.first > from.position && part.last <= head.end.position) {
        let segment = destination.read_segment(part)?;
        let follows = last.map_or(segment.previous <= from.position, |last| segment.previous == last);
        // After a gap the chain begins anew.
        let is_after_gap = !segment.is_continuous() && part.first > place.position + 1;
        let before = if is_after_gap { LogPlace { position: part.first - 1, chain: 0 } } else { place };
        place = segment
            .follow(before)
            .filter(|_| follows)
            .ok_or_else(|| BackupError::damaged(&part.name, "does not follow what should be before it"))?;
        last = Some(part.last);
        verified.parts += 1;
        verified.commits += segment.records.len() as u64;
    }
    let is_whole = head.end.position <= from.position || LogPlace::from(head.end) == place;
    if is_whole {
        Ok(())
    } else {
        Err(BackupError::damaged(&head_name(&head.database), "means parts of the log that are missing"))
    }
}
