//! Types of a design as JSON Schema.

use design::{Attribute, CheckedDesign, Entity, MapType, Operation, Piece, Precision, TimeRole, Type};
use serde_json::{Map, Value, json};

use super::is_given;
use crate::rest::{ENTITY_MEMBER, identity, json_of};

/// The schema of a type's values.
pub(crate) fn of_type(design: &CheckedDesign, kind: &Type) -> Value {
    match kind {
        Type::String => json!({ "type": "string" }),
        Type::Key => json!({ "type": "string", "minLength": 1, "pattern": without(&design.delimiters) }),
        Type::Slug => json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]+$" }),
        Type::Number => number("number", "At most 38 digits."),
        Type::Integer | Type::Version => number("integer", "At most 38 digits."),
        Type::Epoch => number("integer", "Seconds since 1970."),
        Type::Ttl => number("integer", "Seconds since 1970 after which the item may be removed."),
        Type::Boolean => json!({ "type": "boolean" }),
        Type::Binary => json!({ "type": "string", "contentEncoding": "base64", "pattern": BASE64 }),
        Type::Any => json!({}),
        Type::Ulid => json!({ "type": "string", "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$" }),
        Type::Ksuid => json!({ "type": "string", "pattern": "^[0-9A-Za-z]{27}$" }),
        Type::Uuid => json!({ "type": "string", "format": "uuid", "pattern": UUID }),
        Type::Time36 => json!({ "type": "string", "pattern": "^[0-9a-z]{20}$" }),
        Type::Timestamp(Precision::Seconds, _) => {
            json!({ "type": "string", "pattern": format!("^{DATE}T{TIME}Z$"), "examples": ["2024-01-15T10:30:00Z"] })
        }
        Type::Timestamp(Precision::Milliseconds, _) => {
            json!({ "type": "string", "pattern": format!("^{DATE}T{TIME}\\.[0-9]{{3}}Z$"), "examples": ["2024-01-15T10:30:00.000Z"] })
        }
        Type::Timestamp(Precision::Varying, _) => json!({ "type": "string", "minLength": 1 }),
        Type::Date => json!({ "type": "string", "format": "date", "pattern": format!("^{DATE}$") }),
        Type::OneOf(values) => {
            json!({ "enum": values.iter().map(|value| json_of(&value.value)).collect::<Vec<_>>() })
        }
        Type::Map(map) => of_map(design, map),
        Type::List(element) => json!({ "type": "array", "items": of_type(design, element) }),
        Type::StringSet => set(json!({ "type": "string" })),
        Type::NumberSet => set(number("number", "At most 38 digits.")),
        Type::BinarySet => set(json!({ "type": "string", "contentEncoding": "base64", "pattern": BASE64 })),
    }
}

/// A day that there is: 29 February in leap years only.
const DATE: &str = "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|\
                    02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
/// A time of the day, to the second.
const TIME: &str = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]";
const UUID: &str = "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$";
const BASE64: &str = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";

/// A number as DynamoDB takes it. How many digits it has no schema can say.
fn number(kind: &str, about: &str) -> Value {
    json!({ "type": kind, "exclusiveMinimum": -1e126, "exclusiveMaximum": 1e126, "description": about })
}

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

/// An attribute of an entity: where it stands in a key, as a key takes it.
fn of_member(design: &CheckedDesign, entity: &Entity, attribute: &Attribute) -> Value {
    let mut schema = of_attribute(design, attribute);
    as_key(design, entity, &attribute.name.value, &mut schema);
    schema
}

/// A part of a key as it stands in a path.
pub(crate) fn in_path(design: &CheckedDesign, entity: &Entity, name: &str) -> Value {
    let mut schema = of_type(design, &entity.type_at(name).unwrap_or(Type::Key));
    as_key(design, entity, name, &mut schema);
    schema
}

/// DynamoDB's limits for a partition key and for a sort key.
const KEY_BYTES_MAX: [usize; 2] = [2048, 1024];

/// Adds what the keys demand that an attribute stands in: it is a text without delimiters, and not too long. A key has bytes and a schema
/// characters, so a text with others than ASCII may still be too long.
fn as_key(design: &CheckedDesign, entity: &Entity, name: &str, schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    if members.get("type").is_none_or(|kind| kind != "string") {
        return;
    }
    let mut room = None;
    for key in entity.keys() {
        // The first attribute of a key is its partition.
        for (place, part) in key.parts.iter().enumerate() {
            let most = KEY_BYTES_MAX.get(place).copied().unwrap_or(1024);
            for choice in &part.choices {
                let template = &choice.template.value;
                if template.slots().any(|slot| slot.path == name) {
                    let literals = template.pieces.iter().map(|piece| match piece {
                        Piece::Literal(text) => text.len(),
                        Piece::Slot(_) => 0,
                    });
                    let left = most.saturating_sub(literals.sum());
                    room = Some(room.map_or(left, |room: usize| room.min(left)));
                }
            }
        }
    }
    let Some(room) = room else { return };
    let longest =
        members.get("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    members.insert("maxLength".to_owned(), longest.map_or(room, |longest| longest.min(room)).into());
    members.insert("minLength".to_owned(), 1.into());
    if !members.contains_key("pattern") {
        members.insert("pattern".to_owned(), without(&design.delimiters).into());
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
    let mut schema = kind_of_json(of_type(design, kind));
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

/// What of a schema says which kind of JSON a value is. What is in a list is part of it: nobody can make a type of a list of nothing.
fn kind_of_json(schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    if members.contains_key("type") {
        members.retain(|name, _| matches!(name.as_str(), "type" | "items"));
        if let Some(items) = members.remove("items") {
            members.insert("items".to_owned(), kind_of_json(items));
        }
    }
    Value::Object(members)
}

/// What is sent to make an item.
pub(crate) fn created(design: &CheckedDesign, entity: &Entity) -> Value {
    let given = entity.attributes.iter().filter(|attribute| is_given(entity, attribute));
    let given = given.map(|attribute| {
        (attribute.name.value.clone(), of_member(design, entity, attribute), is_required(attribute))
    });
    let mut schema = object(given);
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
            properties
                .insert(name.to_owned(), nullable(of_member(design, entity, attribute), attribute.optional));
        }
    }
    json!({ "type": "object", "properties": properties, "minProperties": 1, "additionalProperties": false })
}

/// What is sent to carry out an operation. An input that is like an attribute is checked like it; left out may be what is marked so.
pub(crate) fn inputs(design: &CheckedDesign, operation: &Operation) -> Value {
    let inputs = operation.inputs.iter().map(|input| {
        let attribute = &input.attribute;
        let mut schema = of_attribute(design, attribute);
        let like = input.like.as_ref().and_then(|like| like.value.trim_end_matches('?').split_once('.'));
        if let Some((entity, name)) = like
            && let Some(entity) = design.entity(entity)
        {
            as_key(design, entity, name, &mut schema);
        }
        (attribute.name.value.clone(), schema, !attribute.optional)
    });
    object(inputs)
}

/// An object of these members: name, schema, and whether it must be there. What need not be there may be null.
fn object(members: impl Iterator<Item = (String, Value, bool)>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, schema, is_required) in members {
        properties.insert(name.clone(), nullable(schema, !is_required));
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
