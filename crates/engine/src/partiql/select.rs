//! SELECT: which ranges of keys it reads, and the pages it answers.
//!
//! A WHERE that fixes the partition key, to one value or to one of several, reads only those partitions, and of them only what the first
//! condition on the sort key leaves. Everything else it says filters what was read. Any other SELECT reads the whole table or index.

use std::sync::Arc;

use dynamo::{ApiError, Item, ItemBuilder, StoredItem, StoredValue, Value};
use expression::tree::Comparator;
use expression::{Condition, KeyConditions, KeyRange as SortRange, KeyTest, Operand, Path, Projection};

use super::error::StatementError;
use super::key::{check_key_types, conjuncts, equal_value, is_attribute, joined, take_key};
use super::next_token::{NextToken, fingerprint};
use super::parse::last_name;
use super::tree::{Order, Select};
use crate::capacity::Units;
use crate::catalog::{Catalog, find_table};
use crate::commit::View;
use crate::fault::Fault;
use crate::keys::check_key;
use crate::layout::{ItemKey, KeyRange, KeySchema};
use crate::operation::partition_range;
use crate::page::{PAGE_BYTES_MAX, PageRequest};
use crate::reading::{Reading, Source};
use crate::store::Direction;
use crate::table::Table;

/// A SELECT that is ready to be read.
pub(crate) struct Selection {
    source: Source,
    parts: Vec<KeyRange>,
    direction: Direction,
    filter: Option<Condition>,
    projection: Vec<Path>,
    consistent_read: Option<bool>,
    /// The key of the one item that is read, if it is fixed.
    key: Option<ItemKey>,
}

/// A page.
#[derive(Default)]
pub(crate) struct Selected {
    pub(crate) items: Vec<StoredItem>,
    /// What was read, before filtering.
    pub(crate) scanned_bytes: usize,
    pub(crate) units: Units,
    pub(crate) next: Option<NextToken>,
    pub(crate) last_evaluated_key: Option<Item>,
}

/// What is asked of key attributes, by name.
type KeyTests = Vec<(Arc<str>, KeyTest)>;

/// What the WHERE leaves to read.
struct Plan {
    parts: Vec<KeyRange>,
    is_keyed: bool,
    filter: Option<Condition>,
}

impl Selection {
    /// Finds what is to be read.
    pub(crate) fn bind(
        select: Select,
        consistent_read: Option<bool>,
        catalog: &Catalog,
    ) -> Result<Selection, ApiError> {
        let source = source_of(&select, consistent_read, catalog)?;
        if let Some(fault) = select.fault {
            return Err(fault.into());
        }
        let conditions = conjuncts(select.condition.as_ref());
        check_key_types(source.schema(), &conditions)?;
        check_branches(source.schema(), select.condition.as_ref())?;
        let key = key_of(&source, &conditions)?;
        let plan = plan(&source, conditions, &select.order)?;
        let direction = check_order(&select, &source, &plan)?;
        if plan.is_keyed {
            check_filter(&source, select.condition.as_ref())?;
        }
        let Plan { parts, filter, .. } = plan;
        let projection = select.projection;
        Ok(Selection { source, parts, direction, filter, projection, consistent_read, key })
    }

    /// The table.
    pub(crate) fn table(&self) -> &Arc<Table> {
        &self.source.table
    }

    /// The key of the one item that is read, if it is fixed and nothing else is asked.
    pub(crate) fn key(&self) -> Option<&ItemKey> {
        self.key.as_ref().filter(|_| self.filter.is_none())
    }

    /// What tokens of this statement are bound to.
    pub(crate) fn fingerprint(&self, statement: &str, parameters: &[Value]) -> u128 {
        fingerprint(statement, parameters, self.source.collection())
    }

    /// Reads a page.
    pub(crate) fn read(
        &self,
        view: &View,
        limit: Option<usize>,
        start: Option<NextToken>,
    ) -> Result<Selected, Fault> {
        let mut page = Selected::default();
        let mut left = limit;
        let (first, mut after) = start.map_or((0, None), |start| (start.part, start.after));
        for (part, range) in self.parts.iter().enumerate().skip(first) {
            if left == Some(0) || page.scanned_bytes >= PAGE_BYTES_MAX {
                page.next = Some(NextToken { part, after: None });
                return Ok(page);
            }
            let range = self.continued(range, after.take())?;
            let scanned = self.read_part(view, part, range, left, &mut page)?;
            left = left.map(|left| left.saturating_sub(scanned));
            if page.next.is_some() {
                return Ok(page);
            }
        }
        Ok(page)
    }

