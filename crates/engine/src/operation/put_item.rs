//! PutItem: stores an item in the place of the one with the same key.

use dynamo::operation::{PutItem, PutItemReply};
use dynamo::{ApiError, StoredItem};
use expression::Condition;

use super::Decide;
use crate::catalog::{Catalog, find_table};
use crate::commit::{Changes, Latest};
use crate::engine::Engine;
use crate::expressions::ConditionParameters;
use crate::fault::Fault;
use crate::keys::{check_index_keys, check_item_key};
use crate::single::{Asked, Done, ReturnValuesAsked, SingleWrite};
use crate::write::{Action, ITEM_BYTES_MAX, ITEM_TOO_LARGE, ItemWrite};

impl Engine {
    /// Stores an item in the place of the one with the same key.
    pub fn put_item(&self, request: PutItem) -> Result<PutItemReply, ApiError> {
        self.commit(decide(request, &self.catalog())?)
    }
}

/// Everything up to the decision, which is made against the latest state.
pub(super) fn decide(
    request: PutItem,
    catalog: &Catalog,
) -> Result<impl Decide<PutItemReply> + use<>, ApiError> {
    let checked = check(request)?;
    let bound = bind(checked, catalog)?;
    Ok(move |latest: &Latest<'_>| write(&bound, latest))
}

struct Checked {
    table_name: Option<String>,
    item: StoredItem,
    condition: Option<Condition>,
    asked: Asked,
}

fn check(mut request: PutItem) -> Result<Checked, ApiError> {
    request.check_fields()?;
    let parameters = ConditionParameters {
        expected: request.expected.take(),
        conditional_operator: request.conditional_operator.take(),
        expression: request.condition_expression.as_deref(),
        names: request.expression_attribute_names.as_ref(),
        values: request.expression_attribute_values.as_ref(),
        faults: &request.faults,
    };
    parameters.check()?;
    request.faults.check("Item")?;
    let return_values = ReturnValuesAsked::old_or_none(request.return_values.as_ref())?;
    let item = request.item.take().unwrap_or_default();
    if item.size_bytes() > ITEM_BYTES_MAX {
        return Err(ApiError::validation(ITEM_TOO_LARGE));
    }
    Ok(Checked {
        item,
        condition: parameters.bind()?,
        table_name: request.table_name,
        asked: Asked {
            return_values,
            on_failure: request.return_values_on_condition_check_failure,
            capacity: request.return_consumed_capacity,
            metrics: request.return_item_collection_metrics,
        },
    })
}

fn bind(checked: Checked, catalog: &Catalog) -> Result<SingleWrite, ApiError> {
    let table = find_table(catalog, checked.table_name.as_deref())?;
    let key = check_item_key(&table, &checked.item)?;
    check_index_keys(&table, |name| checked.item.get(name))?;
    let write = ItemWrite { table, key, action: Action::Put(checked.item), condition: checked.condition };
    Ok(SingleWrite { write, asked: checked.asked })
}

fn write(bound: &SingleWrite, latest: &Latest<'_>) -> Result<(PutItemReply, Changes), Fault> {
    let (done, changes) = bound.decide(latest)?;
    Ok((reply(&bound.asked, done), changes))
}

fn reply(asked: &Asked, done: Done) -> PutItemReply {
    PutItemReply {
        attributes: done.written.old.filter(|_| asked.return_values.wants_old()),
        consumed_capacity: done.consumed_capacity,
        item_collection_metrics: done.item_collection_metrics,
    }
}
