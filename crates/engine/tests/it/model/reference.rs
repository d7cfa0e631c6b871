//! The reference: items as trees in a map, indexes found by filtering and sorting, streams as lists. Slow and plain.

use std::collections::{BTreeMap, BTreeSet};

use dynamo::operation::{OperationType, ReturnValues, StreamViewType};
use dynamo::{
    ErrorKind, Item, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX, Value, item_size_bytes, value_size_bytes,
};

use super::expression::{Action, Condition, Path, changed_paths, project, updated};
use super::step::{ItemChange, ItemRead, ItemWrite, QueryStep, Range, ScanStep, Step};
use super::tables::TABLES;
use crate::design::{IndexDesign, Sortable, TableDesign, can_be, key_values};
use crate::requests::Change;
use crate::verify::Items;

const PAGE_BYTES_MAX: usize = 1 << 20;
const ITEM_BYTES_MAX: usize = 400 << 10;
const TOKEN_MILLISECONDS: i64 = 10 * 60 * 1000;
const RETENTION_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;
const OLDEST_EXPIRY_SECONDS: i64 = 5 * 365 * 24 * 60 * 60;

/// What a step answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Done,
    Item(Option<Item>),
    Items(Vec<Option<Item>>),
    /// Items of several tables; the order of each is of no importance.
    Batch(BTreeMap<String, Vec<String>>),
    Pages(Vec<Page>),
    /// Items of a scan in any order, and how many were looked at.
    Scanned {
        items: Vec<String>,
        count: usize,
        scanned: usize,
    },
    Refused {
        kind: ErrorKind,
        item: Option<Item>,
        reasons: Vec<(String, Option<Item>)>,
    },
}

/// A page of a query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    pub(crate) items: Option<Vec<Item>>,
    pub(crate) count: usize,
    pub(crate) scanned: usize,
    pub(crate) last: Option<Item>,
}

impl Outcome {
    fn refused(kind: ErrorKind) -> Outcome {
        Outcome::Refused { kind, item: None, reasons: Vec::new() }
    }
}

/// Items as texts in one order.
pub(crate) fn sorted_texts(items: impl Iterator<Item = Item>) -> Vec<String> {
    let mut texts: Vec<String> = items.map(|item| format!("{item:?}")).collect();
    texts.sort();
    texts
}

/// The whole database.
pub(crate) struct Reference {
    pub(crate) now_milliseconds: i64,
    pub(crate) tables: BTreeMap<usize, Table>,
    tokens: BTreeMap<usize, (Vec<ItemWrite>, i64)>,
}

/// A table.
pub(crate) struct Table {
    pub(crate) design: &'static TableDesign,
    pub(crate) items: Items,
    indexes: Vec<Index>,
    expires: bool,
    /// The changes, each with its moment.
    pub(crate) stream: Vec<(i64, Change)>,
    pub(crate) is_trimmed: bool,
}

struct Index {
    design: &'static IndexDesign,
    is_filled: bool,
}

impl Index {
    /// What breaks a rule among the attributes that are keys of the index and not as they were before.
    fn broken_key(&self, table: &TableDesign, old: Option<&Item>, new: &Item) -> Option<Broken> {
        let partition = self.design.partition.iter().map(|key| (key, PARTITION_KEY_BYTES_MAX));
        let sort = self.design.sort.iter().map(|key| (key, SORT_KEY_BYTES_MAX));
        for (key, bytes_max) in
            partition.chain(sort).filter(|(key, _)| table.keys().all(|other| other != **key))
        {
            let Some(value) = new.get(key.name) else { continue };
            if old.and_then(|old| old.get(key.name)) == Some(value) {
                continue;
            }
            if value.value_type() != key.kind.value_type() {
                return Some(Broken::Rule);
            }
            if !can_be(value, key.kind) {
                return Some(Broken::EmptyKey);
            }
            if value_size_bytes(value) > bytes_max {
                return Some(Broken::Rule);
            }
        }
        None
    }
}

