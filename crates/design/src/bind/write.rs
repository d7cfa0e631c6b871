//! Writes of items: merged so that each item is written once, then turned into requests.

use std::collections::HashMap;

use dynamo::operation::{
    Choice, ConditionCheck, Delete, DeleteItem, Operation, Put, PutItem, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, TransactWriteItems, Update, UpdateItem,
};
use dynamo::{Item, Number, StoredItem, Value};

use super::ItemKey;
use super::placeholders::Placeholders;
use super::value::{at, put_at, remove_at};
use crate::condition::Condition;

/// One write of one item, with what it is for.
#[derive(Clone, Debug)]
pub struct PlannedWrite {
    /// The action in a transaction.
    pub action: TransactWriteItem,
    /// The item.
    pub key: ItemKey,
    /// The entity it is of.
    pub entity: String,
    /// What it is for: steps, copies, counters.
    pub because: Vec<String>,
    /// What the caller is told if its condition fails.
    pub otherwise: Option<String>,
    /// True if it makes an item, or replaces one.
    pub creates: bool,
    /// The item as a step leaves it, as it is stored. None where nothing is left, and for what only follows from steps.
    pub after: Option<StoredItem>,
}

/// A write before merging.
#[derive(Clone, Debug)]
pub(super) struct ItemWrite {
    pub(super) key: ItemKey,
    pub(super) entity: String,
    pub(super) because: Vec<String>,
    pub(super) otherwise: Option<String>,
    pub(super) guards: Vec<Guard>,
    pub(super) body: Body,
    /// For the write of a step: the stored item before it, empty if there was none.
    pub(super) before: Option<Item>,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Put(Item),
    Update(Changes),
    /// An update expression as the design writes it, with its values.
    Verbatim(String, Item),
    Delete,
    /// Only the guards.
    Check,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    pub(super) set: Vec<(String, Value)>,
    /// Set where there is nothing yet: what an item that comes to be by being counted is made of.
    pub(super) initial: Vec<(String, Value)>,
    pub(super) add: Vec<(String, Number)>,
    pub(super) remove: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Guard {
    Exists,
    NotExists,
    /// The attribute still is what was read.
    Unchanged(String, Option<Value>),
    /// A condition of the design, with the values of its slots.
    Holds(Condition, Item),
}

/// One write for each item, in the order in which they were first needed.
pub(super) fn merged(writes: Vec<ItemWrite>) -> Vec<PlannedWrite> {
    let mut known = HashMap::with_capacity(writes.len());
    let places = writes.iter().map(|write| {
        let next = known.len();
        *known.entry(&write.key).or_insert(next)
    });
    let places = places.collect::<Vec<_>>();
    let mut items: Vec<ItemWrite> = Vec::with_capacity(writes.len());
    for (write, place) in writes.into_iter().zip(places) {
        match items.get_mut(place) {
            Some(first) => join(first, write),
            None => items.push(write),
        }
    }
    items.into_iter().filter_map(rendered).collect()
}

fn join(first: &mut ItemWrite, second: ItemWrite) {
    first.because.extend(second.because);
    first.otherwise = first.otherwise.take().or(second.otherwise);
    first.before = first.before.take().or(second.before);
    let replaces =
        matches!((&first.body, &second.body), (Body::Delete, Body::Put(_)) | (Body::Put(_), Body::Delete));
    let (body, drop_existence) = match (std::mem::replace(&mut first.body, Body::Check), second.body) {
        (Body::Check, body) | (body, Body::Check) => (body, false),
        (Body::Put(item), Body::Update(changes)) => (Body::Put(applied(item, &changes)), true),
        (Body::Update(_), Body::Put(item)) => (Body::Put(item), true),
        (Body::Update(mut left), Body::Update(right)) => {
            left.set.extend(right.set);
            left.initial.extend(right.initial);
            left.add.extend(right.add);
            left.remove.extend(right.remove);
            (Body::Update(left), false)
        }
        // Deleted and made again under the same key: replaced.
        (Body::Delete, Body::Put(item)) | (Body::Put(item), Body::Delete) => (Body::Put(item), true),
        (Body::Delete, _) | (_, Body::Delete) => (Body::Delete, false),
        (_, later) => (later, false),
    };
    first.body = body;
    for guard in second.guards {
        if !first.guards.contains(&guard) {
            first.guards.push(guard);
        }
    }
    if drop_existence {
        // What is put in the same write exists afterwards, whatever another part asked for.
        first.guards.retain(|guard| *guard != Guard::Exists);
    }
    if replaces {
        first.guards.retain(|guard| *guard != Guard::NotExists);
    }
}

/// An item with changes made to it.
pub(super) fn applied(mut item: Item, changes: &Changes) -> Item {
    for (path, value) in &changes.initial {
        if at(&item, path).is_none() {
            put_at(&mut item, path, value.clone());
        }
    }
    for (path, value) in &changes.set {
        put_at(&mut item, path, value.clone());
    }
    for (path, number) in &changes.add {
        let old = match at(&item, path) {
            Some(Value::N(old)) => *old,
            _ => Number::ZERO,
        };
        put_at(&mut item, path, Value::N(old.plus(*number).unwrap_or(old)));
    }
    for path in &changes.remove {
        remove_at(&mut item, path);
    }
    item
}

fn rendered(write: ItemWrite) -> Option<PlannedWrite> {
    let ItemWrite { key, entity, because, otherwise, guards, body, before } = write;
    let mut placeholders = Placeholders::default();
    let key_name = key.key.keys().next().cloned().unwrap_or_default();
    let mut body = body;
    if let Body::Update(changes) = &mut body {
        tidy(changes);
        if changes.set.is_empty() && changes.add.is_empty() && changes.remove.is_empty() {
            body = Body::Check;
        }
    }
    if matches!(body, Body::Check) && guards.is_empty() {
        return None;
    }
    let update = match &body {
        Body::Update(changes) => Some(update_expression(&mut placeholders, changes)),
        Body::Verbatim(text, values) => {
            placeholders.values.extend(values.clone());
            Some(text.clone())
        }
        _ => None,
    };
    let condition = guard_expression(&mut placeholders, &guards, &key_name);
    let is_of_step = before.is_some();
    let changed = before.and_then(|before| changed(before, &body));
    let action = action(&key, body, update, condition, placeholders);
    let made = action.put.as_ref().and_then(|put| put.item.clone());
    let creates = made.is_some();
    let after = made.filter(|_| is_of_step).or_else(|| changed.map(StoredItem::from));
    Some(PlannedWrite { action, key, entity, because, otherwise, creates, after })
}

/// What a write that makes nothing leaves of an item.
fn changed(before: Item, body: &Body) -> Option<Item> {
    match body {
        Body::Update(changes) => Some(applied(before, changes)),
        Body::Check if !before.is_empty() => Some(before),
        Body::Check | Body::Put(_) | Body::Delete | Body::Verbatim(..) => None,
    }
}

/// Adds up what is added to one number, and leaves out what comes to nothing.
fn tidy(changes: &mut Changes) {
    let mut add: Vec<(String, Number)> = Vec::new();
    for (path, number) in std::mem::take(&mut changes.add) {
        match add.iter_mut().find(|(known, _)| *known == path) {
            Some((_, sum)) => *sum = sum.plus(number).unwrap_or(*sum),
            None => add.push((path, number)),
        }
    }
    add.retain(|(_, number)| *number != Number::ZERO);
    changes.add = add;
    let mut set: Vec<(String, Value)> = Vec::new();
    for (path, value) in std::mem::take(&mut changes.set) {
        set.retain(|(known, _)| *known != path);
        set.push((path, value));
    }
    changes.set = set;
    changes.remove.sort_unstable();
    changes.remove.dedup();
    let mut seen = std::collections::BTreeSet::new();
    changes.initial.retain(|(path, _)| seen.insert(path.clone()));
}

fn update_expression(placeholders: &mut Placeholders, changes: &Changes) -> String {
    let mut sets = Vec::new();
    for (path, value) in &changes.set {
        let name = placeholders.dotted(path);
        sets.push(format!("{name} = {}", placeholders.value(path, value.clone())));
    }
    for (path, value) in &changes.initial {
        let name = placeholders.dotted(path);
        sets.push(format!("{name} = if_not_exists({name}, {})", placeholders.value(path, value.clone())));
    }
    let adds = changes.add.iter().map(|(path, number)| {
        let name = placeholders.dotted(path);
        format!("{name} {}", placeholders.value(path, Value::N(*number)))
    });
    let adds = adds.collect::<Vec<_>>();
    let removes = changes.remove.iter().map(|path| placeholders.dotted(path)).collect::<Vec<_>>();
    let clauses = [("SET", sets), ("ADD", adds), ("REMOVE", removes)];
    let clauses = clauses.into_iter().filter(|(_, list)| !list.is_empty());
    clauses.map(|(word, list)| format!("{word} {}", list.join(", "))).collect::<Vec<_>>().join(" ")
}

fn guard_expression(placeholders: &mut Placeholders, guards: &[Guard], key_name: &str) -> Option<String> {
    let parts = guards.iter().filter_map(|guard| match guard {
        Guard::Exists => Some(format!("attribute_exists({})", placeholders.name(key_name))),
        Guard::NotExists => Some(format!("attribute_not_exists({})", placeholders.name(key_name))),
        Guard::Unchanged(path, None) => Some(format!("attribute_not_exists({})", placeholders.dotted(path))),
        Guard::Unchanged(path, Some(value)) => {
            let name = placeholders.dotted(path);
            Some(format!("{name} = {}", placeholders.value(&format!("old_{path}"), value.clone())))
        }
        Guard::Holds(condition, scope) => placeholders.condition(condition, scope),
    });
    let parts = parts.collect::<Vec<_>>();
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

/// The action of a kind, with the members that all kinds have.
macro_rules! conditional {
    ($kind:ident { $($member:ident: $value:expr),* }, $table:expr, $condition:expr, $placeholders:expr) => {{
        let condition: Option<String> = $condition;
        let (names, values) = $placeholders.into_parts();
        Some($kind {
            $($member: Some($value),)*
            table_name: Some($table),
            return_values_on_condition_check_failure: condition
                .as_ref()
                .map(|_| Choice::Known(ReturnValuesOnConditionCheckFailure::AllOld)),
            condition_expression: condition,
            expression_attribute_names: names,
            expression_attribute_values: values,
            ..$kind::default()
        })
    }};
}

fn action(
    place: &ItemKey,
    body: Body,
    update: Option<String>,
    condition: Option<String>,
    placeholders: Placeholders,
) -> TransactWriteItem {
    let (table, key) = (place.table.clone(), || place.key.clone());
    let mut action = TransactWriteItem::default();
    match body {
        Body::Put(item) => {
            action.put = conditional!(Put { item: item.into() }, table, condition, placeholders);
        }
        Body::Update(_) | Body::Verbatim(..) => {
            let update_expression = update.unwrap_or_default();
            action.update = conditional!(
                Update { key: key(), update_expression: update_expression },
                table,
                condition,
                placeholders
            );
        }
        Body::Delete => action.delete = conditional!(Delete { key: key() }, table, condition, placeholders),
        Body::Check => {
            action.condition_check =
                conditional!(ConditionCheck { key: key() }, table, condition, placeholders);
        }
    }
    action
}

/// The request that makes these writes: a single write by itself, several as one transaction. None for no writes.
/// The token makes a transaction that is sent twice count once.
///
/// The actions are taken out of the writes: they are sent once.
pub fn requests(writes: &mut [PlannedWrite], token: Option<&str>) -> Option<Operation> {
    match writes {
        [] => None,
        [only] if only.action.condition_check.is_none() => Some(single(std::mem::take(&mut only.action))),
        several => {
            let actions = several.iter_mut().map(|write| std::mem::take(&mut write.action)).collect();
            let request = TransactWriteItems {
                transact_items: Some(actions),
                client_request_token: token.map(str::to_owned),
                ..TransactWriteItems::default()
            };
            Some(request.into())
        }
    }
}

fn single(action: TransactWriteItem) -> Operation {
    if let Some(put) = action.put {
        return PutItem {
            item: put.item,
            table_name: put.table_name,
            condition_expression: put.condition_expression,
            expression_attribute_names: put.expression_attribute_names,
            expression_attribute_values: put.expression_attribute_values,
            return_values_on_condition_check_failure: put.return_values_on_condition_check_failure,
            ..PutItem::default()
        }
        .into();
    }
    if let Some(update) = action.update {
        return UpdateItem {
            key: update.key,
            update_expression: update.update_expression,
            table_name: update.table_name,
            condition_expression: update.condition_expression,
            expression_attribute_names: update.expression_attribute_names,
            expression_attribute_values: update.expression_attribute_values,
            return_values_on_condition_check_failure: update.return_values_on_condition_check_failure,
            ..UpdateItem::default()
        }
        .into();
    }
    let delete = action.delete.unwrap_or_default();
    DeleteItem {
        key: delete.key,
        table_name: delete.table_name,
        condition_expression: delete.condition_expression,
        expression_attribute_names: delete.expression_attribute_names,
        expression_attribute_values: delete.expression_attribute_values,
        return_values_on_condition_check_failure: delete.return_values_on_condition_check_failure,
        ..DeleteItem::default()
    }
    .into()
}
