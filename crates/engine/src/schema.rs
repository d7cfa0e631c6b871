//! Keys, indexes and projections as requests give them, checked and turned into what a table holds.
//!
//! Always true: the checks run in DynamoDB's order and say its words, so the first one that fails is the one DynamoDB reports.
//! Field rules (lengths, patterns, enumerations) have been checked before.
//!
//! Path of a key: elements and definitions of a request -> [`table_key`], [`local_key`], [`global_key`] -> `KeySchema`.

use std::collections::BTreeSet;

use dynamo::limits::KEY_NAME_BYTES_MAX;
use dynamo::operation::{
    AttributeDefinition, KeyRole, KeySchemaElement, LocalSecondaryIndex, Projection as ProjectionRequest,
    ProjectionType,
};
use dynamo::{ApiError, Choice};

use crate::layout::{KeyAttribute, KeySchema};
use crate::table::Projection;

/// Local indexes of one table.
pub(crate) const LOCAL_INDEXES_MAX: usize = 5;
/// Global indexes of one table.
pub(crate) const GLOBAL_INDEXES_MAX: usize = 20;
/// Partition attributes of a global index, and as many sort attributes.
const KEY_ATTRIBUTES_MAX: usize = 4;
/// Attributes that INCLUDE projections of one table name together.
const PROJECTED_ATTRIBUTES_MAX: usize = 100;

/// An error about a parameter, as most errors of table operations begin.
pub(crate) fn invalid(detail: impl std::fmt::Display) -> ApiError {
    ApiError::validation(format!("One or more parameter values were invalid: {detail}"))
}

/// The definitions of key attributes, each name once.
pub(crate) fn definitions(request: &[AttributeDefinition]) -> Result<Vec<KeyAttribute>, ApiError> {
    let mut definitions: Vec<KeyAttribute> = Vec::with_capacity(request.len());
    for definition in request {
        let (Some(name), Some(key_type)) =
            (&definition.attribute_name, definition.attribute_type.as_ref().and_then(Choice::known))
        else {
            return Err(ApiError::validation("AttributeDefinitions are incomplete"));
        };
        if definitions.iter().any(|other| other.name == *name) {
            return Err(ApiError::validation(format!("Attribute Name is duplicated: {name}")));
        }
        definitions.push(KeyAttribute { name: name.clone(), key_type });
    }
    Ok(definitions)
}

/// Said where a key has more attributes than there are definitions.
pub(crate) const NO_DEFINITION: &str = "Invalid KeySchema: Some index key attribute have no definition";

/// The key of a table: one partition attribute, at most one sort attribute.
pub(crate) fn table_key(
    elements: &[KeySchemaElement],
    definitions: &[KeyAttribute],
) -> Result<KeySchema, ApiError> {
    if elements.len() > definitions.len() {
        return Err(ApiError::validation(NO_DEFINITION));
    }
    check_defined(elements, definitions)?;
    check_simple_key(elements)?;
    Ok(key_schema(elements, definitions))
}

/// Definitions that no key uses are refused, before anything else about indexes is looked at; in other words where there are none.
pub(crate) fn check_all_used<'a>(
    table_key: &'a KeySchema,
    index_keys: impl Iterator<Item = &'a KeySchemaElement>,
    definitions: &[KeyAttribute],
    has_indexes: bool,
) -> Result<(), ApiError> {
    let mut used: Vec<&str> = distinct(table_key.attributes());
    for name in index_keys.filter_map(|element| element.attribute_name.as_deref()) {
        if !used.contains(&name) {
            used.push(name);
        }
    }
    let is_defined = |name: &&str| definitions.iter().any(|definition| definition.name == *name);
    let missing: Vec<&str> = used.iter().copied().filter(|name| !is_defined(name)).collect();
    if has_indexes && !missing.is_empty() {
        let missing = listed(missing, None);
        let defined = listed(distinct(definitions.iter()), Some(definitions.len()));
        return Err(invalid(format!(
            "Some index key attributes are not defined in AttributeDefinitions. Keys: [{missing}], AttributeDefinitions: \
             [{defined}]"
        )));
    }
    if definitions.iter().all(|definition| used.contains(&definition.name.as_str())) {
        return Ok(());
    }
    if !has_indexes {
        return Err(invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes defined in \
             AttributeDefinitions",
        ));
    }
    let defined = listed(distinct(definitions.iter()), Some(definitions.len()));
    let used = listed(used, None);
    Err(invalid(format!(
        "Some AttributeDefinitions are not used. AttributeDefinitions: [{defined}], keys used: [{used}]"
    )))
}

