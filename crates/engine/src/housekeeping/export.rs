//! Writes the files of exports, one in each step.
//!
//! Always true: a step writes its file before it is committed, under a name that follows from its number. So after a crash the same
//! file is written again, with the same items: the copy that they come from does not change any more.

use std::path::Path;
use std::sync::Arc;

use super::copy::copy_step;
use super::fill::items_within;
use crate::arn::Resource;
use crate::catalog::CatalogChange;
use crate::commit::{Changes, Latest};
use crate::engine::Inner;
use crate::export::{Export, Phase, REMEMBERED_MILLISECONDS, files};
use crate::fault::Fault;
use crate::layout::CollectionId;

/// Items of one file, before they are compressed.
const FILE_ITEMS_MAX: usize = 100_000;
/// Bytes of one file, before they are compressed.
const FILE_BYTES_MAX: usize = 8 << 20;

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
    let phase = match copy_step(id, copying, latest, &mut changes)? {
        Some(next) => Phase::Copying(next),
        None => Phase::Writing(None),
    };
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
    let page = items_within(export.id, after.as_ref(), (FILE_ITEMS_MAX, FILE_BYTES_MAX), &snapshot)?;
    let mut next = export.clone();
    let mut write = || {
        if after.is_none() {
            files::begin(directory, export)?;
        }
        let items = page.items.iter().map(|(_, item)| item);
        next.files.push(files::write_items(directory, export, items)?);
        next.item_count += page.items.len() as u64;
        next.size_bytes += page.items.iter().map(|(_, item)| item.size_bytes() as u64).sum::<u64>();
        if let Some(last) = page.last_key().filter(|_| !page.is_last) {
            next.phase = Phase::Writing(Some(last));
        } else {
            let table_arn = inner.arn(Resource::Table(&export.table.name));
            files::end(directory, &next, (&inner.export_arn(export), &table_arn), now)?;
            (next.phase, next.ended_milliseconds) = (Phase::Ended, Some(now));
        }
        Ok(())
    };
    Ok(write().map(|()| next))
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