enum Refusal {
    Condition(Option<Item>),
    Broken(Broken),
}

/// What a write breaks.
enum Broken {
    /// An attribute that is a key of an index is empty: refuses a whole transaction.
    EmptyKey,
    /// Any other rule.
    Rule,
}

type Decision = Result<(Option<Item>, Option<Item>), Refusal>;

/// An item as a query or scan meets it.
struct Entry<'a> {
    partition: Vec<Sortable>,
    /// The sort key; in an index also the key of the item.
    order: Vec<Sortable>,
    /// What the index holds.
    shown: Item,
    item: &'a Item,
}

impl Reference {
    pub(crate) fn new(now_milliseconds: i64) -> Reference {
        Reference { now_milliseconds, tables: BTreeMap::new(), tokens: BTreeMap::new() }
    }

    /// Carries out a step and says what it answers.
    pub(crate) fn run(&mut self, step: &Step) -> Outcome {
        let outcome = match step {
            Step::Write(write, return_values) => self.write(write, *return_values),
            Step::Get(read) => self.get(read).map(Outcome::Item),
            Step::BatchWrite(writes) => self.batch_write(writes),
            Step::BatchGet(reads) => self.batch_get(reads),
            Step::TransactWrite(writes, token) => self.transact_write(writes, *token),
            Step::TransactGet(reads) => self.transact_get(reads),
            Step::Query(query) => self.query(query),
            Step::Scan(scan) => self.scan(scan),
            Step::CreateTable(table) => self.create_table(*table),
            Step::DeleteTable(table) => self.delete_table(*table),
            Step::AddIndex(table, index) => self.add_index(*table, index),
            Step::RemoveIndex(table, index) => self.remove_index(*table, index),
            Step::SetExpiry(table, enabled) => self.set_expiry(*table, *enabled),
            Step::Wait { milliseconds } => {
                self.now_milliseconds += milliseconds;
                Ok(Outcome::Done)
            }
            Step::KeepHouse | Step::Verify => {
                self.keep_house();
                Ok(Outcome::Done)
            }
            Step::Reopen | Step::TransactWriteAgain(_) => Ok(Outcome::Done),
        };
        outcome.unwrap_or_else(Outcome::refused)
    }

    fn table(&self, table: usize) -> Result<&Table, ErrorKind> {
        self.tables.get(&table).ok_or(ErrorKind::ResourceNotFound)
    }

    fn write(&mut self, write: &ItemWrite, return_values: ReturnValues) -> Result<Outcome, ErrorKind> {
        if self.check_early(write)?.is_some() {
            return Err(ErrorKind::Validation);
        }
        let (old, new) = match self.decide(write) {
            Ok(decided) => decided,
            Err(Refusal::Broken(_)) => return Err(ErrorKind::Validation),
            Err(Refusal::Condition(item)) => {
                let item = item.filter(|_| write.shows_item);
                let kind = ErrorKind::ConditionalCheckFailed;
                return Ok(Outcome::Refused { kind, item, reasons: Vec::new() });
            }
        };
        self.apply(write.table, old.clone(), new.clone(), false);
        let changed = |item: Option<Item>| {
            let ItemChange::Update(_, actions) = &write.change else { return None };
            let part = project(&item?, &changed_paths(actions));
            (!part.is_empty()).then_some(part)
        };
        Ok(Outcome::Item(match return_values {
            ReturnValues::None => None,
            ReturnValues::AllOld => old,
            ReturnValues::AllNew => new,
            ReturnValues::UpdatedOld => changed(old),
            ReturnValues::UpdatedNew => changed(new),
        }))
    }

    /// What the request alone shows is refused before anything is looked at.
    fn check_early(&self, write: &ItemWrite) -> Result<Option<Broken>, ErrorKind> {
        let table = self.table(write.table)?;
        Ok(match &write.change {
            ItemChange::Put(item) => table.broken_keys(None, item),
            ItemChange::Update(_, actions) => table.broken_types(actions),
            ItemChange::Delete(_) | ItemChange::Check(_) => None,
        })
    }