fn distinct<'a>(attributes: impl Iterator<Item = &'a KeyAttribute>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for attribute in attributes {
        if !names.contains(&attribute.name.as_str()) {
            names.push(attribute.name.as_str());
        }
    }
    names
}

/// Names as messages list them. DynamoDB keeps them in hash sets and prints these, so the order is that of a set's buckets:
/// a set that starts with 16, or with as many as were expected, and doubles when it is three quarters full. Seen on DynamoDB:
/// `AttributeDefinitions: [sk, a, b, pk, c], keys used: [a, sk, pk]`.
fn listed(mut names: Vec<&str>, expected: Option<usize>) -> String {
    let mut buckets = expected.map_or(16, usize::next_power_of_two);
    while names.len() > buckets * 3 / 4 {
        buckets *= 2;
    }
    names.sort_by_key(|name| {
        let hash =
            name.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
        (hash ^ (hash >> 16)) as usize & (buckets - 1)
    });
    names.join(", ")
}

/// The key of a local index: the table's partition key and another sort key.
pub(crate) fn local_key(
    index: &LocalSecondaryIndex,
    table_key: &KeySchema,
    definitions: &[KeyAttribute],
) -> Result<KeySchema, ApiError> {
    let elements = index.key_schema.as_deref().unwrap_or_default();
    let name = index.index_name.as_deref().unwrap_or_default();
    check_defined(elements, definitions)?;
    check_simple_key(elements)?;
    let schema = key_schema(elements, definitions);
    if schema.sort.is_empty() {
        return Err(invalid(format!("Index KeySchema does not have a range key for index: {name}")));
    }
    let hash = |schema: &KeySchema| schema.partition.first().map(|key| key.name.clone()).unwrap_or_default();
    let (index_hash, table_hash) = (hash(&schema), hash(table_key));
    if index_hash != table_hash {
        return Err(invalid(format!(
            "Index KeySchema does not have the same leading hash key as table KeySchema for index: {name}. \
             index hash key: {index_hash}, table hash key: {table_hash}"
        )));
    }
    Ok(schema)
}

/// The key of a global index: up to four partition and four sort attributes.
pub(crate) fn global_key(
    elements: &[KeySchemaElement],
    definitions: &[KeyAttribute],
) -> Result<KeySchema, ApiError> {
    check_defined(elements, definitions)?;
    check_composite_key(elements)?;
    Ok(key_schema(elements, definitions))
}

/// No two indexes of a table have one name.
pub(crate) fn check_distinct_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), ApiError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(invalid(format!("Duplicate index name: {name}")));
        }
    }
    Ok(())
}

/// INCLUDE projections of all indexes of a table name at most 100 attributes; one named by two indexes counts twice.
pub(crate) fn check_projected<'a>(projections: impl Iterator<Item = &'a Projection>) -> Result<(), ApiError> {
    let named = |projection: &Projection| match projection {
        Projection::Include(names) => names.len(),
        Projection::All | Projection::KeysOnly => 0,
    };
    if projections.map(named).sum::<usize>() > PROJECTED_ATTRIBUTES_MAX {
        return Err(invalid(
            "Number of projected attributes in all indexes exceeds the per-table limit of 100",
        ));
    }
    Ok(())
}

fn check_defined(elements: &[KeySchemaElement], definitions: &[KeyAttribute]) -> Result<(), ApiError> {
    let is_defined = |name: &str| definitions.iter().any(|definition| definition.name == name);
    if names(elements).all(is_defined) {
        return Ok(());
    }
    let keys: BTreeSet<&str> = names(elements).collect();
    let keys = listed(keys.into_iter().collect(), None);
    let defined = listed(distinct(definitions.iter()), Some(definitions.len()));
    Err(invalid(format!(
        "Some index key attributes are not defined in AttributeDefinitions. Keys: [{keys}], \
         AttributeDefinitions: [{defined}]"
    )))
}

/// One HASH element, then at most one RANGE element: tables and local indexes.
fn check_simple_key(elements: &[KeySchemaElement]) -> Result<(), ApiError> {
    if let [first, second, ..] = elements
        && first.attribute_name == second.attribute_name
    {
        return Err(ApiError::validation(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        ));
    }
    check_first_is_hash(elements)?;
    if elements.get(1).is_some_and(|second| !has_role(second, KeyRole::Range)) {
        return Err(ApiError::validation(
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        ));
    }
    Ok(())
}

