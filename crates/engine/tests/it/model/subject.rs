//! The engine under test: carries out steps and says what they answer, in the reference's words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dynamo::operation::{
    CreateTable, DeleteGlobalSecondaryIndexAction, DeleteTable, GlobalSecondaryIndexUpdate,
    TimeToLiveSpecification, UpdateTable, UpdateTimeToLive,
};
use dynamo::{ApiError, Reply, StoredItem};
use monotable_engine::{Durability, Engine, ManualClock, Options};

use super::reference::{Outcome, Page, sorted_texts};
use super::step::{QueryStep, ScanStep, Step, batch_get, batch_write, transact_get, transact_write};
use super::tables::TABLES;
use crate::crash::{ENCRYPTED, KEYED, PLAIN, key_of, table_keys_of};
use crate::design::attribute_definitions;

/// Where the database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    Disk,
    Encrypted,
    /// Encrypted, and some tables have keys of their own.
    Keyed,
}

/// An engine with its clock and its directory.
pub(crate) struct Subject {
    pub(crate) engine: Engine,
    clock: Arc<ManualClock>,
    path: Option<PathBuf>,
    _directory: Option<tempfile::TempDir>,
}

fn options(clock: &Arc<ManualClock>, path: &Path) -> Options {
    Options {
        key: key_of(path),
        table_keys: table_keys_of(path),
        durability: Durability::None,
        clock: clock.clone(),
        housekeeping: None,
        cache_bytes: 16 << 20,
        ..Options::default()
    }
}

impl Subject {
    pub(crate) fn new(place: Place, now_milliseconds: i64) -> Subject {
        let clock = Arc::new(ManualClock::at_milliseconds(now_milliseconds));
        let directory = (place != Place::Memory).then(|| tempfile::tempdir().unwrap());
        let name = match place {
            Place::Encrypted => ENCRYPTED,
            Place::Keyed => KEYED,
            Place::Memory | Place::Disk => PLAIN,
        };
        let path = directory.as_ref().map(|directory| directory.path().join(name));
        let engine = match &path {
            Some(path) => Engine::open(path, options(&clock, path)).unwrap(),
            None => Engine::in_memory_with(options(&clock, Path::new(""))),
        };
        Subject { engine, clock, path, _directory: directory }
    }

    /// Carries out a step.
    pub(crate) fn run(&mut self, step: &Step) -> Outcome {
        self.try_run(step).unwrap_or_else(|error| Outcome::Refused {
            kind: error.kind,
            item: error.item.map(|item| item.decode()),
            reasons: error
                .reasons
                .into_iter()
                .map(|reason| (reason.code.to_owned(), reason.item.map(|item| item.decode())))
                .collect(),
        })
    }

    fn try_run(&mut self, step: &Step) -> Result<Outcome, ApiError> {
        let engine = &self.engine;
        match step {
            Step::Write(write, return_values) => {
                engine.run(write.request(*return_values)).map(|reply| Outcome::Item(attributes(reply)))
            }
            Step::Get(read) => engine
                .get_item(read.request())
                .map(|reply| Outcome::Item(reply.item.map(|item| item.decode()))),
            Step::BatchWrite(writes) => {
                let reply = engine.batch_write_item(batch_write(writes))?;
                assert!(reply.unprocessed_items.unwrap_or_default().is_empty());
                Ok(Outcome::Done)
            }
            Step::BatchGet(reads) => {
                let reply = engine.batch_get_item(batch_get(reads))?;
                assert!(reply.unprocessed_keys.unwrap_or_default().is_empty());
                let found = reply.responses.unwrap().into_iter();
                let texts = |items: Vec<StoredItem>| sorted_texts(items.iter().map(StoredItem::decode));
                Ok(Outcome::Batch(
                    found.map(|(name, items)| (name, texts(items))).collect::<BTreeMap<_, _>>(),
                ))
            }
            Step::TransactWrite(writes, token) => {
                engine.transact_write_items(transact_write(writes, *token)).map(|_| Outcome::Done)
            }
            Step::TransactGet(reads) => {
                let reply = engine.transact_get_items(transact_get(reads))?;
                let items =
                    reply.responses.unwrap().into_iter().map(|found| found.item.map(|item| item.decode()));
                Ok(Outcome::Items(items.collect()))
            }
            Step::Query(query) => self.query(query),
            Step::Scan(scan) => self.scan(scan),
            Step::CreateTable(table) => self.create_table(TABLES[*table].create()),
            Step::DeleteTable(table) => {
                engine.keep_house()?;
                let table_name = Some(TABLES[*table].name.to_owned());
                engine.delete_table(DeleteTable { table_name }).map(|_| Outcome::Done)
            }
            Step::AddIndex(table, index) => {
                let create = TABLES[*table].index(index).added();
                let definitions: Vec<_> = TABLES[*table].index(index).keys().collect();
                self.update_index(
                    *table,
                    definitions,
                    GlobalSecondaryIndexUpdate {
                        create: Some(create),
                        ..GlobalSecondaryIndexUpdate::default()
                    },
                )
            }
            Step::RemoveIndex(table, index) => {
                let delete = DeleteGlobalSecondaryIndexAction { index_name: Some((*index).to_owned()) };
                self.update_index(
                    *table,
                    Vec::new(),
                    GlobalSecondaryIndexUpdate {
                        delete: Some(delete),
                        ..GlobalSecondaryIndexUpdate::default()
                    },
                )
            }
            Step::SetExpiry(table, enabled) => {
                engine.keep_house()?;
                engine
                    .update_time_to_live(UpdateTimeToLive {
                        table_name: Some(TABLES[*table].name.to_owned()),
                        time_to_live_specification: Some(TimeToLiveSpecification {
                            enabled: Some(*enabled),
                            attribute_name: TABLES[*table].expiry.map(str::to_owned),
                        }),
                    })
                    .map(|_| Outcome::Done)
            }
            Step::Wait { milliseconds } => {
                self.clock.advance_milliseconds(*milliseconds);
                Ok(Outcome::Done)
            }
            Step::KeepHouse | Step::Verify => engine.keep_house().map(|()| Outcome::Done),
            Step::Reopen => {
                self.reopen();
                Ok(Outcome::Done)
            }
            Step::TransactWriteAgain(_) => Ok(Outcome::Done),
        }
    }

