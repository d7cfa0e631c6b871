//! Empties collections that nobody refers to any more: of deleted tables and indexes, of forgotten
//! streams, histories and backups.

use bytes::Bytes;

use super::STEP_WRITES_MAX;
use crate::catalog::CatalogChange;
use crate::commit::{Changes, View};
use crate::engine::Inner;
use crate::fault::Fault;
use crate::layout::{CollectionId, KeyRange};
use crate::meta::{self, MetaKey};
use crate::store::{Direction, Space, StoreError};

/// Removes some keys of the first collection that waits.
pub(super) fn step(inner: &Inner) -> Result<bool, Fault> {
    let view = inner.committer.view();
    let Some(id) = view.catalog.garbage() else { return Ok(false) };
    // Nobody writes to such a collection, so what a reader sees of it is all there is.
    let keys = some_keys(&view, id)?;
    inner.committer.run(move |_| Ok(((), purge(id, keys))))?;
    Ok(true)
}

fn some_keys(view: &View, id: CollectionId) -> Result<Vec<(Space, Bytes)>, StoreError> {
    let all = KeyRange::of_collection(id);
    let sizes = KeyRange::of_prefix(&meta::collection_key(MetaKey::COLLECTION_BYTES, id));
    // What was sealed with the key of a table is removed without it.
    let snapshot = view.snapshot.unopened();
    let ranges = [(Space::Data, &all), (Space::Log, &all), (Space::Meta, &sizes)];
    let keys = ranges.into_iter().flat_map(|(space, range)| {
        let (lower, upper) = range.bounds();
        let entries = snapshot.range(space, lower, upper, Direction::Forward);
        entries.map(move |entry| Ok((space, entry?.0)))
    });
    keys.take(STEP_WRITES_MAX).collect()
}

fn purge(id: CollectionId, keys: Vec<(Space, Bytes)>) -> Changes {
    let mut changes = Changes::default();
    if keys.len() < STEP_WRITES_MAX {
        changes.catalog.push(CatalogChange::Emptied(id));
    }
    for (space, key) in keys {
        changes.batch.remove(space, key);
    }
    changes
}
