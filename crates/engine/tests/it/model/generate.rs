//! Random scripts. Every step stands by itself, so a script with some steps left out is a script again.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use dynamo::operation::ReturnValues;
use dynamo::{Item, KeyType, Number, Value, ValueType};

use super::expression::{Action, Comparator, Condition, Operand, Path, Step as PathStep};
use super::step::{ItemChange, ItemRead, ItemWrite, QueryStep, Range, ScanStep, Step};
use super::tables::TABLES;
use crate::design::{IndexDesign, TableDesign, order};
use crate::random::Random;

const TEXTS: [&str; 8] = ["a", "a\0", "a\0b", "ab", "b", "\u{e9}", "\u{10ffff}", "zz"];
const NUMBERS: [&str; 9] = ["-1e20", "-7", "-0.5", "0", "0.25", "1", "10", "3e9", "1e100"];
const BINARIES: [&[u8]; 7] = [&[0], &[0, 0], &[0, 255], &[1], &[1, 0], &[255], &[255, 255]];

/// Attributes that are no keys of any table.
const ATTRIBUTES: [&str; 8] = ["a", "g", "h", "list", "m", "n", "tags", "ttl"];

/// Writes a script.
pub(crate) struct Generator {
    random: Random,
    now_seconds: i64,
}

impl Generator {
    pub(crate) fn new(seed: u64, now_milliseconds: i64) -> Generator {
        Generator { random: Random::new(seed), now_seconds: now_milliseconds / 1000 }
    }

    /// A script of so many steps: it makes the tables first and compares everything at its end.
    pub(crate) fn script(&mut self, length: usize) -> Vec<Step> {
        let mut steps: Vec<Step> = (0..TABLES.len()).map(Step::CreateTable).collect();
        for (table, design) in TABLES.iter().enumerate() {
            if design.expiry.is_some() {
                steps.push(Step::SetExpiry(table, true));
            }
        }
        while steps.len() + 1 < length {
            steps.push(self.step());
        }
        steps.push(Step::Verify);
        steps
    }

    fn step(&mut self) -> Step {
        match self.random.below(1000) {
            0..550 => {
                let write = self.item_write(true);
                let values = match &write.change {
                    ItemChange::Update(..) => *self.random.pick(&[
                        ReturnValues::None,
                        ReturnValues::AllOld,
                        ReturnValues::AllNew,
                        ReturnValues::UpdatedOld,
                        ReturnValues::UpdatedNew,
                    ]),
                    _ => *self.random.pick(&[ReturnValues::None, ReturnValues::AllOld]),
                };
                Step::Write(write, values)
            }
            550..620 => Step::Get(self.item_read()),
            620..760 => Step::Query(self.query()),
            760..800 => Step::Scan(self.scan()),
            800..830 => self.batch_write(),
            830..850 => self.batch_get(),
            850..910 => {
                let token = self.random.maybe(2, |random| random.below(4));
                let count = 1 + self.random.below(5);
                let action = |_| {
                    let write = self.item_write(false);
                    self.as_action(write)
                };
                Step::TransactWrite((0..count).map(action).collect(), token)
            }
            910..920 => Step::TransactWriteAgain(self.random.below(4)),
            920..940 => {
                let count = 1 + self.random.below(4);
                Step::TransactGet((0..count).map(|_| self.item_read()).collect())
            }
            940..970 => self.wait(),
            970..980 => Step::KeepHouse,
            980..985 => Step::Reopen,
            985..998 => self.table_change(),
            _ => Step::Verify,
        }
    }

    /// Tables with many indexes are written to most.
    fn table(&mut self) -> usize {
        *self.random.pick(&[0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5])
    }

    fn wait(&mut self) -> Step {
        let milliseconds = match self.random.below(40) {
            0 => 25 * 3600 * 1000,
            1..4 => 11 * 60 * 1000,
            4..20 => 1000 * (1 + i64::try_from(self.random.below(30)).unwrap()),
            _ => i64::try_from(self.random.below(900)).unwrap(),
        };
        self.now_seconds += milliseconds / 1000;
        Step::Wait { milliseconds }
    }

    fn table_change(&mut self) -> Step {
        let table = self.table();
        let later = TABLES[table].later_indexes;
        match self.random.below(10) {
            0 => Step::DeleteTable(table),
            1..3 => Step::CreateTable(table),
            3 if TABLES[table].expiry.is_some() => Step::SetExpiry(table, self.random.once_in(2)),
            4..7 if !later.is_empty() => Step::RemoveIndex(table, self.random.pick(later).name),
            _ if !later.is_empty() => Step::AddIndex(table, self.random.pick(later).name),
            _ => Step::CreateTable(table),
        }
    }

