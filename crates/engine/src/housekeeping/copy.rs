//! Fills restored tables and backups, as [`crate::copying`] says.
//!
//! Always true: a step copies or undoes a little and moves the place in one commit, so after a crash a copy goes on where it was.

use std::sync::Arc;

use dynamo::StoredItem;

use super::fill::items_after;
use super::{STEP_BYTES_MAX, STEP_WRITES_MAX};
use crate::backup::Backup;
use crate::catalog::CatalogChange;
use crate::change::ItemChange;
use crate::commit::{Changes, Latest};
use crate::copying::{Copying, Place, end_history};
use crate::engine::Inner;
use crate::fault::Fault;
use crate::history;
use crate::layout::{CollectionId, ItemKey};
use crate::record::Author;
use crate::store::{Snapshot, Space, StoreError};
use crate::table::{Restored, Table};
use crate::totals::TotalsChange;

/// Copies a little of everything that is being copied.
pub(super) fn step(inner: &Inner) -> Result<bool, Fault> {
    let catalog = inner.committer.catalog();
    let mut worked = false;
    let backups = catalog.backups().filter(|backup| catalog.check_key(&backup.table).is_ok());
    for backup in backups.filter(|backup| backup.copying.is_some()) {
        let id = backup.id;
        inner.committer.run_alone(move |latest| fill_backup(id, latest))?;
        worked = true;
    }
    for table in catalog.readable_tables().filter(|table| table.is_restoring()) {
        let table = table.clone();
        inner.committer.run_alone(move |latest| fill_table(&table, latest))?;
        worked = true;
    }
    Ok(worked)
}

/// Some items as they are to be in the copy, and where to go on; nowhere once the copy is whole.
struct Portion {
    items: Vec<(ItemKey, Option<StoredItem>)>,
    next: Option<Place>,
}

fn portion(copying: &Copying, snapshot: &Snapshot) -> Result<Portion, StoreError> {
    match (&copying.place, copying.undo) {
        (Place::Items(after), undo) => {
            let page = items_after(copying.source, after.as_ref(), snapshot)?;
            let next = match page.last_key().filter(|_| !page.is_last) {
                Some(last) => Some(Place::Items(Some(last))),
                None => undo.map(|_| Place::Undone(None)),
            };
            Ok(Portion { items: page.items.into_iter().map(|(key, item)| (key, Some(item))).collect(), next })
        }
        (Place::Undone(below), Some(undo)) => {
            let limits = (STEP_WRITES_MAX, STEP_BYTES_MAX);
            let undone = history::undo(undo.history, undo.from, *below, limits, snapshot)?;
            Ok(Portion { items: undone.items, next: undone.next.map(|next| Place::Undone(Some(next))) })
        }
        (Place::Undone(_), None) | (Place::Gathered(_), _) => Ok(Portion { items: Vec::new(), next: None }),
    }
}

impl Copying {
    /// The copy after a step; none once it is whole.
    fn at(&self, next: Option<Place>) -> Option<Copying> {
        next.map(|place| Copying { place, ..self.clone() })
    }
}

/// Copies or undoes a little in a collection of plain items; returns the copy after that, none once it is whole.
pub(super) fn copy_step(
    id: CollectionId,
    copying: &Copying,
    latest: &Latest<'_>,
    changes: &mut Changes,
) -> Result<Option<Copying>, Fault> {
    let portion = portion(copying, latest.snapshot())?;
    for (key, item) in portion.items {
        let key = key.in_collection(id);
        let old = latest.get(Space::Data, &key)?.map(StoredItem::from_bytes);
        let size = |item: &StoredItem| item.size_bytes();
        changes.totals.push((id, TotalsChange::replacing(old.as_ref().map(size), item.as_ref().map(size))));
        match item {
            Some(item) => changes.batch.put(Space::Data, key, item.as_bytes().clone()),
            None => changes.batch.remove(Space::Data, key),
        }
    }
    let next = copying.at(portion.next);
    if next.is_none() {
        changes.catalog.extend(end_history(latest.catalog, copying));
    }
    Ok(next)
}

fn fill_backup(id: CollectionId, latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let mut changes = Changes::default();
    let Some(backup) = latest.catalog.backup(id) else { return Ok(((), changes)) };
    let Some(copying) = &backup.copying else { return Ok(((), changes)) };
    let next = copy_step(id, copying, latest, &mut changes)?;
    let backup = Backup { copying: next, ..Backup::clone(backup) };
    changes.catalog.push(CatalogChange::PutBackup(Arc::new(backup)));
    Ok(((), changes))
}

fn fill_table(table: &Arc<Table>, latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let mut changes = Changes::default();
    let Some(table) = latest.catalog.current(table) else { return Ok(((), changes)) };
    let (Some(copying), Some(restored)) = (table.copying(), &table.restored) else {
        return Ok(((), changes));
    };
    let portion = portion(copying, latest.snapshot())?;
    for (key, item) in &portion.items {
        let old = latest.get(Space::Data, &key.in_collection(table.id))?.map(StoredItem::from_bytes);
        ItemChange { table, key, old: old.as_ref(), new: item.as_ref() }.add_to(
            &mut changes,
            Author::Client,
            &latest.without_limits(),
        )?;
    }
    let next = copying.at(portion.next);
    if next.is_none() {
        changes.catalog.extend(end_history(latest.catalog, copying));
    }
    let restored = Some(Restored { copying: next, ..restored.clone() });
    let table = Table { restored, ..Table::clone(table) };
    changes.catalog.push(CatalogChange::Put(Arc::new(table)));
    Ok(((), changes))
}
