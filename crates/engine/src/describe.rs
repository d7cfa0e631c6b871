//! A table as DynamoDB describes it.

use dynamo::operation::{
    AttributeDefinition, BillingMode, BillingModeSummary, GlobalSecondaryIndexDescription,
    GlobalSecondaryIndexWarmThroughputDescription, IndexStatus, KeyRole, KeySchemaElement,
    LocalSecondaryIndexDescription, OnDemandThroughput, Projection as ProjectionDescription, ProjectionType,
    ProvisionedThroughputDescription, RestoreSummary, SSEDescription, SSEStatus, SSEType,
    StreamSpecification, StreamViewType, TableClass, TableClassSummary, TableDescription, TableStatus,
    TableWarmThroughputDescription, Timestamp,
};

use crate::arn::{Arn, Resource};
use crate::engine::Inner;
use crate::layout::KeySchema;
use crate::stream::stream_label;
use crate::table::{Index, IndexState, OnDemandLimits, Projection, StreamView, Table, Throughput};
use crate::throughput::mode_warmth;

impl Inner {
    /// The description of a table as it is now: active, unless it is still being restored.
    pub(crate) fn describe_now(&self, table: &Table) -> TableDescription {
        if table.is_restoring() {
            self.describe_new(table)
        } else if self.key_missing(table).is_some() {
            self.describe(table, TableStatus::InaccessibleEncryptionCredentials)
        } else {
            self.describe(table, TableStatus::Active)
        }
    }

    /// Since when the table's own key cannot be had, if it cannot.
    fn key_missing(&self, table: &Table) -> Option<Timestamp> {
        let missing = self.committer.catalog().keys.missing(table.key()?)?;
        Some(Timestamp::from_milliseconds(missing.since_milliseconds))
    }

    fn describe_encryption(&self, table: &Table) -> Option<SSEDescription> {
        let encryption = table.settings.encryption.as_ref()?;
        let is_changing = encryption.change.is_some();
        Some(SSEDescription {
            status: Some(if is_changing { SSEStatus::Updating } else { SSEStatus::Enabled }),
            sse_type: Some(SSEType::Kms),
            kms_master_key_arn: encryption.key_arn.clone(),
            inaccessible_encryption_date_time: self.key_missing(table),
        })
    }

    /// The description of a table that has just been made.
    pub(crate) fn describe_new(&self, table: &Table) -> TableDescription {
        let mut description = self.describe(table, TableStatus::Creating);
        // How warm it is DynamoDB knows only once the table is active.
        description.warm_throughput = None;
        for index in description.global_secondary_indexes.iter_mut().flatten() {
            index.index_status = Some(IndexStatus::Creating);
            index.warm_throughput = None;
        }
        if let Some(summary) = &mut description.billing_mode_summary {
            summary.last_update_to_pay_per_request_date_time = None;
        }
        description
    }

