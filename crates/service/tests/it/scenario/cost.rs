//! What the layer costs: a request of a design beside the same DynamoDB request written by hand, both over HTTP on the same engine.
//! Run with `--ignored --nocapture`. The kinds of requests take turns, so that whatever else the machine does meets all of them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::world::World;

const ROUNDS: usize = 4_000;

/// A connection that is kept open.
struct Connection {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    fn open(world: &World) -> Connection {
        let stream = TcpStream::connect(world.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection {
            reader: BufReader::new(stream.try_clone().unwrap()),
            stream,
            line: String::new(),
            body: Vec::new(),
        }
    }

    /// Sends a request and waits for its answer; how long that took.
    fn time(&mut self, request: &str) -> Duration {
        let started = Instant::now();
        self.stream.write_all(request.as_bytes()).unwrap();
        let mut length = 0;
        let mut is_first = true;
        loop {
            self.line.clear();
            self.reader.read_line(&mut self.line).unwrap();
            if std::mem::take(&mut is_first) {
                assert!(self.line.starts_with("HTTP/1.1 20"), "{}", self.line);
            }
            if let Some(value) = self.line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            if self.line == "\r\n" {
                break;
            }
        }
        self.body.resize(length, 0);
        self.reader.read_exact(&mut self.body).unwrap();
        started.elapsed()
    }
}

fn by_hand(operation: &str, body: &serde_json::Value) -> String {
    let body = body.to_string();
    format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=a/20150830/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=b\r\n\
         X-Amz-Date: 20150830T123600Z\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Prints both medians and their ratio.
fn compare(
    world: &World,
    what: &str,
    by_hand: impl Fn(usize) -> String,
    by_design: impl Fn(usize) -> String,
) {
    let (mut hand, mut design) = (Connection::open(world), Connection::open(world));
    let (mut hand_times, mut design_times) = (Vec::new(), Vec::new());
    for number in 0..ROUNDS {
        hand_times.push(hand.time(&by_hand(number)));
        design_times.push(design.time(&by_design(number)));
    }
    let (hand, design) = (median(&mut hand_times), median(&mut design_times));
    println!(
        "{what}: by hand {hand:?}, through the design {design:?}, {:.2} times",
        design.as_secs_f64() / hand.as_secs_f64()
    );
}

#[test]
#[ignore = "measures time"]
fn beside_requests_written_by_hand() {
    let world = World::of("kefir");
    let table = "kefir-app-dev-table";
    let query = by_hand(
        "Query",
        &json!({ "TableName": table, "KeyConditionExpression": "PK = :p AND begins_with(SK, :s)", "ExpressionAttributeValues": { ":p": { "S": "USER#ada" }, ":s": { "S": "BATCH#" } } }),
    );
    let pattern = "GET /v1/kefir/patterns/batches?userId=ada HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned();
    compare(&world, "a pattern of two items", |_| query.clone(), |_| pattern.clone());

    let get = by_hand(
        "GetItem",
        &json!({ "TableName": table, "Key": { "PK": { "S": "USER#ada" }, "SK": { "S": "METADATA" } } }),
    );
    let item = "GET /v1/kefir/entities/User/ada HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned();
    compare(&world, "one item", |_| get.clone(), |_| item.clone());

    let put = |number: usize| {
        let id = format!("hand{number}");
        let text = |value: &str| json!({ "S": value });
        by_hand(
            "PutItem",
            &json!({ "TableName": table, "ConditionExpression": "attribute_not_exists(PK)", "Item": {
            "PK": text("USER#eve"), "SK": text(&format!("DEVICE#{id}")), "deviceId": text(&id), "userId": text("eve"), "platform": text("ios"),
            "pushToken": text("t"), "createdAt": text("2024-06-01T12:00:00.000Z"), "lastSeenAt": text("2024-06-01T12:00:00.000Z"),
        } }),
        )
    };
    let create = |number: usize| {
        let body = json!({ "deviceId": format!("design{number}"), "userId": "eve", "platform": "ios", "pushToken": "t", "lastSeenAt": "2024-06-01T12:00:00.000Z" }).to_string();
        format!(
            "POST /v1/kefir/entities/Device HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    compare(&world, "a write of one item", put, create);
}
