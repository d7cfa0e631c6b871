//! A thread of the child: writes until the process is killed.

use dynamo::Value;
use dynamo::operation::GetItem;
use monotable_engine::Engine;

use super::process::report;
use super::workload::{ACCOUNTS, LEDGER, Place, TABLES, Write, Writes};
use super::{change_index, change_key};
use crate::random::Random;

/// One thread's writes. No two threads write the same items, except for the total.
pub(crate) struct Writer {
    engine: Engine,
    thread: usize,
    random: Random,
    version: u64,
    counter: u64,
    expiry_seconds: u64,
}

impl Writer {
    pub(crate) fn new(engine: Engine, thread: usize, life: u64, expiry_seconds: u64) -> Writer {
        let counter = count_of(&engine, &counter_of(thread));
        Writer {
            engine,
            thread,
            random: Random::new(life * 100 + thread as u64),
            version: life * 1_000_000 + 1,
            counter,
            expiry_seconds,
        }
    }

    pub(crate) fn write_for_ever(mut self) {
        loop {
            if self.thread == 0 && self.random.once_in(50) {
                // Refused where it is there already, or not yet.
                let _ = change_index(&self.engine, self.random.once_in(2));
            }
            if self.thread == 1 && self.random.once_in(20) {
                let name = *self.random.pick(&[Some("first"), Some("second"), None]);
                // Refused while the last change is under way.
                let _ = change_key(&self.engine, name);
            }
            let writes = self.writes();
            report(&format!("start {} {}", self.thread, writes.to_text()));
            self.engine.run(writes.request(self.expiry_seconds)).unwrap();
            report(&format!("done {}", self.thread));
        }
    }

    fn writes(&mut self) -> Writes {
        self.version += 1;
        let (thread, version) = (self.thread, self.version);
        let sort = self.random.below(200) as u64;
        match self.random.below(20) {
            0..10 => Writes::single(Place::new(LEDGER, format!("t{thread}"), sort), Some(version)),
            10..12 => Writes::single(Place::new(LEDGER, format!("t{thread}"), sort), None),
            12..15 => {
                self.counter += 1;
                Writes::single(counter_of(thread), Some(self.counter))
            }
            15..19 => {
                // The first write always leaves a trace, so it can be told whether the transaction happened.
                let other = (!self.random.once_in(4)).then_some(version);
                let write = |table: usize, name: &str, version: Option<u64>| Write {
                    place: Place::new(table, format!("transaction-{name}-{thread}"), sort % 20),
                    version,
                };
                let writes = [
                    write(ACCOUNTS, "a", Some(version)),
                    write(LEDGER, "b", other),
                    write(LEDGER, "c", other),
                ];
                Writes { writes: writes.into(), token: Some(version * 10 + thread as u64) }
            }
            _ => Writes::single(Place::new(ACCOUNTS, format!("expires{thread}"), sort), Some(version)),
        }
    }
}

fn counter_of(thread: usize) -> Place {
    Place::new(ACCOUNTS, format!("counter{thread}"), 0)
}

/// What a counter has counted.
pub(crate) fn count_of(engine: &Engine, place: &Place) -> u64 {
    let request = GetItem {
        table_name: Some(TABLES[place.table].name.to_owned()),
        key: Some(place.key()),
        ..GetItem::default()
    };
    match engine.get_item(request).unwrap().item.map(|item| item.decode()["count"].clone()) {
        Some(Value::N(count)) => count.to_string().parse().unwrap(),
        Some(other) => panic!("a counter holds {other:?}"),
        None => 0,
    }
}
