//! The tables of a design as DynamoDB makes them.

use std::collections::BTreeMap;

use dynamo::KeyType;
use dynamo::operation::{
    AttributeDefinition, BillingMode, CreateTable, GlobalSecondaryIndex, KeyRole, KeySchemaElement,
    LocalSecondaryIndex, Projection as ProjectionRequest, ProjectionType, ProvisionedThroughput,
    StreamSpecification, StreamViewType,
};

use crate::bind::physical_name;
use crate::check::CheckedDesign;
use crate::model::{Billing, Index, KeyAttribute, Projection, StreamView, Table, Type};

/// The requests that make the tables of a design.
pub fn create_tables(design: &CheckedDesign, variables: &BTreeMap<String, String>) -> Vec<CreateTable> {
    design.tables.iter().map(|table| create_table(design, table, variables)).collect()
}

/// The attribute by which items of a table expire, if there is one.
pub fn time_to_live_attribute(design: &CheckedDesign, table: &str) -> Option<String> {
    let attributes = design.entities_of(table).flat_map(|entity| &entity.attributes);
    attributes
        .into_iter()
        .find(|attribute| attribute.kind == Type::Ttl)
        .map(|attribute| attribute.name.value.clone())
}

fn create_table(design: &CheckedDesign, table: &Table, variables: &BTreeMap<String, String>) -> CreateTable {
    let key = |key: &KeyAttribute| (key.name.value.clone(), key.key_type);
    let partition = key(&table.partition_key);
    let sort = table.sort_key.as_ref().map(key);
    let mut request = CreateTable::new(
        physical_name(design, table, variables),
        (partition.0.as_str(), partition.1),
        sort.as_ref().map(|(name, kind)| (name.as_str(), *kind)),
    );
    let throughput = match table.billing {
        Billing::OnDemand => None,
        Billing::Provisioned { read, write } => Some(ProvisionedThroughput {
            read_capacity_units: Some(i64::from(read)),
            write_capacity_units: Some(i64::from(write)),
        }),
    };
    if throughput.is_some() {
        request.billing_mode = Some(BillingMode::Provisioned.into());
        request.provisioned_throughput.clone_from(&throughput);
    }
    request.stream_specification = table.stream.as_ref().map(|stream| StreamSpecification {
        stream_enabled: Some(true),
        stream_view_type: Some(view(stream.value).into()),
    });
    let indexes = || design.indexes.iter().filter(|index| index.table.value == table.name.value);
    let local = indexes().filter(|index| index.local).map(|index| LocalSecondaryIndex {
        index_name: Some(index.name.value.clone()),
        key_schema: Some(schema(index)),
        projection: Some(projection(index)),
    });
    let local = local.collect::<Vec<_>>();
    let global = indexes().filter(|index| !index.local).map(|index| GlobalSecondaryIndex {
        index_name: Some(index.name.value.clone()),
        key_schema: Some(schema(index)),
        projection: Some(projection(index)),
        provisioned_throughput: throughput.clone(),
        ..GlobalSecondaryIndex::default()
    });
    let global = global.collect::<Vec<_>>();
    let mut definitions = request.attribute_definitions.take().unwrap_or_default();
    let mut known = table.key_attributes().map(|key| key.name.value.clone()).collect::<Vec<_>>();
    for key in indexes().flat_map(Index::key_attributes) {
        if !known.contains(&key.name.value) {
            known.push(key.name.value.clone());
            definitions.push(AttributeDefinition::new(&key.name.value, attribute_type(key)));
        }
    }
    request.attribute_definitions = Some(definitions);
    request.local_secondary_indexes = (!local.is_empty()).then_some(local);
    request.global_secondary_indexes = (!global.is_empty()).then_some(global);
    request
}

fn attribute_type(key: &KeyAttribute) -> KeyType {
    key.key_type
}

fn view(view: StreamView) -> StreamViewType {
    match view {
        StreamView::KeysOnly => StreamViewType::KeysOnly,
        StreamView::NewImage => StreamViewType::NewImage,
        StreamView::OldImage => StreamViewType::OldImage,
        StreamView::NewAndOldImages => StreamViewType::NewAndOldImages,
    }
}

fn schema(index: &Index) -> Vec<KeySchemaElement> {
    let partition =
        index.partition_key.iter().map(|key| KeySchemaElement::new(&key.name.value, KeyRole::Hash));
    let sort = index.sort_key.iter().map(|key| KeySchemaElement::new(&key.name.value, KeyRole::Range));
    partition.chain(sort).collect()
}

fn projection(index: &Index) -> ProjectionRequest {
    let (kind, attributes) = match &index.projection {
        Projection::All => (ProjectionType::All, None),
        Projection::KeysOnly => (ProjectionType::KeysOnly, None),
        Projection::Include(list) => {
            (ProjectionType::Include, Some(list.iter().map(|name| name.value.clone()).collect()))
        }
    };
    ProjectionRequest { projection_type: Some(kind.into()), non_key_attributes: attributes }
}