    /// What is left of a range after the page before.
    fn continued(&self, range: &KeyRange, after: Option<bytes::Bytes>) -> Result<KeyRange, ApiError> {
        let Some(after) = after else { return Ok(range.clone()) };
        if !range.contains(&after) {
            return Err(StatementError::OtherToken.into());
        }
        Ok(match self.direction {
            Direction::Forward => range.clone().after(after),
            Direction::Reverse => range.clone().before(after),
        })
    }

    /// Reads what the page still has room for; answers how many items were looked at.
    fn read_part(
        &self,
        view: &View,
        part: usize,
        range: KeyRange,
        limit: Option<usize>,
        page: &mut Selected,
    ) -> Result<usize, Fault> {
        let answer = self.reading(range, limit)?.read(view)?;
        page.scanned_bytes += answer.scanned_bytes;
        page.units.add(answer.units);
        page.items.extend(answer.items.into_iter().flatten().map(|item| self.projected(item)));
        page.last_evaluated_key = None;
        // There is nothing after the one item with a key.
        if let Some(last) = answer.last_evaluated_key.filter(|_| self.key.is_none()) {
            let after = self.source.start_position(&last)?;
            page.next = Some(NextToken { part, after: Some(after) });
            page.last_evaluated_key = Some(last);
        }
        Ok(usize::try_from(answer.scanned_count).unwrap_or(usize::MAX))
    }

    fn reading(&self, range: KeyRange, limit: Option<usize>) -> Result<Reading, ApiError> {
        let request = PageRequest { range, direction: self.direction, limit };
        let roots = || Projection::of_names(self.projection.iter().map(|path| &*path.root));
        let projection = (!self.projection.is_empty()).then(roots);
        // The filter does not make an index look at whole items: it sees what the index holds.
        let mut reading =
            Reading::new(self.source.clone(), request, None, projection, None, self.consistent_read, None)?;
        reading.filter.clone_from(&self.filter);
        Ok(reading)
    }

    /// The projected values, each under the last name of its path.
    fn projected(&self, item: StoredItem) -> StoredItem {
        if self.projection.iter().all(|path| !path.is_nested()) {
            return item;
        }
        let mut values: Vec<_> =
            self.projection.iter().filter_map(|path| Some((last_name(path), path.find(&item)?))).collect();
        values.sort_by(|(one, _), (two, _)| one.cmp(two));
        values.dedup_by(|(one, _), (two, _)| one == two);
        let mut builder = ItemBuilder::with_capacity(item.as_bytes().len());
        for (name, value) in values {
            builder.push_stored(name.as_bytes(), value);
        }
        builder.finish()
    }
}

fn source_of(select: &Select, consistent_read: Option<bool>, catalog: &Catalog) -> Result<Source, ApiError> {
    let from = &select.from;
    let table = find_table(catalog, Some(&from.table))?;
    if let Some(name) = &from.index {
        let index = table.index(name).ok_or(StatementError::NoIndex)?;
        if index.schema.partition.len() > 1 || index.schema.sort.len() > 1 {
            return Err(StatementError::SeveralAttributes.into());
        }
        if !index.local && consistent_read == Some(true) {
            return Err(StatementError::ConsistentIndex.into());
        }
    }
    Source::find(catalog, Some(&from.table), from.index.as_deref(), consistent_read)
}

/// The key of the one item of a table that the conditions leave.
fn key_of(source: &Source, conditions: &[Condition]) -> Result<Option<ItemKey>, ApiError> {
    if source.index().is_some() {
        return Ok(None);
    }
    let key = take_key(&source.table.schema, &mut conditions.to_vec());
    key.map(|key| check_key(&source.table, &key)).transpose()
}

fn plan(source: &Source, mut conditions: Vec<Condition>, order: &[Order]) -> Result<Plan, ApiError> {
    let schema = source.schema();
    let Some(mut partitions) = take_partitions(schema, &mut conditions) else {
        let parts = vec![KeyRange::of_collection(source.collection())];
        return Ok(Plan { parts, is_keyed: false, filter: joined(conditions) });
    };
    sort_partitions(&mut partitions, order);
    let sort = take_sort(schema, &mut conditions);
    let range = |partition: KeyTests| {
        partition_range(source, &KeyConditions::new(partition.into_iter().chain(sort.clone()).collect()))
    };
    let parts = partitions.into_iter().map(range).collect::<Result<Vec<_>, _>>()?;
    Ok(Plan { parts, is_keyed: true, filter: joined(conditions) })
}

