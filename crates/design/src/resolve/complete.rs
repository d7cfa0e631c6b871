//! Fills in what follows from other elements.

use crate::check::{missing_key, undefined_name, wrong_value};
use crate::diagnostic::Finding;
use crate::model::{
    Attribute, Choice, Design, Entity, EntityKey, KeyAttribute, KeyPart, Operation, PatternKind, Type,
};
use crate::source::Placed;
use crate::template::{Piece, Template};

/// The characters that a template may have beside a slot without separating anything.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn complete(design: &mut Design) -> Vec<Finding> {
    let mut findings = Vec::new();
    local_indexes(design);
    counters(design);
    copies(design, &mut findings);
    let frame = design.clone();
    for entity in &mut design.entities {
        keys(&frame, entity, &mut findings);
    }
    pattern_tables(design);
    let frame = design.clone();
    for operation in &mut design.operations {
        inputs(&frame, operation, &mut findings);
    }
    design.delimiters = delimiters(design);
    findings
}

/// A local index has the partition key of its table.
fn local_indexes(design: &mut Design) {
    let tables = design.tables.clone();
    for index in design.indexes.iter_mut().filter(|index| index.local && index.partition_key.is_empty()) {
        let table = tables.iter().find(|table| table.name.value == index.table.value);
        index.partition_key.extend(table.map(|table| table.partition_key.clone()));
    }
}

/// A counter is an attribute, declared or not.
fn counters(design: &mut Design) {
    for entity in &mut design.entities {
        for counter in entity.counters.clone() {
            let name = &counter.attribute;
            if name.value.contains('.') || entity.attribute(&name.value).is_some() {
                continue;
            }
            let attribute = Attribute { optional: true, ..Attribute::plain(name.clone(), Type::Number) };
            entity.attributes.push(attribute);
        }
    }
}

/// A copy has the table of its source, the attributes that it carries, and those that its keys need.
fn copies(design: &mut Design, findings: &mut Vec<Finding>) {
    let frame = design.clone();
    for entity in &mut design.entities {
        let Some(copy) = entity.copy.clone() else { continue };
        let known = frame.entities.iter().filter(|entity| entity.copy.is_none());
        let Some(source) = known.clone().find(|source| source.name.value == copy.source.value) else {
            let names = known.map(|entity| entity.name.value.as_str()).collect::<Vec<_>>();
            findings.push(undefined_name::finding(&copy.source, "entity", "that can be copied", &names));
            continue;
        };
        if entity.table.is_empty() {
            entity.table.clone_from(&source.table);
        }
        let carried = |name: &str| match &copy.attributes {
            Some(list) => list.iter().any(|carried| carried.value == name),
            None => true,
        };
        for attribute in &source.attributes {
            let name = attribute.name.value.as_str();
            let in_key = entity
                .keys()
                .flat_map(crate::model::EntityKey::slots)
                .any(|slot| slot.path.split('.').next() == Some(name));
            if entity.constant(name).is_none() && (carried(name) || in_key) {
                let stored = attribute.stored && carried(name);
                entity.attributes.push(Attribute { stored, from: None, ..attribute.clone() });
            }
        }
        for (name, value) in &source.constants {
            if entity.constant(&name.value).is_none() && carried(&name.value) {
                entity.constants.push((name.clone(), value.clone()));
            }
        }
    }
}

/// Puts the parts of every key in the order of its table or index and adds the parts that are attributes already.
fn keys(design: &Design, entity: &mut Entity, findings: &mut Vec<Finding>) {
    let Some(table) = design.table(&entity.table) else { return };
    let wanted = table.key_attributes().cloned().collect::<Vec<_>>();
    let declared = std::mem::take(&mut entity.key.parts);
    entity.key.parts = complete_key(entity, &entity.key.clone(), &declared, &wanted, findings);
    let mut index_keys = Vec::new();
    for index in design.indexes.iter().filter(|index| index.table.value == entity.table) {
        let wanted = index.key_attributes().cloned().collect::<Vec<_>>();
        let declared = entity.index_keys.iter().find(|key| key.index.as_ref() == Some(&index.name.value));
        let key = match declared {
            Some(key) => key.clone(),
            None if wanted.iter().all(|key| real_part(entity, key).is_some()) => EntityKey {
                index: Some(index.name.value.clone()),
                when: None,
                parts: Vec::new(),
                implied: true,
                span: entity.name.span,
            },
            None => continue,
        };
        let parts = complete_key(entity, &key, &key.parts, &wanted, findings);
        index_keys.push(EntityKey { parts, ..key });
    }
    for key in &entity.index_keys {
        let known = design.indexes.iter().filter(|index| index.table.value == entity.table);
        if !known.clone().any(|index| key.index.as_ref() == Some(&index.name.value)) {
            let name = Placed::new(key.index.clone().unwrap_or_default(), key.span);
            let known = known.map(|index| index.name.value.as_str()).collect::<Vec<_>>();
            findings.push(undefined_name::finding(
                &name,
                "index",
                &format!("of table `{}`", entity.table),
                &known,
            ));
        }
    }
    entity.index_keys = index_keys;
}

