//! Capacity units: what an operation would have cost, counted as DynamoDB counts.
//!
//! A read unit is 4 KB, half for an eventually consistent read, double in a transaction. A write unit is 1 KB, double in a transaction; each
//! index entry that changes is charged, and one that moves is charged twice: for the old place and the new.

use std::collections::BTreeMap;

use dynamo::Choice;
use dynamo::operation::{Capacity, ConsumedCapacity, ReturnConsumedCapacity};

use crate::change::ItemChange;
use crate::table::Table;

const READ_UNIT_BYTES: usize = 4096;
const WRITE_UNIT_BYTES: usize = 1024;

/// How a read is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadKind {
    Eventual,
    Consistent,
    Transactional,
}

impl ReadKind {
    /// The kind of a read outside transactions.
    pub(crate) fn of(consistent_read: Option<bool>) -> ReadKind {
        if consistent_read == Some(true) { ReadKind::Consistent } else { ReadKind::Eventual }
    }

    fn factor(self) -> f64 {
        match self {
            ReadKind::Eventual => 0.5,
            ReadKind::Consistent => 1.0,
            ReadKind::Transactional => 2.0,
        }
    }
}

/// The units for reading so many bytes; at least one unit.
pub(crate) fn read_units(size_bytes: usize, kind: ReadKind) -> f64 {
    whole_units(size_bytes, READ_UNIT_BYTES) * kind.factor()
}

/// The units for writing so many bytes; at least one.
pub(crate) fn write_units(size_bytes: usize) -> f64 {
    whole_units(size_bytes, WRITE_UNIT_BYTES)
}

fn whole_units(size_bytes: usize, unit_bytes: usize) -> f64 {
    let units = size_bytes.div_ceil(unit_bytes).max(1);
    f64::from(u32::try_from(units).unwrap_or(u32::MAX))
}

/// Units by table and index.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Units {
    pub(crate) table: f64,
    pub(crate) local_indexes: BTreeMap<String, f64>,
    pub(crate) global_indexes: BTreeMap<String, f64>,
}

impl Units {
    /// Units of the table alone.
    pub(crate) fn of_table(units: f64) -> Units {
        Units { table: units, ..Units::default() }
    }

    /// What a write costs; `factor` is 2 in a transaction, and applies to the item: its index entries cost the same.
    pub(crate) fn of_write(change: &ItemChange<'_>, factor: f64) -> Units {
        let size = |item: &dynamo::StoredItem| item.size_bytes();
        let larger = change.old.map_or(0, size).max(change.new.map_or(0, size));
        let mut units = Units::of_table(write_units(larger) * factor);
        for index in change.table.written_indexes() {
            let work = change.index_work(index);
            let parts = [work.removed_bytes, work.written_bytes];
            let cost = parts.into_iter().flatten().map(write_units).sum::<f64>();
            if cost > 0.0 {
                units.add_index(index.local, &index.name, cost);
            }
        }
        units
    }

    /// Adds units of an index.
    pub(crate) fn add_index(&mut self, local: bool, name: &str, units: f64) {
        let indexes = if local { &mut self.local_indexes } else { &mut self.global_indexes };
        *indexes.entry(name.to_owned()).or_default() += units;
    }

    /// Adds other units.
    pub(crate) fn add(&mut self, other: Units) {
        self.table += other.table;
        for (name, units) in other.local_indexes {
            self.add_index(true, &name, units);
        }
        for (name, units) in other.global_indexes {
            self.add_index(false, &name, units);
        }
    }

    fn total(&self) -> f64 {
        self.table + self.local_indexes.values().sum::<f64>() + self.global_indexes.values().sum::<f64>()
    }
}

/// Which of the members of a capacity say the units a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Only `CapacityUnits`.
    Plain,
    /// `ReadCapacityUnits` too: transactional reads.
    Reads,
    /// `WriteCapacityUnits` too: transactional writes.
    Writes,
}

impl Detail {
    fn capacity(self, units: f64) -> Capacity {
        Capacity {
            capacity_units: Some(units),
            read_capacity_units: (self == Detail::Reads).then_some(units),
            write_capacity_units: (self == Detail::Writes).then_some(units),
        }
    }
}

/// True if the request wants to know its cost.
pub(crate) fn is_asked(wanted: Option<&Choice<ReturnConsumedCapacity>>) -> bool {
    wanted.is_some_and(|wanted| *wanted != ReturnConsumedCapacity::None)
}

/// The answer to ReturnConsumedCapacity.
pub(crate) fn consumed(
    wanted: Option<&Choice<ReturnConsumedCapacity>>,
    table: &Table,
    units: &Units,
    detail: Detail,
) -> Option<ConsumedCapacity> {
    if !is_asked(wanted) {
        return None;
    }
    let total = detail.capacity(units.total());
    let mut consumed = ConsumedCapacity {
        table_name: Some(table.name.clone()),
        capacity_units: total.capacity_units,
        read_capacity_units: total.read_capacity_units,
        write_capacity_units: total.write_capacity_units,
        ..ConsumedCapacity::default()
    };
    if wanted.is_some_and(|wanted| *wanted == ReturnConsumedCapacity::Indexes) {
        let by_index = |indexes: &BTreeMap<String, f64>| {
            let capacities: BTreeMap<_, _> =
                indexes.iter().map(|(name, units)| (name.clone(), detail.capacity(*units))).collect();
            (!capacities.is_empty()).then_some(capacities)
        };
        consumed.table = Some(detail.capacity(units.table));
        consumed.local_secondary_indexes = by_index(&units.local_indexes);
        consumed.global_secondary_indexes = by_index(&units.global_indexes);
    }
    Some(consumed)
}
