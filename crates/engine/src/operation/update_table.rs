//! UpdateTable: one change at a time, as DynamoDB insists.
//!
//! Every change holds as soon as the reply is there. Only a new index takes time: it is filled in the background, and reported as
//! `CREATING` until it is complete. The reply itself shows the table as DynamoDB's does: being updated.

mod alone;
mod index;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dynamo::operation::{
    BillingMode, SSESpecification, SSEStatus, StreamSpecification, TableClass, TableDescription, TableStatus,
    UpdateTable, UpdateTableReply,
};
use dynamo::{ApiError, Choice, ErrorKind};

use super::create_table::{check_encryption, named_key, stream_view};
use crate::catalog::{CatalogChange, ClosedStream, find_changeable_table};
use crate::commit::{Changes, Latest};
use crate::describe::warm_units;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::layout::CollectionId;
use crate::options::Options;
use crate::schema::invalid;
use crate::stream::new_stream_milliseconds;
use crate::table::{Encryption, OnDemandLimits, SealChange, Stream, StreamView, Table, Throughput};
use crate::table_key::{TableKey, key_arn};
use crate::throughput::{self, Of};

impl Engine {
    /// Changes a table's settings, or makes, changes or removes global indexes.
    pub fn update_table(&self, request: UpdateTable) -> Result<UpdateTableReply, ApiError> {
        let mut checked = check(request, &self.inner.options)?;
        self.prepare_key(&mut checked)?;
        let write = move |latest: &Latest<'_>| write(checked, latest);
        let (checked, old, new) = self.inner.committer.run(write)?;
        self.wake_housekeeper();
        Ok(UpdateTableReply { table_description: Some(reply(self, &checked, &old, &new)) })
    }
}

impl Engine {
    /// Asks for the customer's key before the commit, which must not wait for it.
    fn prepare_key(&self, checked: &mut Checked) -> Result<(), ApiError> {
        let named = named_key(checked.request.sse_specification.as_ref());
        let (Some(change), Some(named)) = (&mut checked.encryption, named) else { return Ok(()) };
        let catalog = self.inner.committer.catalog();
        let table = find_changeable_table(&catalog, checked.request.table_name.as_deref())?;
        let current = table.sealing_key().and_then(|id| catalog.keys.get(id));
        change.key = match current {
            Some(key) => Some((Some(key.clone()), self.inner.rewrapped_key(key, named)?)),
            None => self.inner.new_table_key(Some(named))?.map(|key| (None, key)),
        };
        if let (Some((_, key)), Some(encryption)) = (&change.key, &mut change.encryption) {
            encryption.key_arn = key_arn(key).or(encryption.key_arn.take());
        }
        Ok(())
    }
}

/// A request in which each part fits, and the parts fit together.
struct Checked {
    request: UpdateTable,
    units: Option<Throughput>,
    stream: Option<StreamChange>,
    encryption: Option<EncryptionChange>,
}

/// What is to happen to the stream.
#[derive(Clone, Copy)]
enum StreamChange {
    Open(StreamView),
    Close,
}

/// How the table is to be encrypted from now on, and whether the request named the key by its ARN.
struct EncryptionChange {
    encryption: Option<Encryption>,
    by_arn: bool,
    /// The key that the table is to have, and what it is made from: a new one from nothing.
    key: Option<(Option<Arc<TableKey>>, Arc<TableKey>)>,
}

fn check(request: UpdateTable, options: &Options) -> Result<Checked, ApiError> {
    request.check_fields()?;
    alone::check(&request)?;
    let units = check_units(&request)?;
    let stream = request.stream_specification.as_ref().map(check_stream).transpose()?;
    let encryption = request.sse_specification.as_ref();
    let encryption = encryption.map(|request| check_encryption_change(request, options)).transpose()?;
    index::check(request.global_secondary_index_updates.as_deref().unwrap_or_default())?;
    Ok(Checked { request, units, stream, encryption })
}

