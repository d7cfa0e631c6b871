//! Drives an engine in tests: operations and replies as JSON, a clock that is moved by hand, no thread of its own.

use std::path::Path;
use std::sync::Arc;

use dynamo::operation::{CheckData, CheckStatus};
use dynamo::{ApiError, Operation};
use serde_json::{Value, json};

use crate::clock::ManualClock;
use crate::engine::Engine;
use crate::options::Options;

/// Noon of a day in 2026.
pub(crate) const START_MILLISECONDS: i64 = 1_770_000_000_000;

/// An engine and its clock.
pub(crate) struct Bench {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<ManualClock>,
}

impl Bench {
    pub(crate) fn in_memory() -> Bench {
        let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS));
        Bench { engine: Engine::in_memory_with(options(&clock)), clock }
    }

    pub(crate) fn in_memory_with(options: Options) -> Bench {
        let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS));
        let options = Options { clock: clock.clone(), housekeeping: None, ..options };
        Bench { engine: Engine::in_memory_with(options), clock }
    }

    pub(crate) fn on_disk(path: &Path) -> Bench {
        let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS));
        Bench { engine: Engine::open(path, options(&clock)).unwrap(), clock }
    }

    pub(crate) fn run(&self, name: &str, request: &Value) -> Result<Value, ApiError> {
        let operation = Operation::parse(name, request.to_string().as_bytes())?;
        let mut body = Vec::new();
        self.engine.run(operation)?.write_json(&mut body);
        Ok(serde_json::from_slice(&body).unwrap())
    }

    /// The reply of an operation that must succeed.
    #[track_caller]
    pub(crate) fn ok(&self, name: &str, request: &Value) -> Value {
        match self.run(name, request) {
            Ok(reply) => reply,
            Err(error) => panic!("{name} {request}: {error}"),
        }
    }

    /// The exception and words with which an operation is refused.
    #[track_caller]
    pub(crate) fn refusal(&self, name: &str, request: &Value) -> String {
        match self.run(name, request) {
            Ok(reply) => panic!("{name} {request} was not refused: {reply}"),
            Err(error) => error.to_string(),
        }
    }

    /// Asserts that an operation is refused with a ValidationException in these words.
    #[track_caller]
    pub(crate) fn refuses(&self, name: &str, request: &Value, words: &str) {
        assert_eq!(self.refusal(name, request), format!("ValidationException: {words}"), "{request}");
    }

    /// Makes an on-demand table with the key `pk`.
    pub(crate) fn table(&self, name: &str) {
        self.ok("CreateTable", &simple_table(name));
    }

    pub(crate) fn describe(&self, name: &str) -> Value {
        self.ok("DescribeTable", &json!({ "TableName": name }))["Table"].clone()
    }

    pub(crate) fn put(&self, table: &str, item: &Value) {
        self.ok("PutItem", &json!({ "TableName": table, "Item": item }));
    }

    /// The partition keys of all items, from a scan of the table or one of its indexes.
    pub(crate) fn keys(&self, table: &str, index: Option<&str>) -> Vec<String> {
        let mut request = json!({ "TableName": table });
        if let Some(index) = index {
            request["IndexName"] = json!(index);
        }
        let reply = self.ok("Scan", &request);
        let items = reply["Items"].as_array().unwrap();
        let mut keys: Vec<_> =
            items.iter().map(|item| item["pk"]["S"].as_str().unwrap().to_owned()).collect();
        keys.sort();
        keys
    }

    pub(crate) fn keep_house(&self) {
        self.engine.keep_house().unwrap();
    }
}

fn options(clock: &Arc<ManualClock>) -> Options {
    Options { clock: clock.clone(), housekeeping: None, reserve_bytes: 0, ..Options::default() }
}

/// Waits for a check and returns what it found.
pub(crate) fn findings(engine: &Engine) -> Vec<String> {
    let ask = |start: bool| engine.check_data(&CheckData { start: Some(start) }).unwrap();
    let mut reply = ask(true);
    while reply.status != Some(CheckStatus::Done) {
        std::thread::sleep(std::time::Duration::from_millis(1));
        reply = ask(false);
    }
    reply.findings
}

pub(crate) fn simple_table(name: &str) -> Value {
    json!({
        "TableName": name,
        "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
        "BillingMode": "PAY_PER_REQUEST",
    })
}
