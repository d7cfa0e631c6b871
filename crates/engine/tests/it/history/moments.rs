//! Random writes with every version remembered, and then restores to random moments.

use std::collections::BTreeMap;
use std::sync::Arc;

use dynamo::operation::{
    CreateBackup, DescribeBackup, DescribeContinuousBackups, GetItem, RestoreTableFromBackup,
};
use dynamo::{Item, StoredItem};
use monotable_engine::{Engine, ManualClock, Options};

use super::{count, delete, renamed, restore, switch_on};
use crate::crash::workload::{ACCOUNTS, LEDGER, Place, TABLES, TOTAL, Write, Writes};
use crate::crash::{change_index, make_tables};
use crate::random::Random;
use crate::verify::{Items, same, verify_table};

const START_MILLISECONDS: i64 = 1_800_000_000_000;
const STEPS: usize = 2_500;
const BACKUPS: usize = 8;

#[test]
fn restores_to_random_moments_are_what_was_there_with_transactions_whole() {
    let seed = Random::new_seed();
    println!("seed {seed}");
    let mut world = World::new(Random::new(seed), None);
    world.live(count("MONOTABLE_RESTORES", 200));
}

#[test]
fn restores_survive_closing_and_opening() {
    let seed = Random::new_seed();
    println!("seed {seed}");
    let directory = tempfile::tempdir().unwrap();
    let mut world = World::new(Random::new(seed), Some(directory));
    world.live(count("MONOTABLE_RESTORES", 200) / 10);
}

/// An engine, and every version of every item that was ever in it.
struct World {
    engine: Option<Engine>,
    directory: Option<tempfile::TempDir>,
    clock: Arc<ManualClock>,
    random: Random,
    versions: BTreeMap<Place, Vec<(i64, Option<Item>)>>,
    version: u64,
    backups: Vec<(String, usize, Items)>,
}

impl World {
    fn new(random: Random, directory: Option<tempfile::TempDir>) -> World {
        let clock = Arc::new(ManualClock::at_milliseconds(START_MILLISECONDS));
        let mut world = World {
            engine: None,
            directory,
            clock,
            random,
            versions: BTreeMap::new(),
            version: 0,
            backups: Vec::new(),
        };
        world.open();
        make_tables(world.engine()).unwrap();
        switch_on(world.engine()).unwrap();
        world
    }

