//! CreateTable.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use dynamo::operation::{
    CreateTable, CreateTableReply, GlobalSecondaryIndex, LocalSecondaryIndex, SSESpecification, SSEType,
    StreamSpecification, StreamViewType,
};
use dynamo::{ApiError, Choice, ErrorKind};
use xxhash_rust::xxh3::xxh3_128;

use crate::catalog::CatalogChange;
use crate::commit::{Changes, Latest};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::layout::{CollectionId, KeyAttribute, KeySchema};
use crate::options::Options;
use crate::schema::{self, GLOBAL_INDEXES_MAX, LOCAL_INDEXES_MAX, invalid};
use crate::stream::new_stream_milliseconds;
use crate::table::{Encryption, Entries, Index, IndexState, Settings, Stream, StreamView, Table, Throughput};
use crate::table_key::{TableKey, give_key};
use crate::throughput::Of;
use crate::{arn, tags, throughput};

/// A table that fits together but is not numbered yet: its ids and times come with the commit.
struct NewTable(Table);

impl Engine {
    /// Makes a table. It can be used at once, though the reply says `CREATING` as DynamoDB's does.
    ///
    /// ```
    /// use monotable_engine::Engine;
    /// use dynamo::KeyType;
    /// use dynamo::operation::{
    ///     AttributeDefinition, BillingMode, CreateTable, KeyRole, KeySchemaElement, TableStatus,
    /// };
    ///
    /// # fn main() -> Result<(), dynamo::ApiError> {
    /// let engine = Engine::in_memory();
    /// let reply = engine.create_table(CreateTable {
    ///     table_name: Some("Orders".to_owned()),
    ///     attribute_definitions: Some(vec![AttributeDefinition {
    ///         attribute_name: Some("id".to_owned()),
    ///         attribute_type: Some(KeyType::S.into()),
    ///     }]),
    ///     key_schema: Some(vec![KeySchemaElement {
    ///         attribute_name: Some("id".to_owned()),
    ///         key_type: Some(KeyRole::Hash.into()),
    ///     }]),
    ///     billing_mode: Some(BillingMode::PayPerRequest.into()),
    ///     ..CreateTable::default()
    /// })?;
    /// assert_eq!(reply.table_description.unwrap().table_status, Some(TableStatus::Creating));
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_table(&self, request: CreateTable) -> Result<CreateTableReply, ApiError> {
        let mut new_table = check(&request, &self.inner.options)?;
        let key = self.inner.new_table_key(named_key(request.sse_specification.as_ref()))?;
        give_key(&mut new_table.0, key.as_ref());
        let table = self.inner.committer.run(move |latest| write(new_table, key, latest))?;
        Ok(CreateTableReply { table_description: Some(self.inner.describe_new(&table)) })
    }
}

fn check(request: &CreateTable, options: &Options) -> Result<NewTable, ApiError> {
    request.check_fields()?;
    let on_demand = throughput::is_on_demand(request.billing_mode.as_ref());
    let units = check_units(request, on_demand)?;
    let definitions = schema::definitions(request.attribute_definitions.as_deref().unwrap_or_default())?;
    let key = schema::table_key(request.key_schema.as_deref().unwrap_or_default(), &definitions)?;
    let indexes = check_indexes(request, &key, &definitions, on_demand)?;
    let view = check_stream(request.stream_specification.as_ref())?;
    let encryption = request.sse_specification.as_ref();
    let encryption = encryption.map(|request| check_encryption(request, options)).transpose()?.flatten();
    let tags = tags::checked_tags(request.tags.as_deref().unwrap_or_default())?;
    tags::check_count(&tags)?;
    let on_demand_limits =
        throughput::new_limits(request.on_demand_throughput.as_ref(), on_demand, Of::Table)?;
    let warm_throughput =
        throughput::new_warmth(request.warm_throughput.as_ref(), on_demand, &units, Of::Table)?;
    let settings = Settings {
        on_demand,
        throughput: units,
        billing_changed_milliseconds: None,
        on_demand_limits,
        warm_throughput,
        table_class: request
            .table_class
            .as_ref()
            .and_then(Choice::known)
            .map(|class| class.name().to_owned()),
        table_class_changed_milliseconds: None,
        encryption,
        deletion_protection: request.deletion_protection_enabled.unwrap_or_default(),
    };
    Ok(NewTable(Table {
        id: CollectionId(0),
        name: arn::table_name(request.table_name.as_deref().unwrap_or_default()).to_owned(),
        uuid: String::new(),
        created_milliseconds: 0,
        schema: key,
        definitions,
        indexes,
        settings,
        stream: view.map(|view| Stream { id: CollectionId(0), view, created_milliseconds: 0 }),
        latest_stream_milliseconds: None,
        time_to_live: None,
        tags,
        history: None,
        recovery: None,
        restored: None,
    }))
}