    fn decide(&self, write: &ItemWrite) -> Decision {
        let table = &self.tables[&write.table];
        let key = write.key();
        let old = table.items.get(&table.design.key_of(&key)).cloned();
        let seen = old.clone().unwrap_or_default();
        if write.condition.as_ref().is_some_and(|condition| !condition.holds(&seen)) {
            return Err(Refusal::Condition(old));
        }
        let new = match &write.change {
            ItemChange::Put(item) => Some(item.clone()),
            ItemChange::Delete(_) => None,
            ItemChange::Check(_) => old.clone(),
            ItemChange::Update(_, actions) => {
                let takes = |action: &Action| matches!(action, Action::Remove(_) | Action::Delete(..));
                if old.is_none() && !actions.is_empty() && actions.iter().all(takes) {
                    return Ok((None, None));
                }
                let base = old.clone().unwrap_or(key);
                Some(updated(&base, actions).map_err(|_| Refusal::Broken(Broken::Rule))?)
            }
        };
        if let Some(new) = &new {
            let is_large = table.size_bytes(new) > ITEM_BYTES_MAX;
            let broken = if is_large { Some(Broken::Rule) } else { table.broken_keys(old.as_ref(), new) };
            broken.map_or(Ok(()), |broken| Err(Refusal::Broken(broken)))?;
        }
        Ok((old, new))
    }

    fn apply(&mut self, table: usize, old: Option<Item>, new: Option<Item>, by_expiry: bool) {
        let now_milliseconds = self.now_milliseconds;
        self.tables.get_mut(&table).unwrap().apply(old, new, by_expiry, now_milliseconds);
    }

    fn get(&self, read: &ItemRead) -> Result<Option<Item>, ErrorKind> {
        let table = self.table(read.table)?;
        let item = table.items.get(&table.design.key_of(&read.key));
        Ok(item.map(|item| shown(item, &read.projection)))
    }

    fn batch_write(&mut self, writes: &[ItemWrite]) -> Result<Outcome, ErrorKind> {
        let mut by_name: BTreeMap<&str, Vec<&ItemWrite>> = BTreeMap::new();
        for write in writes {
            by_name.entry(write.design().name).or_default().push(write);
        }
        for writes in by_name.values() {
            let mut keys = BTreeSet::new();
            for write in writes {
                self.check_early(write)?.map_or(Ok(()), |_| Err(ErrorKind::Validation))?;
            }
            if writes.iter().any(|write| !keys.insert(write.design().key_of(&write.key()))) {
                return Err(ErrorKind::Validation);
            }
        }
        for write in by_name.into_values().flatten() {
            if let Ok((old, new)) = self.decide(write) {
                self.apply(write.table, old, new, false);
            }
        }
        Ok(Outcome::Done)
    }

    fn batch_get(&self, reads: &BTreeMap<usize, (Vec<Item>, Vec<Path>)>) -> Result<Outcome, ErrorKind> {
        let is_twice = |keys: &[Item]| (0..keys.len()).any(|at| keys[..at].contains(&keys[at]));
        if reads.values().any(|(keys, _)| is_twice(keys)) {
            return Err(ErrorKind::Validation);
        }
        let mut found = BTreeMap::new();
        let mut by_name: Vec<_> = reads.iter().collect();
        by_name.sort_by_key(|(table, _)| TABLES[**table].name);
        for (table, (keys, projection)) in by_name {
            let table = self.table(*table)?;
            let wanted: BTreeSet<_> = keys.iter().map(|key| table.design.key_of(key)).collect();
            let items = wanted.iter().filter_map(|key| table.items.get(key));
            let items = sorted_texts(items.map(|item| shown(item, projection)));
            found.insert(table.design.name.to_owned(), items);
        }
        Ok(Outcome::Batch(found))
    }

