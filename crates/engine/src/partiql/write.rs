//! INSERT, UPDATE, DELETE and EXISTS: each is a write, or a check, of the one item that it names.
//!
//! INSERT needs that there is no item, UPDATE and EXISTS that there is one. DELETE of nothing is done already, whatever its conditions.

use dynamo::{ApiError, ErrorKind, Item, KeyValue, StoredItem};
use expression::{Condition, Path};

use super::error::StatementError;
use super::key::{check_key_types, conjuncts, joined, take_written_key};
use super::tree::{Delete, Insert, Returning, Select, Statement, UpdateItem};
use crate::catalog::{Catalog, find_table};
use crate::commit::Latest;
use crate::fault::Fault;
use crate::keys::{check_index_keys, check_item_key, check_key};
use crate::operation::check_update;
use crate::table::Table;
use crate::write::{Action, ITEM_BYTES_MAX, ITEM_TOO_LARGE, ItemWrite, Refusal, Written};

/// A write with what the statement says about its outcome.
pub(crate) struct StatementWrite {
    pub(crate) write: ItemWrite,
    outcome: Outcome,
}

/// How the outcome is told.
enum Outcome {
    /// An item that is there is in the way.
    Insert,
    /// Perhaps with items.
    Returning(Option<Returning>),
}

/// Why nothing was written.
pub(crate) enum NotWritten {
    /// There is an item with this key.
    Duplicate(Option<StoredItem>),
    /// The conditions do not hold for the item as it is.
    Condition(Option<StoredItem>),
    /// The write would break a rule, or the store failed.
    Fault(Fault),
}

impl StatementWrite {
    /// The write of a statement; `None` for a SELECT.
    pub(crate) fn bind(statement: Statement, catalog: &Catalog) -> Result<Option<StatementWrite>, ApiError> {
        match statement {
            Statement::Select(_) => Ok(None),
            Statement::Insert(insert) => bind_insert(insert, catalog).map(Some),
            Statement::Update(update) => bind_update(update, catalog).map(Some),
            Statement::Delete(delete) => bind_delete(delete, catalog).map(Some),
            Statement::Exists(select) => bind_exists(select, catalog).map(Some),
        }
    }

    /// Decides against the latest state; changes nothing yet.
    pub(crate) fn decide(&self, latest: &Latest<'_>) -> Result<Written, NotWritten> {
        match (self.write.decide(latest), &self.outcome) {
            (Ok(written), _) => Ok(written),
            (Err(Refusal::Condition(old)), Outcome::Insert) => Err(NotWritten::Duplicate(old)),
            (Err(Refusal::Condition(old)), _) => Err(NotWritten::Condition(old)),
            (Err(Refusal::Fault(fault)), _) => Err(NotWritten::Fault(fault)),
        }
    }

    /// The item that the statement answers.
    pub(crate) fn returned(&self, written: &Written) -> Option<StoredItem> {
        let Outcome::Returning(Some(returning)) = self.outcome else { return None };
        let (old, new) = (written.old.as_ref(), written.new.as_ref());
        match (returning, &self.write.action) {
            (Returning::AllOld, _) => old.cloned(),
            (Returning::AllNew, _) => new.cloned(),
            (Returning::ModifiedOld, Action::Update(update, _)) => update.updated_old(old),
            (Returning::ModifiedNew, Action::Update(update, _)) => {
                new.and_then(|new| update.updated_new(new))
            }
            _ => None,
        }
    }

    /// The size of the larger of the item that was to be written and the one that was in the way.
    pub(crate) fn attempted_bytes(&self, old: Option<&StoredItem>) -> usize {
        let new = match &self.write.action {
            Action::Put(item) => item.size_bytes(),
            _ => 0,
        };
        new.max(old.map_or(0, StoredItem::size_bytes))
    }
}

impl NotWritten {
    /// As an error of a statement by itself.
    pub(crate) fn into_fault(self, with_item: bool) -> Fault {
        match self {
            NotWritten::Duplicate(_) => Fault::Api(duplicate()),
            NotWritten::Condition(item) => Refusal::Condition(item).into_fault(with_item),
            NotWritten::Fault(fault) => fault,
        }
    }
}

