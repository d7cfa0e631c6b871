//! The workloads: what each connection sends.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use super::connection::Connection;
use super::template::{PLACEHOLDER, Template};
use crate::item::{group, item, partition, sort};
use crate::memory::TABLE;

/// How many items a table is filled with before it is measured.
pub const ITEMS: usize = 10_000;
const TARGET: &str = "DynamoDB_20120810.";
/// Any will do where no credentials are configured, and the peers want to see some.
const AUTHORIZATION: &str = "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, \
    SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000000000000000000000000000000000000000000000000000000000000000";

/// How many different bodies a workload has, beside their keys.
const BODIES: usize = 64;

/// A request again and again, each time with other keys.
#[derive(Clone)]
pub struct Workload {
    pub name: &'static str,
    templates: Arc<[Template]>,
    items: Items,
}

/// Which items a workload is about.
#[derive(Clone, Copy)]
enum Items {
    /// One of those that the table was filled with, so many.
    Existing(usize),
    /// So many in each request that are not there yet, from this number on.
    New { each: usize, from: usize },
}

impl Items {
    fn first(self, turn: u64) -> usize {
        match self {
            Items::Existing(count) => usize::try_from(scattered(turn)).expect("64 bits") % count,
            Items::New { each, from } => from + usize::try_from(turn).expect("64 bits") * each,
        }
    }
}

impl Workload {
    /// A workload whose requests have bodies made of the number of a body.
    fn new(name: &'static str, operation: &str, items: Items, body: impl Fn(usize) -> String) -> Workload {
        let each = if let Items::New { each, .. } = items { each } else { 1 };
        let templates = (0..BODIES).map(|number| {
            let mut request = Vec::new();
            write_request(operation, body(number).as_bytes(), &mut request);
            Template::new(request, each)
        });
        Workload { name, templates: templates.collect(), items }
    }

    /// Writes the request that a connection sends in a turn.
    pub fn write(&self, connection: usize, connections: usize, turn: u64, request: &mut Vec<u8>) {
        let turn = turn * connections as u64 + connection as u64;
        let template = usize::try_from(turn).expect("64 bits") % self.templates.len();
        self.templates[template].write(self.items.first(turn), request);
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

fn item_json(n: usize) -> String {
    let stored = dynamo::StoredItem::encode(&item(n));
    let mut text = Vec::new();
    dynamo::write_stored_item(&stored, &mut text);
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn key_json(n: usize) -> String {
    format!(r#"{{"pk":{{"S":"{}"}},"sk":{{"S":"{}"}}}}"#, partition(n), sort(n))
}

/// An item with the text of one number under the keys of another.
fn body_json(body: usize, number: usize) -> String {
    let text = item_json(body);
    text.replacen(&sort(body), &sort(number), 1).replacen(&partition(body), &partition(number), 1)
}

/// All workloads on a table of so many items. `run` keeps what one run writes apart from what others wrote.
pub fn workloads(run: usize, items: usize) -> Vec<Workload> {
    let existing = Items::Existing(items);
    let new = |place: usize, each| Items::New { each, from: 20_000_000 + (run * 3 + place) * 40_000_000 };
    let key = key_json(PLACEHOLDER);
    let put = |body, offset| format!(r#"{{"Item":{}}}"#, body_json(body, PLACEHOLDER + offset));
    let transacted = |body, offset| {
        format!(r#"{{"Put":{{"TableName":"Items","Item":{}}}}}"#, body_json(body, PLACEHOLDER + offset))
    };
    vec![
        Workload::new("GetItem", "GetItem", existing, |_| format!(r#"{{"TableName":"Items","Key":{key}}}"#)),
        Workload::new("PutItem", "PutItem", new(0, 1), |body| {
            format!(r#"{{"TableName":"Items","Item":{}}}"#, body_json(body, PLACEHOLDER))
        }),
        Workload::new("Query of 20", "Query", existing, |_| {
            let values = format!(r#"{{":p":{{"S":"{}"}}}}"#, partition(PLACEHOLDER));
            format!(
                r#"{{"TableName":"Items","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{values}}}"#
            )
        }),
        Workload::new("Query of 20, index", "Query", existing, |_| {
            let values = format!(r#"{{":p":{{"S":"{}"}}}}"#, group(PLACEHOLDER));
            format!(
                r#"{{"TableName":"Items","IndexName":"ByStatus","Limit":20,"KeyConditionExpression":"gpk = :p","ExpressionAttributeValues":{values}}}"#
            )
        }),
        Workload::new("Update counter", "UpdateItem", existing, |_| {
            format!(
                r#"{{"TableName":"Items","Key":{key},"UpdateExpression":"ADD hits :one","ExpressionAttributeValues":{{":one":{{"N":"1"}}}}}}"#
            )
        }),
        Workload::new("TransactWrite of 3", "TransactWriteItems", new(1, 3), |body| {
            let parts: Vec<String> = (0..3).map(|offset| transacted(body, offset)).collect();
            format!(r#"{{"TransactItems":[{}]}}"#, parts.join(","))
        }),
        Workload::new("BatchWrite of 25", "BatchWriteItem", new(2, 25), |body| {
            let parts: Vec<String> =
                (0..25).map(|offset| format!(r#"{{"PutRequest":{}}}"#, put(body, offset))).collect();
            format!(r#"{{"RequestItems":{{"Items":[{}]}}}}"#, parts.join(","))
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
pub async fn fill(server: SocketAddr, items: usize) -> io::Result<()> {
    let mut connection = Connection::open(server).await?;
    for start in (0..items).step_by(25) {
        let puts: Vec<String> = (start..start + 25)
            .map(|n| {
                let item = item_json(n).replacen(&format!("STATUS#{:05}", n % 50_021), &group(n), 1);
                format!(r#"{{"PutRequest":{{"Item":{item}}}}}"#)
            })
            .collect();
        let body = format!(r#"{{"RequestItems":{{"Items":[{}]}}}}"#, puts.join(","));
        send(&mut connection, "BatchWriteItem", &body).await?;
    }
    Ok(())
}
