//! The JSON Schema of design files, so that editors complete and check them.
//!
//! Always true: the words of types, actions, events and targets come from the model, and a test reads every key of every design we have against the
//! schema; a key that the reader knows and the schema does not is found there.

use serde_json::{Map, Value, json};

use crate::model::{Action, StreamView, Target, Type};

/// The schema, as a JSON text.
pub fn json_schema() -> String {
    format!("{:#}\n", schema())
}

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Monotable design",
        "description": "A single-table design: tables, entities, patterns, operations, reactions, seed data and examples.",
        "type": "object",
        "required": ["design"],
        "additionalProperties": false,
        "properties": {
            "design": described("Its name.", text()),
            "about": described("What it is about.", text()),
            "variables": described("Variables and their defaults, such as the stage in a table's name.", by_name(text())),
            "runs-on": described("Where it is to run.", list(words(&Target::ALL.map(Target::name)))),
            "table": described("Tables.", by_name(table())),
            "index": described("Indexes.", by_name(index())),
            "entity": described("Kinds of items.", by_name(entity())),
            "pattern": described("What may be asked.", by_name(pattern())),
            "operation": described("What may be done: transactions.", by_name(operation())),
            "reaction": described("What happens by itself.", by_name(reaction())),
            "seed": described("Items to start from, by entity.", by_name(list(json!({ "type": "object" })))),
            "example": described("What must hold.", by_name(example())),
        },
        "$defs": { "type": type_schema(), "attribute": attribute() },
    })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 1 })
}

fn list(element: Value) -> Value {
    let mut schema = json!({ "type": "array" });
    insert(&mut schema, "items", element);
    schema
}