fn check_units(request: &CreateTable, on_demand: bool) -> Result<Throughput, ApiError> {
    match (&request.provisioned_throughput, on_demand) {
        (Some(_), true) => Err(invalid(throughput::UNITS_ON_DEMAND)),
        (None, true) => Ok(Throughput::default()),
        (Some(units), false) => throughput::provisioned(units),
        (None, false) => Err(invalid(throughput::NO_UNITS)),
    }
}

fn check_indexes(
    request: &CreateTable,
    table_key: &KeySchema,
    definitions: &[KeyAttribute],
    on_demand: bool,
) -> Result<Vec<Index>, ApiError> {
    let (local, global) = (&request.local_secondary_indexes, &request.global_secondary_indexes);
    if local.as_ref().is_some_and(Vec::is_empty) {
        return Err(invalid("List of LocalSecondaryIndexes is empty"));
    }
    if global.as_ref().is_some_and(Vec::is_empty) {
        return Err(invalid("List of GlobalSecondaryIndexes is empty"));
    }
    let local = local.as_deref().unwrap_or_default();
    let global = global.as_deref().unwrap_or_default();
    if !local.is_empty() && table_key.sort.is_empty() {
        return Err(invalid(
            "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
        ));
    }
    let keys = local.iter().flat_map(|index| index.key_schema.iter().flatten());
    let keys = keys.chain(global.iter().flat_map(|index| index.key_schema.iter().flatten()));
    let has_indexes = !(local.is_empty() && global.is_empty());
    schema::check_all_used(table_key, keys, definitions, has_indexes)?;
    let mut indexes = Vec::new();
    check_local(local, table_key, definitions, &mut indexes)?;
    check_global(global, definitions, on_demand, &mut indexes)?;
    schema::check_projected(indexes.iter().map(|index| &index.projection))?;
    Ok(indexes)
}

fn check_local(
    request: &[LocalSecondaryIndex],
    table_key: &KeySchema,
    definitions: &[KeyAttribute],
    indexes: &mut Vec<Index>,
) -> Result<(), ApiError> {
    for index in request {
        let schema = schema::local_key(index, table_key, definitions)?;
        let projection = schema::projection(index.projection.as_ref())?;
        let name = index.index_name.clone().unwrap_or_default();
        indexes.push(Index { local: true, ..new_index(name, schema, projection) });
        schema::check_distinct_names(indexes.iter().map(|index| index.name.as_str()))?;
    }
    if request.len() > LOCAL_INDEXES_MAX {
        return Err(invalid("Number of LocalSecondaryIndexes exceeds per-table limit of 5"));
    }
    Ok(())
}

fn check_global(
    request: &[GlobalSecondaryIndex],
    definitions: &[KeyAttribute],
    on_demand: bool,
    indexes: &mut Vec<Index>,
) -> Result<(), ApiError> {
    for index in request {
        let schema = schema::global_key(index.key_schema.as_deref().unwrap_or_default(), definitions)?;
        let projection = schema::projection(index.projection.as_ref())?;
        let name = index.index_name.clone().unwrap_or_default();
        let throughput = check_index_units(index, &name, on_demand)?;
        let of_index = Of::Index(&name);
        let on_demand_limits =
            throughput::new_limits(index.on_demand_throughput.as_ref(), on_demand, of_index)?;
        let warm_throughput =
            throughput::new_warmth(index.warm_throughput.as_ref(), on_demand, &throughput, of_index)?;
        let settings = Index {
            throughput,
            on_demand_limits,
            warm_throughput,
            ..new_index(String::new(), schema, projection)
        };
        indexes.push(Index { name, ..settings });
        schema::check_distinct_names(indexes.iter().map(|index| index.name.as_str()))?;
    }
    if request.len() > GLOBAL_INDEXES_MAX {
        return Err(invalid("GlobalSecondaryIndex count exceeds the per-table limit of 20"));
    }
    Ok(())
}

fn check_index_units(
    index: &GlobalSecondaryIndex,
    name: &str,
    on_demand: bool,
) -> Result<Throughput, ApiError> {
    match (&index.provisioned_throughput, on_demand) {
        (Some(_), true) => Err(invalid(throughput::index_units_on_demand(name))),
        (None, true) => Ok(Throughput::default()),
        (Some(units), false) => throughput::provisioned(units),
        (None, false) => Err(invalid(throughput::no_index_units(name))),
    }
}

/// An index of a new table: complete, since there are no items.
pub(super) fn new_index(name: String, schema: KeySchema, projection: crate::table::Projection) -> Index {
    Index {
        id: CollectionId(0),
        name,
        local: false,
        schema,
        projection,
        state: IndexState::Active,
        filled_to: None,
        throughput: Throughput::default(),
        on_demand_limits: crate::table::OnDemandLimits::default(),
        warm_throughput: None,
        entries: Entries::MayRefer,
    }
}

