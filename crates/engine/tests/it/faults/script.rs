//! The child: runs the script, whatever goes wrong, and checks what it is told.

use std::path::PathBuf;
use std::time::Duration;

use dynamo::operation::GetItem;
use dynamo::{ApiError, ErrorKind};
use monotable_engine::Engine;

use super::disk::{Fault, Plan};
use crate::crash::process::{DIRECTORY, report};
use crate::crash::workload::{ACCOUNTS, LEDGER, Place, TABLES, Write, Writes};
use crate::crash::writer::count_of;
use crate::crash::{change_index, make_tables, open};

/// When items with an expiry expired: long before any run, but within the five years that count.
pub(crate) const EXPIRY_SECONDS: u64 = 1_767_225_600;

/// One step of the script.
enum Step {
    MakeTables,
    Write(Writes),
    Count,
    AddIndex,
    RemoveIndex,
    KeepHouse,
    Reopen,
}

fn put(sort: u64) -> Step {
    Step::Write(Writes::single(Place::new(LEDGER, "a", sort), Some(100 + sort)))
}

fn transaction(sort: u64, other: Option<u64>) -> Step {
    let write = |table: usize, name: &str, version: Option<u64>| Write {
        place: Place::new(table, name, sort),
        version,
    };
    let version = 200 + sort + u64::from(other.is_none());
    let writes = [write(ACCOUNTS, "t", Some(version)), write(LEDGER, "t", other), write(LEDGER, "u", other)];
    Step::Write(Writes { writes: writes.into(), token: Some(version) })
}

fn script() -> Vec<Step> {
    vec![
        Step::MakeTables,
        put(1),
        put(2),
        Step::Count,
        transaction(10, Some(7)),
        Step::Write(Writes::single(Place::new(ACCOUNTS, "expires", 1), Some(3))),
        Step::KeepHouse,
        put(3),
        Step::AddIndex,
        Step::KeepHouse,
        transaction(20, Some(8)),
        Step::Write(Writes::single(Place::new(LEDGER, "a", 1), None)),
        Step::Reopen,
        Step::Count,
        transaction(10, None),
        put(2),
        Step::RemoveIndex,
        put(4),
        Step::KeepHouse,
        // Large enough to be written in several calls.
        Step::Write(Writes::single(Place::new(LEDGER, "large", 0), Some(1000))),
        Step::Count,
        put(5),
    ]
}

#[test]
#[ignore = "a child process, which another test starts"]
fn child_that_runs_the_script() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    let directory = PathBuf::from(directory);
    let plan = Plan::start(directory.clone());
    let mut run = Run { plan, directory, engine: None, is_stopped: false, has_tables: false, last: None };
    for step in script() {
        run.step(&step);
    }
    run.end();
    report(&plan.counts().to_text());
    report("end");
}

struct Run {
    plan: &'static Plan,
    directory: PathBuf,
    engine: Option<Engine>,
    /// Writes have failed, and the database was not opened since.
    is_stopped: bool,
    has_tables: bool,
    /// An item that was acknowledged.
    last: Option<Place>,
}

