//! Makes a backup.
//!
//! Path: entries -> chunks -> those that the destination has not are uploaded -> manifest -> index.

use std::collections::HashMap;

use engine::Frozen;

use crate::chunk::{Chunk, compress};
use crate::destination::Destination;
use crate::lanes::in_lanes;
use crate::manifest::{ChunkRef, Manifest, chunk_name, manifest_name};
use crate::time::time_text;
use crate::vault::{hex, random};
use crate::{BackupError, Progress};

/// What is backed up, and how.
pub struct Create<'a> {
    /// The database at one moment.
    pub frozen: &'a Frozen,
    /// Which database it is.
    pub database: &'a str,
    /// Whether chunks are uploaded that the destination has already: it may have damaged ones.
    pub is_full: bool,
}

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its name.
    pub id: String,
    /// The moment it shows.
    pub time_milliseconds: i64,
    /// The number of the last commit in it.
    pub commit: u64,
    /// Entries in it.
    pub entries: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Chunks that it consists of.
    pub chunks: u64,
    /// Chunks that were not there before.
    pub new_chunks: u64,
    /// What these take.
    pub new_bytes: u64,
}

/// Makes a backup. Progress counts entries.
pub fn create(
    destination: &Destination,
    work: &Create<'_>,
    progress: Progress<'_>,
) -> Result<Created, BackupError> {
    let _guard = destination.objects.guard()?;
    let prunes = check_not_pruned(destination)?;
    let known = if work.is_full { HashMap::new() } else { known_chunks(destination)? };
    let (chunks, new) = upload(destination, work.frozen, &known, progress)?;
    let manifest = manifest(work, chunks)?;
    let body = manifest.body();
    destination.write(&manifest_name(&manifest.id), &body)?;
    destination.objects.settle()?;
    let summary = manifest.summary(&body);
    destination.change_index(|index| {
        if index.pruning || index.prunes != prunes {
            return Err(BackupError::Pruned { place: destination.place.clone() });
        }
        index.backups.push(summary.clone());
        Ok(())
    })?;
    Ok(Created {
        id: manifest.id,
        time_milliseconds: manifest.time_milliseconds,
        commit: manifest.commit,
        entries: manifest.entries,
        bytes: manifest.bytes,
        chunks: manifest.chunks.len() as u64,
        new_chunks: new.chunks,
        new_bytes: new.bytes,
    })
}

fn check_not_pruned(destination: &Destination) -> Result<u64, BackupError> {
    let (index, _) = destination.index()?.unwrap_or_default();
    if index.pruning {
        return Err(BackupError::Pruning { place: destination.place.clone() });
    }
    Ok(index.prunes)
}

/// Chunks that are there by hash, with what they take. One that has not the size it was written with is not counted.
fn known_chunks(destination: &Destination) -> Result<HashMap<String, u64>, BackupError> {
    let listed = destination.objects.list("chunks")?;
    let hash_of = |name: &str| name.rsplit('/').next().map(str::to_owned);
    let mut known: HashMap<String, u64> =
        listed.into_iter().filter_map(|object| Some((hash_of(&object.name)?, object.size_bytes))).collect();
    if let Some(newest) = destination.backups()?.last() {
        for chunk in destination.manifest(newest).map(|manifest| manifest.chunks).unwrap_or_default() {
            if known.get(&chunk.hash).is_some_and(|size| *size != chunk.stored_bytes) {
                known.remove(&chunk.hash);
            }
        }
    }
    Ok(known)
}

#[derive(Default)]
struct New {
    chunks: u64,
    bytes: u64,
}

fn upload(
    destination: &Destination,
    frozen: &Frozen,
    known: &HashMap<String, u64>,
    progress: Progress<'_>,
) -> Result<(Vec<ChunkRef>, New), BackupError> {
    let (mut chunks, mut new, mut entries) = (Vec::new(), New::default(), 0);
    let give = |hand_over: &mut dyn FnMut(Chunk) -> Result<(), BackupError>| {
        let mut chunk = Chunk::default();
        for entry in frozen.entries() {
            if chunk.push(&entry?) {
                hand_over(std::mem::take(&mut chunk))?;
            }
        }
        if chunk.is_empty() { Ok(()) } else { hand_over(chunk) }
    };
    in_lanes(
        destination.objects.lanes(),
        give,
        |chunk| upload_chunk(destination, &chunk, known),
        |(chunk, is_new)| {
            entries += chunk.entries;
            new.chunks += u64::from(is_new);
            new.bytes += if is_new { chunk.stored_bytes } else { 0 };
            chunks.push(chunk);
            progress(entries, None);
            Ok(())
        },
    )?;
    Ok((chunks, new))
}

fn upload_chunk(
    destination: &Destination,
    chunk: &Chunk,
    known: &HashMap<String, u64>,
) -> Result<(ChunkRef, bool), BackupError> {
    let hash = destination.vault.name_of(&chunk.bytes);
    let is_known = known.get(&hash).copied();
    let stored_bytes = match is_known {
        Some(size) => size,
        None => destination.write(&chunk_name(&hash), &compress(&chunk.bytes))?,
    };
    let bytes = chunk.bytes.len() as u64;
    Ok((ChunkRef { hash, entries: chunk.entries, bytes, stored_bytes }, is_known.is_none()))
}

fn manifest(work: &Create<'_>, chunks: Vec<ChunkRef>) -> Result<Manifest, BackupError> {
    let time_milliseconds = work.frozen.time_milliseconds();
    let date: String =
        time_text(time_milliseconds).chars().filter(char::is_ascii_alphanumeric).take(15).collect();
    Ok(Manifest {
        id: format!("{date}-{}", hex(&random::<4>()?)),
        database: work.database.to_owned(),
        time_milliseconds,
        commit: work.frozen.commit(),
        entries: chunks.iter().map(|chunk| chunk.entries).sum(),
        bytes: chunks.iter().map(|chunk| chunk.bytes).sum(),
        place: work.frozen.place().map(Into::into),
        chunks,
    })
}