    fn transact_get(&self, reads: &[ItemRead]) -> Result<Outcome, ErrorKind> {
        let items = reads.iter().map(|read| self.get(read)).collect::<Result<_, _>>()?;
        let places: Vec<_> = reads.iter().map(|read| (read.table, &read.key)).collect();
        if (0..places.len()).any(|at| places[..at].contains(&places[at])) {
            return Err(ErrorKind::Validation);
        }
        Ok(Outcome::Items(items))
    }

    fn transact_write(&mut self, writes: &[ItemWrite], token: Option<usize>) -> Result<Outcome, ErrorKind> {
        let mut early = Vec::with_capacity(writes.len());
        for write in writes {
            match self.check_early(write)? {
                Some(Broken::EmptyKey) => return Err(ErrorKind::Validation),
                // What comes after it is not looked at.
                Some(broken) => {
                    early.push(Some(broken));
                    break;
                }
                None => early.push(None),
            }
        }
        let mut places = BTreeMap::new();
        for (write, _) in writes.iter().zip(&early).filter(|(_, broken)| broken.is_none()) {
            let keys: &mut BTreeSet<_> = places.entry(write.table).or_default();
            if !keys.insert(write.design().key_of(&write.key())) {
                return Err(ErrorKind::Validation);
            }
        }
        if early.iter().any(Option::is_some) {
            early.resize_with(writes.len(), || None);
            let code = |broken: &Option<Broken>| if broken.is_some() { "ValidationError" } else { "None" };
            let reasons = early.iter().map(|broken| (code(broken).to_owned(), None)).collect();
            return Ok(Outcome::Refused { kind: ErrorKind::TransactionCanceled, item: None, reasons });
        }
        let known = token.and_then(|token| self.tokens.get(&token));
        if let Some((before, _)) = known.filter(|(_, expiry)| *expiry > self.now_milliseconds) {
            let kind = ErrorKind::IdempotentParameterMismatch;
            return if before == writes { Ok(Outcome::Done) } else { Err(kind) };
        }
        let decisions: Vec<Decision> = writes.iter().map(|write| self.decide(write)).collect();
        if decisions.iter().any(|decision| matches!(decision, Err(Refusal::Broken(Broken::EmptyKey)))) {
            return Err(ErrorKind::Validation);
        }
        if decisions.iter().any(Result::is_err) {
            let reason = |(write, decision): (&ItemWrite, &Decision)| match decision {
                Ok(_) => ("None".to_owned(), None),
                Err(Refusal::Broken(_)) => ("ValidationError".to_owned(), None),
                Err(Refusal::Condition(item)) => {
                    ("ConditionalCheckFailed".to_owned(), item.clone().filter(|_| write.shows_item))
                }
            };
            let reasons = writes.iter().zip(&decisions).map(reason).collect();
            return Ok(Outcome::Refused { kind: ErrorKind::TransactionCanceled, item: None, reasons });
        }
        for (write, decision) in writes.iter().zip(decisions) {
            if let Ok((old, new)) = decision {
                self.apply(write.table, old, new, false);
            }
        }
        if let Some(token) = token {
            self.tokens.insert(token, (writes.to_vec(), self.now_milliseconds + TOKEN_MILLISECONDS));
        }
        Ok(Outcome::Done)
    }

    fn query(&self, query: &QueryStep) -> Result<Outcome, ErrorKind> {
        let table = self.table(query.table)?;
        let source = table.source(query.index)?;
        source.check(query.filter.as_ref(), &query.projection, true)?;
        let partition: Vec<Sortable> = query.partition.iter().cloned().map(Sortable).collect();
        let mut entries: Vec<Entry<'_>> =
            source.entries().into_iter().filter(|entry| entry.partition == partition).collect();
        entries.retain(|entry| query.takes(&entry.order));
        entries.sort_by(|left, right| left.order.cmp(&right.order));
        if let Some(start) = &query.start {
            let order = source.order_of(start).unwrap();
            if !query.takes(&order) {
                return Err(ErrorKind::Validation);
            }
            entries.retain(|entry| if query.is_reverse { entry.order < order } else { entry.order > order });
        }
        if query.is_reverse {
            entries.reverse();
        }
        Ok(Outcome::Pages(source.pages(query, &entries)))
    }

