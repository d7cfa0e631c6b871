//! Changes of global indexes.

use std::collections::BTreeSet;

use dynamo::operation::{
    AttributeDefinition, CreateGlobalSecondaryIndexAction, GlobalSecondaryIndexDescription,
    GlobalSecondaryIndexUpdate, IndexStatus, KeySchemaElement, TableDescription,
    UpdateGlobalSecondaryIndexAction, UpdateTable,
};
use dynamo::{ApiError, ErrorKind};

use super::{Update, changed_units, same_units, units_unchanged};
use crate::catalog::CatalogChange;
use crate::layout::KeyAttribute;
use crate::operation::create_table::new_index;
use crate::schema::{self, GLOBAL_INDEXES_MAX, invalid};
use crate::table::{Index, IndexState, Table, Throughput};
use crate::throughput::{self, Of};

/// Each update has one action, and no index has two updates.
pub(super) fn check(updates: &[GlobalSecondaryIndexUpdate]) -> Result<(), ApiError> {
    let mut names = BTreeSet::new();
    for update in updates {
        let actions = [update.update.is_some(), update.create.is_some(), update.delete.is_some()];
        match actions.into_iter().filter(|given| *given).count() {
            0 => {
                return Err(invalid(
                    "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
                     GlobalSecondaryIndexUpdate.Delete must not be null",
                ));
            }
            1 => {}
            _ => {
                return Err(invalid(
                    "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
                ));
            }
        }
        let name = name_of(update);
        if !names.insert(name) {
            return Err(invalid(format!(
                "Only one global secondary index update per index is allowed simultaneously. Index: {name}"
            )));
        }
    }
    Ok(())
}

fn name_of(update: &GlobalSecondaryIndexUpdate) -> &str {
    let name = match (&update.update, &update.create, &update.delete) {
        (Some(update), _, _) => &update.index_name,
        (_, Some(create), _) => &create.index_name,
        (_, _, Some(delete)) => &delete.index_name,
        (None, None, None) => &None,
    };
    name.as_deref().unwrap_or_default()
}

/// True if the request gives this index provisioned units.
pub(super) fn gives_units(request: &UpdateTable, index: &str) -> bool {
    let updates = request.global_secondary_index_updates.iter().flatten();
    let mut updates = updates.filter_map(|update| update.update.as_ref());
    updates
        .any(|update| update.index_name.as_deref() == Some(index) && update.provisioned_throughput.is_some())
}

impl Update {
    pub(super) fn change_indexes(&mut self, request: &UpdateTable) -> Result<(), ApiError> {
        let updates = request.global_secondary_index_updates.as_deref().unwrap_or_default();
        self.check_one_at_a_time(updates)?;
        for update in updates {
            check_target(&self.table, update)?;
        }
        let switches = request.billing_mode.is_some();
        for update in updates {
            if let Some(action) = &update.update {
                self.change_index(action, switches)?;
            } else if let Some(action) = &update.create {
                self.create_index(action, request.attribute_definitions.as_deref())?;
            } else {
                self.delete_index(name_of(update));
            }
        }
        Ok(())
    }

    /// DynamoDB makes or removes one index of a table at a time; an index that is being made may be removed.
    fn check_one_at_a_time(&self, updates: &[GlobalSecondaryIndexUpdate]) -> Result<(), ApiError> {
        let online = updates.iter().filter(|update| update.update.is_none());
        let being_made = self.table.indexes.iter().filter(|index| index.state != IndexState::Active);
        let being_made = being_made.filter(|index| {
            let is_removed = |update: &GlobalSecondaryIndexUpdate| {
                update.delete.is_some() && name_of(update) == index.name
            };
            !updates.iter().any(is_removed)
        });
        let asked = online.count();
        if asked > 0 && asked + being_made.count() > 1 {
            return Err(ApiError::new(
                ErrorKind::LimitExceeded,
                "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
            ));
        }
        Ok(())
    }

