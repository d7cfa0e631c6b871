//! Keys of requests, checked against a table: what comes out can be looked up.

use dynamo::limits::ATTRIBUTE_NAME_BYTES_MAX;
use dynamo::{
    ApiError, Item, KeyType, KeyValue, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX, StoredItem, ValueFault,
    ValueRef, ValueType,
};

use crate::layout::{ItemKey, KeyAttribute, KeySchema};
use crate::table::{KEY_MISMATCH, Table};

/// What DynamoDB puts before most complaints about values.
pub(crate) const INVALID: &str = "One or more parameter values were invalid: ";

/// The key of an item, from a request that names it by its key alone: exactly the key attributes.
pub(crate) fn check_key(table: &Table, key: &Item) -> Result<ItemKey, ApiError> {
    if key.len() != table.schema.attributes().count() {
        return Err(ApiError::validation(KEY_MISMATCH));
    }
    ItemKey::from_values(table.id, &table.schema, |attribute| {
        let value = key.get(&attribute.name).and_then(KeyValue::from_value);
        match value.filter(|value| value.key_type() == attribute.key_type) {
            Some(value) => check_key_value(&table.schema, attribute, value).map(|()| value),
            None => Err(ApiError::validation(KEY_MISMATCH)),
        }
    })
}

/// The key of an item that is to be stored: the key attributes are among the others.
pub(crate) fn check_item_key(table: &Table, item: &StoredItem) -> Result<ItemKey, ApiError> {
    check_names(item)?;
    ItemKey::from_values(table.id, &table.schema, |attribute| {
        let name = &attribute.name;
        let value = item
            .get(name)
            .ok_or_else(|| ApiError::validation(format!("{INVALID}Missing the key {name} in the item")))?;
        match KeyValue::from_stored(value).filter(|value| value.key_type() == attribute.key_type) {
            Some(value) => check_key_value(&table.schema, attribute, value).map(|()| value),
            None => Err(type_mismatch(attribute, value.value_type())),
        }
    })
}

/// Checks the names of an item's attributes. They are sorted, so an empty one is the first; and one that is too long is part of a large item.
fn check_names(item: &StoredItem) -> Result<(), ValueFault> {
    let looked_at = if item.size_bytes() > ATTRIBUTE_NAME_BYTES_MAX { usize::MAX } else { 1 };
    item.attributes().take(looked_at).try_for_each(|(name, _)| dynamo::check_attribute_name(name))
}

fn type_mismatch(attribute: &KeyAttribute, actual: ValueType) -> ApiError {
    let (expected, actual) = (attribute.key_type.name(), actual.name());
    ApiError::validation(format!(
        "{INVALID}Type mismatch for key {} expected: {expected} actual: {actual}",
        attribute.name
    ))
}

/// Checks that a key value of the right type is neither empty nor too long.
fn check_key_value(
    schema: &KeySchema,
    attribute: &KeyAttribute,
    value: KeyValue<'_>,
) -> Result<(), ApiError> {
    check_not_empty(attribute, value)?;
    check_key_size(schema, attribute, value)
}

/// Checks that a key value is not empty.
pub(crate) fn check_not_empty(attribute: &KeyAttribute, value: KeyValue<'_>) -> Result<(), ApiError> {
    if !value.is_empty() {
        return Ok(());
    }
    Err(ApiError::validation(format!(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty {} \
         value. Key: {}",
        kind_of(value.key_type()),
        attribute.name
    )))
}

fn kind_of(key_type: KeyType) -> &'static str {
    if key_type == KeyType::B { "binary" } else { "string" }
}

/// Whether a key was refused because it is empty. A transaction that writes is refused as a whole for that, and for no other key.
pub(crate) fn is_empty_key(error: &ApiError) -> bool {
    error.message.starts_with("One or more parameter values are not valid.")
}

/// Whether an item was refused for the name of an attribute. Such a transaction is refused as a whole, too.
pub(crate) fn is_attribute_name(error: &ApiError) -> bool {
    [ValueFault::EmptyName, ValueFault::LongName].into_iter().any(|fault| ApiError::from(fault) == *error)
}

/// Checks the length of a key value; its type has been checked.
pub(crate) fn check_key_size(
    schema: &KeySchema,
    attribute: &KeyAttribute,
    value: KeyValue<'_>,
) -> Result<(), ApiError> {
    let is_partition = schema.partition.iter().any(|partition| partition.name == attribute.name);
    let message = match value.size_bytes() {
        size if is_partition && size > PARTITION_KEY_BYTES_MAX => {
            // The missing space is DynamoDB's own.
            "Size of hashkey has exceeded the maximum size limit of2048 bytes"
        }
        size if !is_partition && size > SORT_KEY_BYTES_MAX => {
            "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
        }
        _ => return Ok(()),
    };
    Err(ApiError::validation(format!("{INVALID}{message}")))
}

