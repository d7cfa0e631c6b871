//! What a killed process leaves behind.
//!
//! A child process writes with several threads and tells of every write, once before and once after it was acknowledged. It is
//! killed at a random moment. Then every acknowledged write is there, no transaction is torn, indexes are what the items imply, and
//! the stream leads to the items. The directory lives on from kill to kill, so the database grows; now and then it is a new one,
//! so that its creation is interrupted, too.
//!
//! `MONOTABLE_CRASH_KILLS` asks for more kills.

pub(crate) mod process;
mod steps;
pub(crate) mod tracker;
pub(crate) mod workload;
pub(crate) mod writer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dynamo::operation::{
    DescribeStream, GetRecords, GetShardIterator, GlobalSecondaryIndexUpdate, ShardIteratorType,
};
use monotable_engine::{Durability, Engine, Options};
use seal::{KeyBytes, KeySource, LocalKey, MasterKey, SealError};

use crate::design::Sortable;
use crate::random::Random;
use crate::requests::describe;
use crate::verify::{Items, same, verify_stream, verify_table};
use process::Child;
use tracker::Tracker;
use workload::TABLES;
use writer::Writer;

const KILLS: usize = 200;
/// Each directory is used for so many kills.
const KILLS_PER_DIRECTORY: usize = 25;
const LIFE_MILLISECONDS: usize = 120;

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    kill_again_and_again(PLAIN, KILLS);
}

/// Among these lives are some in which the data key is replaced.
#[test]
fn nothing_acknowledged_is_lost_of_an_encrypted_database_when_the_process_is_killed() {
    kill_again_and_again(ENCRYPTED, KILLS / 4);
}

/// The ledger has a key of its own, which is changed, given up and got again; and the data keys are replaced.
#[test]
fn nothing_acknowledged_is_lost_of_tables_with_keys_of_their_own_when_the_process_is_killed() {
    kill_again_and_again(KEYED, KILLS / 4);
}

fn kill_again_and_again(name: &'static str, kills: usize) {
    let kills = std::env::var("MONOTABLE_CRASH_KILLS").map_or(kills, |text| text.parse().unwrap());
    let mut random = Random::new(Random::new_seed());
    let mut acknowledged = 0;
    for first in (0..kills).step_by(KILLS_PER_DIRECTORY) {
        let mut database = Database::new(name, first / KILLS_PER_DIRECTORY % 4 != 3);
        for life in first..kills.min(first + KILLS_PER_DIRECTORY) {
            // Some lives end while the database is being made or opened.
            let is_short = life == first || random.once_in(5);
            let most = if is_short { LIFE_MILLISECONDS / 4 } else { LIFE_MILLISECONDS };
            let lived = Duration::from_millis(random.below(most) as u64);
            let reports = database.live(life, lived, is_short);
            acknowledged += reports.iter().filter(|report| report.starts_with("done")).count();
            if let Err(difference) = database.check(&reports) {
                let kept = database.directory.keep();
                panic!("life {life}, killed after {lived:?}: {difference}\nleft in {}", kept.display());
            }
        }
        database.check_stream().unwrap();
    }
    println!("{acknowledged} acknowledged writes in {kills} lives");
    assert!(acknowledged > kills, "the children wrote: {acknowledged} writes in {kills} lives");
}

/// A database that outlives its processes.
struct Database {
    directory: tempfile::TempDir,
    tracker: Tracker,
    replayed: BTreeMap<&'static str, Replayed>,
    /// What its directory is called, which says whether it is encrypted.
    name: &'static str,
    /// Whether each write waits for the disk, or for the operating system only: a kill takes nothing in either case.
    syncs: bool,
}

/// How far a stream was read, and what it led to.
#[derive(Default)]
struct Replayed {
    last_number: Option<String>,
    items: Items,
}

impl Database {
    fn new(name: &'static str, syncs: bool) -> Database {
        let now = monotable_engine::Clock::now_milliseconds(&monotable_engine::SystemClock);
        Database {
            directory: tempfile::tempdir().unwrap(),
            tracker: Tracker::new(u64::try_from(now / 1000 - 60).unwrap()),
            replayed: BTreeMap::new(),
            name,
            syncs,
        }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join(self.name)
    }

    /// Adds a data key to a database that is in use.
    fn replace_data_key(&self) {
        if let Some(key) = key_of(&self.path()).filter(|_| self.path().join("envelope").exists()) {
            monotable_engine::add_data_key(self.path(), &*key).unwrap();
        }
    }

