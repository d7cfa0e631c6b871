//! TransactWriteItems: up to 100 writes and checks, all or none.

use std::collections::BTreeMap;
use std::sync::Arc;

use dynamo::operation::{
    ConsumedCapacity, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
    ReturnValuesOnConditionCheckFailure, TransactWriteItem, TransactWriteItems, TransactWriteItemsReply,
};
use dynamo::{ApiError, CancellationReason, Choice, ErrorKind, Item, StoredItem};
use expression::{Condition, Update};

use super::Decide;
use super::update_item::check_update;
use crate::capacity::{Detail, ReadKind, Units, consumed, is_asked, read_units};
use crate::catalog::{Catalog, find_table};
use crate::collection::item_collection_metrics;
use crate::commit::{Changes, Latest};
use crate::engine::Engine;
use crate::expressions::{ConditionParameters, UpdateParameters};
use crate::fault::Fault;
use crate::keys::{check_index_keys, check_item_key, check_key, is_attribute_name, is_empty_key};
use crate::table::Table;
use crate::token::Token;
use crate::write::{Action, ITEM_BYTES_MAX, ITEM_TOO_LARGE, ItemWrite, Refusal, Written, has_item_twice};

/// Said of a transaction with two actions on one item.
pub(super) const ONE_ITEM_TWICE: &str = "Transaction request cannot include multiple operations on one item";
/// The most bytes of items in one transaction.
const TRANSACTION_BYTES_MAX: usize = 4 << 20;
/// Transactions cost double.
const FACTOR: f64 = 2.0;