    fn create_table(&self, request: CreateTable) -> Result<Outcome, ApiError> {
        self.engine.create_table(request).map(|_| Outcome::Done)
    }

    fn update_index(
        &self,
        table: usize,
        definitions: Vec<crate::design::Key>,
        update: GlobalSecondaryIndexUpdate,
    ) -> Result<Outcome, ApiError> {
        self.engine.keep_house()?;
        let request = UpdateTable {
            table_name: Some(TABLES[table].name.to_owned()),
            attribute_definitions: (!definitions.is_empty()).then(|| attribute_definitions(definitions)),
            global_secondary_index_updates: Some(vec![update]),
            ..UpdateTable::default()
        };
        self.engine.update_table(request).map(|_| Outcome::Done)
    }

    fn reopen(&mut self) {
        let Some(path) = &self.path else { return };
        // The database closes with its last handle.
        self.engine = Engine::in_memory();
        self.engine = Engine::open(path, options(&self.clock, path)).unwrap();
    }

    fn query(&self, query: &QueryStep) -> Result<Outcome, ApiError> {
        let mut pages = Vec::new();
        let mut start = query.start.clone();
        loop {
            let reply = self.engine.query(query.request(start))?;
            let last = reply.last_evaluated_key;
            pages.push(Page {
                items: reply.items.map(|items| items.iter().map(StoredItem::decode).collect()),
                count: usize::try_from(reply.count).unwrap(),
                scanned: usize::try_from(reply.scanned_count).unwrap(),
                last: last.clone(),
            });
            start = last;
            if start.is_none() {
                return Ok(Outcome::Pages(pages));
            }
        }
    }

    fn scan(&self, scan: &ScanStep) -> Result<Outcome, ApiError> {
        let (mut items, mut count, mut scanned) = (Vec::new(), 0, 0);
        for segment in 0..scan.segments.unwrap_or(1) {
            let mut start = None;
            loop {
                let page = self.engine.scan(scan.request(segment, start))?;
                let read = usize::try_from(page.scanned_count).unwrap();
                assert!(scan.limit.is_none_or(|limit| read <= limit), "a page of {read} items");
                items.extend(page.items.unwrap_or_default().iter().map(StoredItem::decode));
                count += usize::try_from(page.count).unwrap();
                scanned += read;
                start = page.last_evaluated_key;
                if start.is_none() {
                    break;
                }
                let is_full = scan.limit.is_some_and(|limit| read == limit);
                assert!(is_full || TABLES[scan.table].has_large_items, "a page ended early");
            }
        }
        Ok(Outcome::Scanned { items: sorted_texts(items.into_iter()), count, scanned })
    }
}

fn attributes(reply: Reply) -> Option<dynamo::Item> {
    let attributes = match reply {
        Reply::PutItem(reply) => reply.attributes,
        Reply::UpdateItem(reply) => reply.attributes,
        Reply::DeleteItem(reply) => reply.attributes,
        other => panic!("a write answered {other:?}"),
    };
    attributes.map(|item| item.decode())
}
