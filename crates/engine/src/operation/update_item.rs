//! UpdateItem: changes the item with a key, or makes it.

use dynamo::operation::{ReturnValues, UpdateItem, UpdateItemReply};
use dynamo::{ApiError, Choice, Item};
use expression::{Action, Condition, Update};

use super::Decide;
use crate::catalog::{Catalog, find_table};
use crate::commit::{Changes, Latest};
use crate::engine::Engine;
use crate::expressions::UpdateParameters;
use crate::fault::Fault;
use crate::keys::{INVALID, check_key, check_scalar_keys, index_type_mismatch};
use crate::single::{Asked, Done, ReturnValuesAsked, SingleWrite};
use crate::table::Table;
use crate::write::{self, ItemWrite};

impl Engine {
    /// Changes the item with a key, or makes it.
    pub fn update_item(&self, request: UpdateItem) -> Result<UpdateItemReply, ApiError> {
        self.commit(decide(request, &self.catalog())?)
    }
}

/// Everything up to the decision, which is made against the latest state.
pub(super) fn decide(
    request: UpdateItem,
    catalog: &Catalog,
) -> Result<impl Decide<UpdateItemReply> + use<>, ApiError> {
    let checked = check(request)?;
    let bound = bind(checked, catalog)?;
    Ok(move |latest: &Latest<'_>| write(&bound, latest))
}

struct Checked {
    table_name: Option<String>,
    key: Item,
    update: Update,
    condition: Option<Condition>,
    asked: Asked,
}

fn check(mut request: UpdateItem) -> Result<Checked, ApiError> {
    request.check_fields()?;
    let parameters = UpdateParameters {
        attribute_updates: request.attribute_updates.take(),
        expected: request.expected.take(),
        conditional_operator: request.conditional_operator.take(),
        update: request.update_expression.as_deref(),
        condition: request.condition_expression.as_deref(),
        names: request.expression_attribute_names.as_ref(),
        values: request.expression_attribute_values.as_ref(),
        faults: &request.faults,
    };
    parameters.check()?;
    request.faults.check("Key")?;
    let (update, condition) = parameters.bind()?;
    Ok(Checked {
        update,
        condition,
        key: request.key.take().unwrap_or_default(),
        table_name: request.table_name,
        asked: Asked {
            return_values: ReturnValuesAsked(request.return_values.as_ref().and_then(Choice::known)),
            on_failure: request.return_values_on_condition_check_failure,
            capacity: request.return_consumed_capacity,
            metrics: request.return_item_collection_metrics,
        },
    })
}

fn bind(checked: Checked, catalog: &Catalog) -> Result<SingleWrite, ApiError> {
    let table = find_table(catalog, checked.table_name.as_deref())?;
    let key = check_key(&table, &checked.key)?;
    check_update(&table, &checked.update)?;
    let action = write::Action::Update(Box::new(checked.update), checked.key);
    let write = ItemWrite { table, key, action, condition: checked.condition };
    Ok(SingleWrite { write, asked: checked.asked })
}

/// Refuses an update of a key attribute, an index key of a type that cannot be right, and paths into keys.
pub(crate) fn check_update(table: &Table, update: &Update) -> Result<(), ApiError> {
    let is_updated = |name: &str| update.names().any(|updated| updated == name);
    if let Some(attribute) = table.schema.attributes().find(|attribute| is_updated(&attribute.name)) {
        return Err(ApiError::validation(format!(
            "{INVALID}Cannot update attribute {}. This attribute is part of the key",
            attribute.name
        )));
    }
    check_index_types(table, update)?;
    let paths = update.paths().chain(update.read_paths());
    check_scalar_keys(table, paths.map(|path| (&*path.root, path.is_nested())))
}

fn check_index_types(table: &Table, update: &Update) -> Result<(), ApiError> {
    for index in table.written_indexes() {
        for attribute in index.schema.attributes() {
            let is_meant =
                |action: &&Action| !action.path().is_nested() && *action.path().root == *attribute.name;
            let known = update.actions().iter().find(is_meant).and_then(Action::known_type);
            if let Some(known) = known.filter(|known| *known != attribute.key_type.value_type()) {
                return Err(index_type_mismatch(&index.name, attribute, known));
            }
        }
    }
    Ok(())
}

fn write(bound: &SingleWrite, latest: &Latest<'_>) -> Result<(UpdateItemReply, Changes), Fault> {
    let (done, changes) = bound.decide(latest)?;
    Ok((reply(bound, done), changes))
}

fn reply(bound: &SingleWrite, done: Done) -> UpdateItemReply {
    let written = done.written;
    let attributes = match (bound.asked.return_values.0, &bound.write.action) {
        (Some(ReturnValues::AllOld), _) => written.old,
        (Some(ReturnValues::AllNew), _) => written.new,
        (Some(ReturnValues::UpdatedOld), write::Action::Update(update, _)) => {
            update.updated_old(written.old.as_ref())
        }
        (Some(ReturnValues::UpdatedNew), write::Action::Update(update, _)) => {
            written.new.and_then(|item| update.updated_new(&item))
        }
        _ => None,
    };
    UpdateItemReply {
        attributes,
        consumed_capacity: done.consumed_capacity,
        item_collection_metrics: done.item_collection_metrics,
    }
}
