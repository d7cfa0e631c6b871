//! A design as OpenAPI 3.1: what `rest` serves, so that clients can be generated and requests checked.
//!
//! Always true: every route of `rest` is here, with every answer it gives; what a schema of a request refuses, the service refuses.

mod example;
mod schema;

use design::{Attribute, CheckedDesign, Entity, Operation, Parameter, Pattern, PatternKind, Projection};
use serde_json::{Map, Value, json};

pub(crate) use example::{create_body, operation_body, parameter_text};

use crate::rest::{ENTITY_MEMBER, identity, is_writable};
use crate::service::Service;

/// The document of a design.
pub(crate) fn document(service: &Service) -> Value {
    let design = service.design();
    let mut paths = Map::new();
    for entity in &design.entities {
        add_entity(&mut paths, design, entity);
    }
    for pattern in &design.patterns {
        let path = format!("/v1/{}/patterns/{}", design.name, pattern.name.value);
        paths.insert(path, json!({ "get": of_pattern(service, pattern) }));
    }
    for operation in &design.operations {
        let path = format!("/v1/{}/operations/{}", design.name, operation.name.value);
        paths.insert(path, json!({ "post": of_operation(design, operation) }));
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": design.name, "description": design.about, "version": "1" },
        "servers": [{ "url": "/" }],
        "tags": [
            { "name": "entities", "description": "What is kept." },
            { "name": "patterns", "description": "What may be asked." },
            { "name": "operations", "description": "What may be done, each as one transaction." },
        ],
        "security": [{}, { "basic": [] }],
        "paths": paths,
        "components": components(design),
    })
}

/// The parts that several routes share.
fn components(design: &CheckedDesign) -> Value {
    let mut schemas = Map::new();
    for entity in &design.entities {
        let name = &entity.name.value;
        schemas.insert(name.clone(), schema::answered(design, entity, true));
        schemas.insert(format!("{name}.partial"), schema::answered(design, entity, false));
    }
    schemas.insert("Problem".to_owned(), problem_schema());
    json!({
        "schemas": schemas,
        "securitySchemes": { "basic": {
            "type": "http",
            "scheme": "basic",
            "description": "An access key as the user and its secret as the password, where the server has any. Signatures of version 4 are accepted as well.",
        } },
        "responses": { "Problem": {
            "description": "A problem (RFC 9457): what is wrong, every part of it by name.",
            "content": { "application/problem+json": { "schema": reference("schemas", "Problem") } },
        } },
        "parameters": {
            "IdempotencyKey": {
                "name": "Idempotency-Key", "in": "header", "required": false,
                "description": "Done once, however often it is sent: a repeat gets the outcome of the first.",
                "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" },
            },
            "IfMatch": {
                "name": "If-Match", "in": "header", "required": false,
                "description": "The ETag that the caller has seen; another version refuses the write with 412.",
                "schema": { "type": "string", "pattern": "^(\\*|\"[0-9]{1,18}\")$" },
            },
        },
        "headers": {
            "ETag": { "description": "The version of the item.", "schema": { "type": "string" } },
        },
    })
}

