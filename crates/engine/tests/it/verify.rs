//! What always holds for a table, whatever was written: its indexes are what its items imply, its stream leads to its items, and
//! the totals it tells are those of its items.

use std::collections::{BTreeMap, BTreeSet};

use dynamo::operation::{IndexStatus, StreamViewType, TableDescription};
use dynamo::{Item, item_size_bytes};
use monotable_engine::Engine;

use crate::design::{IndexDesign, Sortable, TableDesign, key_values};
use crate::requests::{Change, describe, scan_all, stream_all};

/// Items by their keys.
pub(crate) type Items = BTreeMap<Vec<Sortable>, Item>;

/// Checks indexes and totals of a table and returns its items. The error says what does not hold.
pub(crate) fn verify_table(engine: &Engine, table: &TableDesign) -> Result<Items, String> {
    let failed = |error: dynamo::ApiError| format!("{}: {error}", table.name);
    let found = scan_all(engine, table.name, None).map_err(failed)?;
    check_order(found.iter(), |item| {
        let sort = key_values(item, table.sort).unwrap();
        (key_values(item, [table.partition]).unwrap(), sort)
    })
    .map_err(|error| format!("{}: {error}", table.name))?;
    let count = found.len();
    let items: Items = found.into_iter().map(|item| (table.key_of(&item), item)).collect();
    same(&format!("{}: items that a scan gives twice", table.name), count - items.len(), 0)?;
    let description = describe(engine, table.name).map_err(failed)?;
    let totals = (description.item_count.unwrap(), description.table_size_bytes.unwrap());
    same(&format!("{}: items and bytes", table.name), totals, totals_of(items.values()))?;
    for (name, totals) in readable_indexes(&description) {
        verify_index(engine, table, table.index(&name), &items, totals)?;
    }
    Ok(items)
}

/// Names and totals of the indexes that can be read.
fn readable_indexes(description: &TableDescription) -> Vec<(String, (i64, i64))> {
    let local = description.local_secondary_indexes.iter().flatten().map(|index| {
        (index.index_name.clone().unwrap(), (index.item_count.unwrap(), index.index_size_bytes.unwrap()))
    });
    let is_active = |status: Option<IndexStatus>| status == Some(IndexStatus::Active);
    let global = description.global_secondary_indexes.iter().flatten();
    let global = global.filter(|index| is_active(index.index_status)).map(|index| {
        (index.index_name.clone().unwrap(), (index.item_count.unwrap(), index.index_size_bytes.unwrap()))
    });
    local.chain(global).collect()
}

fn verify_index(
    engine: &Engine,
    table: &TableDesign,
    index: &IndexDesign,
    items: &Items,
    totals: (i64, i64),
) -> Result<(), String> {
    let place = format!("{}/{}", table.name, index.name);
    let found =
        scan_all(engine, table.name, Some(index.name)).map_err(|error| format!("{place}: {error}"))?;
    check_order(found.iter(), |entry| index.key_of(entry).unwrap())
        .map_err(|error| format!("{place}: {error}"))?;
    let implied: Vec<Item> = items
        .values()
        .filter(|item| index.key_of(item).is_some())
        .map(|item| index.entry_of(table, item))
        .collect();
    let by_key = |entries: Vec<Item>| -> Vec<(Vec<Sortable>, Item)> {
        let mut entries: Vec<_> = entries.into_iter().map(|entry| (table.key_of(&entry), entry)).collect();
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        entries
    };
    same(&format!("{place}: entries and bytes"), totals, totals_of(implied.iter()))?;
    same(&format!("{place}: entries"), by_key(found), by_key(implied))
}

/// Items of a partition come together, and in the order of their sort keys.
fn check_order<'a>(
    items: impl Iterator<Item = &'a Item>,
    key: impl Fn(&Item) -> (Vec<Sortable>, Vec<Sortable>),
) -> Result<(), String> {
    let mut seen: BTreeSet<Vec<Sortable>> = BTreeSet::new();
    let mut last: Option<(Vec<Sortable>, Vec<Sortable>)> = None;
    for item in items {
        let (partition, sort) = key(item);
        let continues = last.as_ref().is_some_and(|(before, _)| *before == partition);
        if !continues && !seen.insert(partition.clone()) {
            return Err(format!("partition {partition:?} comes in two pieces"));
        }
        if let Some((_, before)) = last.filter(|_| continues)
            && before > sort
        {
            return Err(format!("{before:?} comes before {sort:?}"));
        }
        last = Some((partition, sort));
    }
    Ok(())
}

fn totals_of<'a>(items: impl Iterator<Item = &'a Item>) -> (i64, i64) {
    items.fold((0, 0), |(count, bytes), item| {
        (count + 1, bytes + i64::try_from(item_size_bytes(item)).unwrap())
    })
}

/// Checks that the changes of a whole stream lead from nothing to the items, each from what the one before it left.
pub(crate) fn verify_stream(
    engine: &Engine,
    table: &TableDesign,
    items: &Items,
) -> Result<Vec<Change>, String> {
    let changes = stream_all(engine, table.name).map_err(|error| format!("{}: {error}", table.name))?;
    let Some(view) = table.stream else { return Ok(changes) };
    let replayed = replay(table, view, &changes)?;
    match view {
        StreamViewType::NewImage | StreamViewType::NewAndOldImages => {
            same(&format!("{}: items replayed from the stream", table.name), &replayed, items)?;
        }
        StreamViewType::KeysOnly | StreamViewType::OldImage => {
            let keys: Vec<_> = replayed.keys().collect();
            let expected: Vec<_> = items.keys().collect();
            same(&format!("{}: keys replayed from the stream", table.name), keys, expected)?;
        }
    }
    Ok(changes)
}

fn replay(table: &TableDesign, view: StreamViewType, changes: &[Change]) -> Result<Items, String> {
    use dynamo::operation::OperationType;
    let mut items = Items::new();
    for (place, change) in changes.iter().enumerate() {
        let key = table.key_of(&change.keys);
        let place = format!("{}: change {place}: {change:?}", table.name);
        let is_there = items.contains_key(&key);
        same(&format!("{place}: item there before"), is_there, change.kind != OperationType::Insert)?;
        if view == StreamViewType::NewAndOldImages {
            same(&format!("{place}: old image"), change.old.as_ref(), items.get(&key))?;
        }
        match change.kind {
            OperationType::Remove => items.remove(&key),
            _ => items.insert(key, change.new.clone().unwrap_or_default()),
        };
    }
    Ok(items)
}

/// An error that shows both sides unless they are equal.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}\n  found:    {found:?}\n  expected: {expected:?}"))
}
