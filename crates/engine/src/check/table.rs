//! Items, their index entries, their expiry entries and their totals; and the items of backups.

use std::sync::Arc;

use bytes::Bytes;
use dynamo::StoredItem;

use super::{Check, Stopped};
use crate::backup::Backup;
use crate::change::expiry_seconds;
use crate::index_entry::{IndexEntry, shown_item};
use crate::layout::{CollectionId, ItemKey, KeySchema, expiry_key, hex};
use crate::store::{Direction, Space, StoreError};
use crate::table::{Index, IndexState, Table};
use crate::totals::{Totals, TotalsChange};

/// What the items imply for an index or expiry list.
struct Implied {
    id: CollectionId,
    entries: TotalsChange,
}

impl Check {
    pub(super) fn check_table(&mut self, table: &Arc<Table>, totals: &Totals) -> Result<(), Stopped> {
        let name = format!("table {}", table.name);
        let ids =
            table.indexes.iter().map(|index| index.id).chain(table.time_to_live.iter().map(|ttl| ttl.id));
        let mut implied: Vec<Implied> =
            ids.map(|id| Implied { id, entries: TotalsChange::default() }).collect();
        let mut found = TotalsChange::default();
        let view = self.view.clone();
        for entry in Check::range(&view, Space::Data, table.id, Direction::Forward) {
            self.count()?;
            let Some((key, item)) = self.sound_item(&name, &table.schema, table.id, entry) else { continue };
            found.add(TotalsChange::replacing(None, Some(item.size_bytes())));
            if let Err(error) = self.check_entries(&name, table, &key, &item, &mut implied) {
                self.report(format!("{name}: {error}"));
            }
        }
        self.compare_totals(&name, table.id, found, totals);
        for index in table.indexes.iter().filter(|index| index.state != IndexState::Deleting) {
            self.check_index(table, index, &implied, totals)?;
        }
        self.check_expiry_list(table, &implied)
    }

    /// An item that can be read and is where it belongs.
    fn sound_item(
        &self,
        place: &str,
        schema: &KeySchema,
        id: CollectionId,
        entry: Result<(Bytes, Bytes), StoreError>,
    ) -> Option<(ItemKey, StoredItem)> {
        let (key, value) = match entry {
            Ok(entry) => entry,
            Err(error) => {
                self.report(format!("{place}: {error}"));
                return None;
            }
        };
        let item = StoredItem::from_bytes(value);
        if item.check().is_err() {
            self.report(format!("{place}: the item under {} cannot be read", hex(&key)));
            return None;
        }
        let stored = ItemKey::of_stored_key(&key);
        if ItemKey::new(id, schema, &item).is_none_or(|implied| implied != stored) {
            self.report(format!("{place}: the item under {} has another key", hex(&key)));
            return None;
        }
        Some((stored, item))
    }

    /// The entries that an item implies are there, just so.
    fn check_entries(
        &self,
        name: &str,
        table: &Table,
        key: &ItemKey,
        item: &StoredItem,
        implied: &mut [Implied],
    ) -> Result<(), StoreError> {
        for index in table.written_indexes().filter(|index| index.covers(key)) {
            let Some(entry) = IndexEntry::of(table, index, item, key) else { continue };
            add(implied, index.id, entry.item.size_bytes());
            let stored = self.view.snapshot.get(Space::Data, &entry.key)?;
            if stored.as_ref() != Some(&entry.value(table, index, key, &self.view.snapshot)) {
                let wrong = if stored.is_some() { "is another" } else { "is missing" };
                self.report(format!(
                    "{name}, index {}: the entry of the item under {} {wrong}",
                    index.name,
                    hex(key.in_table())
                ));
            }
        }
        let Some(ttl) = &table.time_to_live else { return Ok(()) };
        let Some(seconds) = expiry_seconds(item, &ttl.attribute) else { return Ok(()) };
        add(implied, ttl.id, 0);
        let is_listed = !ttl.filling || ttl.filled_to.as_ref().is_some_and(|filled_to| key <= filled_to);
        if is_listed && self.view.snapshot.get(Space::Data, &expiry_key(ttl.id, seconds, key))?.is_none() {
            self.report(format!("{name}: the item under {} is not in the expiry list", hex(key.in_table())));
        }
        Ok(())
    }

    /// An index has no other entries than those of items.
    fn check_index(
        &mut self,
        table: &Table,
        index: &Index,
        implied: &[Implied],
        totals: &Totals,
    ) -> Result<(), Stopped> {
        let name = format!("table {}, index {}", table.name, index.name);
        let mut found = TotalsChange::default();
        let view = self.view.clone();
        for entry in Check::range(&view, Space::Data, index.id, Direction::Forward) {
            self.count()?;
            match entry.and_then(|(key, value)| shown_item(&view.snapshot, &key, value)) {
                Ok(item) => found.add(TotalsChange::replacing(None, Some(item.size_bytes()))),
                Err(error) => self.report(format!("{name}: {error}")),
            }
        }
        let expected = of(implied, index.id);
        if found != expected {
            self.report(format!(
                "{name}: {} entries of {} bytes, but the items imply {} of {} bytes",
                found.items, found.bytes, expected.items, expected.bytes
            ));
        }
        self.compare_totals(&name, index.id, found, totals);
        Ok(())
    }

    fn check_expiry_list(&mut self, table: &Table, implied: &[Implied]) -> Result<(), Stopped> {
        let Some(ttl) = table.time_to_live.as_ref().filter(|ttl| !ttl.filling) else { return Ok(()) };
        let name = format!("table {}, expiry list", table.name);
        let mut found = 0;
        let view = self.view.clone();
        for entry in Check::range(&view, Space::Data, ttl.id, Direction::Forward) {
            self.count()?;
            match entry {
                Ok(_) => found += 1,
                Err(error) => self.report(format!("{name}: {error}")),
            }
        }
        let expected = of(implied, ttl.id).items;
        if found != expected {
            self.report(format!("{name}: {found} entries, but the items imply {expected}"));
        }
        Ok(())
    }

    pub(super) fn check_backup(&mut self, backup: &Backup, totals: &Totals) -> Result<(), Stopped> {
        let name = format!("backup {} of table {}", backup.name, backup.table.name);
        let mut found = TotalsChange::default();
        let view = self.view.clone();
        for entry in Check::range(&view, Space::Data, backup.id, Direction::Forward) {
            self.count()?;
            if let Some((_, item)) = self.sound_item(&name, &backup.table.schema, backup.id, entry) {
                found.add(TotalsChange::replacing(None, Some(item.size_bytes())));
            }
        }
        self.compare_totals(&name, backup.id, found, totals);
        Ok(())
    }

    /// In memory totals are not stored.
    fn compare_totals(&self, name: &str, id: CollectionId, found: TotalsChange, totals: &Totals) {
        let stored = totals.of(id);
        if stored != found && !totals.is_empty() {
            self.report(format!(
                "{name}: {} entries of {} bytes were counted, but there are {} of {} bytes",
                stored.items, stored.bytes, found.items, found.bytes
            ));
        }
    }
}

fn add(implied: &mut [Implied], id: CollectionId, bytes: usize) {
    if let Some(implied) = implied.iter_mut().find(|implied| implied.id == id) {
        implied.entries.add(TotalsChange::replacing(None, Some(bytes)));
    }
}

fn of(implied: &[Implied], id: CollectionId) -> TotalsChange {
    implied.iter().find(|implied| implied.id == id).map(|implied| implied.entries).unwrap_or_default()
}
