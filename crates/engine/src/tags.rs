//! Tags of tables, checked.

use std::collections::BTreeMap;

use dynamo::ApiError;
use dynamo::operation::Tag;

/// Tags of one table.
const TAGS_MAX: usize = 50;
const KEY_LENGTH_MAX: usize = 128;
const VALUE_LENGTH_MAX: usize = 256;

/// The tags of a request, each key once.
pub(crate) fn checked_tags(tags: &[Tag]) -> Result<BTreeMap<String, String>, ApiError> {
    let mut checked = BTreeMap::new();
    for tag in tags {
        let key = checked_key(tag.key.as_deref())?;
        let value = checked_value(tag.value.as_deref())?;
        if checked.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(ApiError::validation(format!(
                "Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}"
            )));
        }
    }
    Ok(checked)
}

/// A table has at most 50 tags.
pub(crate) fn check_count(tags: &BTreeMap<String, String>) -> Result<(), ApiError> {
    if tags.len() > TAGS_MAX {
        return Err(ApiError::validation(
            "Number of Tags exceed the current limit for the provided ResourceArn",
        ));
    }
    Ok(())
}

fn checked_key(key: Option<&str>) -> Result<&str, ApiError> {
    let said = key.unwrap_or("null");
    let key = key.filter(|key| is_tag_text(key) && (1..=KEY_LENGTH_MAX).contains(&key.chars().count()));
    match key {
        Some(key) if key.to_ascii_lowercase().starts_with("aws:") => {
            Err(ApiError::validation(format!("Tag Key cannot be prefixed with aws:, Key: {key}")))
        }
        Some(key) => Ok(key),
        None => Err(ApiError::validation(format!("The Tag Key provided is invalid, Key: {said}"))),
    }
}

fn checked_value(value: Option<&str>) -> Result<&str, ApiError> {
    let said = value.unwrap_or("null");
    value
        .filter(|value| is_tag_text(value) && value.chars().count() <= VALUE_LENGTH_MAX)
        .ok_or_else(|| ApiError::validation(format!("The Tag Value provided is invalid, Value: {said}")))
}

/// Letters, digits and spaces of any script, and a few signs.
fn is_tag_text(text: &str) -> bool {
    text.chars().all(|character| {
        character.is_alphanumeric() || character.is_whitespace() || "_.:/=+-@".contains(character)
    })
}