    // Writes.

    fn item_write(&mut self, is_single: bool) -> ItemWrite {
        let table = self.table();
        let change = match self.random.below(10) {
            0..4 => ItemChange::Put(self.item(table)),
            4..8 => ItemChange::Update(self.key(table), self.actions(table)),
            _ => ItemChange::Delete(self.key(table)),
        };
        let often = if is_single { 3 } else { 4 };
        let condition = self.random.once_in(often).then(|| self.condition(2));
        ItemWrite { table, change, condition, shows_item: self.random.once_in(2) }
    }

    /// Some deletes of a transaction become checks.
    fn as_action(&mut self, write: ItemWrite) -> ItemWrite {
        match write.change {
            ItemChange::Delete(key) if self.random.once_in(2) => {
                let condition = write.condition.or_else(|| Some(self.condition(1)));
                ItemWrite { change: ItemChange::Check(key), condition, ..write }
            }
            // An update of a transaction has an expression.
            ItemChange::Update(key, actions) if actions.is_empty() => {
                ItemWrite { change: ItemChange::Delete(key), ..write }
            }
            _ => write,
        }
    }

    fn batch_write(&mut self) -> Step {
        let count = 1 + self.random.below(12);
        let mut seen = BTreeSet::new();
        let mut writes = Vec::new();
        for _ in 0..count {
            let write = ItemWrite { condition: None, shows_item: false, ..self.item_write(false) };
            let change = match write.change {
                ItemChange::Update(key, _) => ItemChange::Delete(key),
                change => change,
            };
            let write = ItemWrite { change, ..write };
            let is_new = seen.insert((write.table, write.design().key_of(&write.key())));
            // Now and then one item twice, which is refused.
            if is_new || self.random.once_in(20) {
                writes.push(write);
            }
        }
        Step::BatchWrite(writes)
    }

    fn batch_get(&mut self) -> Step {
        let mut reads: BTreeMap<usize, (Vec<Item>, Vec<Path>)> = BTreeMap::new();
        for _ in 0..=self.random.below(12) {
            let read = self.item_read();
            let (keys, _) = reads.entry(read.table).or_insert_with(|| (Vec::new(), read.projection));
            if !keys.contains(&read.key) || self.random.once_in(20) {
                keys.push(read.key);
            }
        }
        Step::BatchGet(reads)
    }

    fn item_read(&mut self) -> ItemRead {
        let table = self.table();
        let projection = if self.random.once_in(3) { self.projection() } else { Vec::new() };
        ItemRead { table, key: self.key(table), projection }
    }

    fn key(&mut self, table: usize) -> Item {
        let keys = TABLES[table].keys();
        keys.map(|key| (key.name.to_owned(), self.key_value(key.kind))).collect()
    }

    fn item(&mut self, table: usize) -> Item {
        let mut item = self.key(table);
        for name in ATTRIBUTES {
            if !self.random.once_in(3) {
                item.insert(name.to_owned(), self.attribute(name));
            }
        }
        // Around the size from which index entries refer to their items.
        if self.random.once_in(3) {
            let length = 300 + self.random.below(400);
            item.insert("a".to_owned(), Value::S("m".repeat(length)));
        }
        if TABLES[table].has_large_items && self.random.once_in(2) {
            let length = 60_000 + self.random.below(200_000);
            item.insert("a".to_owned(), Value::S("x".repeat(length)));
        }
        item
    }

    // Values.