    /// The description of a table in this state of its life.
    pub(crate) fn describe(&self, table: &Table, status: TableStatus) -> TableDescription {
        let totals = self.committer.totals_of(table.id);
        let settings = &table.settings;
        let local: Vec<_> = table.local_indexes().map(|index| self.describe_local(table, index)).collect();
        let global: Vec<_> = table.global_indexes().map(|index| self.describe_global(table, index)).collect();
        let label = table.latest_stream_milliseconds.map(stream_label);
        TableDescription {
            attribute_definitions: Some(attribute_definitions(table)),
            table_name: Some(table.name.clone()),
            key_schema: Some(key_schema_elements(&table.schema)),
            table_status: Some(status),
            creation_date_time: Some(Timestamp::from_milliseconds(table.created_milliseconds)),
            provisioned_throughput: Some(describe_throughput(&settings.throughput)),
            table_size_bytes: Some(totals.bytes),
            item_count: Some(totals.items),
            table_arn: Some(self.arn(Resource::Table(&table.name))),
            table_id: Some(table.uuid.clone()),
            billing_mode_summary: describe_billing(table),
            local_secondary_indexes: Some(local).filter(|indexes| !indexes.is_empty()),
            global_secondary_indexes: Some(global).filter(|indexes| !indexes.is_empty()),
            stream_specification: table.stream.as_ref().map(|stream| StreamSpecification {
                stream_enabled: Some(true),
                stream_view_type: Some(view_type(stream.view).into()),
            }),
            latest_stream_arn: label.as_ref().map(|label| self.arn(Resource::Stream(&table.name, label))),
            latest_stream_label: label,
            restore_summary: table.restored.as_ref().map(|restored| RestoreSummary {
                source_backup_arn: restored.backup_arn.clone(),
                source_table_arn: Some(restored.table_arn.clone()),
                restore_date_time: Some(Timestamp::from_milliseconds(restored.time_milliseconds)),
                restore_in_progress: Some(table.is_restoring()),
            }),
            sse_description: self.describe_encryption(table),
            table_class_summary: settings.table_class.as_deref().map(|class| TableClassSummary {
                table_class: TableClass::from_name(class),
                last_update_date_time: settings
                    .table_class_changed_milliseconds
                    .map(Timestamp::from_milliseconds),
            }),
            deletion_protection_enabled: Some(settings.deletion_protection),
            on_demand_throughput: describe_limits(settings.on_demand_limits),
            warm_throughput: Some(describe_table_warmth(table)),
        }
    }

    /// The ARN of a resource of this database.
    pub(crate) fn arn(&self, resource: Resource<'_>) -> String {
        Arn::new(&self.options, resource).to_string()
    }

    fn describe_local(&self, table: &Table, index: &Index) -> LocalSecondaryIndexDescription {
        let totals = self.committer.totals_of(index.id);
        LocalSecondaryIndexDescription {
            index_name: Some(index.name.clone()),
            key_schema: Some(key_schema_elements(&index.schema)),
            projection: Some(describe_projection(&index.projection)),
            index_size_bytes: Some(totals.bytes),
            item_count: Some(totals.items),
            index_arn: Some(self.arn(Resource::Index(&table.name, &index.name))),
        }
    }

    fn describe_global(&self, table: &Table, index: &Index) -> GlobalSecondaryIndexDescription {
        let totals = self.committer.totals_of(index.id);
        let (status, backfilling) = match index.state {
            IndexState::Creating => (IndexStatus::Creating, Some(true)),
            IndexState::Active => (IndexStatus::Active, None),
            IndexState::Deleting => (IndexStatus::Deleting, None),
        };
        let (reads, writes) = warm_units(table, &index.throughput, index.warm_throughput);
        GlobalSecondaryIndexDescription {
            index_name: Some(index.name.clone()),
            key_schema: Some(key_schema_elements(&index.schema)),
            projection: Some(describe_projection(&index.projection)),
            index_status: Some(status),
            backfilling,
            provisioned_throughput: Some(describe_throughput(&index.throughput)),
            index_size_bytes: Some(totals.bytes),
            item_count: Some(totals.items),
            index_arn: Some(self.arn(Resource::Index(&table.name, &index.name))),
            on_demand_throughput: describe_limits(index.on_demand_limits),
            warm_throughput: Some(GlobalSecondaryIndexWarmThroughputDescription {
                read_units_per_second: Some(reads),
                write_units_per_second: Some(writes),
                status: Some(IndexStatus::Active),
            }),
        }
    }
}

/// The key attributes of a table and its indexes, sorted by name as DynamoDB tells them.
pub(crate) fn attribute_definitions(table: &Table) -> Vec<AttributeDefinition> {
    let definition = |attribute: &crate::layout::KeyAttribute| AttributeDefinition {
        attribute_name: Some(attribute.name.clone()),
        attribute_type: Some(attribute.key_type.into()),
    };
    let mut definitions: Vec<_> = table.definitions.iter().map(definition).collect();
    definitions.sort_by(|left, right| left.attribute_name.cmp(&right.attribute_name));
    definitions
}