    fn scan(&self, scan: &ScanStep) -> Result<Outcome, ErrorKind> {
        let table = self.table(scan.table)?;
        let source = table.source(scan.index)?;
        source.check(scan.filter.as_ref(), &scan.projection, false)?;
        let entries = source.entries();
        let scanned = entries.len();
        let matching = entries.iter().filter(|entry| source.matches(entry, scan.filter.as_ref()));
        let items: Vec<Item> = matching.map(|entry| source.shown(entry, &scan.projection)).collect();
        let count = items.len();
        let items = if scan.counts { Vec::new() } else { sorted_texts(items.into_iter()) };
        Ok(Outcome::Scanned { items, count, scanned })
    }

    fn create_table(&mut self, table: usize) -> Result<Outcome, ErrorKind> {
        if self.tables.contains_key(&table) {
            return Err(ErrorKind::ResourceInUse);
        }
        let design = &TABLES[table];
        let indexes = design.indexes.iter().map(|design| Index { design, is_filled: true }).collect();
        let state = Table {
            design,
            items: Items::new(),
            indexes,
            expires: false,
            stream: Vec::new(),
            is_trimmed: false,
        };
        self.tables.insert(table, state);
        Ok(Outcome::Done)
    }

    fn delete_table(&mut self, table: usize) -> Result<Outcome, ErrorKind> {
        self.keep_house();
        self.tables.remove(&table).map(|_| Outcome::Done).ok_or(ErrorKind::ResourceNotFound)
    }

    fn add_index(&mut self, table: usize, index: &str) -> Result<Outcome, ErrorKind> {
        self.keep_house();
        let table = self.tables.get_mut(&table).ok_or(ErrorKind::ResourceNotFound)?;
        if table.indexes.iter().any(|known| known.design.name == index) {
            return Err(ErrorKind::Validation);
        }
        table.indexes.push(Index { design: table.design.index(index), is_filled: false });
        Ok(Outcome::Done)
    }

    fn remove_index(&mut self, table: usize, index: &str) -> Result<Outcome, ErrorKind> {
        self.keep_house();
        let table = self.tables.get_mut(&table).ok_or(ErrorKind::ResourceNotFound)?;
        let place = table.indexes.iter().position(|known| known.design.name == index);
        table.indexes.remove(place.ok_or(ErrorKind::ResourceNotFound)?);
        Ok(Outcome::Done)
    }

    fn set_expiry(&mut self, table: usize, enabled: bool) -> Result<Outcome, ErrorKind> {
        self.keep_house();
        let table = self.tables.get_mut(&table).ok_or(ErrorKind::ResourceNotFound)?;
        if table.expires == enabled {
            return Err(ErrorKind::Validation);
        }
        table.expires = enabled;
        Ok(Outcome::Done)
    }

    fn keep_house(&mut self) {
        let now_milliseconds = self.now_milliseconds;
        for table in self.tables.values_mut() {
            for index in &mut table.indexes {
                index.is_filled = true;
            }
            table.expire(now_milliseconds);
            let horizon = now_milliseconds - RETENTION_MILLISECONDS;
            table.is_trimmed |= table.stream.iter().any(|(moment, _)| *moment <= horizon);
            table.stream.retain(|(moment, _)| *moment > horizon);
        }
    }
}

impl Table {
    fn broken_keys(&self, old: Option<&Item>, new: &Item) -> Option<Broken> {
        self.indexes.iter().find_map(|index| index.broken_key(self.design, old, new))
    }

