//! Knows from a child's reports what must be in the database, and what may be.

use std::collections::BTreeMap;

use dynamo::{Item, Number, Value};

use super::workload::{ACCOUNTS, Place, TABLES, TOTAL, Writes};
use crate::verify::{Items, same};

/// What must be there, and what was under way.
#[derive(Default)]
pub(crate) struct Tracker {
    pub(crate) expiry_seconds: u64,
    versions: BTreeMap<Place, u64>,
    transactions: i64,
    /// Transactions of which nobody can tell whether they happened.
    transactions_in_doubt: i64,
    under_way: BTreeMap<usize, Writes>,
    /// Writes that were refused, which may have happened all the same.
    in_doubt: Vec<Writes>,
}

impl Tracker {
    pub(crate) fn new(expiry_seconds: u64) -> Tracker {
        Tracker { expiry_seconds, ..Tracker::default() }
    }

    /// Takes the reports of a child in their order: `start thread writes` and `done thread`.
    pub(crate) fn take(&mut self, reports: &[String]) {
        for report in reports {
            let words: Vec<&str> = report.split(' ').collect();
            match &*words {
                ["start", thread, writes] => {
                    let refused = self.under_way.insert(thread.parse().unwrap(), Writes::parse(writes));
                    self.in_doubt.extend(refused);
                }
                ["done", thread] => {
                    let writes = self.under_way.remove(&thread.parse().unwrap()).unwrap();
                    self.apply(&writes);
                }
                _ => {}
            }
        }
    }

    fn apply(&mut self, writes: &Writes) {
        self.transactions += i64::from(writes.token.is_some());
        for write in &writes.writes {
            // Whether something had happened here before can no longer be told.
            let gone = |doubt: &mut Writes| doubt.writes.iter().any(|other| other.place == write.place);
            let gone = self.in_doubt.extract_if(.., gone).filter(|doubt| doubt.token.is_some()).count();
            self.transactions_in_doubt += i64::try_from(gone).unwrap();
            match write.version {
                Some(version) => self.versions.insert(write.place.clone(), version),
                None => self.versions.remove(&write.place),
            };
        }
    }

    /// Compares with the items of all tables. A write that was under way has happened whole or not at all; from here on it is
    /// known which.
    pub(crate) fn settle(&mut self, tables: &[Items]) -> Result<(), String> {
        let in_doubt = std::mem::take(&mut self.in_doubt);
        for writes in in_doubt.into_iter().chain(std::mem::take(&mut self.under_way).into_values()) {
            if self.has_happened(&writes, tables)? {
                self.apply(&writes);
            }
        }
        for (table, items) in tables.iter().enumerate() {
            self.compare(table, items)?;
        }
        self.compare_total(&tables[ACCOUNTS])
    }

    fn has_happened(&self, writes: &Writes, tables: &[Items]) -> Result<bool, String> {
        let mut is_new = Vec::new();
        for write in &writes.writes {
            let key = TABLES[write.place.table].key_of(&write.place.key());
            let found = tables[write.place.table].get(&key);
            let before = self.versions.get(&write.place).copied();
            let item = |version: Option<u64>| version.map(|version| self.item(&write.place, version));
            if write.version == before || write.place.expires() {
                continue;
            }
            if found == item(write.version).as_ref() {
                is_new.push(true);
            } else if found == item(before).as_ref() {
                is_new.push(false);
            } else {
                return Err(format!("{write:?} was under way after {before:?}, but there is {found:?}"));
            }
        }
        if is_new.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(format!("a torn transaction: {writes:?}, of which {is_new:?} happened"));
        }
        Ok(is_new.first().copied().unwrap_or(false)
            || writes.writes.iter().any(|write| write.place.expires()))
    }

    fn item(&self, place: &Place, version: u64) -> Item {
        place.item(version, self.expiry_seconds)
    }

    fn compare(&mut self, table: usize, items: &Items) -> Result<(), String> {
        let mut left = items.clone();
        left.remove(&TABLES[table].key_of(&Place::new(table, TOTAL, 0).key()));
        for (place, version) in self.versions.iter().filter(|(place, _)| place.table == table) {
            let found = left.remove(&TABLES[table].key_of(&place.key()));
            if found.is_some() || !place.expires() {
                same(&format!("{place:?}"), found, Some(self.item(place, *version)))?;
            }
        }
        same(&format!("{}: items that nobody wrote", TABLES[table].name), left, Items::new())
    }

    fn compare_total(&self, accounts: &Items) -> Result<(), String> {
        let total = accounts.get(&TABLES[ACCOUNTS].key_of(&Place::new(ACCOUNTS, TOTAL, 0).key()));
        let total = total.map_or(Value::from(0_i64), |item| item["count"].clone());
        let possible = self.transactions..=self.transactions + self.transactions_in_doubt;
        let possible: Vec<Value> = possible.map(|count| Value::N(Number::from(count))).collect();
        if possible.contains(&total) {
            return Ok(());
        }
        Err(format!("{total:?} transactions instead of {possible:?}"))
    }
}
