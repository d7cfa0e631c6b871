//! TransactGetItems: reads up to 100 items, all as of one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dynamo::operation::{Get, ItemResponse, TransactGetItems, TransactGetItemsReply};
use dynamo::{ApiError, CancellationReason, Item, StoredItem};
use expression::Projection;

use super::transact_write_items::{ONE_ITEM_TWICE, cancelled, refused};
use crate::capacity::{Detail, ReadKind, Units, consumed, is_asked, read_units};
use crate::catalog::{Catalog, find_table};
use crate::commit::View;
use crate::engine::Engine;
use crate::expressions::Expressions;
use crate::fault::Fault;
use crate::keys::check_key;
use crate::layout::ItemKey;
use crate::parameters::Parameters;
use crate::store::Space;
use crate::table::Table;

impl Engine {
    /// Reads up to 100 items, all as of one moment.
    pub fn transact_get_items(&self, request: TransactGetItems) -> Result<TransactGetItemsReply, ApiError> {
        let checked = check(request)?;
        let view = self.view();
        let bound = bind(checked, &view.catalog)?;
        let items = self.read(&view, |view| read(&bound, view))?;
        Ok(reply(&bound, items))
    }
}

struct Checked {
    request: TransactGetItems,
    gets: Vec<CheckedGet>,
}

struct CheckedGet {
    table_name: Option<String>,
    key: Item,
    projection: Option<Projection>,
}

struct Bound {
    request: TransactGetItems,
    gets: Vec<BoundGet>,
}

struct BoundGet {
    table: Arc<Table>,
    key: ItemKey,
    projection: Option<Projection>,
}

fn check(mut request: TransactGetItems) -> Result<Checked, ApiError> {
    request.check_fields()?;
    let actions = request.transact_items.take().unwrap_or_default();
    let gets =
        actions.into_iter().filter_map(|action| action.get).map(check_get).collect::<Result<_, _>>()?;
    Ok(Checked { request, gets })
}

fn check_get(get: Get) -> Result<CheckedGet, ApiError> {
    Parameters {
        expressions: &[("ProjectionExpression", get.projection_expression.is_some())],
        legacy: &[],
        names: get.expression_attribute_names.is_some(),
        values: false,
    }
    .check()?;
    get.faults.check("Key")?;
    let mut expressions = Expressions::new(get.expression_attribute_names.as_ref(), None, &get.faults)?;
    let projection = expressions.projection(get.projection_expression.as_deref())?;
    expressions.finish()?;
    Ok(CheckedGet { table_name: get.table_name, key: get.key.unwrap_or_default(), projection })
}

fn bind(checked: Checked, catalog: &Catalog) -> Result<Bound, ApiError> {
    let mut gets = Vec::with_capacity(checked.gets.len());
    let mut reasons = vec![CancellationReason::NONE; checked.gets.len()];
    for (get, reason) in checked.gets.into_iter().zip(&mut reasons) {
        let table = find_table(catalog, get.table_name.as_deref())?;
        match check_key(&table, &get.key) {
            Ok(key) => gets.push(BoundGet { table, key, projection: get.projection }),
            Err(error) => *reason = refused(error),
        }
    }
    if gets.len() < reasons.len() {
        return Err(cancelled(reasons));
    }
    let places: BTreeSet<_> = gets.iter().map(|get| (get.table.id, &get.key)).collect();
    if places.len() < gets.len() {
        return Err(ApiError::validation(ONE_ITEM_TWICE));
    }
    Ok(Bound { request: checked.request, gets })
}

fn read(bound: &Bound, view: &View) -> Result<Vec<Option<StoredItem>>, Fault> {
    let get = |get: &BoundGet| {
        let stored = view.snapshot.get(Space::Data, &get.key.in_collection(get.table.id))?;
        Ok(stored.map(StoredItem::from_bytes))
    };
    bound.gets.iter().map(get).collect()
}

fn reply(bound: &Bound, items: Vec<Option<StoredItem>>) -> TransactGetItemsReply {
    let wanted = bound.request.return_consumed_capacity.as_ref();
    let mut units: BTreeMap<&str, (&Table, Units)> = BTreeMap::new();
    let mut responses = Vec::with_capacity(items.len());
    for (get, item) in bound.gets.iter().zip(items) {
        let size_bytes = item.as_ref().map_or(0, StoredItem::size_bytes);
        let (_, sum) = units.entry(&get.table.name).or_insert_with(|| (&get.table, Units::default()));
        sum.table += read_units(size_bytes, ReadKind::Transactional);
        let item = item.map(|item| match &get.projection {
            Some(projection) => projection.apply(&item),
            None => item,
        });
        responses.push(ItemResponse { item });
    }
    let capacity = units.values().filter_map(|(table, units)| consumed(wanted, table, units, Detail::Reads));
    TransactGetItemsReply {
        responses: Some(responses),
        consumed_capacity: is_asked(wanted).then(|| capacity.collect()),
    }
}