    fn create_index(
        &mut self,
        action: &CreateGlobalSecondaryIndexAction,
        definitions: Option<&[AttributeDefinition]>,
    ) -> Result<(), ApiError> {
        let name = action.index_name.clone().unwrap_or_default();
        if self.table.global_indexes().count() >= GLOBAL_INDEXES_MAX {
            return Err(ApiError::new(
                ErrorKind::LimitExceeded,
                "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20",
            ));
        }
        let Some(definitions) = definitions.filter(|definitions| !definitions.is_empty()) else {
            return Err(invalid(format!("AttributeDefinitions is not specified for index: {name}")));
        };
        let definitions = schema::definitions(definitions)?;
        let elements = action.key_schema.as_deref().unwrap_or_default();
        self.check_not_redefined(&definitions, elements)?;
        if elements.len() > definitions.len() {
            return Err(ApiError::validation(schema::NO_DEFINITION));
        }
        let key = schema::global_key(elements, &definitions)?;
        let projection = schema::projection(action.projection.as_ref())?;
        let on_demand = self.table.settings.on_demand;
        let throughput = new_units(action, &name, on_demand)?;
        let of = Of::Index(&name);
        let on_demand_limits = throughput::new_limits(action.on_demand_throughput.as_ref(), on_demand, of)?;
        let warm_throughput =
            throughput::new_warmth(action.warm_throughput.as_ref(), on_demand, &throughput, of)?;
        let id = self.take_id();
        let state = IndexState::Creating;
        let index = Index {
            id,
            state,
            throughput,
            on_demand_limits,
            warm_throughput,
            ..new_index(name, key, projection)
        };
        self.table.indexes.push(index);
        schema::check_projected(self.table.indexes.iter().map(|index| &index.projection))?;
        self.table.definitions.extend(definitions);
        keep_used_definitions(&mut self.table);
        Ok(())
    }

    /// An attribute keeps the type that other keys have given it.
    fn check_not_redefined(
        &self,
        definitions: &[KeyAttribute],
        elements: &[KeySchemaElement],
    ) -> Result<(), ApiError> {
        let is_other = |new: &&KeyAttribute| {
            defined(&self.table, &new.name).is_some_and(|old| old.key_type != new.key_type)
        };
        let is_key = |new: &&KeyAttribute| {
            elements.iter().any(|element| element.attribute_name.as_deref() == Some(&*new.name))
        };
        let Some(new) = definitions.iter().filter(is_key).find(is_other) else { return Ok(()) };
        let schemas =
            std::iter::once(&self.table.schema).chain(self.table.indexes.iter().map(|index| &index.schema));
        let old = schemas.into_iter().find(|schema| schema.contains(&new.name)).unwrap_or(&self.table.schema);
        let created = schema::global_key(elements, definitions)?;
        Err(invalid(format!(
            "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. \
             Existing schema: {} New schema: {}",
            schema::shown(old),
            schema::shown(&created)
        )))
    }

    fn change_index(
        &mut self,
        action: &UpdateGlobalSecondaryIndexAction,
        switches: bool,
    ) -> Result<(), ApiError> {
        let on_demand = self.table.settings.on_demand;
        let name = action.index_name.as_deref().unwrap_or_default();
        let now_milliseconds = self.now_milliseconds;
        let Some(index) = self.table.indexes.iter_mut().find(|index| index.name == name) else {
            return Ok(());
        };
        if let Some(units) = &action.provisioned_throughput {
            if on_demand {
                return Err(invalid(format!(
                    "The only Updates for index: {name} when TableThroughputMode is PAY_PER_REQUEST can be to \
                     OnDemandThroughput, WarmThroughput"
                )));
            }
            let units = throughput::provisioned(units)?;
            if same_units(&index.throughput, &units) && !switches {
                let (subject, of) = (format!("the index {name}"), format!("index {name}"));
                return Err(ApiError::validation(units_unchanged(&subject, &of, &index.throughput, &units)));
            }
            index.throughput = changed_units(&index.throughput, &units, now_milliseconds);
        }
        let of = Of::Index(name);
        let limits = action.on_demand_throughput.as_ref();
        let limits = throughput::changed_limits(limits, index.on_demand_limits, on_demand, of)?;
        index.on_demand_limits = limits.unwrap_or(index.on_demand_limits);
        let warm = index.warm_throughput.unwrap_or_default();
        let warm = throughput::changed_warmth(action.warm_throughput.as_ref(), warm, of)?;
        index.warm_throughput = warm.or(index.warm_throughput);
        Ok(())
    }

