//! Types of a design as JSON Schema.

use design::{Attribute, CheckedDesign, Entity, MapType, Precision, TimeRole, Type};
use serde_json::{Map, Value, json};

use super::is_given;
use crate::rest::{ENTITY_MEMBER, identity, json_of};

/// The schema of a type's values.
pub(crate) fn of_type(design: &CheckedDesign, kind: &Type) -> Value {
    match kind {
        Type::String => json!({ "type": "string" }),
        Type::Key => json!({ "type": "string", "minLength": 1, "pattern": without(&design.delimiters) }),
        Type::Slug => json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]+$" }),
        Type::Number => json!({ "type": "number" }),
        Type::Integer | Type::Version => json!({ "type": "integer" }),
        Type::Epoch => json!({ "type": "integer", "description": "Seconds since 1970." }),
        Type::Ttl => {
            json!({ "type": "integer", "description": "Seconds since 1970 after which the item may be removed." })
        }
        Type::Boolean => json!({ "type": "boolean" }),
        Type::Binary => json!({ "type": "string", "contentEncoding": "base64", "pattern": BASE64 }),
        Type::Any => json!({}),
        Type::Ulid => json!({ "type": "string", "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$" }),
        Type::Ksuid => json!({ "type": "string", "pattern": "^[0-9A-Za-z]{27}$" }),
        Type::Uuid => json!({ "type": "string", "format": "uuid" }),
        Type::Time36 => json!({ "type": "string", "pattern": "^[0-9a-z]{20}$" }),
        Type::Timestamp(Precision::Seconds, _) => {
            json!({ "type": "string", "pattern": format!("^{TIME}Z$"), "examples": ["2024-01-15T10:30:00Z"] })
        }
        Type::Timestamp(Precision::Milliseconds, _) => {
            json!({ "type": "string", "pattern": format!("^{TIME}\\.[0-9]{{3}}Z$"), "examples": ["2024-01-15T10:30:00.000Z"] })
        }
        Type::Timestamp(Precision::Varying, _) => json!({ "type": "string", "minLength": 1 }),
        Type::Date => json!({ "type": "string", "format": "date" }),
        Type::OneOf(values) => {
            json!({ "enum": values.iter().map(|value| json_of(&value.value)).collect::<Vec<_>>() })
        }
        Type::Map(map) => of_map(design, map),
        Type::List(element) => json!({ "type": "array", "items": of_type(design, element) }),
        Type::StringSet => set(json!({ "type": "string" })),
        Type::NumberSet => set(json!({ "type": "number" })),
        Type::BinarySet => set(json!({ "type": "string", "contentEncoding": "base64", "pattern": BASE64 })),
    }
}

/// A day and a time of it, to the second.
const TIME: &str =
    "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]";
const BASE64: &str = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";

fn set(items: Value) -> Value {
    json!({ "type": "array", "items": items, "uniqueItems": true, "minItems": 1 })
}

/// A pattern for texts with none of these characters.
fn without(delimiters: &str) -> String {
    let mut excluded = String::new();
    for character in delimiters.chars() {
        if matches!(character, '\\' | ']' | '[' | '^' | '-') {
            excluded.push('\\');
        }
        excluded.push(character);
    }
    if excluded.is_empty() { "^[\\s\\S]+$".to_owned() } else { format!("^[^{excluded}]+$") }
}

fn of_map(design: &CheckedDesign, map: &MapType) -> Value {
    let properties = map
        .members
        .iter()
        .map(|member| (member.name.value.clone(), nullable(of_attribute(design, member), member.optional)));
    let required = map.members.iter().filter(|member| is_required(member));
    let required = required.map(|member| member.name.value.as_str()).collect::<Vec<_>>();
    let others = map.others.as_ref().map_or(json!(false), |others| of_type(design, others));
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "required": required,
        "additionalProperties": others,
    })
}

/// The same schema, or null: a member that may be absent is absent when it is null.
fn nullable(schema: Value, optional: bool) -> Value {
    if optional { json!({ "anyOf": [schema, { "type": "null" }] }) } else { schema }
}

/// The schema of an attribute: its type, with its own limits and words.
fn of_attribute(design: &CheckedDesign, attribute: &Attribute) -> Value {
    let mut schema = of_type(design, &attribute.kind);
    let Some(members) = schema.as_object_mut() else { return schema };
    if !attribute.about.is_empty() {
        members.insert("description".to_owned(), attribute.about.clone().into());
    }
    let is_text = members.get("type").is_some_and(|kind| kind == "string");
    if let (Some(most), true) = (attribute.max_bytes, is_text) {
        members.insert("maxLength".to_owned(), most.into());
    }
    if let Some(most) = attribute.max_items {
        members.insert("maxItems".to_owned(), most.into());
    }
    schema
}

