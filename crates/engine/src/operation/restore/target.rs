//! The table that a restore makes: as the source was, but for what the request says otherwise.
//!
//! As in DynamoDB, keys, indexes, billing, table class and encryption come along; the stream, expiry, tags, deletion protection
//! and recovery do not.

use std::collections::BTreeMap;

use dynamo::ApiError;
use dynamo::operation::{
    BillingMode, Choice, GlobalSecondaryIndex, KeySchemaElement, LocalSecondaryIndex, OnDemandThroughput,
    Projection as ProjectionRequest, ProvisionedThroughput, SSESpecification,
};

use super::super::create_table::check_encryption;
use crate::describe::key_schema_elements;
use crate::layout::{CollectionId, KeyAttribute};
use crate::options::Options;
use crate::schema::{self, invalid};
use crate::table::{Encryption, Index, IndexState, OnDemandLimits, Projection, Settings, Table, Throughput};
use crate::throughput::{self, Of};

/// What is to be different in the new table.
pub(super) struct Overrides<'a> {
    pub(super) target: &'a str,
    pub(super) billing_mode: Option<&'a Choice<BillingMode>>,
    pub(super) global_indexes: Option<&'a [GlobalSecondaryIndex]>,
    pub(super) local_indexes: Option<&'a [LocalSecondaryIndex]>,
    pub(super) units: Option<&'a ProvisionedThroughput>,
    pub(super) on_demand_limits: Option<&'a OnDemandThroughput>,
    pub(super) encryption: Option<&'a SSESpecification>,
}

/// The new table, without its ids and times.
pub(super) fn restored_table(
    source: &Table,
    overrides: &Overrides<'_>,
    options: &Options,
) -> Result<Table, ApiError> {
    let settings = settings(source, overrides, options)?;
    let mut indexes = local_indexes(source, overrides)?;
    indexes.extend(global_indexes(source, overrides, settings.on_demand)?);
    for index in &mut indexes {
        // An index that was still being made when the backup was taken is whole in the new table.
        (index.id, index.state, index.filled_to) = (CollectionId(0), IndexState::Active, None);
    }
    Ok(Table {
        id: CollectionId(0),
        name: overrides.target.to_owned(),
        uuid: String::new(),
        created_milliseconds: 0,
        schema: source.schema.clone(),
        definitions: used_definitions(source, &indexes),
        indexes,
        settings,
        stream: None,
        latest_stream_milliseconds: None,
        time_to_live: None,
        tags: BTreeMap::new(),
        history: None,
        recovery: None,
        restored: None,
    })
}

fn settings(source: &Table, overrides: &Overrides<'_>, options: &Options) -> Result<Settings, ApiError> {
    let on_demand = match overrides.billing_mode {
        Some(mode) => throughput::is_on_demand(Some(mode)),
        None => source.settings.on_demand,
    };
    let same_mode = on_demand == source.settings.on_demand;
    let on_demand_limits = match overrides.on_demand_limits {
        None if on_demand => source.settings.on_demand_limits,
        request => throughput::new_limits(request, on_demand, Of::Table)?,
    };
    Ok(Settings {
        on_demand,
        throughput: units(overrides.units, &source.settings.throughput, on_demand, same_mode)?,
        billing_changed_milliseconds: None,
        on_demand_limits,
        warm_throughput: None,
        table_class: source.settings.table_class.clone(),
        table_class_changed_milliseconds: None,
        encryption: encryption(source, overrides, options)?,
        deletion_protection: false,
    })
}

fn units(
    request: Option<&ProvisionedThroughput>,
    source: &Throughput,
    on_demand: bool,
    same_mode: bool,
) -> Result<Throughput, ApiError> {
    match request {
        Some(_) if on_demand => Err(invalid(throughput::UNITS_ON_DEMAND)),
        None if on_demand => Ok(Throughput::default()),
        Some(units) => throughput::provisioned(units),
        None if same_mode => Ok(Throughput {
            read_units: source.read_units,
            write_units: source.write_units,
            ..Throughput::default()
        }),
        None => Err(invalid(throughput::NO_UNITS)),
    }
}

fn encryption(
    source: &Table,
    overrides: &Overrides<'_>,
    options: &Options,
) -> Result<Option<Encryption>, ApiError> {
    match overrides.encryption {
        Some(request) => check_encryption(request, options),
        None => Ok(source.settings.encryption.clone()),
    }
}