    fn delete_index(&mut self, name: &str) {
        let removed = self.table.indexes.extract_if(.., |index| index.name == name);
        self.changes.extend(removed.map(|index| CatalogChange::Discard(index.id)));
        keep_used_definitions(&mut self.table);
    }
}

/// An index that is changed or removed is there and global; one that is made is not there.
fn check_target(table: &Table, update: &GlobalSecondaryIndexUpdate) -> Result<(), ApiError> {
    let name = name_of(update);
    let verb = if update.delete.is_some() { "delete" } else { "update" };
    match (table.index(name), &update.create) {
        (Some(_), Some(_)) => Err(ApiError::validation("Attempting to create an index which already exists")),
        (Some(index), None) if index.local => Err(ApiError::validation(format!(
            "Cannot {verb} an index that is not a GlobalSecondaryIndex: {name}"
        ))),
        (None, None) => Err(ApiError::new(
            ErrorKind::ResourceNotFound,
            format!("Requested resource not found: Index {name} for table {}", table.name),
        )),
        _ => Ok(()),
    }
}

fn new_units(
    action: &CreateGlobalSecondaryIndexAction,
    name: &str,
    on_demand: bool,
) -> Result<Throughput, ApiError> {
    match (&action.provisioned_throughput, on_demand) {
        (Some(_), true) => Err(invalid(format!(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {name} when BillingMode is \
             PAY_PER_REQUEST"
        ))),
        (None, true) => Ok(Throughput::default()),
        (Some(units), false) => throughput::provisioned(units),
        (None, false) => Err(invalid(format!(
            "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {name}"
        ))),
    }
}

fn defined<'a>(table: &'a Table, name: &str) -> Option<&'a KeyAttribute> {
    table.definitions.iter().find(|definition| definition.name == name)
}

/// A table's definitions are those that its keys use, each once.
fn keep_used_definitions(table: &mut Table) {
    let mut seen = BTreeSet::new();
    let (schema, indexes) = (&table.schema, &table.indexes);
    table.definitions.retain(|definition| {
        let name = &definition.name;
        let is_used = schema.contains(name) || indexes.iter().any(|index| index.schema.contains(name));
        is_used && seen.insert(name.clone())
    });
}

/// Shows indexes as they are at the start of a change: new ones before their filling, changed ones with their old units, removed ones
/// still there.
pub(super) fn show_changes(
    request: &UpdateTable,
    was: Option<Vec<GlobalSecondaryIndexDescription>>,
    description: &mut TableDescription,
) {
    let was = was.unwrap_or_default();
    let mut shown = description.global_secondary_indexes.take().unwrap_or_default();
    for update in request.global_secondary_index_updates.iter().flatten() {
        let name = name_of(update);
        let is_it = |index: &&GlobalSecondaryIndexDescription| index.index_name.as_deref() == Some(name);
        let before = was.iter().find(is_it).cloned();
        let after = shown.iter_mut().find(|index| index.index_name.as_deref() == Some(name));
        match (before, after) {
            (Some(before), Some(after)) => {
                let on_demand_throughput = after.on_demand_throughput.clone();
                let index_status = Some(IndexStatus::Updating);
                *after = GlobalSecondaryIndexDescription { on_demand_throughput, index_status, ..before };
            }
            (Some(before), None) => {
                let index_status = Some(IndexStatus::Deleting);
                shown.push(GlobalSecondaryIndexDescription { index_status, ..before });
            }
            (None, Some(after)) => after.backfilling = Some(false),
            (None, None) => {}
        }
    }
    description.global_secondary_indexes = Some(shown).filter(|indexes| !indexes.is_empty());
}