    fn key_value(&mut self, kind: KeyType) -> Value {
        match kind {
            KeyType::S => Value::from(*self.random.pick(&TEXTS)),
            KeyType::N => self.number(),
            KeyType::B => Value::B(Bytes::from_static(self.random.pick::<&'static [u8]>(&BINARIES))),
        }
    }

    fn number(&mut self) -> Value {
        Value::N(Number::parse(NUMBERS[self.random.below(NUMBERS.len())]).unwrap())
    }

    /// A value as the attribute mostly has it; now and then of another type.
    fn attribute(&mut self, name: &str) -> Value {
        if self.random.once_in(60) {
            return self.any_value();
        }
        match name {
            "g" => self.key_value(KeyType::S),
            "h" => self.key_value(KeyType::B),
            "n" if self.random.once_in(4) => self.moment(),
            "n" => self.number(),
            "ttl" => self.moment(),
            "tags" => self.texts(),
            "list" => self.list(),
            "m" => self.map(),
            _ => self.any_value(),
        }
    }

    fn moment(&mut self) -> Value {
        let second = self.now_seconds + i64::try_from(self.random.below(90)).unwrap() - 15;
        match self.random.below(12) {
            0 => Value::N(Number::parse(&format!("{second}.5")).unwrap()),
            1 => Value::from(second - 6 * 365 * 24 * 3600),
            _ => Value::from(second),
        }
    }

    fn any_value(&mut self) -> Value {
        match self.random.below(11) {
            0..2 => Value::from(*self.random.pick(&TEXTS)),
            2 => Value::from(""),
            3 => self.number(),
            4 => self.key_value(KeyType::B),
            5 => Value::Bool(self.random.once_in(2)),
            6 => Value::Null,
            7 => self.texts(),
            8 => Value::Ns([Number::from(1_i64), Number::from(2_i64)].into()),
            9 => self.list(),
            _ => self.map(),
        }
    }

    fn texts(&mut self) -> Value {
        let count = 1 + self.random.below(3);
        Value::Ss((0..count).map(|_| (*self.random.pick(&TEXTS)).to_owned()).collect())
    }

    fn list(&mut self) -> Value {
        let count = self.random.below(4);
        Value::L((0..count).map(|_| self.scalar()).collect())
    }

    fn map(&mut self) -> Value {
        let mut map = Item::new();
        for name in ["x", "y"] {
            if !self.random.once_in(3) {
                map.insert(name.to_owned(), self.scalar());
            }
        }
        Value::M(map)
    }

    fn scalar(&mut self) -> Value {
        match self.random.below(4) {
            0 => Value::Bool(true),
            1 => Value::from(*self.random.pick(&TEXTS)),
            _ => Value::from(i64::try_from(self.random.below(5)).unwrap()),
        }
    }

    // Expressions.

    fn path(&mut self) -> Path {
        let root = *self.random.pick(&ATTRIBUTES);
        let step = match root {
            "m" if self.random.once_in(2) => Some(PathStep::Name(["x", "y"][self.random.below(2)])),
            "list" if self.random.once_in(2) => Some(PathStep::Index(self.random.below(4))),
            _ => None,
        };
        Path { root, step }
    }

    /// Places of which none lies in another.
    fn apart(&mut self, count: usize) -> Vec<Path> {
        let mut paths: Vec<Path> = Vec::new();
        for _ in 0..count {
            let path = self.path();
            let meets = |other: &Path| {
                other.root == path.root
                    && (other.step.is_none() || path.step.is_none() || other.step == path.step)
            };
            if !paths.iter().any(meets) {
                paths.push(path);
            }
        }
        paths
    }

    fn projection(&mut self) -> Vec<Path> {
        let count = 1 + self.random.below(4);
        let mut paths = self.apart(count);
        if self.random.once_in(3) {
            paths.push(Path { root: "pk", step: None });
        }
        paths
    }

    fn actions(&mut self, table: usize) -> Vec<Action> {
        let count = self.random.below(4);
        self.apart(count).into_iter().map(|path| self.action(table, path)).collect()
    }

    fn action(&mut self, _table: usize, path: Path) -> Action {
        let root = path.root;
        match self.random.below(10) {
            0..2 => Action::Remove(path),
            2..4 if path.step.is_none() && root == "tags" => Action::Delete(root, self.texts()),
            4 if path.step.is_none() && root == "tags" => Action::Add(root, self.texts()),
            2..4 if path.step.is_none() && root == "n" => Action::Add(root, Value::from(1_i64)),
            _ => {
                let operand = self.operand(&path);
                Action::Set(path, operand)
            }
        }
    }

    fn operand(&mut self, path: &Path) -> Operand {
        let counter = Path { root: "n", step: None };
        match self.random.below(14) {
            0 => Operand::Path(self.path()),
            1 => Operand::Plus(counter, Number::from(1_i64)),
            2 => Operand::Minus(counter, Number::from(2_i64)),
            3 => Operand::IfMissing(path.clone(), self.attribute(path.root)),
            4 if path.root == "list" => {
                Operand::Append(Path { root: "list", step: None }, vec![self.scalar()])
            }
            _ if path.step.is_some() => Operand::Value(self.scalar()),
            _ => Operand::Value(self.attribute(path.root)),
        }
    }

    fn condition(&mut self, depth: usize) -> Condition {
        if depth > 0 && self.random.once_in(4) {
            let (left, right) = (Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1)));
            return match self.random.below(3) {
                0 => Condition::And(left, right),
                1 => Condition::Or(left, right),
                _ => Condition::Not(left),
            };
        }
        let path = self.path();
        match self.random.below(9) {
            0 => Condition::Exists(path),
            1 => Condition::Missing(path),
            2 => Condition::Size(path, *self.random.pick(&Comparator::ALL), 2),
            3 => {
                let (low, high) = self.bounds();
                Condition::Between(path, low, high)
            }
            4 => Condition::In(path, vec![self.scalar(), self.scalar(), self.scalar()]),
            5 => {
                let kind = if self.random.once_in(3) { KeyType::B } else { KeyType::S };
                Condition::BeginsWith(path, self.key_value(kind))
            }
            6 => Condition::Contains(path, self.scalar()),
            7 => Condition::Type(path, *self.random.pick(&ValueType::ALL)),
            _ => self.comparison(path),
        }
    }

