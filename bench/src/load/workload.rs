//! A workload: operations of some kinds, each of one or several requests, again and again with other numbers.

use std::time::{Duration, Instant};

use super::choice::{Numbers, Random, Used};
use super::template::Template;

const TARGET: &str = "DynamoDB_20120810.";
/// Any will do where no credentials are configured, and the peers want to see some.
const AUTHORIZATION: &str = "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, \
    SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000000000000000000000000000000000000000000000000000000000000000";

/// Numbers of this many operations are kept apart for each workload that writes.
const AREA: u64 = 20_000_000;
/// Where those begin: beyond what a table is filled with.
const FIRST_AREA: u64 = 100_000_000;

/// Operations of some kinds.
#[derive(Clone)]
pub struct Workload {
    pub name: &'static str,
    kinds: Vec<Kind>,
    random: Random,
    used: Used,
    /// What the answer to the first request has, if it is right.
    pub expects: &'static str,
}

/// Operations that differ in nothing but their numbers.
#[derive(Clone)]
pub struct Kind {
    /// How often they come, in hundredths.
    share: u64,
    numbers: Numbers,
    /// The requests of an operation, one after another.
    steps: Vec<Request>,
}

/// A request in several versions, which take turns.
#[derive(Clone)]
pub struct Request {
    versions: Vec<Template>,
}

/// An operation on its way.
#[derive(Clone, Copy)]
pub struct Operation {
    kind: usize,
    number: u64,
    version: usize,
    step: usize,
    /// When it was sent or, in an open loop, should have been.
    pub due: Instant,
}

impl Request {
    /// A request of DynamoDB.
    pub fn dynamodb(operation: &str, body: &str) -> Request {
        Request { versions: vec![dynamodb(operation, body)] }
    }

    /// The same in so many versions.
    pub fn versions(operation: &str, count: usize, body: impl Fn(usize) -> String) -> Request {
        Request { versions: (0..count).map(|version| dynamodb(operation, &body(version))).collect() }
    }

    /// Its first version, as it is with the number 0.
    pub fn first(mut self) -> Vec<u8> {
        self.versions[0].request(0).to_vec()
    }

    /// A request to a design: what is asked for, as `GET /v1/…`, and its body.
    pub fn design(what: &str, body: &str) -> Request {
        let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
        Request {
            versions: vec![Template::new(&format!("{what} HTTP/1.1\r\nhost: localhost\r\n{kind}"), body)],
        }
    }
}

fn dynamodb(operation: &str, body: &str) -> Template {
    let head = format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-target: {TARGET}{operation}\r\n\
         x-amz-date: 20260101T000000Z\r\nauthorization: {AUTHORIZATION}\r\n"
    );
    Template::new(&head, body)
}

impl Kind {
    pub fn new(share: u64, numbers: Numbers, steps: Vec<Request>) -> Kind {
        Kind { share, numbers, steps }
    }
}

impl Workload {
    /// Operations of one request.
    pub fn of_one(name: &'static str, numbers: Numbers, request: Request) -> Workload {
        Workload::new(name, vec![Kind::new(100, numbers, vec![request])])
    }

    pub fn new(name: &'static str, kinds: Vec<Kind>) -> Workload {
        let used = Used { before: 0, first: 0, next: 0 };
        Workload { name, kinds, random: Random::new(name.len() as u64), used, expects: "" }
    }

    /// Says what the answer to the first request has, if it is right.
    pub fn expecting(mut self, text: &'static str) -> Workload {
        self.expects = text;
        self
    }

    /// Keeps the numbers that it makes apart from those of other workloads on the same table of so many items.
    pub fn in_area(mut self, area: u64, items: u64) -> Workload {
        let first = FIRST_AREA + area * AREA;
        self.used = Used { before: items, first, next: first };
        self
    }

    /// The requests of one operation as they are, to be tried alone.
    pub fn sample(&mut self) -> Vec<Vec<u8>> {
        let mut requests = Vec::new();
        for kind in 0..self.kinds.len() {
            let number = self.kinds[kind].numbers.choose(&mut self.random, &mut self.used);
            for step in 0..self.kinds[kind].steps.len() {
                let operation = Operation { kind, number, version: 0, step, due: Instant::now() };
                requests.push(self.request(&operation).to_vec());
            }
        }
        requests
    }

    /// The next operation.
    pub fn next(&mut self, due: Instant) -> Operation {
        let mut place = self.random.below(100);
        let mut kind = 0;
        while kind + 1 < self.kinds.len() && place >= self.kinds[kind].share {
            place -= self.kinds[kind].share;
            kind += 1;
        }
        let number = self.kinds[kind].numbers.choose(&mut self.random, &mut self.used);
        let version = usize::try_from(self.random.next() >> 33).unwrap_or(0);
        Operation { kind, number, version, step: 0, due }
    }

    /// The request that an operation sends now.
    pub fn request(&mut self, operation: &Operation) -> &[u8] {
        let versions = &mut self.kinds[operation.kind].steps[operation.step].versions;
        let version = operation.version % versions.len();
        versions[version].request(operation.number)
    }

    /// The operation at its next request, if it has one.
    pub fn further(&self, operation: Operation) -> Option<Operation> {
        let step = operation.step + 1;
        (step < self.kinds[operation.kind].steps.len()).then_some(Operation { step, ..operation })
    }
}

/// How long and how often a workload is sent.
#[derive(Clone, Copy)]
pub struct Timing {
    /// Operations that start in it are not counted.
    pub warm_up: Duration,
    pub time: Duration,
    /// It ends earlier after so many operations.
    pub operations: u64,
}

impl Timing {
    pub fn of(warm_up: Duration, time: Duration) -> Timing {
        Timing { warm_up, time, operations: u64::MAX }
    }
}
