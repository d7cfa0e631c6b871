//! What a caller may write: attributes of entities, and none that follow from others.

use design::{Attribute, Entity, Problem, ProblemKind, TimeRole, Type};
use dynamo::{Item, Number, Value};

use crate::answer::Changes;
use crate::refusal::Refusal;

/// Refuses entities that are never written by themselves.
pub(crate) fn writable(entity: &Entity) -> Result<(), Refusal> {
    let name = &entity.name.value;
    if let Some(copy) = &entity.copy {
        let message = format!("is a copy: it follows from {}", copy.source.value);
        return Err(Refusal::invalid(name, message));
    }
    if entity.is_tally_only() {
        return Err(Refusal::invalid(name, "only counts: it follows from what it counts"));
    }
    Ok(())
}

/// Refuses an item with attributes that follow from others.
pub(crate) fn creatable(entity: &Entity, item: &Item) -> Result<(), Refusal> {
    writable(entity)?;
    let mut problems = Vec::new();
    for counter in &entity.counters {
        let given = design::at(item, &counter.attribute.value);
        if given.is_some_and(|value| *value != Value::N(Number::ZERO)) {
            problems.push(derived(&counter.attribute.value, "is counted"));
        }
    }
    let derives = |attribute: &&Attribute| attribute.from.is_some() || attribute.kind == Type::Version;
    let is_given = |attribute: &&Attribute| item.contains_key(&attribute.name.value);
    for attribute in entity.attributes.iter().filter(derives).filter(is_given) {
        if let Some(from) = &attribute.from {
            problems.push(derived(&attribute.name.value, format!("follows from {}", from.source.value)));
        }
        if attribute.kind == Type::Version {
            problems.push(derived(&attribute.name.value, "is counted"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::Invalid(problems)) }
}

/// Refuses changes of attributes that follow from others.
pub(crate) fn changeable(entity: &Entity, changes: &Changes) -> Result<(), Refusal> {
    writable(entity)?;
    let mut problems = Vec::new();
    for path in changes.set.keys().chain(&changes.remove) {
        let within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let counted = entity.counters.iter().map(|counter| counter.attribute.value.as_str());
        if let Some(counter) =
            counted.into_iter().find(|counter| within(counter, path) || within(path, counter))
        {
            problems.push(derived(path, format!("holds {counter}, which is counted")));
        }
        let name = path.split('.').next().unwrap_or(path);
        let Some(attribute) = entity.attributes.iter().find(|attribute| attribute.name.value == name) else {
            let unknown = format!("is not an attribute of {}", entity.name.value);
            problems.push(derived(path, unknown));
            continue;
        };
        match (&attribute.kind, &attribute.from) {
            (_, Some(from)) => problems.push(derived(path, format!("follows from {}", from.source.value))),
            (Type::Version, _) => problems.push(derived(path, "is counted")),
            (Type::Timestamp(_, TimeRole::Created | TimeRole::Updated), _) => {
                problems.push(derived(path, "is set by itself"));
            }
            _ => {}
        }
    }
    if changes.set.is_empty() && changes.remove.is_empty() {
        problems.push(derived(&entity.name.value, "has nothing to change"));
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::Invalid(problems)) }
}

/// Refuses an expected version where there is none.
pub(crate) fn versioned(entity: &Entity, expected: Option<Number>) -> Result<(), Refusal> {
    let has_version = entity.attributes.iter().any(|attribute| attribute.kind == Type::Version);
    if expected.is_some() && !has_version {
        return Err(Refusal::invalid("version", format!("{} has none", entity.name.value)));
    }
    Ok(())
}

fn derived(name: &str, message: impl Into<String>) -> Problem {
    Problem { kind: ProblemKind::Invalid, name: name.to_owned(), message: message.into() }
}