/// Puts partitions into the order that ORDER BY asks for. Without it they stay in that of the text.
fn sort_partitions(partitions: &mut [KeyTests], order: &[Order]) {
    for order in order.iter().rev() {
        let value = |partition: &KeyTests| {
            let test = partition.iter().find(|(name, _)| **name == *order.name);
            test.and_then(|(_, test)| match test {
                KeyTest::Equal(value) => Some(value.clone()),
                _ => None,
            })
        };
        partitions.sort_by(|one, two| {
            let compared =
                value(one).zip(value(two)).and_then(|(one, two)| one.as_ref().compare(two.as_ref()));
            let compared = compared.unwrap_or(std::cmp::Ordering::Equal);
            if order.descends { compared.reverse() } else { compared }
        });
    }
}

/// Takes the conditions that fix the partition key: the partitions that are read, each once.
fn take_partitions(schema: &KeySchema, conditions: &mut Vec<Condition>) -> Option<Vec<KeyTests>> {
    let mut places = Vec::new();
    let mut partitions: Vec<KeyTests> = vec![Vec::new()];
    for attribute in &schema.partition {
        let is_alone = schema.partition.len() == 1;
        let (place, values) = conditions
            .iter()
            .enumerate()
            .find_map(|(place, condition)| Some((place, values_of(condition, &attribute.name, is_alone)?)))?;
        places.push(place);
        let test = |value: &StoredValue| (Arc::from(attribute.name.as_str()), KeyTest::Equal(value.clone()));
        partitions = partitions
            .iter()
            .flat_map(|partition| {
                values.iter().map(|value| partition.iter().cloned().chain([test(value)]).collect())
            })
            .collect();
    }
    places.sort_unstable();
    for place in places.into_iter().rev() {
        conditions.remove(place);
    }
    Some(partitions)
}

