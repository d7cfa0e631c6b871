//! What the service costs: requests of a design, and the DynamoDB requests that somebody would write by hand for the same, to one server.
//!
//! The client is another process, so that a profiler of this one counts what the server does and nothing else. Both kinds of
//! requests go through the same connection handling to the same engine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::Engine;
use hdrhistogram::Histogram;
use serde_json::{Value, json};
use server::{Answering, Pages, Server, Settings};
use service::{Embedded, Options, Rest, Service};

const TABLE: &str = "kefir-app-dev-table";
/// Batches in the answer of the pattern.
const BATCHES: usize = 20;
/// Devices that are there from the start.
const DEVICES: usize = 1_500;
/// How often both kinds of a request take turns.
const TURNS: u32 = 5;
/// Longer ones count as this.
const LATENCY_NANOSECONDS_MAX: u64 = 60_000_000_000;

#[derive(Debug)]
struct Designs(Rest);

impl Pages for Designs {
    fn has(&self, path: &str) -> bool {
        Rest::has(path)
    }

    fn answer(&self, request: http::Request<Bytes>) -> Answering<'_> {
        Box::pin(self.0.answer(request))
    }
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", what, count] => run(what, count.parse().expect("a count")),
        ["client", address, what, count] => client(address, what, count.parse().expect("a count")),
        ["times", seconds] => times(seconds),
        ["times-client", address, seconds] => times_client(address, seconds.parse().expect("a number")),
        _ => {
            eprintln!(
                "usage: monotable-layer serve KIND COUNT, where KIND is hand- or design- with get, pattern, create, update or delete\n\
                 \x20      monotable-layer times SECONDS"
            );
            std::process::exit(2);
        }
    }
}

/// Serves so many requests of one kind (`hand-get`, `design-get`, …) and ends.
fn run(what: &str, count: usize) {
    serve(Engine::in_memory(), &["client", what, &count.to_string()]);
}

/// Measures what requests of a design take beside the same requests written by hand, in turns on one server: in memory, then on disk.
fn times(seconds: &str) {
    println!("in memory");
    serve(Engine::in_memory(), &["times-client", seconds]);
    let directory = tempfile::tempdir().expect("a directory");
    let engine = Engine::open(directory.path(), engine::Options::default()).expect("a database");
    println!("on disk, every write synced");
    serve(engine, &["times-client", seconds]);
}