fn check_stream(request: Option<&StreamSpecification>) -> Result<Option<StreamView>, ApiError> {
    let Some(request) = request else { return Ok(None) };
    let view = request.stream_view_type.as_ref().and_then(Choice::known);
    match (request.stream_enabled.unwrap_or_default(), view) {
        (true, Some(view)) => Ok(Some(stream_view(view))),
        (true, None) => {
            Err(invalid("Table is being created with a stream enabled, UpdateViewType is required"))
        }
        (false, Some(_)) => Err(invalid(
            "Table is being created with a stream disabled, UpdateViewType should not be specified",
        )),
        (false, None) => Ok(None),
    }
}

/// The view of a stream.
pub(super) fn stream_view(view: StreamViewType) -> StreamView {
    match view {
        StreamViewType::KeysOnly => StreamView::KeysOnly,
        StreamViewType::NewImage => StreamView::NewImage,
        StreamViewType::OldImage => StreamView::OldImage,
        StreamViewType::NewAndOldImages => StreamView::NewAndOldImages,
    }
}

/// Encryption with a key of the customer's; `None` for encryption as it always is.
pub(super) fn check_encryption(
    request: &SSESpecification,
    options: &Options,
) -> Result<Option<Encryption>, ApiError> {
    let kind = request.sse_type.as_ref().and_then(Choice::known);
    if request.enabled == Some(false) {
        if kind.is_some() {
            return Err(invalid("SSEType can not be specified if Enabled is false"));
        }
        if request.kms_master_key_id.is_some() {
            return Err(invalid("KMSMasterKeyId can not be specified if Enabled is false"));
        }
        return Ok(None);
    }
    if kind == Some(SSEType::Aes256) {
        return Err(invalid("SSEType AES256 is not supported"));
    }
    if request.kms_master_key_id.is_some() && kind.is_none() {
        return Err(invalid("SSEType KMS is required if KMSMasterKeyId is specified"));
    }
    if request.enabled.is_none() && kind.is_none() {
        return Ok(None);
    }
    let key = request.kms_master_key_id.as_deref().unwrap_or("alias/aws/dynamodb");
    Ok(Some(Encryption { key_arn: Some(key_arn(key, options)), ..Encryption::default() }))
}

/// The customer's key that a specification names, if encryption with one is asked for.
pub(super) fn named_key(request: Option<&SSESpecification>) -> Option<&str> {
    request.filter(|request| request.enabled != Some(false))?.kms_master_key_id.as_deref()
}

/// The ARN of a key that was named by ARN, id or alias. An alias stands for a key whose id nobody knows here.
fn key_arn(key: &str, options: &Options) -> String {
    let Options { region, account, .. } = options;
    if key.starts_with("arn:") && key.contains(":key/") {
        return key.to_owned();
    }
    if key.contains("alias/") {
        return format!("arn:aws:kms:{region}:{account}:key/{}", uuid_of(key.as_bytes()));
    }
    format!("arn:aws:kms:{region}:{account}:key/{key}")
}

/// Writes the table, unless there is one of its name.
fn write(
    NewTable(mut table): NewTable,
    key: Option<Arc<TableKey>>,
    latest: &Latest<'_>,
) -> Result<(Arc<Table>, Changes), Fault> {
    if latest.catalog.table(&table.name).is_some() {
        let message = format!("Table already exists: {}", table.name);
        return Err(ApiError::new(ErrorKind::ResourceInUse, message).into());
    }
    let last_id = number(&mut table, latest);
    let table = Arc::new(table);
    let mut catalog = vec![CatalogChange::TakeIds(last_id), CatalogChange::Put(table.clone())];
    catalog.extend(key.map(CatalogChange::PutKey));
    Ok((table, Changes { catalog, ..Changes::default() }))
}

/// Gives a table its ids and times; returns the last id that was taken.
pub(super) fn number(table: &mut Table, latest: &Latest<'_>) -> u32 {
    let (first_id, now_milliseconds) = (latest.catalog.next_id(), latest.now_milliseconds);
    let mut next_id = first_id;
    let mut take = || {
        let id = CollectionId(next_id);
        next_id += 1;
        id
    };
    table.id = take();
    for index in &mut table.indexes {
        index.id = take();
    }
    if let Some(stream) = &mut table.stream {
        stream.id = take();
        stream.created_milliseconds = new_stream_milliseconds(latest.catalog, &table.name, now_milliseconds);
        table.latest_stream_milliseconds = Some(stream.created_milliseconds);
    }
    table.created_milliseconds = now_milliseconds;
    table.settings.billing_changed_milliseconds = table.settings.on_demand.then_some(now_milliseconds);
    table.uuid = uuid_of(format!("{} {first_id} {now_milliseconds}", table.name).as_bytes());
    next_id - 1
}

/// An id in the form of a random UUID, from what makes the thing unique: ids are as repeatable as the clock.
fn uuid_of(unique: &[u8]) -> String {
    const VERSION_4: u128 = 0x4000 << 64;
    const VARIANT: u128 = 0x8000 << 48;
    let bits = (xxh3_128(unique) & !((0xF000 << 64) | (0xC000 << 48))) | VERSION_4 | VARIANT;
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}