impl Run {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Reopen => return self.reopen(),
            Step::Count => {
                let place = Place::new(ACCOUNTS, "counter", 0);
                let next = if self.has_tables { count_of(&self.engine(), &place) + 1 } else { 1 };
                return self.step(&Step::Write(Writes::single(place, Some(next))));
            }
            _ => {}
        }
        if let (Step::Write(writes), false) = (step, self.is_stopped) {
            report(&format!("start 0 {}", writes.to_text()));
        }
        let mut outcome = self.attempt(step);
        // There is space again, so writes go on by themselves; a refused step is simply sent again.
        for _ in 0..5 {
            if outcome.is_ok() || self.plan.fault != Fault::NoSpace {
                break;
            }
            self.check_refusal(outcome);
            self.plan.give_space();
            std::thread::sleep(Duration::from_millis(520));
            outcome = self.attempt(step);
        }
        match outcome {
            // What has nothing to do succeeds all the same.
            Ok(()) if self.is_stopped => {
                if matches!(step, Step::Write(_)) {
                    report("broken: a write was acknowledged after one had failed");
                }
            }
            Ok(()) => self.acknowledge(step),
            Err(error) => {
                self.check_refusal(Err(error));
                self.is_stopped = true;
            }
        }
    }

    fn attempt(&mut self, step: &Step) -> Result<(), ApiError> {
        let engine = self.engine();
        match step {
            Step::MakeTables => make_tables(&engine),
            Step::Write(writes) if self.has_tables && has_counted(&engine, writes) => Ok(()),
            Step::Write(writes) => engine.run(writes.request(EXPIRY_SECONDS)).map(drop),
            // It may be there from an attempt that failed.
            Step::AddIndex => change_index(&engine, true).or_else(unless_refused),
            Step::RemoveIndex => change_index(&engine, false).or_else(unless_refused),
            Step::KeepHouse => engine.keep_house(),
            Step::Count | Step::Reopen => Ok(()),
        }
    }

    fn acknowledge(&mut self, step: &Step) {
        self.has_tables |= matches!(step, Step::MakeTables);
        if let Step::Write(writes) = step {
            report("done 0");
            self.last =
                writes.writes.iter().find(|write| write.version.is_some()).map(|write| write.place.clone());
            self.last = self.last.take().filter(|place| !place.expires());
        }
    }

    /// A refusal says that writes are unavailable, and reads go on.
    fn check_refusal(&self, outcome: Result<(), ApiError>) {
        let Err(error) = outcome else { return };
        report(&format!("refused {error}"));
        if !self.plan.has_happened() {
            report("broken: refused before anything had failed");
        }
        let lacks_table = error.kind == ErrorKind::ResourceNotFound && !self.has_tables;
        if error.kind != ErrorKind::ServiceUnavailable && !lacks_table {
            report(&format!("broken: refused with {error}"));
        }
        let (Some(engine), Some(place)) = (&self.engine, &self.last) else { return };
        let request = GetItem {
            table_name: Some(TABLES[place.table].name.to_owned()),
            key: Some(place.key()),
            ..GetItem::default()
        };
        match engine.get_item(request) {
            Ok(reply) if reply.item.is_some() => {}
            Ok(_) => report(&format!("broken: {place:?} is gone")),
            Err(error) => report(&format!("broken: {place:?} cannot be read: {error}")),
        }
    }

    /// The engine; opened now if it is not yet.
    fn engine(&mut self) -> Engine {
        if let Some(engine) = &self.engine {
            return engine.clone();
        }
        for _ in 0..3 {
            match open(&self.directory) {
                Ok(engine) => {
                    self.engine = Some(engine.clone());
                    self.is_stopped = false;
                    return engine;
                }
                Err(error) => {
                    report(&format!("not opened: {error}"));
                    if !self.plan.has_happened() {
                        report("broken: not opened before anything had failed");
                    }
                    self.plan.give_space();
                }
            }
        }
        report("broken: not opened in three attempts");
        panic!("not opened");
    }

    fn reopen(&mut self) {
        self.engine = None;
        self.engine();
        if !self.has_tables {
            self.step(&Step::MakeTables);
        }
    }

    /// After the database was opened again, everything goes on.
    fn end(&mut self) {
        self.reopen();
        self.step(&put(6));
        if self.is_stopped && self.plan.fault != Fault::NoSpace {
            self.reopen();
            self.step(&put(7));
        }
        if self.is_stopped {
            report("broken: writes did not go on");
        }
        self.engine = None;
    }
}

/// Whether a counter got this far in an attempt that failed; counting again would count twice.
fn has_counted(engine: &Engine, writes: &Writes) -> bool {
    let counter = writes.writes.iter().find(|write| write.place.counts());
    counter.is_some_and(|write| Some(count_of(engine, &write.place)) == write.version)
}

/// An index that is there already, or not there, is no failure of the disk.
fn unless_refused(error: ApiError) -> Result<(), ApiError> {
    match error.kind {
        ErrorKind::Validation | ErrorKind::ResourceNotFound | ErrorKind::ResourceInUse => Ok(()),
        _ => Err(error),
    }
}