/// A part of a key as it stands in a path.
pub(crate) fn in_path(design: &CheckedDesign, kind: &Type) -> Value {
    match of_type(design, kind) {
        Value::Object(mut members) if members.get("type").is_some_and(|kind| kind == "string") => {
            members.insert("minLength".to_owned(), 1.into());
            Value::Object(members)
        }
        schema => schema,
    }
}

/// An item as it is answered; whole, or with some of its attributes only.
pub(crate) fn answered(design: &CheckedDesign, entity: &Entity, is_whole: bool) -> Value {
    let mut properties = Map::new();
    let mut required = vec![json!(ENTITY_MEMBER)];
    properties.insert(ENTITY_MEMBER.to_owned(), json!({ "const": entity.name.value }));
    for (name, value) in &entity.constants {
        properties.insert(name.value.clone(), json!({ "const": json_of(value) }));
    }
    for attribute in entity.attributes.iter().filter(|attribute| !attribute.secret) {
        let name = &attribute.name.value;
        properties.insert(name.clone(), of_answered(design, &attribute.kind, attribute));
        let is_counted =
            entity.counters.iter().any(|counter| counter.attribute.value.split('.').next() == Some(name));
        if is_whole && !attribute.optional && !is_counted && attribute.from.is_none() {
            required.push(json!(name));
        }
    }
    json!({ "type": "object", "description": entity.about, "properties": properties, "required": required })
}

/// What is stored may be older than the design: only the kind of JSON is promised, not every rule for new values.
fn of_answered(design: &CheckedDesign, kind: &Type, attribute: &Attribute) -> Value {
    let mut schema = match of_type(design, kind) {
        Value::Object(members) => match members.get("type") {
            Some(found) => json!({ "type": found }),
            None => Value::Object(members),
        },
        other => other,
    };
    if let (Type::Timestamp(precision, _), Some(members)) = (kind, schema.as_object_mut())
        && *precision != Precision::Varying
    {
        members.insert("format".to_owned(), "date-time".into());
    }
    if let (false, Some(members)) = (attribute.about.is_empty(), schema.as_object_mut()) {
        members.insert("description".to_owned(), attribute.about.clone().into());
    }
    schema
}

/// What is sent to make an item.
pub(crate) fn created(design: &CheckedDesign, entity: &Entity) -> Value {
    let given = entity.attributes.iter().filter(|attribute| is_given(entity, attribute));
    let mut schema = inputs(design, given);
    describe_identity(&mut schema, entity);
    schema
}

fn describe_identity(schema: &mut Value, entity: &Entity) {
    let names = identity(entity).join(", ");
    if let (false, Some(members)) = (names.is_empty(), schema.as_object_mut()) {
        members.insert("description".to_owned(), format!("Items are told apart by {names}.").into());
    }
}

/// What is sent to change an item: any attributes that do not follow from others.
pub(crate) fn changed(design: &CheckedDesign, entity: &Entity) -> Value {
    let identity = identity(entity);
    let mut properties = Map::new();
    for attribute in entity.attributes.iter().filter(|attribute| is_given(entity, attribute)) {
        let name = attribute.name.value.as_str();
        let is_set_by_itself =
            matches!(attribute.kind, Type::Timestamp(_, TimeRole::Created | TimeRole::Updated));
        let holds_counter =
            entity.counters.iter().any(|counter| counter.attribute.value.split('.').next() == Some(name));
        if !identity.contains(&name) && !is_set_by_itself && !holds_counter {
            properties.insert(name.to_owned(), nullable(of_attribute(design, attribute), attribute.optional));
        }
    }
    json!({ "type": "object", "properties": properties, "minProperties": 1, "additionalProperties": false })
}

/// An object of these attributes, each there unless it can be made or left out.
pub(crate) fn inputs<'a>(design: &CheckedDesign, attributes: impl Iterator<Item = &'a Attribute>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for attribute in attributes {
        let name = attribute.name.value.clone();
        let is_required = is_required(attribute);
        properties.insert(name.clone(), nullable(of_attribute(design, attribute), !is_required));
        if is_required {
            required.push(name);
        }
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Whether a caller must give it.
pub(crate) fn is_required(attribute: &Attribute) -> bool {
    let is_made_of_defaults = matches!(&attribute.kind, Type::Map(map) if !map.members.iter().any(is_required) && map.others.is_none());
    !attribute.optional
        && !is_made_of_defaults
        && attribute.default.is_none()
        && attribute.after.is_empty()
        && !attribute.kind.is_generated()
}
