//! From what was written to what is meant: names looked up, keys completed, copies filled in.
//!
//! Always true afterwards: an entity's keys have the attributes of their table or index, in its order; a copy has its
//! source's table and the attributes it carries; a pattern knows its table; an input knows its type.
//!
//! First [`complete`] fills in what follows from other elements, then [`names`] reports every name that means nothing.

mod complete;
mod names;

use crate::condition::{At, Condition, Operand};
use crate::diagnostic::Finding;
use crate::model::{Design, Entity, PlacedCondition};
use crate::source::{Placed, Source, Span};
use crate::template::{Slot, Template};

/// Completes a design and reports the names that mean nothing.
pub(crate) fn resolve(source: &Source, design: &mut Design) -> Vec<Finding> {
    let mut findings = complete::complete(design);
    findings.extend(names::undefined(source, design));
    findings
}

/// Where a slot of a template stands in the file.
pub(crate) fn slot_span(source: &Source, template: &Placed<Template>, slot: &Slot) -> Span {
    source.within(template.span, &template.value.to_string(), slot.at.0, slot.at.1)
}

/// Where a part of a condition stands in the file.
pub(crate) fn condition_span(source: &Source, condition: &PlacedCondition, at: At) -> Span {
    source.within(condition.span, &condition.text, at.0, at.1)
}

/// The attributes that a condition looks at, and those that its texts have slots for.
pub(crate) fn attributes_of(condition: &Condition) -> impl Iterator<Item = String> {
    let paths = condition.paths().into_iter().map(crate::condition::Path::dotted).collect::<Vec<_>>();
    paths.into_iter()
}

/// The slots of the texts in a condition.
pub(crate) fn slots_of(condition: &Condition) -> Vec<&Slot> {
    let operands = condition.operands().into_iter();
    operands
        .filter_map(|operand| match operand {
            Operand::Text(template, _) => Some(template),
            _ => None,
        })
        .flat_map(Template::slots)
        .collect()
}

/// The names of everything in an entity, for suggestions: attributes, members of maps, constants, key attributes.
pub(crate) fn names_in(entity: &Entity) -> Vec<String> {
    let mut names = Vec::new();
    for attribute in &entity.attributes {
        names.push(attribute.name.value.clone());
        if let crate::model::Type::Map(map) = &attribute.kind {
            names.extend(
                map.members.iter().map(|member| format!("{}.{}", attribute.name.value, member.name.value)),
            );
        }
    }
    names.extend(entity.constants.iter().map(|(name, _)| name.value.clone()));
    names
}