    /// Lets a child write for a while and kills it.
    fn live(&self, life: usize, lived: Duration, is_short: bool) -> Vec<String> {
        let variables = [
            (LIFE, (life + 1).to_string()),
            (EXPIRY_SECONDS, self.tracker.expiry_seconds.to_string()),
            (SYNCS, self.syncs.to_string()),
        ];
        let child = Child::start("crash::child_that_writes_until_it_is_killed", &self.path(), &variables);
        if !is_short {
            child.wait_for_report();
            if life.is_multiple_of(2) {
                self.replace_data_key();
            }
        }
        std::thread::sleep(lived);
        child.kill()
    }

    /// Opens the database and compares it with what the child reported.
    fn check(&mut self, reports: &[String]) -> Result<(), String> {
        self.tracker.take(reports);
        let engine = open(&self.path()).map_err(|error| error.to_string())?;
        engine.keep_house().map_err(|error| error.to_string())?;
        let mut tables = Vec::new();
        for table in &TABLES {
            if describe(&engine, table.name).is_err() {
                tables.push(Items::new());
                continue;
            }
            let items = verify_table(&engine, table)?;
            let replayed = self.replayed.entry(table.name).or_default();
            replayed.go_on(&engine, table.name)?;
            same(&format!("{}: items replayed from the stream", table.name), &replayed.items, &items)?;
            tables.push(items);
        }
        self.tracker.settle(&tables)
    }

    /// Replays the whole stream.
    fn check_stream(&self) -> Result<(), String> {
        let engine = open(&self.path()).map_err(|error| error.to_string())?;
        for table in &TABLES {
            if let Some(replayed) = self.replayed.get(table.name) {
                verify_stream(&engine, table, &replayed.items)?;
            }
        }
        Ok(())
    }
}

impl Replayed {
    /// Replays what the stream has got since.
    fn go_on(&mut self, engine: &Engine, table: &str) -> Result<(), String> {
        let failed = |error: dynamo::ApiError| error.to_string();
        let Some(arn) = describe(engine, table).map_err(failed)?.latest_stream_arn else { return Ok(()) };
        let request = DescribeStream { stream_arn: Some(arn.clone()), ..DescribeStream::default() };
        let shards = engine.describe_stream(request).map_err(failed)?.stream_description.unwrap().shards;
        let (kind, sequence_number) = match &self.last_number {
            Some(number) => (ShardIteratorType::AfterSequenceNumber, Some(number.clone())),
            None => (ShardIteratorType::TrimHorizon, None),
        };
        let request = GetShardIterator {
            stream_arn: Some(arn),
            shard_id: shards.unwrap()[0].shard_id.clone(),
            shard_iterator_type: Some(kind.into()),
            sequence_number,
            timestamp: None,
        };
        let mut iterator = engine.get_shard_iterator(request).map_err(failed)?.shard_iterator;
        while let Some(place) = iterator {
            let request = GetRecords { shard_iterator: Some(place), limit: None };
            let reply = engine.get_records(request).map_err(failed)?;
            iterator = reply.next_shard_iterator.filter(|_| !reply.records.is_empty());
            for record in reply.records {
                self.take(&record.dynamodb.unwrap());
            }
        }
        Ok(())
    }

    fn take(&mut self, record: &dynamo::operation::StreamRecord) {
        let keys = record.keys.as_ref().unwrap().decode();
        let key: Vec<Sortable> = ["pk", "sk"].map(|name| Sortable(keys[name].clone())).into();
        match &record.new_image {
            Some(item) => self.items.insert(key, item.decode()),
            None => self.items.remove(&key),
        };
        self.last_number.clone_from(&record.sequence_number);
    }
}

const LIFE: &str = "MONOTABLE_CHILD_LIFE";
const EXPIRY_SECONDS: &str = "MONOTABLE_CHILD_EXPIRY_SECONDS";
const SYNCS: &str = "MONOTABLE_CHILD_SYNCS";
const THREADS: usize = 8;

/// What the directory of a plain database is called.
pub(crate) const PLAIN: &str = "database";
/// A directory with this name holds an encrypted database.
pub(crate) const ENCRYPTED: &str = "encrypted";

/// One with this name holds an encrypted database in which some tables have keys of their own.
pub(crate) const KEYED: &str = "keyed";

/// The key of the database in a directory, if it is meant to be encrypted.
pub(crate) fn key_of(path: &Path) -> Option<Arc<dyn MasterKey>> {
    let is_encrypted = path.ends_with(ENCRYPTED) || path.ends_with(KEYED);
    is_encrypted.then(|| key_with(7))
}

