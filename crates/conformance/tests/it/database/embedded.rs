//! The engine in this process.

use std::sync::Arc;

use dynamo::Operation;
use engine::{Durability, Engine, ManualClock, Options};

use super::Database;
use crate::answer::Answer;
use crate::json::{Json, read_strict};

/// The time when scripts begin: 2026-01-01.
const START_MILLISECONDS: i64 = 1_767_225_600_000;

/// An engine with a clock that stands still.
pub(crate) struct Embedded {
    engine: Engine,
    clock: Arc<ManualClock>,
    _directory: Option<tempfile::TempDir>,
}

impl Embedded {
    /// An engine in memory.
    pub(crate) fn in_memory() -> Embedded {
        let (clock, options) = options();
        Embedded { engine: Engine::in_memory_with(options), clock, _directory: None }
    }

    /// An engine in a directory of its own.
    pub(crate) fn on_disk() -> Embedded {
        let (clock, options) = options();
        let directory = tempfile::tempdir().expect("there is a place for temporary files");
        let options = Options { durability: Durability::None, ..options };
        let engine = Engine::open(directory.path(), options).expect("an empty directory can be opened");
        Embedded { engine, clock, _directory: Some(directory) }
    }
}

fn options() -> (Arc<ManualClock>, Options) {
    let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS));
    let options = Options { clock: clock.clone(), housekeeping: None, ..Options::default() };
    (clock, options)
}

impl Database for Embedded {
    fn call(&mut self, operation: &str, body: &str) -> Answer {
        let outcome =
            Operation::parse(operation, body.as_bytes()).and_then(|request| self.engine.run(request));
        let mut text = Vec::new();
        match &outcome {
            Ok(reply) => reply.write_json(&mut text),
            Err(error) => error.write_json(&mut text),
        }
        let text = String::from_utf8(text).expect("JSON is UTF-8");
        let body = read_strict(&text).unwrap_or_else(|why| Json::Text(format!("not JSON, {why}: {text}")));
        Answer { is_error: outcome.is_err(), body }
    }

    fn is_thrown_away(&self) -> bool {
        true
    }

    fn advance(&mut self, seconds: i64) -> bool {
        self.clock.advance_seconds(seconds);
        self.engine.keep_house().expect("housekeeping works");
        true
    }

    fn pause(&mut self) {
        self.engine.keep_house().expect("housekeeping works");
    }
}