fn complete_key(
    entity: &Entity,
    key: &EntityKey,
    declared: &[KeyPart],
    wanted: &[KeyAttribute],
    findings: &mut Vec<Finding>,
) -> Vec<KeyPart> {
    let place = key.index.as_deref().unwrap_or("key");
    for part in declared {
        if !wanted.iter().any(|key| key.name.value == part.attribute.value) {
            let known = wanted.iter().map(|key| key.name.value.as_str()).collect::<Vec<_>>();
            findings.push(undefined_name::finding(
                &part.attribute,
                "key attribute",
                &format!("of `{place}`"),
                &known,
            ));
        }
    }
    let mut parts = Vec::new();
    for attribute in wanted {
        let name = &attribute.name.value;
        match declared
            .iter()
            .find(|part| part.attribute.value == *name)
            .cloned()
            .or_else(|| real_part(entity, attribute))
        {
            Some(part) => parts.push(part),
            None => {
                let what = format!("`{place}` of entity `{}`", entity.name.value);
                findings.push(missing_key::finding(key.span, &what, name));
            }
        }
    }
    parts
}

/// A key attribute that the entity has anyway: an attribute, a constant, or a part of its key in the table.
fn real_part(entity: &Entity, key: &KeyAttribute) -> Option<KeyPart> {
    let name = key.name.value.as_str();
    let implied = |template: Template| KeyPart {
        attribute: Placed::new(name.to_owned(), entity.name.span),
        choices: vec![Choice { when: None, template: Placed::new(template, entity.name.span) }],
        implied: true,
    };
    if let Some(part) = entity.keys().filter_map(|key| key.part(name)).find(|part| !part.implied) {
        return Some(KeyPart { implied: true, ..part.clone() });
    }
    if entity.constant(name).is_some() || entity.attribute(name).is_some() {
        return Some(implied(Template::of_slot(name)));
    }
    None
}

/// A query on an index is in the table of the index.
fn pattern_tables(design: &mut Design) {
    let indexes = design.indexes.clone();
    for pattern in &mut design.patterns {
        if let PatternKind::Query { table, index: Some(name), .. } = &mut pattern.kind
            && let Some(index) = indexes.iter().find(|index| index.name.value == name.value)
        {
            table.value.clone_from(&index.table.value);
        }
    }
}

/// An input that is like an attribute has its type.
fn inputs(design: &Design, operation: &mut Operation, findings: &mut Vec<Finding>) {
    for input in &mut operation.inputs {
        let Some(like) = &input.like else { continue };
        let Some((entity_name, path)) = like.value.split_once('.') else { continue };
        let Some(entity) = design.entity(entity_name) else {
            let known = design.entities.iter().map(|entity| entity.name.value.as_str()).collect::<Vec<_>>();
            let name = Placed::new(entity_name.to_owned(), like.span);
            findings.push(undefined_name::finding(&name, "entity", "", &known));
            continue;
        };
        match entity.attribute(path) {
            Some(attribute) => {
                input.attribute.kind = attribute.kind.clone();
                input.attribute.max_bytes = attribute.max_bytes;
                input.attribute.max_items = attribute.max_items;
            }
            None => match entity.type_at(path) {
                Some(kind) => input.attribute.kind = kind,
                None => {
                    let known = super::names_in(entity);
                    let known = known.iter().map(String::as_str).collect::<Vec<_>>();
                    let name = Placed::new(path.to_owned(), like.span);
                    let of = format!("of entity `{entity_name}`");
                    findings.push(undefined_name::finding(&name, "attribute", &of, &known));
                }
            },
        }
        if input.attribute.kind == Type::Version {
            let message = "the number of a version is given with the request, not as an input";
            findings.push(wrong_value::plain(like.span, message));
        }
    }
}

/// The characters beside slots that are no letters or digits: they separate parts of keys.
fn delimiters(design: &Design) -> String {
    let mut found = std::collections::BTreeSet::new();
    let templates =
        design.entities.iter().flat_map(|entity| entity.keys().flat_map(crate::model::EntityKey::templates));
    for template in templates {
        let pieces = &template.value.pieces;
        for (index, piece) in pieces.iter().enumerate() {
            let Piece::Literal(text) = piece else { continue };
            let after_slot = index > 0;
            let before_slot = index + 1 < pieces.len();
            found.extend(text.chars().next().filter(|c| after_slot && !is_word(*c)));
            found.extend(text.chars().last().filter(|c| before_slot && !is_word(*c)));
            // `{tenant}U#{user}`: what separates is the first character that is not part of a word.
            found.extend(text.chars().find(|c| !is_word(*c)).filter(|_| after_slot));
        }
    }
    found.into_iter().collect()
}