/// A key as the API lists it.
pub(crate) fn key_schema_elements(schema: &KeySchema) -> Vec<KeySchemaElement> {
    let element = |name: &str, role: KeyRole| KeySchemaElement {
        attribute_name: Some(name.to_owned()),
        key_type: Some(role.into()),
    };
    let partition = schema.partition.iter().map(|attribute| element(&attribute.name, KeyRole::Hash));
    let sort = schema.sort.iter().map(|attribute| element(&attribute.name, KeyRole::Range));
    partition.chain(sort).collect()
}

/// What of an item an index holds, as the API says it.
pub(crate) fn describe_projection(projection: &Projection) -> ProjectionDescription {
    let (kind, attributes) = match projection {
        Projection::All => (ProjectionType::All, None),
        Projection::KeysOnly => (ProjectionType::KeysOnly, None),
        Projection::Include(names) => (ProjectionType::Include, Some(names.clone())),
    };
    ProjectionDescription { projection_type: Some(kind.into()), non_key_attributes: attributes }
}

/// The view of a stream, as the API says it.
pub(crate) fn view_type(view: StreamView) -> StreamViewType {
    match view {
        StreamView::KeysOnly => StreamViewType::KeysOnly,
        StreamView::NewImage => StreamViewType::NewImage,
        StreamView::OldImage => StreamViewType::OldImage,
        StreamView::NewAndOldImages => StreamViewType::NewAndOldImages,
    }
}

fn describe_throughput(throughput: &Throughput) -> ProvisionedThroughputDescription {
    ProvisionedThroughputDescription {
        last_increase_date_time: throughput.last_increase_milliseconds.map(Timestamp::from_milliseconds),
        last_decrease_date_time: throughput.last_decrease_milliseconds.map(Timestamp::from_milliseconds),
        number_of_decreases_today: throughput.decreases_today,
        read_capacity_units: throughput.read_units,
        write_capacity_units: throughput.write_units,
    }
}

/// Absent for a table that was provisioned from the start.
fn describe_billing(table: &Table) -> Option<BillingModeSummary> {
    let settings = &table.settings;
    let mode = match (settings.on_demand, settings.billing_changed_milliseconds) {
        (true, _) => BillingMode::PayPerRequest,
        (false, Some(_)) => BillingMode::Provisioned,
        (false, None) => return None,
    };
    Some(BillingModeSummary {
        billing_mode: Some(mode),
        last_update_to_pay_per_request_date_time: settings
            .billing_changed_milliseconds
            .map(Timestamp::from_milliseconds),
    })
}

/// The limits of an on-demand table or index, as the API says them.
pub(crate) fn describe_limits(limits: OnDemandLimits) -> Option<OnDemandThroughput> {
    let OnDemandLimits { read_units, write_units } = limits;
    (read_units.is_some() || write_units.is_some()).then_some(OnDemandThroughput {
        max_read_request_units: read_units,
        max_write_request_units: write_units,
    })
}

fn describe_table_warmth(table: &Table) -> TableWarmThroughputDescription {
    let settings = &table.settings;
    let (reads, writes) = warm_units(table, &settings.throughput, settings.warm_throughput);
    TableWarmThroughputDescription {
        read_units_per_second: Some(reads),
        write_units_per_second: Some(writes),
        status: Some(TableStatus::Active),
    }
}

/// What a table or index takes at once: what it once took or was asked to take, and what its mode gives.
pub(crate) fn warm_units(table: &Table, units: &Throughput, highest: Option<(i64, i64)>) -> (i64, i64) {
    let by_mode = mode_warmth(table.settings.on_demand, units);
    let highest = highest.unwrap_or_default();
    (by_mode.0.max(highest.0), by_mode.1.max(highest.1))
}