/// The values that a condition leaves to an attribute, in the order of the text, each once.
fn values_of(condition: &Condition, name: &str, accepts_list: bool) -> Option<Vec<StoredValue>> {
    if let Some(value) = equal_value(condition, name) {
        return Some(vec![value.clone()]);
    }
    let listed: Option<Vec<&StoredValue>> = match condition {
        Condition::In { value, list } if is_attribute(value, name) => list
            .iter()
            .map(|operand| if let Operand::Value(value) = operand { Some(value) } else { None })
            .collect(),
        Condition::Any(parts) => parts.iter().map(|part| equal_value(part, name)).collect(),
        _ => None,
    };
    let listed = listed.filter(|_| accepts_list)?;
    let mut values: Vec<StoredValue> = Vec::with_capacity(listed.len());
    for value in listed {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    Some(values)
}

/// Takes the conditions on the sort key that a range of keys can answer: equalities, and one range after them.
fn take_sort(schema: &KeySchema, conditions: &mut Vec<Condition>) -> KeyTests {
    let mut tests = Vec::new();
    for attribute in &schema.sort {
        let name = &attribute.name;
        let equal = conditions.iter().position(|condition| equal_value(condition, name).is_some());
        let place =
            equal.or_else(|| conditions.iter().position(|condition| range_of(condition, name).is_some()));
        let Some(place) = place else { break };
        let condition = conditions.remove(place);
        let Some(value) = equal_value(&condition, name) else {
            let range = range_of(&condition, name).map(KeyTest::Range);
            tests.extend(range.map(|range| (Arc::from(name.as_str()), range)));
            break;
        };
        tests.push((Arc::from(name.as_str()), KeyTest::Equal(value.clone())));
    }
    tests
}

/// The range that a condition leaves to an attribute.
fn range_of(condition: &Condition, name: &str) -> Option<SortRange> {
    match condition {
        Condition::Compare { comparator, left, right } => match (left, right) {
            (path, Operand::Value(value)) if is_attribute(path, name) => compared(*comparator, value),
            (Operand::Value(value), path) if is_attribute(path, name) => {
                compared(comparator.mirrored(), value)
            }
            _ => None,
        },
        Condition::Between { value, low: Operand::Value(low), high: Operand::Value(high) } => {
            // Bounds that are the wrong way round leave nothing; a filter can say that and a range cannot.
            let is_range = low.as_ref().compare(high.as_ref()).is_some_and(std::cmp::Ordering::is_le);
            (is_range && is_attribute(value, name)).then(|| SortRange::Between(low.clone(), high.clone()))
        }
        Condition::BeginsWith(value, Operand::Value(prefix)) if is_attribute(value, name) => {
            Some(SortRange::BeginsWith(prefix.clone()))
        }
        _ => None,
    }
}

fn compared(comparator: Comparator, value: &StoredValue) -> Option<SortRange> {
    let value = value.clone();
    match comparator {
        Comparator::Lt => Some(SortRange::Lt(value)),
        Comparator::Le => Some(SortRange::Le(value)),
        Comparator::Gt => Some(SortRange::Gt(value)),
        Comparator::Ge => Some(SortRange::Ge(value)),
        Comparator::Eq | Comparator::Ne => None,
    }
}

/// The direction that ORDER BY asks for: partitions are read one after the other, and items within them in that of the sort key.
fn check_order(select: &Select, source: &Source, plan: &Plan) -> Result<Direction, ApiError> {
    if select.order.is_empty() {
        return Ok(Direction::Forward);
    }
    if select.condition.is_none() {
        return Err(StatementError::OrderWithoutCondition.into());
    }
    if !plan.is_keyed {
        return Err(StatementError::OrderWithoutPartition.into());
    }
    let schema = source.schema();
    if let Some(order) = select.order.iter().find(|order| !schema.contains(&order.name)) {
        return Err(StatementError::OrderOfOther(order.name.clone()).into());
    }
    let is_sort = |order: &&Order| schema.sort.iter().any(|attribute| attribute.name == order.name);
    match select.order.iter().find(is_sort) {
        Some(order) if order.descends => Ok(Direction::Reverse),
        _ => Ok(Direction::Forward),
    }
}

/// A query of an index filters only by what the index holds.
fn check_filter(source: &Source, condition: Option<&Condition>) -> Result<(), ApiError> {
    let Some(index) = source.index() else { return Ok(()) };
    let mut names: Vec<String> = Vec::new();
    for path in condition.iter().flat_map(|condition| condition.paths()) {
        if !source.projects(&path.root) && !names.iter().any(|name| **name == *path.root) {
            names.push(path.root.to_string());
        }
    }
    if names.is_empty() {
        return Ok(());
    }
    Err(StatementError::FilterNotProjected { index: index.name.clone(), names }.into())
}

/// What a branch of OR asks of the sort key of its partition.
#[derive(PartialEq)]
enum Branch {
    /// Nothing: it reads the whole partition.
    Whole,
    /// Something that a range of keys answers.
    Range,
    /// Something else, such as that it is not a value.
    Other,
}

/// Branches of OR are read one after the other, so one must not read a partition of which another reads a part. Of those that
/// say what the sort key is not DynamoDB does not know it, and lets them pass.
fn check_branches(schema: &KeySchema, condition: Option<&Condition>) -> Result<(), ApiError> {
    let Some(Condition::Any(parts)) = condition else { return Ok(()) };
    let branches: Option<Vec<_>> = parts.iter().map(|part| branch(schema, part)).collect();
    let Some(branches) = branches else { return Ok(()) };
    let is_read = |partition: &StoredValue, wanted: Branch| {
        branches.iter().any(|(other, branch)| other == partition && *branch == wanted)
    };
    let overlaps = |(partition, _): &(StoredValue, Branch)| {
        is_read(partition, Branch::Whole) && is_read(partition, Branch::Range)
    };
    if branches.iter().any(overlaps) { Err(StatementError::Overlapping.into()) } else { Ok(()) }
}

/// The partition of a branch, and what it asks of the sort key; `None` if it does not fix a partition.
fn branch(schema: &KeySchema, part: &Condition) -> Option<(StoredValue, Branch)> {
    let (partition, sort) = (schema.partition.first()?, schema.sort.first()?);
    let mut conditions = conjuncts(Some(part));
    let value = conditions.iter().find_map(|condition| equal_value(condition, &partition.name)).cloned()?;
    let mentions_sort = conditions.iter().any(|one| one.paths().iter().any(|path| *path.root == *sort.name));
    let branch = if !take_sort(schema, &mut conditions).is_empty() {
        Branch::Range
    } else if mentions_sort {
        Branch::Other
    } else {
        Branch::Whole
    };
    Some((value, branch))
}