fn problem_schema() -> Value {
    let error = json!({
        "type": "object",
        "required": ["name", "message"],
        "properties": { "name": { "type": "string" }, "message": { "type": "string" } },
    });
    json!({
        "type": "object",
        "required": ["title", "status"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "errors": { "type": "array", "items": error },
        },
    })
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// The answers of a route: what it is for, and problems. Of those the ones that a caller should expect are named.
fn responses(status: &str, good: Value, problems: &[u16]) -> Value {
    let mut responses = Map::from_iter([(status.to_owned(), good)]);
    for problem in problems {
        responses.insert(problem.to_string(), reference("responses", "Problem"));
    }
    responses.insert("default".to_owned(), reference("responses", "Problem"));
    Value::Object(responses)
}

fn json_content(schema: &Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

/// The body of a request, with an example where the design has one.
fn request_body(schema: &Value, example: Option<Value>) -> Value {
    let mut content = json_content(schema);
    if let Some(example) = example
        && let Some(media) = content.get_mut("application/json").and_then(Value::as_object_mut)
    {
        media.insert("example".to_owned(), example);
    }
    json!({ "required": true, "content": content })
}

/// A parameter with an example, where the design has one.
fn with_example(mut parameter: Value, example: Option<Value>) -> Value {
    if let (Some(example), Some(members)) = (example, parameter.as_object_mut()) {
        members.insert("example".to_owned(), example);
    }
    parameter
}

fn add_entity(paths: &mut Map<String, Value>, design: &CheckedDesign, entity: &Entity) {
    let name = &entity.name.value;
    let base = format!("/v1/{}/entities/{name}", design.name);
    let identity = identity(entity);
    let mut item_path = base.clone();
    for part in &identity {
        item_path.extend(["/{", part, "}"]);
    }
    let mut item = of_item(design, entity);
    if is_writable(entity) {
        let post = of_create(design, entity);
        if identity.is_empty() {
            item.insert("post".to_owned(), post);
        } else {
            paths.insert(base, json!({ "post": post }));
        }
    }
    paths.insert(item_path, Value::Object(item));
}

fn of_create(design: &CheckedDesign, entity: &Entity) -> Value {
    let name = &entity.name.value;
    let good = json!({
        "description": "Made.",
        "headers": {
            "Location": { "description": "Where it is.", "schema": { "type": "string" } },
            "ETag": reference("headers", "ETag"),
        },
        "content": json_content(&reference("schemas", name)),
    });
    json!({
        "operationId": format!("create{name}"),
        "tags": ["entities"],
        "summary": format!("Makes a {name}"),
        "description": entity.about,
        "parameters": [reference("parameters", "IdempotencyKey")],
        "requestBody": request_body(&schema::created(design, entity), example::create_body(design, entity)),
        "responses": responses("201", good, &[400, 409, 413, 415, 422]),
    })
}

/// Reading, changing and deleting one item.
fn of_item(design: &CheckedDesign, entity: &Entity) -> Map<String, Value> {
    let name = &entity.name.value;
    let found = json!({
        "description": "The item.",
        "headers": { "ETag": reference("headers", "ETag") },
        "content": json_content(&reference("schemas", name)),
    });
    let key =
        identity(entity).into_iter().map(|part| key_parameter(design, entity, part)).collect::<Vec<_>>();
    let consistent = json!({
        "name": "consistent", "in": "query", "required": false,
        "description": "Whether every write acknowledged before must be seen.",
        "schema": { "type": "boolean", "default": false },
    });
    let mut get = json!({
        "operationId": format!("get{name}"),
        "tags": ["entities"],
        "summary": format!("Reads a {name}"),
        "description": entity.about,
        "parameters": [consistent],
        "responses": responses("200", found.clone(), &[400, 404]),
    });
    if let Some(answers) = get.get_mut("responses").and_then(Value::as_object_mut) {
        answers.insert(
            "304".to_owned(),
            json!({ "description": "The ETag in If-None-Match is that of the item." }),
        );
    }
    let mut item = Map::from_iter([("parameters".to_owned(), Value::Array(key)), ("get".to_owned(), get)]);
    if is_writable(entity) {
        let mut headers = vec![reference("parameters", "IdempotencyKey")];
        if entity.attributes.iter().any(|attribute| attribute.kind == design::Type::Version) {
            headers.push(reference("parameters", "IfMatch"));
        }
        let patch = json!({
            "operationId": format!("update{name}"),
            "tags": ["entities"],
            "summary": format!("Changes a {name}"),
            "description": "The attributes given replace those of the item; null takes one away; the others stay.",
            "parameters": headers,
            "requestBody": request_body(&schema::changed(design, entity), example::change_body(design, entity)),
            "responses": responses("200", found, &[400, 404, 409, 412, 413, 415, 422]),
        });
        let delete = json!({
            "operationId": format!("delete{name}"),
            "tags": ["entities"],
            "summary": format!("Deletes a {name}"),
            "parameters": headers,
            "responses": responses("204", json!({ "description": "Deleted." }), &[400, 404, 409, 412, 422]),
        });
        item.insert("patch".to_owned(), patch);
        item.insert("delete".to_owned(), delete);
    }
    item
}

fn key_parameter(design: &CheckedDesign, entity: &Entity, name: &str) -> Value {
    let about = entity.attribute(name).map_or("", |attribute| attribute.about.as_str());
    let parameter = json!({
        "name": name, "in": "path", "required": true,
        "description": about,
        "schema": schema::in_path(design, entity, name),
    });
    with_example(parameter, example::key_part(design, entity, name))
}

fn of_pattern(service: &Service, pattern: &Pattern) -> Value {
    let design = service.design();
    let name = &pattern.name.value;
    let mut parameters = design::parameters(design, name)
        .iter()
        .map(|parameter| {
            let example = example::parameter(design, name, &parameter.name);
            with_example(query_parameter(design, parameter), example)
        })
        .collect::<Vec<_>>();
    if let Some(limits) = service.limits(name).filter(|_| is_paged(pattern)) {
        let schema =
            json!({ "type": "integer", "minimum": 1, "maximum": limits.max, "default": limits.default });
        parameters.push(json!({
            "name": "limit", "in": "query", "required": false, "description": "Items in a page, at most.", "schema": schema,
        }));
        parameters.push(json!({
            "name": "cursor", "in": "query", "required": false,
            "description": "Where the page begins: the `cursor` of the page before.",
            "schema": { "type": "string", "minLength": 1 },
        }));
    }
    let good =
        json!({ "description": "The answer.", "content": json_content(&answer_schema(design, pattern)) });
    json!({
        "operationId": operation_id("ask", name),
        "tags": ["patterns"],
        "summary": first_sentence(&pattern.about, name),
        "description": pattern.about,
        "parameters": parameters,
        "responses": responses("200", good, &[400]),
    })
}

/// Whether an answer can have more than one page.
pub(crate) fn is_paged(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Query { .. } | PatternKind::Merge { .. })
}

fn query_parameter(design: &CheckedDesign, parameter: &Parameter) -> Value {
    let mut schema = schema::of_type(design, &parameter.kind);
    if let Some(shards) = parameter.shards {
        schema = json!({ "type": "integer", "minimum": 0, "maximum": shards.saturating_sub(1) });
    }
    let mut described = json!({
        "name": parameter.name, "in": "query", "required": !parameter.optional, "schema": schema,
    });
    if let (design::Type::List(_), Some(members)) = (&parameter.kind, described.as_object_mut()) {
        members.insert("style".to_owned(), "form".into());
        members.insert("explode".to_owned(), true.into());
    }
    described
}

fn answer_schema(design: &CheckedDesign, pattern: &Pattern) -> Value {
    let list = |name: &str| json!({ "type": "array", "items": items_schema(design, name) });
    if let PatternKind::Collect(parts) = &pattern.kind {
        let properties = parts.iter().map(|part| (part.name.value.clone(), list(&part.pattern.value)));
        let properties = properties.collect::<Map<_, _>>();
        return json!({
            "type": "object",
            "required": ["parts"],
            "properties": { "parts": { "type": "object", "properties": properties } },
        });
    }
    json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": list(&pattern.name.value),
            "cursor": { "type": "string", "description": "Where the next page begins; absent on the last." },
        },
    })
}