/// One to four HASH elements, then up to four RANGE elements: global indexes.
fn check_composite_key(elements: &[KeySchemaElement]) -> Result<(), ApiError> {
    let distinct: BTreeSet<&str> = names(elements).collect();
    if distinct.len() < elements.len() {
        return Err(ApiError::validation(
            "The KeySchema contains multiple key attributes with the same name",
        ));
    }
    check_first_is_hash(elements)?;
    let hashes = elements.iter().take_while(|element| has_role(element, KeyRole::Hash)).count();
    let ranges = elements.iter().skip(hashes).count();
    if elements.iter().skip(hashes).any(|element| has_role(element, KeyRole::Hash)) {
        return Err(invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema"));
    }
    for (count, role) in [(hashes, "HASH"), (ranges, "RANGE")] {
        if count > KEY_ATTRIBUTES_MAX {
            let detail = format!("The KeySchema exceeds the maximum allowed number of {role} key attributes");
            return Err(invalid(detail));
        }
    }
    Ok(())
}

fn check_first_is_hash(elements: &[KeySchemaElement]) -> Result<(), ApiError> {
    if elements.first().is_some_and(|first| has_role(first, KeyRole::Hash)) {
        return Ok(());
    }
    Err(ApiError::validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type"))
}

fn has_role(element: &KeySchemaElement, role: KeyRole) -> bool {
    element.key_type.as_ref().is_some_and(|given| *given == role)
}

fn names(elements: &[KeySchemaElement]) -> impl Iterator<Item = &str> {
    elements.iter().map(|element| element.attribute_name.as_deref().unwrap_or_default())
}

/// The key of elements that were checked.
fn key_schema(elements: &[KeySchemaElement], definitions: &[KeyAttribute]) -> KeySchema {
    let of_role = |role: KeyRole| {
        let elements = elements.iter().filter(move |element| has_role(element, role));
        let attribute = |element: &KeySchemaElement| {
            let name = element.attribute_name.as_deref()?;
            definitions.iter().find(|definition| definition.name == name).cloned()
        };
        elements.filter_map(attribute).collect()
    };
    KeySchema { partition: of_role(KeyRole::Hash), sort: of_role(KeyRole::Range) }
}

/// What of an item an index holds.
pub(crate) fn projection(request: Option<&ProjectionRequest>) -> Result<Projection, ApiError> {
    let kind = request.and_then(|projection| projection.projection_type.as_ref()?.known());
    let attributes = request.and_then(|projection| projection.non_key_attributes.as_ref());
    let Some(kind) = kind else { return Err(invalid("Unknown ProjectionType: null")) };
    match (kind, attributes) {
        (ProjectionType::All, None) => Ok(Projection::All),
        (ProjectionType::KeysOnly, None) => Ok(Projection::KeysOnly),
        (ProjectionType::Include, Some(attributes)) => {
            check_no_duplicate(attributes)?;
            check_projected_names(attributes)?;
            let mut attributes = attributes.clone();
            // DynamoDB tells them sorted by name.
            attributes.sort_unstable();
            Ok(Projection::Include(attributes))
        }
        (ProjectionType::Include, None) => {
            Err(invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified"))
        }
        (kind, Some(_)) => {
            let kind = kind.name();
            Err(invalid(format!("ProjectionType is {kind}, but NonKeyAttributes is specified")))
        }
    }
}

/// Keys as a message shows them.
pub(crate) fn shown(schema: &KeySchema) -> String {
    let element = |attribute: &KeyAttribute, kind: &str| {
        format!("SchemaElement: key{{{}:{}:{kind}}}", attribute.name, attribute.key_type.name())
    };
    let partition = schema.partition.iter().map(|attribute| element(attribute, "HASH"));
    let sort = schema.sort.iter().map(|attribute| element(attribute, "RANGE"));
    format!("Schema:[{}]", partition.chain(sort).collect::<Vec<_>>().join(", "))
}

fn check_projected_names(attributes: &[String]) -> Result<(), ApiError> {
    if attributes.iter().all(|name| (1..=KEY_NAME_BYTES_MAX).contains(&name.len())) {
        return Ok(());
    }
    Err(ApiError::validation(
        "Names of key attributes and attributes projected into an index must be between 1 and 255 characters, inclusive",
    ))
}

fn check_no_duplicate(attributes: &[String]) -> Result<(), ApiError> {
    let mut seen = BTreeSet::new();
    match attributes.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(invalid(format!("Duplicate element in NonKeyAttributes: {name}"))),
        None => Ok(()),
    }
}