    fn open(&mut self) {
        drop(self.engine.take());
        let options = Options {
            clock: self.clock.clone(),
            housekeeping: None,
            reserve_bytes: 0,
            durability: monotable_engine::Durability::None,
            ..Options::default()
        };
        self.engine = Some(match &self.directory {
            Some(directory) => Engine::open(directory.path(), options).unwrap(),
            None => Engine::in_memory_with(options),
        });
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn live(&mut self, restores: usize) {
        for step in 0..STEPS {
            if step % (STEPS / BACKUPS) == 0 {
                self.back_up();
            }
            self.step();
        }
        for _ in 0..restores {
            self.check_moment();
        }
        self.check_backups();
    }

    fn step(&mut self) {
        match self.random.below(40) {
            0 => self.keep_house(),
            1 => drop(change_index(self.engine(), self.random.clone().once_in(2))),
            2 if self.directory.is_some() && self.random.once_in(20) => self.open(),
            // A clock that is put right goes back.
            3 => self.clock.advance_milliseconds(-(self.random.below(3_000) as i64)),
            4..20 => self.clock.advance_milliseconds(self.random.below(2_000) as i64),
            _ => {}
        }
        let writes = self.next_writes();
        self.write(&writes);
    }

    fn next_writes(&mut self) -> Writes {
        self.version += 1;
        let sort = self.random.below(12) as u64;
        let version = (!self.random.once_in(4)).then_some(self.version);
        let place = |table: usize, name: &str| Place::new(table, name, sort);
        match self.random.below(10) {
            0..3 => Writes::single(place(LEDGER, "a"), version),
            3..5 => Writes::single(place(ACCOUNTS, "b"), version),
            5 => Writes::single(Place::new(ACCOUNTS, "counter", sort), Some(1)),
            6 => Writes::single(Place::new(ACCOUNTS, "expires", sort), Some(self.version)),
            _ => Writes {
                writes: [place(ACCOUNTS, "x"), place(LEDGER, "y"), place(LEDGER, "z")]
                    .map(|place| Write { place, version })
                    .into(),
                token: Some(self.version),
            },
        }
    }

    fn write(&mut self, writes: &Writes) {
        // Items that expire were due long ago.
        self.engine().run(writes.request(u64::try_from(START_MILLISECONDS / 1000 - 60).unwrap())).unwrap();
        let mut places: Vec<Place> = writes.writes.iter().map(|write| write.place.clone()).collect();
        if writes.token.is_some() {
            places.push(Place::new(ACCOUNTS, TOTAL, 0));
        }
        self.remember(places);
    }

    /// Notes what is at these places now, as the work of a commit that was just made.
    fn remember(&mut self, places: Vec<Place>) {
        let time = self.latest_milliseconds();
        for place in places {
            let item = self.get(&place);
            self.versions.entry(place).or_default().push((time, item));
        }
    }

    /// The latest moment that can be restored: now, or the time of the last commit where the clock went back since.
    fn latest_milliseconds(&self) -> i64 {
        let request = DescribeContinuousBackups { table_name: Some(TABLES[LEDGER].name.to_owned()) };
        let described = self.engine().describe_continuous_backups(request).unwrap();
        let description = described.continuous_backups_description.unwrap();
        let latest = description.point_in_time_recovery_description.unwrap().latest_restorable_date_time;
        latest.unwrap().milliseconds
    }

    fn get(&self, place: &Place) -> Option<Item> {
        let request = GetItem {
            table_name: Some(TABLES[place.table].name.to_owned()),
            key: Some(place.key()),
            ..GetItem::default()
        };
        self.engine().get_item(request).unwrap().item.as_ref().map(StoredItem::decode)
    }

    /// Items expire.
    fn keep_house(&mut self) {
        self.engine().keep_house().unwrap();
        let places: Vec<Place> = self.versions.keys().filter(|place| place.expires()).cloned().collect();
        self.remember(places);
    }

    fn items_at(&self, table: usize, milliseconds: i64) -> Items {
        let versions = self.versions.iter().filter(|(place, _)| place.table == table);
        let items = versions.filter_map(|(_, versions)| {
            let version = versions.iter().rev().find(|(time, _)| *time <= milliseconds);
            version.and_then(|(_, item)| item.clone())
        });
        items.map(|item| (TABLES[table].key_of(&item), item)).collect()
    }

    /// Restores both tables to a moment, while writes go on.
    fn check_moment(&mut self) {
        let now = self.latest_milliseconds();
        let span = usize::try_from(now - START_MILLISECONDS).unwrap();
        let mut milliseconds = START_MILLISECONDS + self.random.below(span) as i64;
        if self.random.once_in(2) {
            milliseconds -= milliseconds % 1000;
        }
        let targets: Vec<_> =
            TABLES.iter().map(|table| renamed(table, &format!("restored-{}", table.name))).collect();
        for (table, target) in TABLES.iter().zip(&targets) {
            restore(self.engine(), table.name, target.name, milliseconds).unwrap();
            self.step();
        }
        self.keep_house();
        for (table, target) in targets.iter().enumerate() {
            let items = verify_table(self.engine(), target).unwrap();
            let place = format!("{} at {milliseconds}", target.name);
            same(&place, items, self.items_at(table, milliseconds)).unwrap();
            delete(self.engine(), target.name);
        }
        self.keep_house();
    }

    fn back_up(&mut self) {
        let table = self.random.below(TABLES.len());
        let request = CreateBackup {
            table_name: Some(TABLES[table].name.to_owned()),
            backup_name: Some(format!("backup-{}", self.version)),
        };
        let details = self.engine().create_backup(request).unwrap().backup_details.unwrap();
        // Commits of this millisecond that come later do not count.
        let now = self.items_now(table);
        self.backups.push((details.backup_arn.unwrap(), table, now));
    }

    fn items_now(&self, table: usize) -> Items {
        self.items_at(table, i64::MAX)
    }

    fn check_backups(&mut self) {
        self.keep_house();
        for (place, (arn, table, expected)) in self.backups.iter().enumerate() {
            let target = renamed(&TABLES[*table], &format!("backup-{place}"));
            let request = DescribeBackup { backup_arn: Some(arn.clone()) };
            let described = self.engine().describe_backup(request).unwrap().backup_description.unwrap();
            let count = described.source_table_details.unwrap().item_count.unwrap();
            assert_eq!(count, i64::try_from(expected.len()).unwrap());
            let request = RestoreTableFromBackup {
                target_table_name: Some(target.name.to_owned()),
                backup_arn: Some(arn.clone()),
                ..RestoreTableFromBackup::default()
            };
            self.engine().restore_table_from_backup(request).unwrap();
            self.engine().keep_house().unwrap();
            same(target.name, &verify_table(self.engine(), &target).unwrap(), expected).unwrap();
        }
    }
}