    fn comparison(&mut self, path: Path) -> Condition {
        let comparator = *self.random.pick(&Comparator::ALL);
        let value = match comparator {
            // Only texts, numbers and binaries have an order.
            Comparator::Eq | Comparator::Ne => self.attribute(path.root),
            _ => {
                let kind = *self.random.pick(&[KeyType::S, KeyType::N, KeyType::B]);
                self.key_value(kind)
            }
        };
        Condition::Compare(path, comparator, value)
    }

    fn bounds(&mut self) -> (Value, Value) {
        let kind = *self.random.pick(&[KeyType::S, KeyType::N, KeyType::B]);
        self.bounds_of(kind)
    }

    fn bounds_of(&mut self, kind: KeyType) -> (Value, Value) {
        let (one, two) = (self.key_value(kind), self.key_value(kind));
        if order(&one, &two).unwrap().is_le() { (one, two) } else { (two, one) }
    }

    // Queries and scans.

    fn index(&mut self, table: &'static TableDesign) -> Option<&'static IndexDesign> {
        let all: Vec<&IndexDesign> = table.indexes.iter().chain(table.later_indexes).collect();
        let place = self.random.below(all.len() + 1);
        all.get(place).copied()
    }

    fn query(&mut self) -> QueryStep {
        let table = self.table();
        let design = &TABLES[table];
        let index = self.index(design);
        let (partition, sort) = match index {
            Some(index) => (index.partition, index.sort),
            None => (std::slice::from_ref(&design.partition), design.sort.as_slice()),
        };
        let partition: Vec<Value> = partition.iter().map(|key| self.key_value(key.kind)).collect();
        let equal = self.random.below(sort.len() + 1).min(self.random.below(sort.len() + 1));
        let equal: Vec<Value> = sort.iter().take(equal).map(|key| self.key_value(key.kind)).collect();
        let range = sort.get(equal.len()).filter(|_| self.random.once_in(2)).map(|key| self.range(key.kind));
        let start = self.random.once_in(6).then(|| self.start_key(design, index, &partition));
        let counts = self.random.once_in(12);
        QueryStep {
            table,
            index: index.map(|index| index.name),
            partition,
            equal,
            range,
            filter: self.random.once_in(4).then(|| self.condition(1)),
            projection: if !counts && self.random.once_in(4) { self.projection() } else { Vec::new() },
            counts,
            limit: self.random.maybe(3, |random| 1 + random.below(5)),
            is_reverse: self.random.once_in(2),
            start,
        }
    }

    fn range(&mut self, kind: KeyType) -> Range {
        match self.random.below(6) {
            0 => Range::Lt(self.key_value(kind)),
            1 => Range::Le(self.key_value(kind)),
            2 => Range::Gt(self.key_value(kind)),
            3 => Range::Ge(self.key_value(kind)),
            4 if kind != KeyType::N => Range::BeginsWith(self.key_value(kind)),
            _ => {
                let (low, high) = self.bounds_of(kind);
                Range::Between(low, high)
            }
        }
    }

    /// The key of an item that may exist, in the partition that is asked for.
    fn start_key(
        &mut self,
        table: &TableDesign,
        index: Option<&'static IndexDesign>,
        partition: &[Value],
    ) -> Item {
        let mut start = Item::new();
        let of_index = index.into_iter().flat_map(IndexDesign::keys);
        for key in table.keys().chain(of_index) {
            start.insert(key.name.to_owned(), self.key_value(key.kind));
        }
        let names: Vec<&str> = match index {
            Some(index) => index.partition.iter().map(|key| key.name).collect(),
            None => vec![table.partition.name],
        };
        start.extend(names.into_iter().map(str::to_owned).zip(partition.iter().cloned()));
        start
    }

    fn scan(&mut self) -> ScanStep {
        let table = self.table();
        let counts = self.random.once_in(12);
        ScanStep {
            table,
            index: self.index(&TABLES[table]).map(|index| index.name),
            filter: self.random.once_in(4).then(|| self.condition(1)),
            projection: if !counts && self.random.once_in(4) { self.projection() } else { Vec::new() },
            counts,
            limit: self.random.maybe(3, |random| 3 + random.below(20)),
            segments: self.random.maybe(3, |random| 1 + random.below(5)),
        }
    }
}