fn words(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn by_name(value: Value) -> Value {
    let mut schema = json!({ "type": "object" });
    insert(&mut schema, "additionalProperties", value);
    schema
}

fn described(description: &str, mut schema: Value) -> Value {
    insert(&mut schema, "description", json!(description));
    schema
}

fn insert(schema: &mut Value, key: &str, value: Value) {
    if let Some(object) = schema.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

/// An object with these keys and `about` and `allow`, which every element has.
fn object(required: &[&str], keys: Vec<(&str, Value)>) -> Value {
    let mut properties = Map::new();
    properties.insert("about".to_owned(), described("What it is for.", text()));
    properties.insert(
        "allow".to_owned(),
        described("Warnings that are accepted here, each with the reason.", by_name(text())),
    );
    properties.extend(keys.into_iter().map(|(key, schema)| (key.to_owned(), schema)));
    json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
}

fn key_attribute() -> Value {
    let names = crate::read::KEY_TYPES.map(|(name, _)| name);
    let long = json!({ "type": "object", "required": ["name"], "additionalProperties": false, "properties": { "name": text(), "type": words(&names) } });
    json!({ "anyOf": [text(), long] })
}

fn table() -> Value {
    object(
        &["partition-key"],
        vec![
            ("name", described("Its name in DynamoDB; slots are variables.", text())),
            ("partition-key", key_attribute()),
            ("sort-key", key_attribute()),
            ("stream", words(&StreamView::ALL.map(|(name, _)| name))),
            ("point-in-time-recovery", flag()),
            (
                "provisioned",
                json!({ "type": "object", "properties": { "read": count(), "write": count() }, "additionalProperties": false }),
            ),
            ("encryption-key", text()),
        ],
    )
}

fn index() -> Value {
    let keys = json!({ "anyOf": [key_attribute(), list(key_attribute())] });
    object(
        &[],
        vec![
            ("table", text()),
            ("local", flag()),
            ("partition-key", keys.clone()),
            ("sort-key", keys),
            ("projection", json!({ "anyOf": [words(&["all", "keys-only"]), list(text())] })),
        ],
    )
}

fn type_schema() -> Value {
    let scalar = json!({ "type": ["string", "number", "boolean"] });
    let plain = Type::NAMES
        .iter()
        .flat_map(|name| [(*name).to_owned(), format!("{name}?"), format!("{name}[]"), format!("{name}[]?")]);
    let reference = json!({ "type": "string", "pattern": "^[^.]+\\.[^?]+\\??$", "description": "the attribute whose type it has: Entity.attribute" });
    json!({ "anyOf": [
        { "enum": plain.collect::<Vec<_>>() },
        reference,
        described("one of these values", list(scalar)),
        described("a list of maps", json!({ "type": "array", "minItems": 1, "maxItems": 1, "items": { "type": "object" } })),
        described("a map, by member; `*` is any other member", by_name(json!({ "$ref": "#/$defs/attribute" }))),
    ] })
}

fn attribute() -> Value {
    let long = object(
        &["type"],
        vec![
            ("type", json!({ "$ref": "#/$defs/type" })),
            ("optional", flag()),
            ("default", json!({})),
            ("from", described("Denormalised: User.displayName", text())),
            ("by", by_name(text())),
            ("refresh", flag()),
            ("stored", flag()),
            ("secret", flag()),
            ("max-bytes", count()),
            ("max-items", count()),
            ("after", list(text())),
        ],
    );
    json!({ "anyOf": [{ "$ref": "#/$defs/type" }, long] })
}

fn attributes() -> Value {
    by_name(json!({ "$ref": "#/$defs/attribute" }))
}

fn key() -> Value {
    let choice = json!({ "type": "object", "required": ["is"], "additionalProperties": false, "properties": { "when": text(), "is": text() } });
    let template = json!({ "anyOf": [text(), list(choice)] });
    json!({ "type": "object", "properties": { "when": text(), "allow": by_name(text()) }, "additionalProperties": template })
}

fn entity() -> Value {
    let tally = object(
        &[],
        vec![
            ("count", text()),
            ("sum", text()),
            ("when", text()),
            ("by", by_name(text())),
            ("eventual", flag()),
        ],
    );
    let counters = by_name(json!({ "anyOf": [tally, list(tally.clone())] }));
    let mut schema = object(
        &[],
        vec![
            ("table", text()),
            ("key", described("The key in the table: templates by attribute.", key())),
            ("attributes", json!({ "anyOf": [attributes(), list(text())] })),
            ("constants", by_name(json!({ "type": ["string", "number", "boolean"] }))),
            ("counters", described("Counts and sums of other entities.", counters)),
            ("copy-of", text()),
            ("when", text()),
            ("unique", flag()),
            ("shares-key-with", list(text())),
        ],
    );
    // The key in an index stands under the name of the index.
    insert(&mut schema, "additionalProperties", key());
    schema
}

fn pattern() -> Value {
    let apply = json!({ "type": "object", "required": ["entity", "to", "on"], "additionalProperties": false, "properties": { "entity": text(), "to": text(), "on": text(), "take": list(text()) } });
    let part = json!({ "type": "object", "required": ["as", "pattern"], "additionalProperties": false, "properties": { "as": text(), "pattern": text(), "with": { "type": "object" }, "limit": count() } });
    object(
        &[],
        vec![
            ("table", text()),
            ("index", text()),
            (
                "where",
                described(
                    "The key condition, in DynamoDB's words; texts may have slots, which are parameters.",
                    text(),
                ),
            ),
            ("get", described("An entity, by its key.", text())),
            ("batch", count()),
            ("merge", list(text())),
            ("by", text()),
            ("apply", apply),
            ("collect", list(part)),
            ("filter", text()),
            ("order", words(&["ascending", "descending"])),
            ("limit", count()),
            ("max-limit", count()),
            ("consistent", flag()),
            ("select", list(text())),
            ("returns", list(text())),
            ("input", attributes()),
        ],
    )
}

fn step() -> Value {
    let values = || json!({ "type": "object" });
    let actions = Action::ALL.map(|(name, _)| (name, text()));
    let mut keys = actions.to_vec();
    keys.extend([
        ("as", text()),
        ("when", text()),
        ("each", by_name(text())),
        ("distinct", text()),
        ("key", values()),
        ("if", text()),
        ("otherwise", text()),
        ("with", values()),
        ("set", values()),
        ("add", values()),
        ("append", values()),
        ("remove", list(text())),
        (
            "expression",
            described("An update expression that is sent as it is written; :name is an input.", text()),
        ),
    ]);
    object(&[], keys)
}

fn operation() -> Value {
    object(&["step"], vec![("input", attributes()), ("chunks", flag()), ("step", list(step()))])
}

fn reaction() -> Value {
    object(&["on"], vec![("on", text()), ("hook", text()), ("step", list(step()))])
}

fn example() -> Value {
    let items = || list(json!({ "type": "object" }));
    object(
        &[],
        vec![
            ("given", items()),
            ("pattern", text()),
            ("operation", text()),
            ("create", text()),
            ("update", text()),
            ("delete", text()),
            ("with", json!({ "type": "object" })),
            ("now", text()),
            ("answer", json!({ "anyOf": [items(), by_name(items())] })),
            ("fails", text()),
            ("then", items()),
            ("gone", items()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rules;
    use crate::source::tree::{Entry, Node, parse};

    /// The keys of a design that the schema does not know, looking only at `properties` and `additionalProperties`.
    fn unknown(entries: &[Entry], schema: &Value, root: &Value, path: &str, found: &mut Vec<String>) {
        for entry in entries {
            let path = format!("{path}.{}", entry.key.value);
            let inner = schema["properties"]
                .get(&entry.key.value)
                .or_else(|| schema.get("additionalProperties").filter(|more| more.is_object()));
            let Some(inner) = inner else {
                found.push(path);
                continue;
            };
            match &entry.value.value {
                Node::Table(entries) => unknown_in(entries, inner, root, &path, found),
                Node::List(list) => {
                    for element in list {
                        if let (Node::Table(entries), Some(items)) = (&element.value, inner.get("items")) {
                            unknown_in(entries, items, root, &path, found);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn unknown_in(entries: &[Entry], schema: &Value, root: &Value, path: &str, found: &mut Vec<String>) {
        let schema = match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => &root["$defs"][reference.rsplit('/').next().unwrap()],
            None => schema,
        };
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            let best = choices.iter().map(|choice| {
                let mut own = Vec::new();
                unknown_in(entries, choice, root, path, &mut own);
                own
            });
            found.extend(best.min_by_key(Vec::len).unwrap_or_default());
        } else if schema.get("type") == Some(&json!("object")) {
            if schema.get("properties").is_some() || schema.get("additionalProperties").is_some() {
                unknown(entries, schema, root, path, found);
            }
        } else if schema.get("enum").is_some() || schema.get("type").is_some() {
            found.push(path.to_owned());
        }
    }

    #[test]
    fn the_schema_knows_every_key_that_the_reader_knows() {
        let schema = schema();
        let mut designs = rules()
            .filter(|rule| rule.code != "D001" && rule.code != "D002")
            .map(|rule| rule.wrong.to_owned())
            .collect::<Vec<_>>();
        designs.extend(rules().map(|rule| rule.right.to_owned()));
        for name in ["kefir", "stak-inbox", "story-hub", "story-nodes", "wavy-blog"] {
            let path = format!("{}/../../designs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            designs.push(std::fs::read_to_string(path).unwrap());
        }
        for design in designs {
            let mut found = Vec::new();
            unknown(&parse(&design).unwrap(), &schema, &schema, "", &mut found);
            assert!(found.is_empty(), "{found:?} in\n{design}");
        }
    }
}
