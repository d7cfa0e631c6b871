//! The database that is damaged, and what it is asked: a table with everything that a table can have, items of up to 8 KB that do
//! not compress, tables of files on several levels, and a journal.

use std::path::Path;
use std::sync::Arc;

use dynamo::Operation;
use serde_json::{Value, json};

use super::super::tests::make_table;
use super::places::Random;
use crate::clock::ManualClock;
use crate::engine::Engine;
use crate::options::Options;
use crate::store::{FjallStore, StoreOptions};
use crate::testing::{Bench, START_MILLISECONDS};

const ITEMS: usize = 160;
const ITEM_BYTES_MAX: usize = 8_000;
/// Items that each later round writes again.
const CHANGED: usize = 60;
/// Rounds are this far apart.
const ROUND_SECONDS: i64 = 100;

/// How much is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Questions,
    /// Also what a restore of a backup and of a moment gives.
    WithRestores,
}

/// Makes the database and returns what it answers.
pub(super) fn make(path: &Path) -> Vec<Vec<u8>> {
    let options = StoreOptions { reserve_bytes: 0, ..StoreOptions::default() };
    let store = Arc::new(FjallStore::open(path, options).unwrap());
    let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS));
    let engine = Engine::start(store.clone(), engine_options(&clock)).unwrap();
    let bench = Bench { engine, clock };
    make_table(&bench);
    for round in 0..4 {
        write(&bench, round);
        bench.clock.advance_seconds(ROUND_SECONDS);
        match round {
            0 => store.merge_all_tables(),
            1 | 2 => store.flush_to_table(),
            // The last round stays in the journal.
            _ => {}
        }
    }
    drop(store);
    drop(bench);
    // The journal begins as 64 MB of zeros; opening it again leaves what is in it.
    drop(open(path).unwrap());
    // Restores write, so the answers come from a copy.
    let copy = super::folder();
    let files = super::places::Files::read(path);
    files.write_whole(copy.path());
    let bench = open(copy.path()).unwrap();
    answers(&bench, Depth::WithRestores).unwrap()
}

fn write(bench: &Bench, round: usize) {
    let mut random = Random(round as u64);
    for place in 0..if round == 0 { ITEMS } else { CHANGED } {
        let number = if round == 0 { place } else { random.below(ITEMS) };
        let length = random.below(ITEM_BYTES_MAX);
        let words: Vec<String> = (0..length / 16).map(|_| format!("{:016x}", random.next())).collect();
        let text = words.concat();
        let item = json!({
            "pk": { "S": format!("item-{number}") },
            "day": { "S": format!("day-{}", (number + round) % 7) },
            "ttl": { "N": (1_900_000_000 + number).to_string() },
            "text": { "S": text },
        });
        bench.put("Orders", &item);
    }
    bench.ok(
        "DeleteItem",
        &json!({ "TableName": "Orders", "Key": { "pk": { "S": format!("item-{round}") } } }),
    );
    if round == 1 {
        bench.ok("CreateBackup", &json!({ "TableName": "Orders", "BackupName": "mine" }));
    }
    bench.keep_house();
}

fn engine_options(clock: &Arc<ManualClock>) -> Options {
    Options { clock: clock.clone(), housekeeping: None, reserve_bytes: 0, ..Options::default() }
}

/// Opens a copy of the database, at a later moment that is always the same.
pub(super) fn open(path: &Path) -> Result<Bench, String> {
    let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS + 1_000_000));
    let options = Options { cache_bytes: 1 << 20, ..engine_options(&clock) };
    let engine = Engine::open(path, options).map_err(|error| error.to_string())?;
    Ok(Bench { engine, clock })
}

/// Everything that can be asked.
pub(super) fn answers(bench: &Bench, depth: Depth) -> Result<Vec<Vec<u8>>, String> {
    let mut answers = vec![
        ask(bench, "DescribeTable", json!({ "TableName": "Orders" }))?,
        ask(bench, "Scan", json!({ "TableName": "Orders" }))?,
        ask(bench, "Scan", json!({ "TableName": "Orders", "IndexName": "byDay" }))?,
        ask(bench, "DescribeContinuousBackups", json!({ "TableName": "Orders" }))?,
        ask(bench, "ListBackups", json!({ "BackupType": "ALL" }))?,
    ];
    // Some of them are not there.
    for number in (0..ITEMS + 40).step_by(5) {
        let key = json!({ "pk": { "S": format!("item-{number}") } });
        answers.push(ask(bench, "GetItem", json!({ "TableName": "Orders", "Key": key }))?);
    }
    answers.extend(records(bench, &parse(&answers[0])["Table"]["LatestStreamArn"])?);
    if depth == Depth::WithRestores {
        answers.extend(restores(bench, &parse(&answers[4])["BackupSummaries"][0]["BackupArn"])?);
    }
    Ok(answers)
}

/// All records of a stream.
fn records(bench: &Bench, stream: &Value) -> Result<Vec<Vec<u8>>, String> {
    let described = parse(&ask(bench, "DescribeStream", json!({ "StreamArn": stream }))?);
    let shard = &described["StreamDescription"]["Shards"][0]["ShardId"];
    let start = json!({ "StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON" });
    let mut iterator = parse(&ask(bench, "GetShardIterator", start)?)["ShardIterator"].clone();
    let mut pages = Vec::new();
    loop {
        let page = parse(&ask(bench, "GetRecords", json!({ "ShardIterator": iterator }))?);
        if page["Records"].as_array().is_none_or(Vec::is_empty) {
            return Ok(pages);
        }
        pages.push(page["Records"].to_string().into_bytes());
        iterator = page["NextShardIterator"].clone();
    }
}

/// The items of a backup, and those of a moment after the first round.
fn restores(bench: &Bench, backup: &Value) -> Result<Vec<Vec<u8>>, String> {
    let request = json!({ "TargetTableName": "FromBackup", "BackupArn": backup });
    ask(bench, "RestoreTableFromBackup", request)?;
    let moment = START_MILLISECONDS / 1000 + ROUND_SECONDS / 2;
    let request = json!({
        "SourceTableName": "Orders", "TargetTableName": "FromMoment", "RestoreDateTime": moment,
    });
    ask(bench, "RestoreTableToPointInTime", request)?;
    bench.engine.keep_house().map_err(|error| error.to_string())?;
    let scan = |name: &str| ask(bench, "Scan", json!({ "TableName": name }));
    Ok(vec![scan("FromBackup")?, scan("FromMoment")?])
}

/// The bytes of a reply.
fn ask(bench: &Bench, name: &str, request: Value) -> Result<Vec<u8>, String> {
    let operation =
        Operation::parse(name, request.to_string().as_bytes()).map_err(|error| error.to_string())?;
    let mut body = Vec::new();
    bench.engine.run(operation).map_err(|error| error.to_string())?.write_json(&mut body);
    Ok(body)
}

fn parse(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}
