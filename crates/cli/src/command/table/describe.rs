//! A table as text.

use std::fmt::Write;

use dynamo::operation::{AttributeDefinition, KeySchemaElement, TableDescription, TableStatus};

/// A table for people to read.
pub(super) fn text(table: &TableDescription) -> String {
    let mut text = String::new();
    let empty = Vec::new();
    let types = table.attribute_definitions.as_ref().unwrap_or(&empty);
    let mut row = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<10} {value}");
    };
    row("table", table.table_name.clone().unwrap_or_default());
    row("status", table.table_status.map_or("", TableStatus::name).to_owned());
    row("keys", keys(table.key_schema.as_ref(), types));
    row("items", table.item_count.unwrap_or(0).to_string());
    row("bytes", table.table_size_bytes.unwrap_or(0).to_string());
    for index in table.global_secondary_indexes.iter().flatten() {
        let name = index.index_name.as_deref().unwrap_or("");
        row("index", format!("{name}: {}", keys(index.key_schema.as_ref(), types)));
    }
    for index in table.local_secondary_indexes.iter().flatten() {
        let name = index.index_name.as_deref().unwrap_or("");
        row("local", format!("{name}: {}", keys(index.key_schema.as_ref(), types)));
    }
    if let Some(stream) = &table.latest_stream_arn {
        row("stream", stream.clone());
    }
    row("arn", table.table_arn.clone().unwrap_or_default());
    text
}

fn keys(schema: Option<&Vec<KeySchemaElement>>, types: &[AttributeDefinition]) -> String {
    let key = |element: &KeySchemaElement| {
        let name = element.attribute_name.as_deref().unwrap_or("");
        let definition = types.iter().find(|known| known.attribute_name.as_deref() == Some(name));
        let kind = definition.and_then(|known| known.attribute_type.as_ref()?.known());
        match kind {
            Some(kind) => format!("{name}:{}", kind.name()),
            None => name.to_owned(),
        }
    };
    schema.iter().flat_map(|elements| elements.iter()).map(key).collect::<Vec<_>>().join(", ")
}
