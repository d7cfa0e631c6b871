//! A design as a document: the one that a team would otherwise write by hand, in Markdown, with tables and a diagram.

use std::fmt::Write as _;

use crate::check::CheckedDesign;
use crate::model::{Attribute, Entity, EntityKey, PatternKind, Projection, Type};
use crate::plan::{answers, parameters};

/// The design as Markdown.
pub fn markdown(design: &CheckedDesign) -> String {
    let mut text = format!("# {}\n\n", design.name);
    if !design.about.is_empty() {
        let _ = writeln!(text, "{}\n", design.about);
    }
    tables(&mut text, design);
    diagram(&mut text, design);
    text.push_str("## Entities\n\n");
    for entity in &design.entities {
        entity_section(&mut text, entity);
    }
    patterns(&mut text, design);
    operations(&mut text, design);
    text
}

/// A text within a table of Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn tables(text: &mut String, design: &CheckedDesign) {
    text.push_str("## Tables and indexes\n\n| | partition key | sort key | carries | |\n| --- | --- | --- | --- | --- |\n");
    for table in &design.tables {
        let sort = table.sort_key.as_ref().map_or("", |key| key.name.value.as_str());
        let name = cell(&table.physical_name.value.to_string());
        let _ = writeln!(
            text,
            "| table `{name}` | `{}` | {} | | {} |",
            table.partition_key.name.value,
            code(sort),
            cell(&table.about)
        );
    }
    for index in &design.indexes {
        let names = |keys: &[crate::model::KeyAttribute]| {
            keys.iter().map(|key| code(&key.name.value)).collect::<Vec<_>>().join(", ")
        };
        let carries = match &index.projection {
            Projection::All => "everything".to_owned(),
            Projection::KeysOnly => "keys".to_owned(),
            Projection::Include(list) => {
                list.iter().map(|name| code(&name.value)).collect::<Vec<_>>().join(", ")
            }
        };
        let kind = if index.local { "local index" } else { "index" };
        let (partition, sort) = (names(&index.partition_key), names(&index.sort_key));
        let _ = writeln!(
            text,
            "| {kind} `{}` | {partition} | {sort} | {carries} | {} |",
            index.name.value,
            cell(&index.about)
        );
    }
    text.push('\n');
}

fn code(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("`{}`", cell(name)) }
}

/// Entities, what they are copied to, and what they are counted in.
fn diagram(text: &mut String, design: &CheckedDesign) {
    text.push_str("```mermaid\nerDiagram\n");
    for entity in &design.entities {
        let _ = writeln!(text, "  {} {{", entity.name.value);
        for key in entity.keys() {
            let place = key.index.as_deref().unwrap_or("key");
            for part in &key.parts {
                let template =
                    part.choices.first().map(|choice| choice.template.value.to_string()).unwrap_or_default();
                let _ = writeln!(
                    text,
                    "    {} {} \"{}\"",
                    word(place),
                    word(&part.attribute.value),
                    template.replace('"', "'")
                );
            }
        }
        text.push_str("  }\n");
    }
    for entity in &design.entities {
        if let Some(copy) = &entity.copy {
            let many = if copy.when.is_some() { "o|" } else { "||" };
            let what = if copy.unique { "unique" } else { "copy" };
            let _ = writeln!(text, "  {} ||--{many} {} : {what}", copy.source.value, entity.name.value);
        }
        for counter in &entity.counters {
            for tally in &counter.tallies {
                let _ = writeln!(
                    text,
                    "  {} ||--o{{ {} : \"{}\"",
                    entity.name.value, tally.entity.value, counter.attribute.value
                );
            }
        }
    }
    text.push_str("```\n\n");
}

/// A name with only what Mermaid takes.
fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

fn entity_section(text: &mut String, entity: &Entity) {
    let _ = writeln!(text, "### {}\n", entity.name.value);
    if !entity.about.is_empty() {
        let _ = writeln!(text, "{}\n", entity.about);
    }
    if let Some(copy) = &entity.copy {
        let when = copy.when.as_ref().map_or(String::new(), |when| format!(" when `{}`", when.text));
        let unique = if copy.unique { "; no two may have one key" } else { "" };
        let _ = writeln!(text, "A copy of {}{when}{unique}.\n", copy.source.value);
    }
    text.push_str("| key | |\n| --- | --- |\n");
    for key in entity.keys() {
        key_rows(text, key);
    }
    text.push_str("\n| attribute | type | |\n| --- | --- | --- |\n");
    for (name, value) in &entity.constants {
        let _ = writeln!(text, "| `{}` | {} | constant |", name.value, cell(&crate::model::shown(value)));
    }
    for attribute in entity.attributes.iter().filter(|attribute| attribute.stored) {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            attribute.name.value,
            cell(&attribute.kind.name()),
            cell(&remarks(entity, attribute))
        );
    }
    text.push('\n');
}