/// Serves a design until a client, this program with these arguments, has ended.
fn serve(engine: Engine, client: &[&str]) {
    let text = include_str!("../../../designs/kefir.toml");
    let design = design::check(&design::Source::new("kefir", text)).design.expect("a sound design");
    let service = Service::new(design, Arc::new(Embedded::new(engine.clone())), Options::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(service.prepare()).expect("tables");
    let settings = Settings {
        address: SocketAddr::from(([127, 0, 0, 1], 0)),
        pages: Some(Arc::new(Designs(Rest::new(vec![service])))),
        ..Settings::default()
    };
    let server = Server::bind(engine, settings).expect("a port");
    let (address, stopper) = (server.address(), server.stopper());
    let thread = std::thread::spawn(move || server.run());
    let myself = std::env::current_exe().expect("this program has a path");
    let (mode, rest) = client.split_first().expect("what the client does");
    let status = Command::new(myself).arg(mode).arg(address.to_string()).args(rest).status().expect("a client");
    stopper.stop();
    let _ = thread.join();
    assert!(status.success(), "the client failed");
}

/// The client: prepares what the requests need, and sends them.
fn client(address: &str, what: &str, count: usize) {
    let mut connection = Connection::open(address);
    let devices = if what.ends_with("update") || what.ends_with("delete") { count } else { 0 };
    prepare(&mut connection, devices);
    for number in 0..count {
        connection.send(&request(what, number));
    }
}

/// Makes what the requests are about, with at least so many devices.
fn prepare(connection: &mut Connection, devices: usize) {
    connection.send(&create("User", &json!({ "userId": "ada", "email": "ada@example.com", "name": "Ada" })));
    for number in 0..BATCHES {
        connection.send(&create("Batch", &batch(number)));
    }
    for number in 0..devices.max(DEVICES) {
        connection.send(&create("Device", &device(number)));
    }
}

/// The client that measures: both kinds of each request in turns, so that both meet the same machine.
fn times_client(address: &str, seconds: u64) {
    let time = Duration::from_secs(seconds) / TURNS;
    prepare(&mut Connection::open(address), 0);
    let numbers = AtomicUsize::new(0);
    println!(
        "{:<10} {:>11} {:>14} {:>14} {:>6} {:>14} {:>14} {:>6}",
        "request", "connections", "by hand p50", "by design p50", "ratio", "by hand /s", "by design /s", "ratio"
    );
    for what in ["get", "pattern", "create", "update"] {
        for connections in [1, 32] {
            let mut measured = [Measured::new(), Measured::new()];
            for _ in 0..TURNS {
                for (kind, measured) in ["hand", "design"].iter().zip(&mut measured) {
                    measured.add(address, &format!("{kind}-{what}"), connections, time, &numbers);
                }
            }
            let [hand, design] = measured.map(|measured| (measured.p50(), measured.per_second(time * TURNS)));
            println!(
                "{what:<10} {connections:>11} {:>11.1} µs {:>11.1} µs {:>6.2} {:>14.0} {:>14.0} {:>6.2}",
                hand.0, design.0, design.0 / hand.0, hand.1, design.1, hand.1 / design.1
            );
        }
    }
}

/// The latencies of one kind of request.
struct Measured(Histogram<u64>);

impl Measured {
    fn new() -> Measured {
        Measured(Histogram::new_with_bounds(1, LATENCY_NANOSECONDS_MAX, 3).expect("a histogram"))
    }

    /// Sends requests over some connections for some time, each when the one before is answered.
    fn add(&mut self, address: &str, what: &str, connections: usize, time: Duration, numbers: &AtomicUsize) {
        let end = Instant::now() + time;
        let one = || {
            let mut connection = Connection::open(address);
            let mut latencies = Vec::new();
            while Instant::now() < end {
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                let request = request(what, number);
                let sent = Instant::now();
                connection.send(&request);
                latencies.push(sent.elapsed());
            }
            latencies
        };
        let all = std::thread::scope(|scope| {
            let threads = (0..connections).map(|_| scope.spawn(one)).collect::<Vec<_>>();
            threads.into_iter().flat_map(|thread| thread.join().expect("a client")).collect::<Vec<_>>()
        });
        for latency in all {
            self.0.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    fn p50(&self) -> f64 {
        self.0.value_at_quantile(0.5) as f64 / 1_000.0
    }

    fn per_second(&self, time: Duration) -> f64 {
        self.0.len() as f64 / time.as_secs_f64()
    }
}

fn request(what: &str, number: usize) -> String {
    // An update that changes nothing is not written: devices are updated again and again, each time with another token.
    let updated = number % DEVICES;
    match what {
        "hand-get" => by_hand("GetItem", &json!({ "TableName": TABLE, "Key": key("USER#ada", "METADATA") })),
        "design-get" => plain("GET", "entities/User/ada", None),
        "hand-pattern" => by_hand(
            "Query",
            &json!({ "TableName": TABLE, "KeyConditionExpression": "PK = :p AND begins_with(SK, :s)", "Limit": 100,
            "ExpressionAttributeValues": { ":p": { "S": "USER#ada" }, ":s": { "S": "BATCH#" } } }),
        ),
        "design-pattern" => plain("GET", "patterns/batches?userId=ada", None),
        "hand-create" => by_hand(
            "PutItem",
            &json!({ "TableName": TABLE, "ConditionExpression": "attribute_not_exists(PK)", "Item": stored(number + 1_000_000) }),
        ),
        "design-create" => create("Device", &device(number + 1_000_000)),
        "hand-update" => by_hand(
            "UpdateItem",
            &json!({ "TableName": TABLE, "Key": key("USER#eve", &format!("DEVICE#d{updated}")),
            "UpdateExpression": "SET pushToken = :t, lastSeenAt = :s", "ConditionExpression": "attribute_exists(PK)", "ReturnValues": "ALL_NEW",
            "ExpressionAttributeValues": { ":t": { "S": format!("token {number}") }, ":s": { "S": "2024-06-02T12:00:00.000Z" } } }),
        ),
        "design-update" => plain(
            "PATCH",
            &format!("entities/Device/eve/d{updated}"),
            Some(&json!({ "pushToken": format!("token {number}"), "lastSeenAt": "2024-06-02T12:00:00.000Z" })),
        ),
        "hand-delete" => by_hand(
            "DeleteItem",
            &json!({ "TableName": TABLE, "Key": key("USER#eve", &format!("DEVICE#d{number}")), "ConditionExpression": "attribute_exists(PK)" }),
        ),
        "design-delete" => plain("DELETE", &format!("entities/Device/eve/d{number}"), None),
        other => panic!("no such request: {other}"),
    }
}

fn key(partition: &str, sort: &str) -> Value {
    json!({ "PK": { "S": partition }, "SK": { "S": sort } })
}

fn batch(number: usize) -> Value {
    json!({ "batchId": format!("01HMZ1000000000000000{number:05}"), "userId": "ada", "name": format!("Batch {number}"), "waterVolumeMl": 1000,
        "sugarGrams": 60.5, "fruits": "figs and lemons", "temperatureC": 21.5, "startTime": "2024-06-01T12:00:00.000Z", "targetHoursStage1": 48 })
}

fn device(number: usize) -> Value {
    json!({ "deviceId": format!("d{number}"), "userId": "eve", "platform": "ios", "pushToken": "a token of some length",
        "deviceInfo": { "model": "telephone", "osVersion": "17.1", "appVersion": "1.0" }, "lastSeenAt": "2024-06-01T12:00:00.000Z" })
}

/// A device as somebody would write it by hand.
fn stored(number: usize) -> Value {
    let text = |value: &str| json!({ "S": value });
    json!({ "PK": text("USER#eve"), "SK": text(&format!("DEVICE#d{number}")), "deviceId": text(&format!("d{number}")), "userId": text("eve"),
        "platform": text("ios"), "pushToken": text("a token of some length"),
        "deviceInfo": { "M": { "model": text("telephone"), "osVersion": text("17.1"), "appVersion": text("1.0") } },
        "createdAt": text("2024-06-01T12:00:00.000Z"), "lastSeenAt": text("2024-06-01T12:00:00.000Z") })
}

fn create(entity: &str, item: &Value) -> String {
    plain("POST", &format!("entities/{entity}"), Some(item))
}

fn plain(method: &str, path: &str, body: Option<&Value>) -> String {
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!("{method} /v1/kefir/{path} HTTP/1.1\r\nHost: localhost\r\n");
    if body.is_empty() {
        return format!("{head}\r\n");
    }
    format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The headers that an AWS SDK sends.
fn by_hand(operation: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=b\r\n\
         X-Amz-Date: 20150830T123600Z\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A connection that is kept open.
struct Connection {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
}

impl Connection {
    fn open(address: &str) -> Connection {
        let stream = TcpStream::connect(address).expect("a server");
        stream.set_nodelay(true).expect("a socket");
        Connection { reader: BufReader::new(stream.try_clone().expect("a socket")), stream }
    }

    /// Sends a request, which must succeed, and reads its answer.
    fn send(&mut self, request: &str) {
        self.stream.write_all(request.as_bytes()).expect("a request");
        let (mut length, mut is_first, mut line) = (0, true, String::new());
        loop {
            line.clear();
            self.reader.read_line(&mut line).expect("an answer");
            assert!(!std::mem::take(&mut is_first) || line.starts_with("HTTP/1.1 20"), "{request}: {line}");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().expect("a number");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).expect("a body");
    }
}
