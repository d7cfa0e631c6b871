//! The parameters of a pattern with their types, and the entities that can be in its answer.

use crate::condition::{Condition, Operand};
use crate::model::{Design, Entity, PatternKind, Type};
use crate::query::Query;
use crate::resolve::slots_of;
use crate::template::Format;

/// A parameter of a pattern.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// Whether it may be left out.
    pub optional: bool,
    /// For a shard: how many there are. Left out, all of them are asked.
    pub shards: Option<u32>,
}

/// How deep patterns may be made of patterns.
const DEPTH_MAX: usize = 8;

/// The parameters of a pattern, in the order in which they are first named.
pub fn parameters(design: &Design, pattern: &str) -> Vec<Parameter> {
    if let Some(known) = design.parameters.get(pattern) {
        return known.clone();
    }
    let mut found = Vec::new();
    collect(design, pattern, &mut found, 0);
    found
}

fn push(found: &mut Vec<Parameter>, parameter: Parameter) {
    if !found.iter().any(|known| known.name == parameter.name) {
        found.push(parameter);
    }
}

fn collect(design: &Design, name: &str, found: &mut Vec<Parameter>, depth: usize) {
    let Some(pattern) = design.pattern(name).filter(|_| depth <= DEPTH_MAX) else { return };
    match &pattern.kind {
        PatternKind::Get { entity, batch } => {
            let Some(entity) = design.entity(&entity.value) else { return };
            for slot in entity.identity().into_iter().filter(|slot| entity.constant(slot).is_none()) {
                let kind = entity.type_at(slot).unwrap_or(Type::Key);
                let kind = if batch.is_some() { Type::List(Box::new(kind)) } else { kind };
                push(found, Parameter { name: slot.to_owned(), kind, optional: false, shards: None });
            }
        }
        PatternKind::Query { .. } => {
            let Some(query) = Query::read(design, pattern) else { return };
            for slot in slots_of(&query.condition.condition) {
                push(found, of_key(design, &query, &slot.path));
            }
            if let Some(filter) = &pattern.filter {
                for slot in slots_of(&filter.condition) {
                    push(found, of_filter(design, &query, &filter.condition, &slot.path));
                }
            }
        }
        PatternKind::Merge { patterns, .. } => {
            for inner in patterns {
                collect(design, &inner.value, found, depth + 1);
            }
        }
        PatternKind::Collect(parts) => {
            for part in parts {
                let mut inner = Vec::new();
                collect(design, &part.pattern.value, &mut inner, depth + 1);
                let given = |name: &str| part.with.iter().any(|entry| entry.name.value == name);
                inner
                    .into_iter()
                    .filter(|parameter| !given(&parameter.name))
                    .for_each(|parameter| push(found, parameter));
            }
        }
    }
}

fn of_key(design: &Design, query: &Query<'_>, name: &str) -> Parameter {
    let declared = query.pattern.inputs.iter().find(|input| input.name.value == name);
    if let Some(input) = declared {
        return Parameter {
            name: name.to_owned(),
            kind: input.kind.clone(),
            optional: input.optional,
            shards: None,
        };
    }
    match query.slot_of(design, name) {
        Some((_, slot)) if matches!(slot.format, Format::Shard(_)) => {
            let shards = if let Format::Shard(count) = slot.format { Some(count) } else { None };
            Parameter { name: name.to_owned(), kind: Type::Integer, optional: true, shards }
        }
        Some((_, slot)) if matches!(slot.format, Format::Truncated(_)) => {
            Parameter { name: name.to_owned(), kind: Type::String, optional: false, shards: None }
        }
        found => {
            let kind = found.and_then(|(entity, slot)| entity.type_at(&slot.path)).unwrap_or(Type::Key);
            Parameter { name: name.to_owned(), kind, optional: false, shards: None }
        }
    }
}

fn of_filter(design: &Design, query: &Query<'_>, filter: &Condition, name: &str) -> Parameter {
    let declared = query.pattern.inputs.iter().find(|input| input.name.value == name);
    let kind = declared.map(|input| input.kind.clone()).or_else(|| {
        let path = compared_with(filter, name)?;
        query.answer(design).into_iter().find_map(|entity| entity.type_at(&path))
    });
    let optional = declared.is_some_and(|input| input.optional);
    Parameter { name: name.to_owned(), kind: kind.unwrap_or(Type::Any), optional, shards: None }
}

/// The attribute that a filter compares with a parameter.
fn compared_with(filter: &Condition, name: &str) -> Option<String> {
    let is_parameter = |operand: &Operand| matches!(operand, Operand::Text(template, _) if template.only_slot().is_some_and(|slot| slot.path == name));
    match filter {
        Condition::And(list) | Condition::Or(list) => {
            list.iter().find_map(|inner| compared_with(inner, name))
        }
        Condition::Not(inner) => compared_with(inner, name),
        Condition::Compare(Operand::Path(path), _, other, _)
        | Condition::Compare(other, _, Operand::Path(path), _) => is_parameter(other).then(|| path.dotted()),
        Condition::Between(Operand::Path(path), low, high, _) => {
            (is_parameter(low) || is_parameter(high)).then(|| path.dotted())
        }
        Condition::In(Operand::Path(path), list, _) => list.iter().any(is_parameter).then(|| path.dotted()),
        _ => None,
    }
}

/// The entities that can be in the answer of a pattern.
pub fn answers<'d>(design: &'d Design, pattern: &str) -> Vec<&'d Entity> {
    let mut found: Vec<&Entity> = Vec::new();
    gather(design, pattern, &mut found, 0);
    found
}

fn gather<'d>(design: &'d Design, name: &str, found: &mut Vec<&'d Entity>, depth: usize) {
    let Some(pattern) = design.pattern(name).filter(|_| depth <= DEPTH_MAX) else { return };
    let own = match &pattern.kind {
        PatternKind::Get { entity, .. } => design.entity(&entity.value).into_iter().collect(),
        PatternKind::Query { .. } => {
            Query::read(design, pattern).map(|query| query.answer(design)).unwrap_or_default()
        }
        PatternKind::Merge { patterns, .. } => {
            for inner in patterns {
                gather(design, &inner.value, found, depth + 1);
            }
            Vec::new()
        }
        PatternKind::Collect(parts) => {
            for part in parts {
                gather(design, &part.pattern.value, found, depth + 1);
            }
            Vec::new()
        }
    };
    for entity in own {
        if !found.iter().any(|known| known.name.value == entity.name.value) {
            found.push(entity);
        }
    }
}
