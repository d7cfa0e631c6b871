//! Tables: made where they are missing, completed where something can be added, refused where they differ.

use std::time::Duration;

use dynamo::operation::{
    AttributeDefinition, Choice, CreateGlobalSecondaryIndexAction, CreateTable, DeleteTable, DescribeTable,
    DescribeTimeToLive, GlobalSecondaryIndexUpdate, IndexStatus, KeySchemaElement,
    PointInTimeRecoverySpecification, Projection, ProjectionType, StreamSpecification, TableDescription,
    TableStatus, TimeToLiveSpecification, TimeToLiveStatus, UpdateContinuousBackups, UpdateTable,
    UpdateTimeToLive,
};
use dynamo::{ErrorKind, Reply};

use crate::answer::{TableChange, TableOutcome};
use crate::refusal::Refusal;
use crate::service::Service;
use crate::state;

/// How long a table or index may take to become active: an index of a large table is filled for hours.
const WAITS_MAX: u32 = 50_000;
const WAIT: Duration = Duration::from_millis(200);

/// How a table is to be.
struct Wanted {
    create: CreateTable,
    ttl_attribute: Option<String>,
    point_in_time_recovery: bool,
}

impl Service {
    /// Makes the tables of the design where they are missing, adds indexes, streams and expiry that are missing, and refuses tables
    /// that differ otherwise. What a table has beyond the design stays as it is.
    pub async fn prepare(&self) -> Result<Vec<TableOutcome>, Refusal> {
        self.check_capabilities()?;
        let mut outcomes = Vec::new();
        for wanted in self.wanted() {
            outcomes.push(self.prepare_table(wanted).await?);
        }
        Ok(outcomes)
    }

