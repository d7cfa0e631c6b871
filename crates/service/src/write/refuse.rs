//! Failures by name: which constraint, which step, in the words of the design.

use design::{CheckedDesign, PlannedWrite, Problem, ProblemKind, Type, Write};

use crate::refusal::Refusal;

/// The refusal for problems that binding found. Values that do not fit come first, all of them.
pub(crate) fn problems(design: &CheckedDesign, write: &Write<'_>, found: Vec<Problem>) -> Refusal {
    let Some(first) = found.iter().find(|problem| problem.kind != ProblemKind::Invalid) else {
        return Refusal::Invalid(distinct(found));
    };
    if found.iter().any(|problem| problem.kind == ProblemKind::Invalid) {
        return Refusal::Invalid(distinct(found));
    }
    let Problem { kind, name, message } = first.clone();
    match kind {
        ProblemKind::Condition if is_version(design, write, &name) => {
            let (Write::Update { entity, .. } | Write::Delete { entity, .. }) = write else {
                return Refusal::VersionMismatch { entity: name };
            };
            Refusal::VersionMismatch { entity: (*entity).to_owned() }
        }
        ProblemKind::Condition => Refusal::Condition { name, message },
        ProblemKind::Exists => Refusal::Exists { entity: name, message },
        ProblemKind::NotFound | ProblemKind::Invalid => Refusal::NotFound { name, message },
    }
}

fn distinct(found: Vec<Problem>) -> Vec<Problem> {
    let mut distinct: Vec<Problem> = Vec::new();
    for problem in found {
        if !distinct.contains(&problem) {
            distinct.push(problem);
        }
    }
    distinct
}

/// True if a write expects a version, and the problem is about the attribute that holds it.
fn is_version(design: &CheckedDesign, write: &Write<'_>, name: &str) -> bool {
    let (Write::Update { entity, version: Some(_), .. } | Write::Delete { entity, version: Some(_), .. }) =
        write
    else {
        return false;
    };
    let attribute = design.entity(entity).and_then(|entity| entity.attribute(name));
    attribute.is_some_and(|attribute| attribute.kind == Type::Version)
}

/// The refusal for a write whose condition failed although nothing of its item had been read.
pub(super) fn failed_write(design: &CheckedDesign, write: &PlannedWrite) -> Refusal {
    let entity = write.entity.clone();
    let message = write.otherwise.clone();
    let declared = design.entity(&entity);
    if let Some((copy, declared)) = declared.and_then(|declared| Some((declared.copy.as_ref()?, declared)))
        && copy.unique
    {
        return Refusal::Taken {
            constraint: entity,
            entity: copy.source.value.clone(),
            attributes: declared.identity().into_iter().map(str::to_owned).collect(),
        };
    }
    if write.creates {
        let message = message.unwrap_or_else(|| format!("there is such a {entity} already"));
        return Refusal::Exists { entity, message };
    }
    let is_elsewhere = |why: &String| why.starts_with("counter ") || why.starts_with("copied: ");
    let only_counted = write.because.iter().all(is_elsewhere);
    let message = message.unwrap_or_else(|| format!("there is no such {entity}"));
    if only_counted {
        Refusal::NotFound { name: entity, message }
    } else {
        Refusal::Condition { name: entity, message }
    }
}
