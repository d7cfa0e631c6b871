//! A group of tasks: what they decide becomes one batch.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::{Changes, Latest, Owner, Published, Shared};
use crate::catalog::Catalog;
use crate::collection;
use crate::layout::{CollectionId, record_key};
use crate::store::{Batch, Snapshot, Space, StoreError};
use crate::totals::TotalsChange;

/// A commit has room for so many records of streams and histories; 1,024 tasks of 100 items stay far below.
const RECORDS_PER_COMMIT: u64 = 1 << 20;
/// Room for an item, two index entries and a record; more grows.
const WRITES_PER_TASK: usize = 4;

/// A group while its tasks decide.
pub(super) struct Group<'a> {
    shared: &'a Shared,
    owner: &'a mut Owner,
    now_milliseconds: i64,
    history_milliseconds: i64,
    batch: Batch,
    /// What earlier tasks wrote; kept only where a later task can ask.
    written: FxHashMap<(Space, Bytes), Option<Bytes>>,
    shows_writes: bool,
    catalog: Arc<Catalog>,
    /// One for each collection; a group touches few.
    totals: Vec<(CollectionId, TotalsChange)>,
    next_sequence: u64,
}

impl<'a> Group<'a> {
    pub(super) fn new(shared: &'a Shared, owner: &'a mut Owner, tasks: usize) -> Group<'a> {
        let now_milliseconds = shared.clock.now_milliseconds();
        Group {
            now_milliseconds,
            history_milliseconds: now_milliseconds.max(shared.history_milliseconds.load(Relaxed)),
            batch: if tasks > 1 { Batch::with_capacity(tasks * WRITES_PER_TASK) } else { Batch::default() },
            written: FxHashMap::default(),
            shows_writes: tasks > 1,
            catalog: owner.catalog.clone(),
            totals: Vec::new(),
            next_sequence: (shared.store.last_commit() + 1) * RECORDS_PER_COMMIT,
            shared,
            owner,
        }
    }

    pub(super) fn latest<'b>(&'b self, snapshot: &'b Snapshot) -> Latest<'b> {
        Latest {
            catalog: &self.catalog,
            now_milliseconds: self.now_milliseconds,
            history_milliseconds: self.history_milliseconds,
            next_sequence: self.next_sequence,
            item_collection_bytes_max: self.shared.item_collection_bytes_max,
            snapshot,
            written: &self.written,
        }
    }

    pub(super) fn take(&mut self, mut changes: Changes) {
        if changes.is_empty() {
            return;
        }
        for (key, bytes) in changes.collections {
            match collection::encode(bytes) {
                Some(bytes) => changes.batch.put(Space::Meta, key, bytes),
                None => changes.batch.remove(Space::Meta, key),
            }
        }
        if self.shows_writes {
            let shown =
                changes.batch.iter().map(|write| ((write.space, write.key.clone()), write.value.clone()));
            self.written.extend(shown);
        }
        if !self.shows_writes && self.batch.is_empty() {
            self.batch = changes.batch;
        } else {
            self.batch.append(changes.batch);
        }
        for (stream, record) in changes.records {
            self.batch.put(Space::Log, record_key(stream, self.next_sequence), record);
            self.next_sequence += 1;
        }
        for (id, change) in changes.totals {
            match self.totals.iter_mut().find(|(known, _)| *known == id) {
                Some((_, total)) => total.add(change),
                None => self.totals.push((id, change)),
            }
        }
        if !changes.catalog.is_empty() {
            let mut catalog = Catalog::clone(&self.catalog);
            for change in changes.catalog {
                catalog.apply(change, &mut self.batch);
            }
            catalog.forget_unused_keys(&mut self.batch);
            self.catalog = Arc::new(catalog);
        }
    }

    /// Applies the group, makes it durable and shows it to readers.
    pub(super) fn finish(self) -> Result<(), StoreError> {
        let (shared, owner) = self.apply_batch()?;
        let Some(owner) = owner else { return Ok(()) };
        shared.make_durable(owner)?;
        shared.publish(owner);
        Ok(())
    }

    /// Applies the group. Returns what readers see once it is durable, if it changed anything.
    pub(super) fn apply(self) -> Result<Option<Published>, StoreError> {
        let (shared, owner) = self.apply_batch()?;
        Ok(owner.map(|owner| Published {
            catalog: owner.catalog.clone(),
            snapshot: Some(shared.store.snapshot()),
        }))
    }

    /// Applies the group. The owner is given back if there was something to apply.
    fn apply_batch(mut self) -> Result<(&'a Shared, Option<&'a mut Owner>), StoreError> {
        if self.batch.is_empty() {
            return Ok((self.shared, None));
        }
        let totals = self.shared.totals.lock().changed(std::mem::take(&mut self.totals));
        // In memory nobody reads them again.
        if self.shared.durability.is_on_disk() {
            totals.put(&mut self.batch);
        }
        // Before the log of commits takes it up: that leaves the database.
        self.catalog.keys.seal(&mut self.batch)?;
        let commit = self.shared.store.last_commit() + 1;
        let shipping =
            self.owner.shipping.map(|shipping| shipping.log(&mut self.batch, commit, self.now_milliseconds));
        // Even if the commit fails: it may come back when the store is opened again.
        self.shared.history_milliseconds.store(self.history_milliseconds, Relaxed);
        self.shared.store.apply(self.batch)?;
        self.owner.shipping = shipping;
        self.shared.totals.lock().replace(totals);
        self.owner.catalog = self.catalog;
        Ok((self.shared, Some(self.owner)))
    }
}