/// Where the keys of tables in a directory come from, if any has one.
pub(crate) fn table_keys_of(path: &Path) -> Option<Arc<dyn KeySource>> {
    path.ends_with(KEYED).then(|| Arc::new(NamedKeys) as _)
}

fn key_with(byte: u8) -> Arc<dyn MasterKey> {
    Arc::new(LocalKey::new(&KeyBytes::new([byte; 32])))
}

/// A key for every name.
struct NamedKeys;

impl KeySource for NamedKeys {
    fn key(&self, name: &str) -> Result<Arc<dyn MasterKey>, SealError> {
        Ok(key_with(name.bytes().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))))
    }

    fn patience(&self) -> Duration {
        Duration::ZERO
    }
}

fn options(path: &Path, housekeeping: Option<Duration>) -> Options {
    let (key, table_keys) = (key_of(path), table_keys_of(path));
    Options {
        housekeeping,
        key,
        table_keys,
        reserve_bytes: 1 << 20,
        cache_bytes: 8 << 20,
        ..Options::default()
    }
}

/// Opens a database that is written to with syncs, and where nothing happens by itself.
pub(crate) fn open(path: &Path) -> Result<Engine, monotable_engine::OpenError> {
    Engine::open(path, options(path, None))
}

#[test]
#[ignore = "a child process, which another test starts and kills"]
fn child_that_writes_until_it_is_killed() {
    let number = |name: &str| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let Ok(directory) = std::env::var(process::DIRECTORY) else { return };
    let (life, expiry_seconds) = (number(LIFE), number(EXPIRY_SECONDS));
    let syncs: bool = std::env::var(SYNCS).unwrap().parse().unwrap();
    let durability = if syncs { Durability::Sync } else { Durability::Interval(Duration::from_hours(1)) };
    let housekeeping = Some(Duration::from_millis(20));
    let options = Options { durability, ..options(Path::new(&directory), housekeeping) };
    let engine = Engine::open(directory, options).unwrap();
    make_tables(&engine).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let engine = engine.clone();
            scope.spawn(move || Writer::new(engine, thread, life, expiry_seconds).write_for_ever());
        }
    });
}

/// Makes what is not there yet.
pub(crate) fn make_tables(engine: &Engine) -> Result<(), dynamo::ApiError> {
    use dynamo::operation::{TimeToLiveSpecification, UpdateTimeToLive};
    for table in &TABLES {
        if describe(engine, table.name).is_err() {
            engine.create_table(table.create())?;
        }
        if let Some(attribute) = table.expiry {
            let specification =
                TimeToLiveSpecification { enabled: Some(true), attribute_name: Some(attribute.to_owned()) };
            let request = UpdateTimeToLive {
                table_name: Some(table.name.to_owned()),
                time_to_live_specification: Some(specification),
            };
            match engine.update_time_to_live(request) {
                // It is enabled already.
                Err(error) if error.kind == dynamo::ErrorKind::Validation => {}
                other => drop(other?),
            }
        }
    }
    Ok(())
}

/// Gives the ledger another key, or takes the one it has. Refused while that is under way.
pub(crate) fn change_key(engine: &Engine, name: Option<&str>) -> Result<(), dynamo::ApiError> {
    use dynamo::operation::{SSESpecification, SSEType, UpdateTable};
    let specification = SSESpecification {
        enabled: Some(name.is_some()),
        sse_type: name.map(|_| SSEType::Kms.into()),
        kms_master_key_id: name.map(str::to_owned),
    };
    engine.update_table(UpdateTable {
        table_name: Some(TABLES[workload::LEDGER].name.to_owned()),
        sse_specification: Some(specification),
        ..UpdateTable::default()
    })?;
    Ok(())
}

/// Adds the later index of the ledger, or removes it. Refused while it is being filled.
pub(crate) fn change_index(engine: &Engine, add: bool) -> Result<(), dynamo::ApiError> {
    use crate::design::attribute_definitions;
    use dynamo::operation::{DeleteGlobalSecondaryIndexAction, UpdateTable};
    let table = &TABLES[workload::LEDGER];
    let index = &table.later_indexes[0];
    let delete = DeleteGlobalSecondaryIndexAction { index_name: Some(index.name.to_owned()) };
    let update = GlobalSecondaryIndexUpdate {
        create: add.then(|| index.added()),
        delete: (!add).then_some(delete),
        ..GlobalSecondaryIndexUpdate::default()
    };
    engine.update_table(UpdateTable {
        table_name: Some(table.name.to_owned()),
        attribute_definitions: add.then(|| attribute_definitions(index.keys().collect())),
        global_secondary_index_updates: Some(vec![update]),
        ..UpdateTable::default()
    })?;
    Ok(())
}