/// The local indexes that the request leaves; those it names must be there, just so.
fn local_indexes(source: &Table, overrides: &Overrides<'_>) -> Result<Vec<Index>, ApiError> {
    let Some(wanted) = overrides.local_indexes else {
        return Ok(source.local_indexes().cloned().collect());
    };
    let mut indexes = Vec::new();
    for request in wanted {
        let named =
            named(request.index_name.as_deref(), request.key_schema.as_ref(), request.projection.as_ref())?;
        let index = source.local_indexes().find(|index| named.is(index));
        indexes.push(index.cloned().ok_or_else(|| named.missing("LocalSecondaryIndexOverride"))?);
    }
    schema::check_distinct_names(indexes.iter().map(|index| index.name.as_str()))?;
    Ok(indexes)
}

/// The global indexes that the request leaves; those it names must be there, but may have other units.
fn global_indexes(
    source: &Table,
    overrides: &Overrides<'_>,
    on_demand: bool,
) -> Result<Vec<Index>, ApiError> {
    let same_mode = on_demand == source.settings.on_demand;
    // An index that is being removed is not there any more.
    let mut there = source.global_indexes().filter(|index| index.state != IndexState::Deleting);
    let Some(wanted) = overrides.global_indexes else {
        let with_units = |index: &Index| index_in_mode(index, None, on_demand, same_mode);
        return there.map(with_units).collect();
    };
    let there: Vec<&Index> = there.by_ref().collect();
    let mut indexes = Vec::new();
    for request in wanted {
        let named =
            named(request.index_name.as_deref(), request.key_schema.as_ref(), request.projection.as_ref())?;
        let index = there.iter().find(|index| named.is(index));
        let index = index.ok_or_else(|| named.missing("GlobalSecondaryIndexOverride"))?;
        let mut index = index_in_mode(index, request.provisioned_throughput.as_ref(), on_demand, same_mode)?;
        if request.on_demand_throughput.is_some() {
            let limits = request.on_demand_throughput.as_ref();
            index.on_demand_limits = throughput::new_limits(limits, on_demand, Of::Index(&index.name))?;
        }
        indexes.push(index);
    }
    schema::check_distinct_names(indexes.iter().map(|index| index.name.as_str()))?;
    Ok(indexes)
}

fn index_in_mode(
    index: &Index,
    request: Option<&ProvisionedThroughput>,
    on_demand: bool,
    same_mode: bool,
) -> Result<Index, ApiError> {
    let throughput = match (request, on_demand) {
        (Some(_), true) => return Err(invalid(throughput::index_units_on_demand(&index.name))),
        (None, false) if !same_mode => return Err(invalid(throughput::no_index_units(&index.name))),
        _ => units(request, &index.throughput, on_demand, same_mode)?,
    };
    let on_demand_limits = if on_demand { index.on_demand_limits } else { OnDemandLimits::default() };
    Ok(Index { throughput, on_demand_limits, warm_throughput: None, ..index.clone() })
}

/// An index as a request names it.
struct Named<'a> {
    name: &'a str,
    key: Vec<KeySchemaElement>,
    projection: Projection,
}

fn named<'a>(
    name: Option<&'a str>,
    key: Option<&Vec<KeySchemaElement>>,
    projection: Option<&ProjectionRequest>,
) -> Result<Named<'a>, ApiError> {
    Ok(Named {
        name: name.unwrap_or_default(),
        key: key.cloned().unwrap_or_default(),
        projection: schema::projection(projection)?,
    })
}

impl Named<'_> {
    fn is(&self, index: &Index) -> bool {
        index.name == self.name
            && key_schema_elements(&index.schema) == self.key
            && same_projection(&index.projection, &self.projection)
    }

    fn missing(&self, member: &str) -> ApiError {
        invalid(format!(
            "{member} must name indexes of the source table with the same key schema and projection. Index: {}",
            self.name
        ))
    }
}

fn same_projection(left: &Projection, right: &Projection) -> bool {
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    match (left, right) {
        (Projection::Include(left), Projection::Include(right)) => sorted(left) == sorted(right),
        (left, right) => left == right,
    }
}

/// The definitions of attributes that a key of the new table still has.
fn used_definitions(source: &Table, indexes: &[Index]) -> Vec<KeyAttribute> {
    let is_used =
        |name: &str| source.schema.contains(name) || indexes.iter().any(|index| index.schema.contains(name));
    source.definitions.iter().filter(|definition| is_used(&definition.name)).cloned().collect()
}