/// Checks the attributes of an item that are keys of an index: where one is there, it can stand in the index.
pub(crate) fn check_index_keys<'a>(
    table: &Table,
    value_of: impl Fn(&str) -> Option<ValueRef<'a>>,
) -> Result<(), ApiError> {
    for index in table.written_indexes() {
        for attribute in index.schema.attributes().filter(|attribute| !table.schema.contains(&attribute.name))
        {
            let Some(value) = value_of(&attribute.name) else { continue };
            check_index_key(&index.name, &index.schema, attribute, value)?;
        }
    }
    Ok(())
}

fn check_index_key(
    index: &str,
    schema: &KeySchema,
    attribute: &KeyAttribute,
    value: ValueRef<'_>,
) -> Result<(), ApiError> {
    let name = &attribute.name;
    let Some(key) = KeyValue::from_stored(value).filter(|key| key.key_type() == attribute.key_type) else {
        return Err(index_type_mismatch(index, attribute, value.value_type()));
    };
    if key.is_empty() {
        return Err(ApiError::validation(format!(
            "One or more parameter values are not valid. A value specified for a secondary index key is not supported. The \
             AttributeValue for a key attribute cannot contain an empty {} value. IndexName: {index}, IndexKey: {name}",
            kind_of(attribute.key_type)
        )));
    }
    check_key_size(schema, attribute, key)
}

/// Refuses a path into a key attribute of a table or of one of its indexes. Needs each attribute with whether a path goes into it.
pub(crate) fn check_scalar_keys<'a>(
    table: &Table,
    paths: impl Iterator<Item = (&'a str, bool)>,
) -> Result<(), ApiError> {
    let nested: Vec<&str> = paths.filter(|(_, is_nested)| *is_nested).map(|(name, _)| name).collect();
    if nested.is_empty() {
        return Ok(());
    }
    let is_nested = |attribute: &&KeyAttribute| nested.contains(&attribute.name.as_str());
    let of_table = table.schema.attributes().find(is_nested).map(|attribute| ("Key", attribute));
    let mut of_indexes = table.indexes.iter().flat_map(|index| index.schema.attributes());
    let found = of_table.or_else(|| of_indexes.find(is_nested).map(|attribute| ("IndexKey", attribute)));
    found.map_or(Ok(()), |(kind, attribute)| {
        Err(ApiError::validation(format!(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: {kind}: {}",
            attribute.name
        )))
    })
}

/// Checks the attributes that an update changed and that are keys of an index. Those that it left alone may be what they are: an index
/// may have come after them.
pub(crate) fn check_updated_index_keys(
    table: &Table,
    old: Option<&StoredItem>,
    new: &StoredItem,
) -> Result<(), ApiError> {
    for index in table.written_indexes() {
        for attribute in index.schema.attributes().filter(|attribute| !table.schema.contains(&attribute.name))
        {
            let Some(value) = new.get(&attribute.name) else { continue };
            if old.and_then(|old| old.get(&attribute.name)).is_some_and(|before| before == value) {
                continue;
            }
            check_updated_index_key(&index.schema, attribute, value)?;
        }
    }
    Ok(())
}

// Words of their own, without the index. Seen on DynamoDB by others; script update_item/rejections.txt.
fn check_updated_index_key(
    schema: &KeySchema,
    attribute: &KeyAttribute,
    value: ValueRef<'_>,
) -> Result<(), ApiError> {
    let Some(key) = KeyValue::from_stored(value).filter(|key| key.key_type() == attribute.key_type) else {
        return Err(ApiError::validation(
            "The update expression attempted to update the secondary index key to unsupported type",
        ));
    };
    if key.is_empty() {
        return Err(ApiError::validation(format!(
            "One or more parameter values are not valid. The update expression attempted to update a secondary index key to a \
             value that is not supported. The AttributeValue for a key attribute cannot contain an empty {} value.",
            kind_of(attribute.key_type)
        )));
    }
    check_key_size(schema, attribute, key)
}

/// Said of an attribute that is a key of an index and has another type.
pub(crate) fn index_type_mismatch(index: &str, attribute: &KeyAttribute, actual: ValueType) -> ApiError {
    let (name, expected, actual) = (&attribute.name, attribute.key_type.name(), actual.name());
    ApiError::validation(format!(
        "{INVALID}Type mismatch for Index Key {name} Expected: {expected} Actual: {actual} IndexName: {index}"
    ))
}
