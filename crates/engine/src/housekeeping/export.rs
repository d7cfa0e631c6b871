//! Writes the files of exports, one in each step.
//!
//! Always true: a step writes its file before it is committed, under a name that follows from its number. So after a crash the same
//! file is written again, with the same items: the copy that they come from does not change any more.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use dynamo::StoredItem;

use super::copy::copy_step;
use super::fill::entries_within;
use crate::arn::Resource;
use crate::catalog::CatalogChange;
use crate::commit::{Changes, Latest};
use crate::copying::{Copying, end_history};
use crate::engine::Inner;
use crate::export::changed::{Changed, gather_step};
use crate::export::{Export, Phase, REMEMBERED_MILLISECONDS, files};
use crate::fault::Fault;
use crate::layout::{CollectionId, ItemKey};
use crate::store::StoreError;

/// Items of one file, before they are compressed.
const FILE_ITEMS_MAX: usize = 100_000;
/// Bytes of one file, before they are compressed.
const FILE_BYTES_MAX: usize = 8 << 20;

/// Changes of one step of an incremental export, and bytes of what they were and are. Few: each may be of an item of 400 KB.
const GATHERED_MAX: (usize, usize) = (50, 1 << 20);

/// Copies or writes a little of every export.
pub(super) fn step(inner: &Inner) -> Result<bool, Fault> {
    let catalog = inner.committer.catalog();
    let mut worked = forget(inner)?;
    for export in catalog.exports().filter(|export| catalog.check_key(&export.table).is_ok()) {
        match &export.phase {
            Phase::Copying(_) => {
                let id = export.id;
                inner.committer.run_alone(move |latest| copy(id, latest))?;
            }
            Phase::Writing(_) => write(inner, export)?,
            Phase::Ended => continue,
        }
        worked = true;
    }
    Ok(worked)
}

fn copy(id: CollectionId, latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let mut changes = Changes::default();
    let Some(export) = latest.catalog.export(id) else { return Ok(((), changes)) };
    let Phase::Copying(copying) = &export.phase else { return Ok(((), changes)) };
    let next = match &export.period {
        None => copy_step(id, copying, latest, &mut changes)?,
        Some(period) => {
            let place = gather_step(id, copying, period.end, GATHERED_MAX, latest, &mut changes)?;
            if place.is_none() {
                changes.catalog.extend(end_history(latest.catalog, copying));
            }
            place.map(|place| Copying { place, ..copying.clone() })
        }
    };
    let phase = next.map_or(Phase::Writing(None), Phase::Copying);
    let export = Export { phase, ..Export::clone(export) };
    changes.catalog.push(CatalogChange::PutExport(Arc::new(export)));
    Ok(((), changes))
}

/// Writes a file, and the manifests after the last one. What the file system refuses ends the export.
fn write(inner: &Inner, export: &Arc<Export>) -> Result<(), Fault> {
    let now = inner.committer.now_milliseconds();
    let next = match &inner.options.export_directory {
        Some(directory) => match write_file(inner, directory, export, now)? {
            Ok(next) => next,
            Err(error) => failed(export, format!("writing the files failed: {error}"), now),
        },
        None => failed(export, "there is no directory for exports any more".to_owned(), now),
    };
    inner.committer.run(move |latest| Ok(((), put(next, latest))))
}

fn put(export: Export, latest: &Latest<'_>) -> Changes {
    let mut changes = Changes::default();
    if latest.catalog.export(export.id).is_some() {
        changes.catalog.extend((export.phase == Phase::Ended).then_some(CatalogChange::Discard(export.id)));
        changes.catalog.push(CatalogChange::PutExport(Arc::new(export)));
    }
    changes
}

fn failed(export: &Export, failure: String, now: i64) -> Export {
    Export { phase: Phase::Ended, failure: Some(failure), ended_milliseconds: Some(now), ..export.clone() }
}

fn write_file(
    inner: &Inner,
    directory: &Path,
    export: &Export,
    now: i64,
) -> Result<std::io::Result<Export>, Fault> {
    let Phase::Writing(after) = &export.phase else { return Ok(Ok(export.clone())) };
    // Nobody writes to the copy any more.
    let snapshot = inner.committer.view().snapshot;
    let limits = (FILE_ITEMS_MAX, FILE_BYTES_MAX);
    let (entries, is_last) = entries_within(export.id, after.as_ref(), limits, &snapshot)?;
    let lines = lines_of(export, &entries)?;
    let mut next = export.clone();
    let mut write = || {
        if after.is_none() {
            files::begin(directory, export)?;
        }
        let file = files::write_lines(directory, export, lines.iter(), |line, out| line.write(export, out))?;
        next.item_count += file.item_count;
        next.files.push(file);
        next.size_bytes += lines.iter().map(Line::size_bytes).sum::<u64>();
        if let Some((last, _)) = entries.last().filter(|_| !is_last) {
            next.phase = Phase::Writing(Some(last.clone()));
        } else {
            let table_arn = inner.arn(Resource::Table(&export.table.name));
            files::end(directory, &next, (&inner.export_arn(export), &table_arn), now)?;
            (next.phase, next.ended_milliseconds) = (Phase::Ended, Some(now));
        }
        Ok(())
    };
    Ok(write().map(|()| next))
}

/// What a line of a file tells of.
enum Line {
    Item(StoredItem),
    Changed(Changed),
}

impl Line {
    fn write(&self, export: &Export, out: &mut Vec<u8>) {
        match self {
            Line::Item(item) => dynamo::write_export_line(item, out),
            Line::Changed(changed) => files::write_change(export, changed, out),
        }
    }

    fn size_bytes(&self) -> u64 {
        let size = |item: &Option<StoredItem>| item.as_ref().map_or(0, StoredItem::size_bytes);
        match self {
            Line::Item(item) => item.size_bytes() as u64,
            Line::Changed(changed) => (size(&changed.old) + size(&changed.new)) as u64,
        }
    }
}

fn lines_of(export: &Export, entries: &[(ItemKey, Bytes)]) -> Result<Vec<Line>, StoreError> {
    let line = |(_, bytes): &(ItemKey, Bytes)| {
        Ok(match export.period {
            None => Line::Item(StoredItem::from_bytes(bytes.clone())),
            Some(_) => Line::Changed(Changed::decode(bytes)?),
        })
    };
    entries.iter().map(line).collect()
}

/// Forgets an export that was made long ago; its files stay.
fn forget(inner: &Inner) -> Result<bool, Fault> {
    let horizon = inner.committer.now_milliseconds() - REMEMBERED_MILLISECONDS;
    let catalog = inner.committer.catalog();
    let is_old =
        |export: &&Arc<Export>| export.phase == Phase::Ended && export.started_milliseconds <= horizon;
    let Some(id) = catalog.exports().find(is_old).map(|export| export.id) else { return Ok(false) };
    inner.committer.run(move |_| {
        Ok(((), Changes { catalog: vec![CatalogChange::ForgetExport(id)], ..Changes::default() }))
    })?;
    Ok(true)
}