    /// A type that cannot be right shows in the update itself.
    fn broken_types(&self, actions: &[Action]) -> Option<Broken> {
        let keys = self.indexes.iter().flat_map(|index| index.design.keys());
        let mut kinds = keys.filter_map(|key| {
            let of_key = |action: &&Action| action.top_level_name() == Some(key.name);
            Some((key.kind, actions.iter().find(of_key)?.known_type()?))
        });
        kinds.find(|(wanted, known)| wanted.value_type() != *known).map(|_| Broken::Rule)
    }

    /// The size of an item with its entries in local indexes.
    fn size_bytes(&self, item: &Item) -> usize {
        let local = self.indexes.iter().map(|index| index.design).filter(|index| index.is_local);
        let holding = local.filter(|index| index.keys().all(|key| item.contains_key(key.name)));
        let entries: usize = holding.map(|index| item_size_bytes(&index.entry_of(self.design, item))).sum();
        item_size_bytes(item) + entries
    }

    fn apply(&mut self, old: Option<Item>, new: Option<Item>, by_expiry: bool, now_milliseconds: i64) {
        if old == new {
            return;
        }
        let item = new.as_ref().or(old.as_ref()).unwrap();
        let (key, keys) = (self.design.key_of(item), self.design.key_item(item));
        match &new {
            Some(new) => self.items.insert(key, new.clone()),
            None => self.items.remove(&key),
        };
        let kind = match (&old, &new) {
            (None, _) => OperationType::Insert,
            (_, None) => OperationType::Remove,
            _ => OperationType::Modify,
        };
        let Some(view) = self.design.stream else { return };
        let old = old.filter(|_| matches!(view, StreamViewType::OldImage | StreamViewType::NewAndOldImages));
        let new = new.filter(|_| matches!(view, StreamViewType::NewImage | StreamViewType::NewAndOldImages));
        let second = now_milliseconds / 1000;
        self.stream.push((now_milliseconds, Change { kind, keys, old, new, by_expiry, second }));
    }

    fn expire(&mut self, now_milliseconds: i64) {
        let Some(attribute) = self.design.expiry.filter(|_| self.expires) else { return };
        let now = now_milliseconds / 1000;
        let due = self.items.values().filter(|item| {
            let second = item.get(attribute).and_then(expiry_second);
            second.is_some_and(|second| second <= now && second >= now - OLDEST_EXPIRY_SECONDS)
        });
        for item in due.cloned().collect::<Vec<_>>() {
            self.apply(Some(item), None, true, now_milliseconds);
        }
    }

    fn source(&self, index: Option<&str>) -> Result<Source<'_>, ErrorKind> {
        let Some(name) = index else { return Ok(Source { table: self, index: None }) };
        let index = self.indexes.iter().find(|index| index.design.name == name);
        let index = index.filter(|index| index.is_filled).ok_or(ErrorKind::Validation)?;
        Ok(Source { table: self, index: Some(index.design) })
    }
}

/// The second after which an item is gone: never before the moment that the attribute tells.
fn expiry_second(value: &Value) -> Option<i64> {
    let Value::N(number) = value else { return None };
    let seconds: f64 = number.to_string().parse().unwrap();
    #[allow(clippy::cast_possible_truncation, reason = "no test lives so long")]
    (0.0..1e15).contains(&seconds).then(|| seconds.ceil() as i64)
}

/// The item, or what is wanted of it.
fn shown(item: &Item, projection: &[Path]) -> Item {
    if projection.is_empty() { item.clone() } else { project(item, projection) }
}

/// A table or an index.
struct Source<'a> {
    table: &'a Table,
    index: Option<&'static IndexDesign>,
}

