//! Streams, replayed from their end, and histories.

use bytes::Bytes;
use dynamo::StoredItem;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::{Check, Stopped};
use crate::history::Before;
use crate::layout::{ItemKey, parse_record_key};
use crate::record::{ChangeKind, Record};
use crate::store::{Direction, Space, StoreError};
use crate::stream::sequence_text;
use crate::table::{StreamView, Table};

/// What an item was after a change, as far as what came later tells. Hashes stand for keys and images, so that a day of changes
/// fits into memory.
#[derive(Clone, Copy)]
enum Known {
    Image(Option<u128>),
    /// The next record has no image of what was there before it.
    Nothing,
}

type After = FxHashMap<u128, Known>;

impl Check {
    /// The latest change of each item led to what it is, and each change to what the next one began with.
    pub(super) fn check_stream(&mut self, table: &Table) -> Result<(), Stopped> {
        let Some(stream) = &table.stream else { return Ok(()) };
        let name = format!("table {}, stream", table.name);
        let mut after = After::default();
        let view = self.view.clone();
        for entry in Check::range(&view, Space::Log, stream.id, Direction::Reverse) {
            self.count()?;
            let checked =
                entry.and_then(|entry| self.check_record(&name, table, stream.view, entry, &mut after));
            if let Err(error) = checked {
                self.report(format!("{name}: {error}"));
            }
        }
        Ok(())
    }

    fn check_record(
        &self,
        name: &str,
        table: &Table,
        view: StreamView,
        (key, record): (Bytes, Bytes),
        after: &mut After,
    ) -> Result<(), StoreError> {
        let place = parse_record_key(&key).map(sequence_text).unwrap_or_default();
        let Some(record) = Record::decode(record) else {
            self.report(format!("{name}: record {place} cannot be read"));
            return Ok(());
        };
        let Some(item_key) = ItemKey::new(table.id, &table.schema, &record.keys) else {
            self.report(format!("{name}: record {place} has no key of the table"));
            return Ok(());
        };
        let hash = xxh3_128(item_key.in_table());
        let next = match after.get(&hash) {
            Some(next) => *next,
            None => Known::Image(self.live_image(table, &item_key)?),
        };
        if !agrees(&record, next, view) {
            self.report(format!("{name}: record {place} did not lead to what came after it"));
        }
        after.insert(hash, before(&record, view));
        Ok(())
    }

    fn live_image(&self, table: &Table, key: &ItemKey) -> Result<Option<u128>, StoreError> {
        let stored = self.view.snapshot.get(Space::Data, &key.in_collection(table.id))?;
        Ok(stored.map(|bytes| xxh3_128(&bytes)))
    }

    /// The changes of a history can be read, and are in the order of their times.
    pub(super) fn check_history(&mut self, table: &Table) -> Result<(), Stopped> {
        let Some(history) = table.history else { return Ok(()) };
        let name = format!("table {}, history", table.name);
        let mut last = i64::MIN;
        let view = self.view.clone();
        for entry in Check::range(&view, Space::Log, history, Direction::Forward) {
            self.count()?;
            match entry.and_then(|(_, record)| Before::decode(&record)) {
                Ok(before) if before.time_milliseconds < last => {
                    self.report(format!("{name}: a change is earlier than the one before it"));
                }
                Ok(before) => {
                    last = before.time_milliseconds;
                    if before.item.is_some_and(|item| item.check().is_err()) {
                        self.report(format!("{name}: an item cannot be read"));
                    }
                }
                Err(error) => self.report(format!("{name}: {error}")),
            }
        }
        Ok(())
    }
}

/// Whether a change led to what is known of the item after it. Where records have no new images, it only counts whether there was
/// an item.
fn agrees(record: &Record, next: Known, view: StreamView) -> bool {
    match next {
        Known::Nothing => true,
        Known::Image(next) if view.has_new_image() => record.new_image.as_ref().map(image_hash) == next,
        Known::Image(next) => (record.kind != ChangeKind::Remove) == next.is_some(),
    }
}

/// What a record tells of the item before its change.
fn before(record: &Record, view: StreamView) -> Known {
    match record.kind {
        ChangeKind::Insert => Known::Image(None),
        _ if view.has_old_image() => Known::Image(record.old_image.as_ref().map(image_hash)),
        _ => Known::Nothing,
    }
}

fn image_hash(item: &StoredItem) -> u128 {
    xxh3_128(item.as_bytes())
}