impl Engine {
    /// Makes up to 100 writes and checks, all or none.
    pub fn transact_write_items(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsReply, ApiError> {
        self.commit(decide(request, &self.catalog())?)
    }
}

/// Everything up to the decision, which is made against the latest state.
pub(super) fn decide(
    request: TransactWriteItems,
    catalog: &Catalog,
) -> Result<impl Decide<TransactWriteItemsReply> + use<>, ApiError> {
    let checked = check(request)?;
    let bound = bind(checked, catalog)?;
    Ok(move |latest: &Latest<'_>| write(&bound, latest))
}

struct Checked {
    actions: Vec<CheckedAction>,
    token: Option<Token>,
    asked: Asked,
}

struct CheckedAction {
    table_name: Option<String>,
    target: Target,
    condition: Option<Condition>,
    on_failure: Option<Choice<ReturnValuesOnConditionCheckFailure>>,
}

enum Target {
    Put(StoredItem),
    Update(Item, Box<Update>),
    Delete(Item),
    Check(Item),
}

struct Asked {
    capacity: Option<Choice<ReturnConsumedCapacity>>,
    metrics: Option<Choice<ReturnItemCollectionMetrics>>,
}

struct Bound {
    writes: Vec<BoundWrite>,
    token: Option<Token>,
    asked: Asked,
}

struct BoundWrite {
    write: ItemWrite,
    with_item: bool,
}

fn check(mut request: TransactWriteItems) -> Result<Checked, ApiError> {
    request.check_fields()?;
    let token = Token::of(&mut request);
    let actions = request.transact_items.take().unwrap_or_default();
    let actions = actions.into_iter().map(check_action).collect::<Result<Vec<_>, _>>()?;
    let size: usize = actions.iter().map(|action| action.target.size_bytes()).sum();
    if size > TRANSACTION_BYTES_MAX {
        return Err(ApiError::validation(
            "Collection size of items exceeded, which can also be caused by the aggregate size of the items in the \
             transaction exceeding the 4MB limit",
        ));
    }
    let asked =
        Asked { capacity: request.return_consumed_capacity, metrics: request.return_item_collection_metrics };
    Ok(Checked { actions, token, asked })
}

impl Target {
    fn size_bytes(&self) -> usize {
        match self {
            Target::Put(item) => item.size_bytes(),
            Target::Update(key, _) | Target::Delete(key) | Target::Check(key) => dynamo::item_size_bytes(key),
        }
    }
}

fn check_action(action: TransactWriteItem) -> Result<CheckedAction, ApiError> {
    match (action.condition_check, action.put, action.delete, action.update) {
        (Some(check), None, None, None) => check_condition_check(check),
        (None, Some(put), None, None) => check_put(put),
        (None, None, Some(delete), None) => check_delete(delete),
        (None, None, None, Some(update)) => check_update_action(update),
        _ => Err(ApiError::validation("TransactItems can only contain one of Check, Put, Update or Delete")),
    }
}

fn check_condition_check(check: dynamo::operation::ConditionCheck) -> Result<CheckedAction, ApiError> {
    let parameters = ConditionParameters::of_expression(
        check.condition_expression.as_deref(),
        check.expression_attribute_names.as_ref(),
        check.expression_attribute_values.as_ref(),
        &check.faults,
    );
    parameters.check()?;
    check.faults.check("Key")?;
    Ok(CheckedAction {
        condition: parameters.bind()?,
        target: Target::Check(check.key.unwrap_or_default()),
        table_name: check.table_name,
        on_failure: check.return_values_on_condition_check_failure,
    })
}

fn check_put(put: dynamo::operation::Put) -> Result<CheckedAction, ApiError> {
    let parameters = ConditionParameters::of_expression(
        put.condition_expression.as_deref(),
        put.expression_attribute_names.as_ref(),
        put.expression_attribute_values.as_ref(),
        &put.faults,
    );
    parameters.check()?;
    put.faults.check("Item")?;
    let condition = parameters.bind()?;
    let item = put.item.unwrap_or_default();
    if item.size_bytes() > ITEM_BYTES_MAX {
        return Err(ApiError::validation(ITEM_TOO_LARGE));
    }
    Ok(CheckedAction {
        condition,
        target: Target::Put(item),
        table_name: put.table_name,
        on_failure: put.return_values_on_condition_check_failure,
    })
}

fn check_delete(delete: dynamo::operation::Delete) -> Result<CheckedAction, ApiError> {
    let parameters = ConditionParameters::of_expression(
        delete.condition_expression.as_deref(),
        delete.expression_attribute_names.as_ref(),
        delete.expression_attribute_values.as_ref(),
        &delete.faults,
    );
    parameters.check()?;
    delete.faults.check("Key")?;
    Ok(CheckedAction {
        condition: parameters.bind()?,
        target: Target::Delete(delete.key.unwrap_or_default()),
        table_name: delete.table_name,
        on_failure: delete.return_values_on_condition_check_failure,
    })
}

fn check_update_action(update: dynamo::operation::Update) -> Result<CheckedAction, ApiError> {
    let parameters = UpdateParameters {
        attribute_updates: None,
        expected: None,
        conditional_operator: None,
        update: update.update_expression.as_deref(),
        condition: update.condition_expression.as_deref(),
        names: update.expression_attribute_names.as_ref(),
        values: update.expression_attribute_values.as_ref(),
        faults: &update.faults,
    };
    parameters.check()?;
    update.faults.check("Key")?;
    let (bound, condition) = parameters.bind()?;
    Ok(CheckedAction {
        condition,
        target: Target::Update(update.key.unwrap_or_default(), Box::new(bound)),
        table_name: update.table_name,
        on_failure: update.return_values_on_condition_check_failure,
    })
}

fn bind(checked: Checked, catalog: &Catalog) -> Result<Bound, ApiError> {
    let mut writes = Vec::with_capacity(checked.actions.len());
    let mut reasons = Reasons::of(checked.actions.len());
    for (number, action) in checked.actions.into_iter().enumerate() {
        match bind_action(action, catalog) {
            Ok(bound) => writes.push(bound),
            // What comes after an action that cannot be carried out is not looked at.
            Err(error) if is_reason(&error) => {
                reasons.add(number, refused(error));
                break;
            }
            Err(error) => return Err(error),
        }
    }
    if has_item_twice(writes.iter().map(|bound| &bound.write)) {
        return Err(ApiError::validation(ONE_ITEM_TWICE));
    }
    reasons.check()?;
    Ok(Bound { writes, token: checked.token, asked: checked.asked })
}

fn bind_action(checked: CheckedAction, catalog: &Catalog) -> Result<BoundWrite, ApiError> {
    let table = find_table(catalog, checked.table_name.as_deref())?;
    let (key, action) = match checked.target {
        Target::Put(item) => {
            let key = check_item_key(&table, &item)?;
            check_index_keys(&table, |name| item.get(name))?;
            (key, Action::Put(item))
        }
        Target::Update(key, update) => {
            let item_key = check_key(&table, &key)?;
            check_update(&table, &update)?;
            (item_key, Action::Update(update, key))
        }
        Target::Delete(key) => (check_key(&table, &key)?, Action::Delete),
        Target::Check(key) => (check_key(&table, &key)?, Action::Check),
    };
    let with_item =
        checked.on_failure.is_some_and(|wanted| wanted == ReturnValuesOnConditionCheckFailure::AllOld);
    Ok(BoundWrite { write: ItemWrite { table, key, action, condition: checked.condition }, with_item })
}

fn write(bound: &Bound, latest: &Latest<'_>) -> Result<(TransactWriteItemsReply, Changes), Fault> {
    if let Some(token) = &bound.token
        && token.was_used(latest)?
    {
        return Ok((reply_again(bound, latest)?, Changes::default()));
    }
    let written = decide_all(bound, latest)?;
    let mut changes = Changes::default();
    add_all(&written, &mut changes, latest)?;
    if let Some(token) = &bound.token {
        token.add_to(&mut changes, latest);
    }
    Ok((reply(bound, &written, &changes, latest)?, changes))
}

/// Adds the writes of a transaction, unless one of them would make an item collection too large.
pub(super) fn add_all(written: &[Written], changes: &mut Changes, latest: &Latest<'_>) -> Result<(), Fault> {
    let mut reasons = Reasons::of(written.len());
    for (number, written) in written.iter().enumerate() {
        match written.add_to(changes, latest) {
            Ok(()) => {}
            Err(Fault::Api(error)) if error.kind == ErrorKind::ItemCollectionSizeLimitExceeded => {
                let code = "ItemCollectionSizeLimitExceeded";
                let message = Some(error.message);
                reasons.add(number, CancellationReason { code, message, item: None });
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(reasons.check()?)
}

/// Every action is decided even after one was refused: the client learns all reasons.
fn decide_all(bound: &Bound, latest: &Latest<'_>) -> Result<Vec<Written>, Fault> {
    let mut written = Vec::with_capacity(bound.writes.len());
    let mut reasons = Reasons::of(bound.writes.len());
    for (number, action) in bound.writes.iter().enumerate() {
        match action.write.decide(latest) {
            Ok(decided) => written.push(decided),
            Err(Refusal::Condition(item)) => {
                reasons.add(number, condition_failed(item.filter(|_| action.with_item)));
            }
            Err(Refusal::Fault(Fault::Api(error))) if is_reason(&error) => {
                reasons.add(number, refused(error));
            }
            Err(Refusal::Fault(fault)) => return Err(fault),
        }
    }
    reasons.check()?;
    Ok(written)
}

/// Why a transaction is cancelled: one reason for each action, made room for once there is one.
struct Reasons {
    actions: usize,
    list: Vec<CancellationReason>,
}

impl Reasons {
    fn of(actions: usize) -> Reasons {
        Reasons { actions, list: Vec::new() }
    }

    fn add(&mut self, action: usize, reason: CancellationReason) {
        self.list.resize(self.actions, CancellationReason::NONE);
        if let Some(place) = self.list.get_mut(action) {
            *place = reason;
        }
    }

    fn check(self) -> Result<(), ApiError> {
        if self.list.is_empty() { Ok(()) } else { Err(cancelled(self.list)) }
    }
}

pub(super) fn condition_failed(item: Option<StoredItem>) -> CancellationReason {
    let message = Some("The conditional request failed".to_owned());
    CancellationReason { code: "ConditionalCheckFailed", message, item }
}

/// Whether an action that is refused so is a reason to cancel; other errors are the answer to the whole transaction.
pub(super) fn is_reason(error: &ApiError) -> bool {
    error.kind == ErrorKind::Validation && !is_empty_key(error) && !is_attribute_name(error)
}

/// An action that breaks a rule as a reason.
pub(super) fn refused(error: ApiError) -> CancellationReason {
    CancellationReason { code: "ValidationError", message: Some(error.message), item: None }
}

/// The error of a transaction that was not carried out.
pub(super) fn cancelled(reasons: Vec<CancellationReason>) -> ApiError {
    let codes: Vec<_> = reasons.iter().map(|reason| reason.code).collect();
    let message = format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    );
    ApiError { reasons, ..ApiError::new(ErrorKind::TransactionCanceled, message) }
}

fn reply(
    bound: &Bound,
    written: &[Written],
    changes: &Changes,
    latest: &Latest<'_>,
) -> Result<TransactWriteItemsReply, Fault> {
    let mut metrics: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for written in written {
        let wanted = bound.asked.metrics.as_ref();
        if let Some(found) = item_collection_metrics(wanted, written, changes, latest)? {
            metrics.entry(written.table.name.clone()).or_default().push(found);
        }
    }
    Ok(TransactWriteItemsReply {
        consumed_capacity: capacity_of(bound.asked.capacity.as_ref(), written),
        item_collection_metrics: (!metrics.is_empty()).then_some(metrics),
    })
}

/// What a transaction cost, by table.
pub(super) fn capacity_of(
    wanted: Option<&Choice<ReturnConsumedCapacity>>,
    written: &[Written],
) -> Option<Vec<ConsumedCapacity>> {
    if !is_asked(wanted) {
        return None;
    }
    let mut units: BTreeMap<&str, (&Table, Units)> = BTreeMap::new();
    for written in written {
        let (_, sum) = units.entry(&written.table.name).or_insert_with(|| (&written.table, Units::default()));
        sum.add(Units::of_write(&written.change(), FACTOR));
    }
    let capacity = units.values().filter_map(|(table, units)| consumed(wanted, table, units, Detail::Writes));
    Some(capacity.collect())
}

/// The answer to a request that was carried out before: it costs what reading the items costs.
fn reply_again(bound: &Bound, latest: &Latest<'_>) -> Result<TransactWriteItemsReply, Fault> {
    let writes = bound.writes.iter().map(|bound| &bound.write);
    Ok(TransactWriteItemsReply {
        consumed_capacity: capacity_again(bound.asked.capacity.as_ref(), writes, latest)?,
        item_collection_metrics: None,
    })
}

/// What a transaction that was carried out before costs, by table.
pub(super) fn capacity_again<'a>(
    wanted: Option<&Choice<ReturnConsumedCapacity>>,
    writes: impl Iterator<Item = &'a ItemWrite>,
    latest: &Latest<'_>,
) -> Result<Option<Vec<ConsumedCapacity>>, Fault> {
    let mut units: BTreeMap<&str, (&Arc<Table>, Units)> = BTreeMap::new();
    for write in writes {
        let key = write.key.in_collection(write.table.id);
        let stored = latest.get(crate::store::Space::Data, &key)?.map(StoredItem::from_bytes);
        let size_bytes = stored.as_ref().map_or(0, StoredItem::size_bytes);
        let (_, sum) = units.entry(&write.table.name).or_insert_with(|| (&write.table, Units::default()));
        sum.table += read_units(size_bytes, ReadKind::Transactional);
    }
    let capacity = units.values().filter_map(|(table, units)| consumed(wanted, table, units, Detail::Reads));
    Ok(is_asked(wanted).then(|| capacity.collect()))
}
