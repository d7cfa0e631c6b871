//! Removes old backups, and what only they needed.
//!
//! Always true: the newest backup stays. What is in the index stays whole: backups leave the index before anything of theirs is
//! removed. A prune that was interrupted is completed by the next.

use std::collections::{BTreeMap, BTreeSet};

use crate::destination::Destination;
use crate::index::{Index, order};
use crate::manifest::{Manifest, manifest_name};
use crate::{BackupError, Progress};

/// Which backups stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// So many, the newest.
    Newest(usize),
    /// Those of this moment and later, and the one before it, from which the log leads there.
    Since(i64),
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Backups.
    pub backups: u64,
    /// Chunks.
    pub chunks: u64,
    /// Parts of logs.
    pub parts: u64,
    /// What these took.
    pub bytes: u64,
    /// Backups that are left.
    pub left: u64,
}

/// Removes backups. Progress counts objects.
pub fn prune(destination: &Destination, keep: Keep, progress: Progress<'_>) -> Result<Pruned, BackupError> {
    let _guard = destination.objects.guard()?;
    let Some((before, _)) = destination.index()? else {
        return Err(BackupError::NoBackup { place: destination.place.clone() });
    };
    // Everything that stays must be readable, or what it needs would not be known.
    let kept = kept(&before, keep);
    let manifests = before
        .backups
        .iter()
        .filter(|summary| kept.contains(&summary.id))
        .map(|summary| destination.manifest(summary))
        .collect::<Result<Vec<_>, _>>()?;
    let index = destination.change_index(|index| {
        let known: BTreeSet<&String> = before.backups.iter().map(|summary| &summary.id).collect();
        if index.backups.iter().any(|summary| !known.contains(&summary.id)) {
            return Err(BackupError::Busy { place: destination.place.clone() });
        }
        index.backups.retain(|summary| kept.contains(&summary.id));
        index.pruning = true;
        Ok(())
    })?;
    let mut pruned = Pruned {
        backups: (before.backups.len() - index.backups.len()) as u64,
        left: index.backups.len() as u64,
        ..Pruned::default()
    };
    remove_unneeded(destination, &manifests, &mut pruned, progress)?;
    destination.objects.sweep()?;
    destination.change_index(|index| {
        index.pruning = false;
        index.prunes += 1;
        Ok(())
    })?;
    Ok(pruned)
}

/// The ids of the backups that stay.
fn kept(index: &Index, keep: Keep) -> BTreeSet<String> {
    let mut backups: Vec<_> = index.backups.iter().collect();
    backups.sort_by(|one, other| order(one).cmp(&order(other)));
    let count = match keep {
        Keep::Newest(count) => count,
        Keep::Since(moment) => {
            let later = backups.iter().filter(|summary| summary.time_milliseconds >= moment).count();
            later + usize::from(later < backups.len() && !starts_at(&backups, later, moment))
        }
    };
    backups.iter().rev().take(count.max(1)).map(|summary| summary.id.clone()).collect()
}

/// Whether the oldest of those that stay is of the moment itself, so that nothing before it is needed.
fn starts_at(backups: &[&crate::Summary], later: usize, moment: i64) -> bool {
    backups.get(backups.len() - later).is_some_and(|oldest| oldest.time_milliseconds == moment)
}

fn remove_unneeded(
    destination: &Destination,
    manifests: &[Manifest],
    pruned: &mut Pruned,
    progress: Progress<'_>,
) -> Result<(), BackupError> {
    let needed: BTreeSet<String> = manifests
        .iter()
        .flat_map(|manifest| {
            let chunks = manifest.chunks.iter().map(super::manifest::ChunkRef::name);
            chunks.chain([manifest_name(&manifest.id)])
        })
        .collect();
    let mut logs: BTreeMap<&str, u64> = BTreeMap::new();
    for manifest in manifests {
        if let Some(place) = manifest.place {
            let first = logs.entry(&manifest.database).or_insert(u64::MAX);
            *first = place.position.min(*first);
        }
    }
    let mut removed = 0;
    for folder in ["chunks", "backups", "log"] {
        for object in destination.objects.list(folder)? {
            let is_needed = if folder == "log" {
                is_log_needed(&object.name, &logs)
            } else {
                needed.contains(&object.name)
            };
            if is_needed {
                continue;
            }
            destination.objects.remove(&object.name)?;
            removed += 1;
            progress(removed, None);
            pruned.bytes += object.size_bytes;
            pruned.chunks += u64::from(folder == "chunks");
            pruned.parts += u64::from(folder == "log");
        }
    }
    Ok(())
}

/// A log is needed from the first backup on that it leads on from.
fn is_log_needed(name: &str, logs: &BTreeMap<&str, u64>) -> bool {
    let mut parts = name.split('/').skip(1);
    let (Some(database), Some(file)) = (parts.next(), parts.next()) else { return true };
    let Some(first) = logs.get(database) else { return false };
    let last = file.split_once('-').and_then(|(_, last)| last.parse::<u64>().ok());
    last.is_none_or(|last| last > *first)
}
