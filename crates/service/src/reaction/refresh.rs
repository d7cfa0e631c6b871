//! Refreshes: copies of an attribute elsewhere follow a change of its source.
//!
//! Setting an attribute to a value twice is the same as once, so nothing is noted on the way: after a restart the whole refresh is done again,
//! and items that have the value already are left alone.

use std::collections::BTreeMap;

use design::{Refresh, Write};
use dynamo::operation::Query;
use dynamo::{Item, Reply};

use crate::refusal::Refusal;
use crate::service::Service;

/// Has every copy follow.
pub(super) async fn apply(service: &Service, refresh: &Refresh) -> Result<(), Refusal> {
    let entity = service.entity(&refresh.entity)?;
    let holder = service.entity(&refresh.found_as)?;
    let table = service.inner.shapes.tables.iter().find(|table| table.name == holder.table);
    let table = table.map(|table| table.physical.clone()).unwrap_or_default();
    let mut query = question(&table, refresh);
    loop {
        let Reply::Query(reply) = service.run(query.clone()).await? else {
            return Err(Refusal::strange("Query"));
        };
        for stored in reply.items.unwrap_or_default() {
            let stored = stored.decode();
            let found = service.inner.shapes.recognise(service.design(), &table, &stored);
            if found.is_none_or(|found| found.name.value != refresh.found_as) {
                continue;
            }
            let logical = design::logical_item(service.design(), holder, &stored);
            if refresh.found_as == refresh.entity && logical.get(&refresh.attribute) == refresh.value.as_ref()
            {
                continue;
            }
            let mut key = Item::new();
            for slot in entity.identity() {
                if let Some(value) = design::at(&logical, slot) {
                    design::put_at(&mut key, slot, value.clone());
                }
            }
            update(service, refresh, key).await?;
        }
        match reply.last_evaluated_key {
            Some(last) => query.exclusive_start_key = Some(last),
            None => return Ok(()),
        }
    }
}

async fn update(service: &Service, refresh: &Refresh, key: Item) -> Result<(), Refusal> {
    let set = refresh.value.iter().map(|value| (refresh.attribute.clone(), value.clone())).collect();
    let remove = if refresh.value.is_none() { vec![refresh.attribute.clone()] } else { Vec::new() };
    let write = Write::Update { entity: &refresh.entity, key, set, remove, version: None };
    match crate::write::carry_out(service, write, None).await {
        // What is gone needs no refreshing.
        Ok(_) | Err(Refusal::NotFound { .. }) => Ok(()),
        Err(refusal) => Err(refusal),
    }
}

/// The question for one partition.
fn question(table: &str, refresh: &Refresh) -> Query {
    let (mut names, mut values, mut parts) = (BTreeMap::new(), Item::new(), Vec::new());
    for (number, (name, value)) in refresh.partition.iter().enumerate() {
        names.insert(format!("#k{number}"), name.clone());
        values.insert(format!(":k{number}"), value.clone());
        parts.push(format!("#k{number} = :k{number}"));
    }
    Query {
        index_name: refresh.index.clone(),
        expression_attribute_names: Some(names),
        expression_attribute_values: Some(values),
        ..Query::new(table, parts.join(" AND "))
    }
}