fn key_rows(text: &mut String, key: &EntityKey) {
    for part in &key.parts {
        for choice in &part.choices {
            let when = choice
                .when
                .as_ref()
                .or(key.when.as_ref())
                .map_or(String::new(), |when| format!("when `{}`", cell(&when.text)));
            let _ = writeln!(
                text,
                "| `{}` = `{}` | {when} |",
                part.attribute.value,
                cell(&choice.template.value.to_string())
            );
        }
    }
}

fn remarks(entity: &Entity, attribute: &Attribute) -> String {
    let mut remarks = Vec::new();
    if attribute.optional {
        remarks.push("may be absent".to_owned());
    }
    if let Some(from) = &attribute.from {
        remarks.push(format!("from `{}`", from.source.value));
    }
    if attribute.secret {
        remarks.push("never returned".to_owned());
    }
    let path = |counter: &crate::model::Counter| {
        counter.attribute.value.split('.').next() == Some(attribute.name.value.as_str())
    };
    for counter in entity.counters.iter().filter(|counter| path(counter)) {
        let counted =
            counter.tallies.iter().map(|tally| tally.entity.value.as_str()).collect::<Vec<_>>().join(", ");
        remarks.push(format!("`{}` counts {counted}", counter.attribute.value));
    }
    if attribute.kind == Type::Ttl {
        remarks.push("the item expires".to_owned());
    }
    if !attribute.about.is_empty() {
        remarks.push(attribute.about.clone());
    }
    remarks.join("; ")
}

fn patterns(text: &mut String, design: &CheckedDesign) {
    if design.patterns.is_empty() {
        return;
    }
    text.push_str(
        "## Access patterns\n\n| pattern | how | parameters | answers |\n| --- | --- | --- | --- |\n",
    );
    for pattern in &design.patterns {
        let how = match &pattern.kind {
            PatternKind::Get { entity, batch } => {
                let many =
                    batch.as_ref().map_or(String::new(), |batch| format!(", up to {} at once", batch.value));
                format!("get {}{many}", entity.value)
            }
            PatternKind::Query { index, condition, .. } => {
                let index = index.as_ref().map_or(String::new(), |index| format!("{}: ", index.value));
                let filter = pattern
                    .filter
                    .as_ref()
                    .map_or(String::new(), |filter| format!(", filter `{}`", filter.text));
                format!("{index}`{}`{filter}", condition.text)
            }
            PatternKind::Merge { patterns, by, .. } => {
                let names =
                    patterns.iter().map(|pattern| pattern.value.as_str()).collect::<Vec<_>>().join(" and ");
                format!("{names}, merged by `{}`", by.value)
            }
            PatternKind::Collect(parts) => {
                let names = parts.iter().map(|part| part.pattern.value.as_str()).collect::<Vec<_>>();
                format!("{} together", names.join(", "))
            }
        };
        let parameters = parameters(design, &pattern.name.value);
        let parameters =
            parameters.iter().map(|parameter| code(&parameter.name)).collect::<Vec<_>>().join(", ");
        let answers = answers(design, &pattern.name.value)
            .iter()
            .map(|entity| entity.name.value.clone())
            .collect::<Vec<_>>()
            .join(", ");
        let _ = writeln!(
            text,
            "| `{}` {} | {} | {parameters} | {answers} |",
            pattern.name.value,
            cell(&pattern.about),
            cell(&how)
        );
    }
    text.push('\n');
}

fn operations(text: &mut String, design: &CheckedDesign) {
    if design.operations.is_empty() {
        return;
    }
    text.push_str("## Operations\n\n| operation | steps |\n| --- | --- |\n");
    for operation in &design.operations {
        let steps = operation.steps.iter().map(|step| {
            let condition = step
                .condition
                .as_ref()
                .map_or(String::new(), |condition| format!(" if `{}`", condition.text));
            format!("{} {}{condition}", step.action.name(), step.entity.value)
        });
        let steps = steps.collect::<Vec<_>>().join("; ");
        let _ =
            writeln!(text, "| `{}` {} | {} |", operation.name.value, cell(&operation.about), cell(&steps));
    }
    text.push('\n');
}
