//! GetItem: reads one item by its key.

use std::sync::Arc;

use dynamo::operation::{GetItem, GetItemReply};
use dynamo::{ApiError, Item, StoredItem};
use expression::Projection;

use crate::capacity::{Detail, ReadKind, Units, consumed, read_units};
use crate::catalog::{Catalog, find_table};
use crate::commit::View;
use crate::engine::Engine;
use crate::expressions::{Expressions, attributes_to_get};
use crate::fault::Fault;
use crate::keys::{check_key, check_scalar_keys};
use crate::layout::ItemKey;
use crate::parameters::Parameters;
use crate::store::Space;
use crate::table::Table;

impl Engine {
    /// Reads one item by its key.
    pub fn get_item(&self, request: GetItem) -> Result<GetItemReply, ApiError> {
        let checked = check(request)?;
        let view = self.view();
        let bound = bind(checked, &view.catalog)?;
        let item = self.read(&view, |view| read(&bound, view))?;
        Ok(reply(&bound, item))
    }
}

struct Checked {
    request: GetItem,
    key: Item,
    projection: Option<Projection>,
}

struct Bound {
    request: GetItem,
    table: Arc<Table>,
    key: ItemKey,
    projection: Option<Projection>,
}

fn check(mut request: GetItem) -> Result<Checked, ApiError> {
    request.check_fields()?;
    Parameters {
        expressions: &[("ProjectionExpression", request.projection_expression.is_some())],
        legacy: &[("AttributesToGet", request.attributes_to_get.is_some())],
        names: request.expression_attribute_names.is_some(),
        values: false,
    }
    .check()?;
    request.faults.check("Key")?;
    let projection = match &request.projection_expression {
        Some(expression) => projection(&request, expression)?,
        None => attributes_to_get(request.attributes_to_get.as_ref())?,
    };
    let key = request.key.take().unwrap_or_default();
    Ok(Checked { request, key, projection })
}

fn projection(request: &GetItem, expression: &str) -> Result<Option<Projection>, ApiError> {
    let names = request.expression_attribute_names.as_ref();
    let mut expressions = Expressions::new(names, None, &request.faults)?;
    let projection = expressions.projection(Some(expression))?;
    expressions.finish()?;
    Ok(projection)
}

fn bind(checked: Checked, catalog: &Catalog) -> Result<Bound, ApiError> {
    let table = find_table(catalog, checked.request.table_name.as_deref())?;
    check_scalar_keys(&table, checked.projection.iter().flat_map(Projection::names))?;
    let key = check_key(&table, &checked.key)?;
    Ok(Bound { request: checked.request, table, key, projection: checked.projection })
}

fn read(bound: &Bound, view: &View) -> Result<Option<StoredItem>, Fault> {
    let stored = view.snapshot.get(Space::Data, &bound.key.in_collection(bound.table.id))?;
    Ok(stored.map(StoredItem::from_bytes))
}

fn reply(bound: &Bound, item: Option<StoredItem>) -> GetItemReply {
    let request = &bound.request;
    let size_bytes = item.as_ref().map_or(0, StoredItem::size_bytes);
    let units = Units::of_table(read_units(size_bytes, ReadKind::of(request.consistent_read)));
    GetItemReply {
        consumed_capacity: consumed(
            request.return_consumed_capacity.as_ref(),
            &bound.table,
            &units,
            Detail::Plain,
        ),
        item: item.map(|item| match &bound.projection {
            Some(projection) => projection.apply(&item),
            None => item,
        }),
    }
}