impl Source<'_> {
    fn entries(&self) -> Vec<Entry<'_>> {
        let entry = |item| {
            let partition = match self.index {
                Some(index) => index.key_of(item)?.0,
                None => key_values(item, [self.table.design.partition])?,
            };
            let shown = match self.index {
                Some(index) => index.entry_of(self.table.design, item),
                None => item.clone(),
            };
            Some(Entry { partition, order: self.order_of(item)?, shown, item })
        };
        self.table.items.values().filter_map(entry).collect()
    }

    fn order_of(&self, item: &Item) -> Option<Vec<Sortable>> {
        let design = self.table.design;
        match self.index {
            Some(index) => key_values(item, index.sort.iter().copied().chain(design.keys())),
            None => key_values(item, design.sort),
        }
    }

    /// A query filters what is not its key; a global index answers only what it holds.
    fn check(
        &self,
        filter: Option<&Condition>,
        projection: &[Path],
        is_query: bool,
    ) -> Result<(), ErrorKind> {
        let design = self.table.design;
        let is_key = |name: &str| match self.index {
            Some(index) => index.keys().any(|key| key.name == name),
            None => design.keys().any(|key| key.name == name),
        };
        let filters_key = is_query && filter.is_some_and(|filter| filter.roots().into_iter().any(is_key));
        let lacks = |index: &IndexDesign| {
            !index.is_local && projection.iter().any(|path| !index.holds(design, path.root))
        };
        if filters_key || self.index.is_some_and(lacks) { Err(ErrorKind::Validation) } else { Ok(()) }
    }

    /// What a local index lacks is read from the table.
    fn seen<'a>(&self, entry: &'a Entry<'_>) -> &'a Item {
        if self.index.is_some_and(|index| index.is_local) { entry.item } else { &entry.shown }
    }

    fn matches(&self, entry: &Entry<'_>, filter: Option<&Condition>) -> bool {
        filter.is_none_or(|filter| filter.holds(self.seen(entry)))
    }

    fn shown(&self, entry: &Entry<'_>, projection: &[Path]) -> Item {
        if projection.is_empty() { entry.shown.clone() } else { project(self.seen(entry), projection) }
    }

    fn pages(&self, query: &QueryStep, entries: &[Entry<'_>]) -> Vec<Page> {
        let mut pages = Vec::new();
        let mut rest = entries.iter();
        loop {
            let mut page = Page { items: (!query.counts).then(Vec::new), count: 0, scanned: 0, last: None };
            let mut bytes = 0;
            for entry in rest.by_ref() {
                page.scanned += 1;
                bytes += item_size_bytes(&entry.shown);
                if self.matches(entry, query.filter.as_ref()) {
                    page.count += 1;
                    page.items.iter_mut().for_each(|items| items.push(self.shown(entry, &query.projection)));
                }
                if query.limit == Some(page.scanned) || bytes >= PAGE_BYTES_MAX {
                    page.last = Some(self.start_key(entry));
                    break;
                }
            }
            let is_last = page.last.is_none();
            pages.push(page);
            if is_last {
                return pages;
            }
        }
    }

    fn start_key(&self, entry: &Entry<'_>) -> Item {
        let of_index = self.index.into_iter().flat_map(IndexDesign::keys);
        let keys = self.table.design.keys().chain(of_index);
        keys.map(|key| (key.name.to_owned(), entry.item[key.name].clone())).collect()
    }
}

impl QueryStep {
    /// Whether the key condition takes a sort key.
    fn takes(&self, order: &[Sortable]) -> bool {
        let equal = self.equal.iter().zip(order).all(|(wanted, found)| *wanted == found.0);
        let Some(found) = order.get(self.equal.len()) else { return equal };
        let at = |value: &Value| found.cmp(&Sortable(value.clone()));
        equal
            && match &self.range {
                None => true,
                Some(Range::Lt(value)) => at(value).is_lt(),
                Some(Range::Le(value)) => at(value).is_le(),
                Some(Range::Gt(value)) => at(value).is_gt(),
                Some(Range::Ge(value)) => at(value).is_ge(),
                Some(Range::Between(low, high)) => at(low).is_ge() && at(high).is_le(),
                Some(Range::BeginsWith(prefix)) => match (&found.0, prefix) {
                    (Value::S(text), Value::S(prefix)) => text.starts_with(prefix.as_str()),
                    (Value::B(bytes), Value::B(prefix)) => bytes.starts_with(prefix),
                    _ => false,
                },
            }
    }
}
