//! The workloads: what each connection sends.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use super::connection::Connection;
use crate::item::{item, partition, sort};
use crate::memory::TABLE;

/// How many items a table is filled with before it is measured.
pub const ITEMS: usize = 10_000;
const TARGET: &str = "DynamoDB_20120810.";
/// Any will do where no credentials are configured, and the peers want to see some.
const AUTHORIZATION: &str = "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, \
    SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000000000000000000000000000000000000000000000000000000000000000";

type MakeBody = dyn Fn(u64, &mut Vec<u8>) + Send + Sync;

/// A request again and again, each time a little different.
#[derive(Clone)]
pub struct Workload {
    pub name: &'static str,
    operation: &'static str,
    make: Arc<MakeBody>,
}

impl Workload {
    fn new(
        name: &'static str,
        operation: &'static str,
        make: impl Fn(u64, &mut Vec<u8>) + Send + Sync + 'static,
    ) -> Workload {
        Workload { name, operation, make: Arc::new(make) }
    }

    /// Writes the request that a connection sends in a turn.
    pub fn write(&self, connection: usize, connections: usize, turn: u64, request: &mut Vec<u8>) {
        let mut body = Vec::with_capacity(2048);
        (self.make)(turn * connections as u64 + connection as u64, &mut body);
        write_request(self.operation, &body, request);
    }
}

fn write_request(operation: &str, body: &[u8], request: &mut Vec<u8>) {
    request.clear();
    write!(
        request,
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-target: {TARGET}{operation}\r\n\
         x-amz-date: 20260101T000000Z\r\nauthorization: {AUTHORIZATION}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    )
    .expect("writing to memory");
    request.extend_from_slice(body);
}

/// A number that looks random.
fn scattered(n: u64) -> u64 {
    let mixed = (n ^ (n >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 16
}

fn existing(n: u64) -> usize {
    usize::try_from(scattered(n) % ITEMS as u64).expect("small")
}

/// Numbers of items that are not there yet; runs do not meet, as each has a place of its own.
fn fresh(run: u64, n: u64) -> usize {
    usize::try_from(1_000_000 + run * 50_000_000 + n).expect("64 bits")
}

fn item_json(n: usize) -> String {
    let stored = dynamo::StoredItem::encode(&item(n));
    let mut text = Vec::new();
    dynamo::write_stored_item(&stored, &mut text);
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn key_json(n: usize) -> String {
    format!(r#"{{"pk":{{"S":"{}"}},"sk":{{"S":"{}"}}}}"#, partition(n), sort(n))
}

/// All workloads. `run` keeps what one run writes apart from what others wrote.
pub fn workloads(run: u64) -> Vec<Workload> {
    // Made beforehand: making an item costs the client more than the server needs to store it.
    let bodies: Arc<Vec<String>> = Arc::new((0..512).map(item_json).collect());
    let body_of = move |number: usize| {
        let template = &bodies[number % bodies.len()];
        template.replacen(&sort(number % 512), &sort(number), 1).replacen(
            &partition(number % 512),
            &partition(number),
            1,
        )
    };
    let body = Arc::new(body_of);
    let (one, three, many) = (body.clone(), body.clone(), body);
    vec![
        Workload::new("GetItem", "GetItem", |n, out| {
            write!(out, r#"{{"TableName":"Items","Key":{}}}"#, key_json(existing(n))).expect("memory");
        }),
        Workload::new("PutItem", "PutItem", move |n, out| {
            write!(out, r#"{{"TableName":"Items","Item":{}}}"#, one(fresh(run, n))).expect("memory");
        }),
        Workload::new("Query of 20", "Query", |n, out| {
            write!(
                out,
                r#"{{"TableName":"Items","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{{":p":{{"S":"{}"}}}}}}"#,
                partition(existing(n))
            )
            .expect("memory");
        }),
        Workload::new("Query of 20, index", "Query", |n, out| {
            write!(
                out,
                r#"{{"TableName":"Items","IndexName":"ByStatus","Limit":20,"KeyConditionExpression":"gpk = :p","ExpressionAttributeValues":{{":p":{{"S":"GROUP#{:05}"}}}}}}"#,
                existing(n) / 20
            )
            .expect("memory");
        }),
        Workload::new("Update counter", "UpdateItem", |n, out| {
            write!(
                out,
                r#"{{"TableName":"Items","Key":{},"UpdateExpression":"ADD hits :one","ExpressionAttributeValues":{{":one":{{"N":"1"}}}}}}"#,
                key_json(existing(n))
            )
            .expect("memory");
        }),
        Workload::new("TransactWrite of 3", "TransactWriteItems", move |n, out| {
            let put = |k| {
                format!(r#"{{"Put":{{"TableName":"Items","Item":{}}}}}"#, three(fresh(run + 1, n * 3 + k)))
            };
            write!(out, r#"{{"TransactItems":[{},{},{}]}}"#, put(0), put(1), put(2)).expect("memory");
        }),
        Workload::new("BatchWrite of 25", "BatchWriteItem", move |n, out| {
            let puts: Vec<String> = (0..25)
                .map(|k| format!(r#"{{"PutRequest":{{"Item":{}}}}}"#, many(fresh(run + 2, n * 25 + k))))
                .collect();
            write!(out, r#"{{"RequestItems":{{"Items":[{}]}}}}"#, puts.join(",")).expect("memory");
        }),
    ]
}

/// Makes the table on a server.
pub async fn create_tables(server: SocketAddr) -> io::Result<()> {
    send(&mut Connection::open(server).await?, "CreateTable", TABLE).await
}

async fn send(connection: &mut Connection, operation: &str, body: &str) -> io::Result<()> {
    let mut request = Vec::new();
    write_request(operation, body.as_bytes(), &mut request);
    match connection.exchange(&request).await? {
        200 => Ok(()),
        status => {
            let text = String::from_utf8_lossy(connection.body()).into_owned();
            Err(io::Error::other(format!("{operation} was answered with {status}: {text}")))
        }
    }
}

/// Fills the table with its items: twenty in each partition, and in the index twenty under each key.
pub async fn fill(server: SocketAddr) -> io::Result<()> {
    let mut connection = Connection::open(server).await?;
    for start in (0..ITEMS).step_by(25) {
        let puts: Vec<String> = (start..start + 25)
            .map(|n| {
                let item = item_json(n).replacen(
                    &format!("STATUS#{:05}", n % 50_021),
                    &format!("GROUP#{:05}", n / 20),
                    1,
                );
                format!(r#"{{"PutRequest":{{"Item":{item}}}}}"#)
            })
            .collect();
        let body = format!(r#"{{"RequestItems":{{"Items":[{}]}}}}"#, puts.join(","));
        send(&mut connection, "BatchWriteItem", &body).await?;
    }
    Ok(())
}
