//! Copies of a table as it was at a moment, made in small steps while the table is written to: what restored tables and backups are
//! filled by.
//!
//! Always true: the items are copied as they are found, and then what was changed since the moment is undone on the copy. When an item was
//! copied does not matter: if it was changed after the moment, what it was before the first such change takes its place. So no
//! snapshot is held, and a copy that a crash cut off goes on where it was. What a copy reads is neither trimmed nor emptied.
//!
//! Path of a copy: [`Copying`] in the catalog -> `housekeeping/copy.rs`, step by step -> gone from the catalog.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, CatalogChange};
use crate::layout::{CollectionId, ItemKey};
use crate::table::Table;

/// What is copied, and how far that is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Copying {
    /// Where the items are.
    pub(crate) source: CollectionId,
    /// What leads them back to the moment; nothing for items that never change.
    pub(crate) undo: Option<Undo>,
    pub(crate) place: Place,
}

/// The changes that are to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Undo {
    pub(crate) history: CollectionId,
    /// The first of them.
    pub(crate) from: u64,
}

/// How far a copy is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Place {
    /// The items up to this one are copied.
    Items(Option<ItemKey>),
    /// All items are copied, and the changes from this one on are undone.
    Undone(Option<u64>),
    /// What an incremental export begins with: the changes of its period from this one on are gathered (`export/changed.rs`).
    Gathered(Option<u64>),
}

impl Copying {
    /// A copy of a collection that has just begun.
    pub(crate) fn new(source: CollectionId, undo: Option<Undo>) -> Copying {
        Copying { source, undo, place: Place::Items(None) }
    }

    /// True if the copy reads this collection.
    pub(crate) fn reads(&self, id: CollectionId) -> bool {
        self.source == id || self.undo.is_some_and(|undo| undo.history == id)
    }
}

/// What ends with a copy: the history of its table, unless recovery is on or another copy reads it.
pub(crate) fn end_history(catalog: &Catalog, ended: &Copying) -> Vec<CatalogChange> {
    let Some(history) = ended.undo.map(|undo| undo.history) else { return Vec::new() };
    let mut tables = catalog.tables();
    let Some(table) = tables.find(|table| table.history == Some(history) && table.recovery.is_none()) else {
        return Vec::new();
    };
    // One of them is the copy that ends.
    if catalog.copies().filter(|copying| copying.reads(history)).count() > 1 {
        return Vec::new();
    }
    let table = Table { history: None, ..Table::clone(table) };
    vec![CatalogChange::Put(Arc::new(table)), CatalogChange::Discard(history)]
}

/// The history that a copy of a table from now on needs, and what the table is with it: it may have one already.
pub(crate) fn with_history(table: &Table, next_id: u32) -> (CollectionId, Option<Vec<CatalogChange>>) {
    if let Some(history) = table.history {
        return (history, None);
    }
    let history = CollectionId(next_id);
    let table = Table { history: Some(history), ..Table::clone(table) };
    (history, Some(vec![CatalogChange::TakeIds(next_id), CatalogChange::Put(Arc::new(table))]))
}