/// Said of an INSERT of an item that is there.
pub(crate) fn duplicate() -> ApiError {
    ApiError::new(ErrorKind::DuplicateItem, "Duplicate primary key exists in table")
}

fn bind_insert(insert: Insert, catalog: &Catalog) -> Result<StatementWrite, ApiError> {
    let table = find_table(catalog, Some(&insert.into.table))?;
    check_inserted_key(&table, &insert.item)?;
    let item = StoredItem::encode(&insert.item);
    let key = check_item_key(&table, &item)?;
    if item.size_bytes() > ITEM_BYTES_MAX {
        return Err(ApiError::validation(ITEM_TOO_LARGE));
    }
    check_index_keys(&table, |name| item.get(name))?;
    let condition = Some(Condition::NotExists(key_path(&table)));
    let write = ItemWrite { table, key, action: Action::Put(item), condition };
    Ok(StatementWrite { write, outcome: Outcome::Insert })
}

/// The item has the keys of the table, of their types.
fn check_inserted_key(table: &Table, item: &Item) -> Result<(), StatementError> {
    for attribute in table.schema.attributes() {
        let name = &attribute.name;
        let value = item.get(name).ok_or_else(|| StatementError::KeyAbsent(name.clone()))?;
        if KeyValue::from_value(value).is_none_or(|value| value.key_type() != attribute.key_type) {
            return Err(StatementError::KeyType(name.clone()));
        }
    }
    Ok(())
}

fn bind_update(statement: UpdateItem, catalog: &Catalog) -> Result<StatementWrite, ApiError> {
    if statement.from.index.is_some() {
        return Err(StatementError::IndexWrite.into());
    }
    let table = find_table(catalog, Some(&statement.from.table))?;
    let mut conditions = conjuncts(statement.condition.as_ref());
    check_key_types(&table.schema, &conditions)?;
    let key = take_written_key(&table.schema, &mut conditions)?;
    let item_key = check_key(&table, &key)?;
    check_update(&table, &statement.update)?;
    conditions.insert(0, Condition::Exists(key_path(&table)));
    let action = Action::Update(Box::new(statement.update), key);
    let write = ItemWrite { table, key: item_key, action, condition: joined(conditions) };
    Ok(StatementWrite { write, outcome: Outcome::Returning(statement.returning) })
}

fn bind_delete(statement: Delete, catalog: &Catalog) -> Result<StatementWrite, ApiError> {
    if statement.from.index.is_some() {
        return Err(StatementError::IndexWrite.into());
    }
    if let Some(returning) = statement.returning.filter(|returning| *returning != Returning::AllOld) {
        return Err(StatementError::DeleteReturning(returning.name()).into());
    }
    let table = find_table(catalog, Some(&statement.from.table))?;
    let mut conditions = conjuncts(statement.condition.as_ref());
    check_key_types(&table.schema, &conditions)?;
    let key = take_written_key(&table.schema, &mut conditions)?;
    let key = check_key(&table, &key)?;
    let is_gone = Condition::NotExists(key_path(&table));
    let condition = joined(conditions).map(|condition| Condition::Any(vec![is_gone, condition]));
    let write = ItemWrite { table, key, action: Action::Delete, condition };
    Ok(StatementWrite { write, outcome: Outcome::Returning(statement.returning) })
}

fn bind_exists(select: Select, catalog: &Catalog) -> Result<StatementWrite, ApiError> {
    let table = find_table(catalog, Some(&select.from.table))?;
    let mut conditions = conjuncts(select.condition.as_ref());
    check_key_types(&table.schema, &conditions)?;
    let key = take_written_key(&table.schema, &mut conditions)?;
    let key = check_key(&table, &key)?;
    if conditions.is_empty() {
        return Err(StatementError::ExistsWithoutCondition.into());
    }
    conditions.insert(0, Condition::Exists(key_path(&table)));
    let write = ItemWrite { table, key, action: Action::Check, condition: joined(conditions) };
    Ok(StatementWrite { write, outcome: Outcome::Returning(None) })
}

/// An attribute that every item of the table has.
fn key_path(table: &Table) -> Path {
    let name = table.schema.attributes().next().map(|attribute| attribute.name.as_str());
    Path::top_level(name.unwrap_or_default())
}