fn check_units(request: &UpdateTable) -> Result<Option<Throughput>, ApiError> {
    let mode = request.billing_mode.as_ref().and_then(Choice::known);
    match (mode, &request.provisioned_throughput) {
        (Some(BillingMode::PayPerRequest), Some(_)) => Err(invalid(throughput::UNITS_ON_DEMAND)),
        (Some(BillingMode::Provisioned), None) => {
            Err(invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED"))
        }
        (_, units) => units.as_ref().map(throughput::provisioned).transpose(),
    }
}

fn check_stream(request: &StreamSpecification) -> Result<StreamChange, ApiError> {
    let view = request.stream_view_type.as_ref().and_then(Choice::known);
    match (request.stream_enabled.unwrap_or_default(), view) {
        (true, Some(view)) => Ok(StreamChange::Open(stream_view(view))),
        (true, None) => Err(invalid("If stream is being enabled then UpdateViewType is required")),
        (false, None) => Ok(StreamChange::Close),
        (false, Some(_)) => {
            Err(invalid("If stream is being disabled, then UpdateViewType must not be specified"))
        }
    }
}

fn check_encryption_change(
    request: &SSESpecification,
    options: &Options,
) -> Result<EncryptionChange, ApiError> {
    let by_arn = request.kms_master_key_id.as_ref().is_some_and(|key| key.starts_with("arn:"));
    Ok(EncryptionChange { encryption: check_encryption(request, options)?, by_arn, key: None })
}

/// The request, the table before and the table after.
type Written = (Checked, Arc<Table>, Arc<Table>);

fn write(checked: Checked, latest: &Latest<'_>) -> Result<(Written, Changes), Fault> {
    let old = find_changeable_table(latest.catalog, checked.request.table_name.as_deref())?;
    let mut update = Update {
        table: Table::clone(&old),
        changes: Vec::new(),
        next_id: latest.catalog.next_id(),
        now_milliseconds: latest.now_milliseconds,
    };
    update.change_throughput(&checked)?;
    update.change_indexes(&checked.request)?;
    update.change_stream(&checked, latest)?;
    update.change_encryption(&checked, latest)?;
    update.change_settings(&checked)?;
    let (new, changes) = update.finish(latest);
    Ok(((checked, old, new.clone()), changes))
}

/// A table while it is being changed.
struct Update {
    table: Table,
    changes: Vec<CatalogChange>,
    next_id: u32,
    now_milliseconds: i64,
}

impl Update {
    fn finish(mut self, latest: &Latest<'_>) -> (Arc<Table>, Changes) {
        if self.next_id > latest.catalog.next_id() {
            self.changes.push(CatalogChange::TakeIds(self.next_id - 1));
        }
        let table = Arc::new(self.table);
        self.changes.push(CatalogChange::Put(table.clone()));
        (table, Changes { catalog: self.changes, ..Changes::default() })
    }

    fn take_id(&mut self) -> CollectionId {
        let id = CollectionId(self.next_id);
        self.next_id += 1;
        id
    }

    /// Billing mode and units of the table; the limits of its mode go with the mode.
    fn change_throughput(&mut self, checked: &Checked) -> Result<(), ApiError> {
        let request = &checked.request;
        let mode = request.billing_mode.as_ref().and_then(Choice::known);
        let was_on_demand = self.table.settings.on_demand;
        let on_demand = mode.map_or(was_on_demand, |mode| mode == BillingMode::PayPerRequest);
        if on_demand && checked.units.is_some() {
            return Err(invalid(throughput::UNITS_ON_DEMAND));
        }
        self.keep_warmth();
        if on_demand != was_on_demand {
            self.change_mode(request, on_demand)?;
        }
        if let Some(units) = &checked.units {
            let current = &self.table.settings.throughput;
            if !was_on_demand && same_units(current, units) {
                return Err(ApiError::validation(units_unchanged("the table", "the table", current, units)));
            }
            self.table.settings.throughput = changed_units(current, units, self.now_milliseconds);
        }
        let limits = self.table.settings.on_demand_limits;
        let limits =
            throughput::changed_limits(request.on_demand_throughput.as_ref(), limits, on_demand, Of::Table)?;
        self.table.settings.on_demand_limits = limits.unwrap_or(self.table.settings.on_demand_limits);
        Ok(())
    }

    fn change_mode(&mut self, request: &UpdateTable, on_demand: bool) -> Result<(), ApiError> {
        let settings = &mut self.table.settings;
        settings.on_demand = on_demand;
        settings.on_demand_limits = OnDemandLimits::default();
        if on_demand {
            settings.billing_changed_milliseconds = Some(self.now_milliseconds);
            settings.throughput = Throughput { read_units: 0, write_units: 0, ..settings.throughput };
        }
        for index in self.table.indexes.iter_mut().filter(|index| !index.local) {
            index.on_demand_limits = OnDemandLimits::default();
            if on_demand {
                index.throughput = Throughput { read_units: 0, write_units: 0, ..index.throughput };
            } else if !index::gives_units(request, &index.name) {
                let name = &index.name;
                return Err(invalid(format!("ProvisionedThroughput must be specified for index: {name}")));
            }
        }
        Ok(())
    }

    /// What a table once took at once it goes on taking, whatever its units become.
    fn keep_warmth(&mut self) {
        let settings = &self.table.settings;
        let warm = warm_units(&self.table, &settings.throughput, settings.warm_throughput);
        let indexes: Vec<_> = self
            .table
            .indexes
            .iter()
            .map(|index| warm_units(&self.table, &index.throughput, index.warm_throughput))
            .collect();
        self.table.settings.warm_throughput = Some(warm);
        for (index, warm) in self.table.indexes.iter_mut().zip(indexes) {
            index.warm_throughput = Some(warm);
        }
    }

    fn change_stream(&mut self, checked: &Checked, latest: &Latest<'_>) -> Result<(), ApiError> {
        let name = &self.table.name;
        match (checked.stream, &self.table.stream) {
            (None, _) => {}
            (Some(StreamChange::Open(_)), Some(_)) => {
                let message = format!("Table already has an enabled stream: TableName: {name}");
                return Err(ApiError::validation(message));
            }
            (Some(StreamChange::Close), None) => {
                let message = format!("Table has no stream to disable: TableName: {name}");
                return Err(ApiError::validation(message));
            }
            (Some(StreamChange::Open(view)), None) => {
                let made = new_stream_milliseconds(latest.catalog, name, self.now_milliseconds);
                let id = self.take_id();
                self.table.stream = Some(Stream { id, view, created_milliseconds: made });
                self.table.latest_stream_milliseconds = Some(made);
            }
            (Some(StreamChange::Close), Some(stream)) => {
                let closed = ClosedStream {
                    stream: stream.clone(),
                    table: self.table.clone(),
                    closed_milliseconds: self.now_milliseconds,
                };
                self.changes.push(CatalogChange::CloseStream(Arc::new(closed)));
                self.table.stream = None;
            }
        }
        Ok(())
    }

    fn change_encryption(&mut self, checked: &Checked, latest: &Latest<'_>) -> Result<(), ApiError> {
        let Some(change) = &checked.encryption else { return Ok(()) };
        let current = self.table.settings.encryption.take();
        if current.is_none() && change.encryption.is_none() {
            return Err(invalid("Table is already encrypted by default"));
        }
        if current.as_ref().is_some_and(|current| current.change.is_some()) {
            return Err(being_updated(&self.table.name));
        }
        let arn = |encryption: &Option<Encryption>| encryption.as_ref().and_then(|one| one.key_arn.clone());
        if change.by_arn && arn(&current) == arn(&change.encryption) {
            return Err(invalid(
                "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you \
                 want to change Master Key",
            ));
        }
        let key = current.as_ref().and_then(|current| current.key);
        self.table.settings.encryption = match (&change.key, key) {
            (Some((from, new)), key) => {
                // Somebody else may have been quicker.
                if from.as_ref().map(|from| from.id) != key
                    || from.as_ref().is_some_and(|from| latest.catalog.keys.get(from.id) != Some(from))
                {
                    return Err(being_updated(&self.table.name));
                }
                self.changes.push(CatalogChange::PutKey(new.clone()));
                let change_of_values = from.is_none().then_some(SealChange::Sealing);
                let key = Some(new.id);
                change.encryption.clone().map(|wanted| Encryption { key, change: change_of_values, ..wanted })
            }
            (None, None) => change.encryption.clone(),
            (None, Some(key)) => {
                let wanted = change.encryption.clone().unwrap_or_default();
                Some(Encryption { key: Some(key), change: Some(SealChange::Unsealing), ..wanted })
            }
        };
        Ok(())
    }

    fn change_settings(&mut self, checked: &Checked) -> Result<(), ApiError> {
        let request = &checked.request;
        let settings = &mut self.table.settings;
        if let Some(class) = request.table_class.as_ref().and_then(Choice::known) {
            let current = settings.table_class.as_deref().unwrap_or(TableClass::Standard.name());
            if current != class.name() {
                settings.table_class = Some(class.name().to_owned());
                settings.table_class_changed_milliseconds = Some(self.now_milliseconds);
            }
        }
        if let Some(protection) = request.deletion_protection_enabled {
            settings.deletion_protection = protection;
        }
        let warm = settings.warm_throughput.unwrap_or_default();
        let warm = throughput::changed_warmth(request.warm_throughput.as_ref(), warm, Of::Table)?;
        self.table.settings.warm_throughput = warm.or(self.table.settings.warm_throughput);
        Ok(())
    }
}

/// Said while values are being sealed or opened.
fn being_updated(table: &str) -> ApiError {
    let message =
        format!("Attempt to change a resource which is still in use: Table is being updated: {table}");
    ApiError::new(ErrorKind::ResourceInUse, message)
}

fn same_units(left: &Throughput, right: &Throughput) -> bool {
    (left.read_units, left.write_units) == (right.read_units, right.write_units)
}

fn changed_units(current: &Throughput, units: &Throughput, now_milliseconds: i64) -> Throughput {
    let grows = units.read_units > current.read_units || units.write_units > current.write_units;
    let shrinks = units.read_units < current.read_units || units.write_units < current.write_units;
    let when = |happened: bool, before: Option<i64>| if happened { Some(now_milliseconds) } else { before };
    Throughput {
        read_units: units.read_units,
        write_units: units.write_units,
        last_increase_milliseconds: when(grows, current.last_increase_milliseconds),
        last_decrease_milliseconds: when(shrinks, current.last_decrease_milliseconds),
        decreases_today: decreases_before(current, now_milliseconds) + i64::from(shrinks),
    }
}

/// How often the units were decreased on this day already.
fn decreases_before(current: &Throughput, now_milliseconds: i64) -> i64 {
    const DAY_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;
    let day = |milliseconds: i64| milliseconds.div_euclid(DAY_MILLISECONDS);
    let is_today = |time: &i64| day(*time) == day(now_milliseconds);
    current.last_decrease_milliseconds.filter(is_today).map_or(0, |_| current.decreases_today)
}

fn units_unchanged(subject: &str, of: &str, current: &Throughput, units: &Throughput) -> String {
    let Throughput { read_units, write_units, .. } = current;
    format!(
        "The provisioned throughput for {subject} will not change. The requested value equals the current value. \
         Current ReadCapacityUnits provisioned for {of}: {read_units}. Requested ReadCapacityUnits: {}. \
         Current WriteCapacityUnits provisioned for {of}: {write_units}. Requested WriteCapacityUnits: {}. \
         Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
        units.read_units, units.write_units
    )
}

/// The table as DynamoDB shows it at the start of a change: units, class and warmth still the old ones.
fn reply(engine: &Engine, checked: &Checked, old: &Table, new: &Table) -> TableDescription {
    let request = &checked.request;
    let was = engine.inner.describe(old, TableStatus::Active);
    let mut description = engine.inner.describe(new, reply_status(request));
    if new.settings.on_demand == old.settings.on_demand
        && let (Some(now), Some(was)) = (&mut description.provisioned_throughput, &was.provisioned_throughput)
    {
        now.read_capacity_units = was.read_capacity_units;
        now.write_capacity_units = was.write_capacity_units;
        now.number_of_decreases_today = was.number_of_decreases_today;
    }
    if request.on_demand_throughput.is_some() {
        // A limit that is removed is shown as -1 once more.
        description.on_demand_throughput = merged_limits(request, was.on_demand_throughput.clone());
    }
    if request.table_class.is_some() {
        description.table_class_summary = was.table_class_summary;
    }
    if request.warm_throughput.is_some() {
        description.warm_throughput = was.warm_throughput.map(|mut warm| {
            warm.status = Some(TableStatus::Updating);
            warm
        });
    }
    if let Some(encryption) = description.sse_description.as_mut().filter(|_| checked.encryption.is_some()) {
        encryption.status = Some(SSEStatus::Updating);
    }
    index::show_changes(request, was.global_secondary_indexes, &mut description);
    description
}

/// Some changes leave a table active.
fn reply_status(request: &UpdateTable) -> TableStatus {
    let only_index_updates = request.global_secondary_index_updates.as_ref().is_none_or(|updates| {
        updates.iter().all(|update| update.create.is_none() && update.delete.is_none())
    });
    let updates = request.billing_mode.is_some()
        || request.provisioned_throughput.is_some()
        || request.stream_specification.is_some()
        || request.table_class.is_some()
        || !only_index_updates;
    if updates { TableStatus::Updating } else { TableStatus::Active }
}

fn merged_limits(
    request: &UpdateTable,
    was: Option<dynamo::operation::OnDemandThroughput>,
) -> Option<dynamo::operation::OnDemandThroughput> {
    let mut limits = request.on_demand_throughput.clone()?;
    let was = was.unwrap_or_default();
    limits.max_read_request_units = limits.max_read_request_units.or(was.max_read_request_units);
    limits.max_write_request_units = limits.max_write_request_units.or(was.max_write_request_units);
    Some(limits)
}
