//! A large database: its size on disk, its memory, and how long it takes to answer again after a kill.

use std::time::Duration;

use super::Compare;
use crate::load;
use crate::process::{Place, Running};
use crate::servers::{self, DURABLE};
use crate::workloads::{fill_items, get_item};

/// What a large database takes.
pub struct Reopened {
    pub items: u64,
    pub fill_seconds: f64,
    pub resident_bytes: u64,
    pub disk_bytes: u64,
    /// What DynamoDB says that the table and its index hold.
    pub table_bytes: u64,
    pub index_bytes: u64,
    /// From the start of the process to the first answer, several times, each after a kill.
    pub first_answers: Vec<Duration>,
    /// Memory after the last of them and a few reads.
    pub reopened_bytes: u64,
}

/// More than enough to fill it.
const PATIENCE: Duration = Duration::from_secs(3600);
const KILLS: usize = 3;

pub fn measure(options: &Compare, place: &Place) -> Result<Reopened, String> {
    let ours = servers::all().into_iter().find(|server| server.name == DURABLE).expect("ours is among them");
    let mut running = Running::start(ours, place)?;
    let started = std::time::Instant::now();
    let items = fill_items(running.address, options.reopen_items, PATIENCE)?;
    let fill_seconds = started.elapsed().as_secs_f64();
    reopen(&mut running, items, fill_seconds)
}

/// Measures a database that was just filled, kills it and opens it again.
pub fn reopen(running: &mut Running, items: u64, fill_seconds: f64) -> Result<Reopened, String> {
    let resident_bytes = running.resident_bytes();
    let (table_bytes, index_bytes) = dynamo_bytes(running)?;
    let disk_bytes = running.settled_disk_bytes();
    let mut first_answers = Vec::new();
    for _ in 0..KILLS {
        running.restart_after_kill()?;
        first_answers.push(running.first_answer);
        load::try_out(running.address, &mut get_item(items))?;
    }
    let reopened_bytes = running.resident_bytes();
    Ok(Reopened {
        items,
        fill_seconds,
        resident_bytes,
        disk_bytes,
        table_bytes,
        index_bytes,
        first_answers,
        reopened_bytes,
    })
}

/// The sizes of the table and of its index, as DescribeTable tells them.
fn dynamo_bytes(running: &Running) -> Result<(u64, u64), String> {
    let answer = load::ask(running.address, "DescribeTable", r#"{"TableName":"Items"}"#)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let described: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let size = |path: &str| described.pointer(path).and_then(serde_json::Value::as_u64);
    size("/Table/TableSizeBytes")
        .zip(size("/Table/GlobalSecondaryIndexes/0/IndexSizeBytes"))
        .ok_or_else(|| "DescribeTable tells no sizes".to_owned())
}