    /// Deletes the tables of the design and that of the service's own state, with everything in them: for trials that clean up.
    pub async fn delete_tables(&self) -> Result<(), Refusal> {
        for wanted in self.wanted() {
            match self.run(DeleteTable { table_name: wanted.create.table_name }).await {
                Err(error) if error.kind != ErrorKind::ResourceNotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    fn wanted(&self) -> Vec<Wanted> {
        let design = self.design();
        let tables = design.tables.iter().zip(design::create_tables(design, &self.options().variables));
        let mut wanted = tables
            .map(|(table, create)| Wanted {
                create,
                ttl_attribute: design::time_to_live_attribute(design, &table.name.value),
                point_in_time_recovery: table.point_in_time_recovery.as_ref().is_some_and(|on| on.value),
            })
            .collect::<Vec<_>>();
        wanted.push(Wanted {
            create: state::create_table(&self.options().state_table),
            ttl_attribute: Some(state::EXPIRES.to_owned()),
            point_in_time_recovery: false,
        });
        wanted
    }

    fn check_capabilities(&self) -> Result<(), Refusal> {
        let (design, can) = (self.design(), self.backend().capabilities());
        let unsupported = |lacks, needed_for: Vec<String>| {
            if needed_for.is_empty() {
                return Ok(());
            }
            Err(Refusal::Unsupported { backend: self.backend().name(), lacks, needed_for })
        };
        if !can.transactions {
            unsupported("has no transactions", needs_transactions(design))?;
        }
        if !can.streams {
            unsupported("has no streams", needs_streams(design))?;
        }
        Ok(())
    }

    async fn prepare_table(&self, wanted: Wanted) -> Result<TableOutcome, Refusal> {
        let table = wanted.create.table_name.clone().unwrap_or_default();
        let change = match self.describe(&table).await? {
            None => {
                match self.run(wanted.create.clone()).await {
                    // Somebody else may be preparing the same tables.
                    Err(error) if error.kind != ErrorKind::ResourceInUse => return Err(error.into()),
                    _ => {}
                }
                self.active(&table).await?;
                self.expire(&wanted).await?;
                self.recoverable(&wanted).await?;
                TableChange::Created
            }
            Some(found) => {
                let differences = differences(&wanted.create, &found);
                if !differences.is_empty() {
                    return Err(Refusal::Differs { table, differences });
                }
                let added = self.extend(&wanted, &found).await?;
                if added.is_empty() { TableChange::None } else { TableChange::Extended(added) }
            }
        };
        Ok(TableOutcome { table, change })
    }

    async fn describe(&self, table: &str) -> Result<Option<TableDescription>, Refusal> {
        match self.run(DescribeTable::new(table)).await {
            Ok(Reply::DescribeTable(reply)) => Ok(reply.table),
            Ok(_) => Err(Refusal::strange("DescribeTable")),
            Err(error) if error.kind == ErrorKind::ResourceNotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until a table and its indexes can be used.
    async fn active(&self, table: &str) -> Result<TableDescription, Refusal> {
        for _ in 0..WAITS_MAX {
            if let Some(found) = self.describe(table).await?.filter(is_active) {
                return Ok(found);
            }
            tokio::time::sleep(WAIT).await;
        }
        Err(Refusal::Internal(format!("table {table} does not become active")))
    }

    /// Adds what is missing and can be added; says what was.
    async fn extend(&self, wanted: &Wanted, found: &TableDescription) -> Result<Vec<String>, Refusal> {
        let table = wanted.create.table_name.clone().unwrap_or_default();
        let mut added = Vec::new();
        if !is_active(found) {
            self.active(&table).await?;
        }
        let has_stream =
            found.stream_specification.as_ref().is_some_and(|stream| stream.stream_enabled == Some(true));
        if let (Some(stream), false) = (&wanted.create.stream_specification, has_stream) {
            let update = UpdateTable {
                table_name: Some(table.clone()),
                stream_specification: Some(stream.clone()),
                ..UpdateTable::default()
            };
            self.run(update).await?;
            self.active(&table).await?;
            added.push("stream".to_owned());
        }
        for index in wanted.create.global_secondary_indexes.iter().flatten() {
            let has = |name: &Option<String>| *name == index.index_name;
            if found.global_secondary_indexes.iter().flatten().any(|known| has(&known.index_name)) {
                continue;
            }
            let create = CreateGlobalSecondaryIndexAction {
                index_name: index.index_name.clone(),
                key_schema: index.key_schema.clone(),
                projection: index.projection.clone(),
                provisioned_throughput: index.provisioned_throughput.clone(),
                ..CreateGlobalSecondaryIndexAction::default()
            };
            let update = UpdateTable {
                table_name: Some(table.clone()),
                attribute_definitions: wanted.create.attribute_definitions.clone(),
                global_secondary_index_updates: Some(vec![GlobalSecondaryIndexUpdate {
                    create: Some(create),
                    ..GlobalSecondaryIndexUpdate::default()
                }]),
                ..UpdateTable::default()
            };
            self.run(update).await?;
            self.active(&table).await?;
            added.push(format!("index {}", index.index_name.clone().unwrap_or_default()));
        }
        if self.expire(wanted).await? {
            added.push("expiry".to_owned());
        }
        Ok(added)
    }

    /// Turns expiry on where it is off; true if it did.
    async fn expire(&self, wanted: &Wanted) -> Result<bool, Refusal> {
        let Some(attribute) = &wanted.ttl_attribute else { return Ok(false) };
        let table = wanted.create.table_name.clone();
        let Reply::DescribeTimeToLive(reply) =
            self.run(DescribeTimeToLive { table_name: table.clone() }).await?
        else {
            return Err(Refusal::strange("DescribeTimeToLive"));
        };
        let found = reply.time_to_live_description.unwrap_or_default();
        if matches!(found.time_to_live_status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)) {
            if found.attribute_name.as_ref() == Some(attribute) {
                return Ok(false);
            }
            let differences = vec![format!(
                "items expire by {} instead of {attribute}",
                found.attribute_name.unwrap_or_default()
            )];
            return Err(Refusal::Differs { table: table.unwrap_or_default(), differences });
        }
        let specification =
            TimeToLiveSpecification { enabled: Some(true), attribute_name: Some(attribute.clone()) };
        let update = UpdateTimeToLive { table_name: table, time_to_live_specification: Some(specification) };
        self.run(update).await?;
        Ok(true)
    }

    /// Turns point-in-time recovery on for a new table. A backend that has none does not keep the design from running.
    async fn recoverable(&self, wanted: &Wanted) -> Result<(), Refusal> {
        if !wanted.point_in_time_recovery {
            return Ok(());
        }
        let update = UpdateContinuousBackups {
            table_name: wanted.create.table_name.clone(),
            point_in_time_recovery_specification: Some(PointInTimeRecoverySpecification {
                point_in_time_recovery_enabled: Some(true),
                ..PointInTimeRecoverySpecification::default()
            }),
        };
        if let Err(error) = self.run(update).await {
            let table = wanted.create.table_name.clone().unwrap_or_default();
            tracing::warn!(%table, %error, "point-in-time recovery could not be turned on");
        }
        Ok(())
    }
}

fn is_active(table: &TableDescription) -> bool {
    let indexes = table.global_secondary_indexes.iter().flatten();
    table.table_status == Some(TableStatus::Active)
        && indexes.into_iter().all(|index| index.index_status == Some(IndexStatus::Active))
}

/// What cannot be put right by adding something.
fn differences(wanted: &CreateTable, found: &TableDescription) -> Vec<String> {
    let mut all =
        vec![difference("the key", &schema(wanted.key_schema.as_ref()), &schema(found.key_schema.as_ref()))];
    all.extend(of_attributes(wanted, found));
    for index in wanted.global_secondary_indexes.iter().flatten() {
        let mut known = found.global_secondary_indexes.iter().flatten();
        if let Some(known) = known.find(|known| known.index_name == index.index_name) {
            let wanted = (index.key_schema.as_ref(), index.projection.as_ref());
            let found = (known.key_schema.as_ref(), known.projection.as_ref());
            all.extend(of_index(index.index_name.as_deref(), wanted, found));
        }
    }
    for index in wanted.local_secondary_indexes.iter().flatten() {
        let mut known = found.local_secondary_indexes.iter().flatten();
        let Some(known) = known.find(|known| known.index_name == index.index_name) else {
            let what = format!("local index {}", index.index_name.as_deref().unwrap_or_default());
            all.push(difference(&what, "there", "missing"));
            continue;
        };
        let wanted = (index.key_schema.as_ref(), index.projection.as_ref());
        let found = (known.key_schema.as_ref(), known.projection.as_ref());
        all.extend(of_index(index.index_name.as_deref(), wanted, found));
    }
    all.push(of_stream(wanted, found));
    all.into_iter().flatten().collect()
}

fn difference(what: &str, wanted: &str, found: &str) -> Option<String> {
    (wanted != found).then(|| format!("{what} is {found} instead of {wanted}"))
}

fn of_attributes(wanted: &CreateTable, found: &TableDescription) -> Vec<Option<String>> {
    let kind = |definition: &AttributeDefinition| {
        format!("{:?}", definition.attribute_type.as_ref().and_then(Choice::known))
    };
    let definitions = wanted.attribute_definitions.iter().flatten().filter_map(|definition| {
        let mut known = found.attribute_definitions.iter().flatten();
        let known = known.find(|known| known.attribute_name == definition.attribute_name)?;
        let what = format!("the type of {}", definition.attribute_name.as_deref().unwrap_or_default());
        Some(difference(&what, &kind(definition), &kind(known)))
    });
    definitions.collect()
}

/// The key and the projection of an index.
type IndexShape<'a> = (Option<&'a Vec<KeySchemaElement>>, Option<&'a Projection>);

fn of_index(name: Option<&str>, wanted: IndexShape<'_>, found: IndexShape<'_>) -> [Option<String>; 2] {
    let name = name.unwrap_or_default();
    [
        difference(&format!("the key of index {name}"), &schema(wanted.0), &schema(found.0)),
        difference(&format!("the projection of index {name}"), &projection(wanted.1), &projection(found.1)),
    ]
}

fn of_stream(wanted: &CreateTable, found: &TableDescription) -> Option<String> {
    let (wanted, found) = (wanted.stream_specification.as_ref()?, found.stream_specification.as_ref()?);
    let view = |stream: &StreamSpecification| {
        format!("{:?}", stream.stream_view_type.as_ref().and_then(Choice::known))
    };
    difference("the stream", &view(wanted), &view(found)).filter(|_| found.stream_enabled == Some(true))
}

fn schema(schema: Option<&Vec<KeySchemaElement>>) -> String {
    let names =
        schema.into_iter().flatten().map(|element| element.attribute_name.clone().unwrap_or_default());
    names.collect::<Vec<_>>().join(", ")
}

fn projection(projection: Option<&Projection>) -> String {
    let Some(projection) = projection else { return "nothing".to_owned() };
    match projection.projection_type.as_ref().and_then(Choice::known) {
        Some(ProjectionType::All) => "everything".to_owned(),
        Some(ProjectionType::KeysOnly) => "keys only".to_owned(),
        Some(ProjectionType::Include) | None => {
            let mut names = projection.non_key_attributes.clone().unwrap_or_default();
            names.sort_unstable();
            format!("keys and {}", names.join(", "))
        }
    }
}

/// What of a design needs transactions.
fn needs_transactions(design: &design::CheckedDesign) -> Vec<String> {
    let copies = design.entities.iter().filter(|entity| entity.copy.is_some() || !entity.counters.is_empty());
    let steps = design.operations.iter().filter(|operation| operation.steps.len() > 1);
    let copies = copies.map(|entity| format!("entity {}", entity.name.value));
    copies.chain(steps.map(|operation| format!("operation {}", operation.name.value))).collect()
}

/// What of a design needs streams.
fn needs_streams(design: &design::CheckedDesign) -> Vec<String> {
    let reactions = design.reactions.iter().map(|reaction| format!("reaction {}", reaction.name.value));
    let eventual =
        design.entities.iter().filter(|entity| entity.counters.iter().any(|counter| counter.eventual));
    reactions.chain(eventual.map(|entity| format!("the counters of {}", entity.name.value))).collect()
}