/// What can stand in the answer of a pattern.
fn items_schema(design: &CheckedDesign, name: &str) -> Value {
    let suffix = if answers_whole_items(design, name) { "" } else { ".partial" };
    let entities = design::answers(design, name);
    let mut choices =
        entities.iter().map(|entity| reference("schemas", &format!("{}{suffix}", entity.name.value)));
    match (choices.next(), choices.next()) {
        (Some(only), None) => only,
        (Some(first), Some(second)) => {
            let all = [first, second].into_iter().chain(choices).collect::<Vec<_>>();
            json!({ "oneOf": all, "discriminator": { "propertyName": ENTITY_MEMBER } })
        }
        _ => json!({ "type": "object" }),
    }
}

/// Whether the items that a pattern answers have all their attributes.
fn answers_whole_items(design: &CheckedDesign, name: &str) -> bool {
    let Some(pattern) = design.pattern(name) else { return false };
    let whole = match &pattern.kind {
        PatternKind::Get { .. } => true,
        PatternKind::Query { index: None, .. } => true,
        PatternKind::Query { index: Some(index), .. } => {
            design.index(&index.value).is_some_and(|index| matches!(index.projection, Projection::All))
        }
        PatternKind::Merge { patterns, .. } => {
            patterns.iter().all(|inner| inner.value != name && answers_whole_items(design, &inner.value))
        }
        PatternKind::Collect(_) => false,
    };
    whole && pattern.select.is_empty()
}

fn of_operation(design: &CheckedDesign, operation: &Operation) -> Value {
    let name = &operation.name.value;
    let items = json!({
        "type": "object",
        "required": ["items"],
        "properties": { "items": {
            "type": "array",
            "description": "What was made and changed, as it is now.",
            "items": { "type": "object", "required": [ENTITY_MEMBER], "properties": { ENTITY_MEMBER: { "type": "string" } } },
        } },
    });
    let good = json!({ "description": "Done.", "content": json_content(&items) });
    json!({
        "operationId": operation_id("do", name),
        "tags": ["operations"],
        "summary": first_sentence(&operation.about, name),
        "description": operation.about,
        "parameters": [reference("parameters", "IdempotencyKey")],
        "requestBody": request_body(&schema::inputs(design, operation), example::operation_body(design, operation)),
        "responses": responses("200", good, &[400, 404, 409, 413, 415, 422]),
    })
}

/// `upcoming-reminders` as a program names it: `askUpcomingReminders`. A pattern, an operation and what is done with an entity may have the
/// same name in a design, so each begins with what it is.
fn operation_id(verb: &str, name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = verb.to_owned();
    for word in words {
        let mut letters = word.chars();
        id.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        id.push_str(letters.as_str());
    }
    id
}

fn first_sentence(about: &str, name: &str) -> String {
    if about.is_empty() {
        name.to_owned()
    } else {
        about.split_inclusive(". ").next().unwrap_or(about).trim().to_owned()
    }
}

/// Whether a caller may give an attribute when an item is made.
pub(crate) fn is_given(entity: &Entity, attribute: &Attribute) -> bool {
    attribute.from.is_none()
        && attribute.kind != design::Type::Version
        && !entity.counters.iter().any(|counter| counter.attribute.value == attribute.name.value)
}
