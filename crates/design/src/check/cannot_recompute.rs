//! A change that does not take along what follows from it.

use std::borrow::Cow;

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Design, Entity};
use crate::resolve::slot_span;

pub(crate) const RULE: Rule = Rule {
    code: "D044",
    title: "a key that an update cannot recompute",
    family: Family::Incomplete,
    severity: Severity::Error,
    why: "When an attribute changes, every index key, copy and counter that depends on it is computed again from the stored item. That needs every attribute in it: stored, \
          or standing in the item's own key. An `expression` is sent as it is written, so it must not touch an attribute that something depends on.",
    wrong: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\nGSI1 = { GSI1PK = \"ORDER#{orderId}\", GSI1SK = \"STATUS#{status}\" }\n\n\
         [entity.Order.attributes]\nuserId  = \"key\"\norderId = \"ulid\"\nstatus  = { type = [\"open\", \"paid\"], stored = false }\n\n\
         [pattern.order]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"ORDER#{orderId}\"'\n"
    ),
    right: shop_with_index!(
        "[entity.Order]\nkey  = { PK = \"USER#{userId}\", SK = \"ORDER#{orderId}\" }\nGSI1 = { GSI1PK = \"ORDER#{orderId}\", GSI1SK = \"STATUS#{status}\" }\n\n\
         [entity.Order.attributes]\nuserId  = \"key\"\norderId = { type = \"ulid\", stored = false }\nstatus  = [\"open\", \"paid\"]\n\n\
         [pattern.order]\nindex = \"GSI1\"\nwhere = 'GSI1PK = \"ORDER#{orderId}\"'\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in context.design.entities.iter().filter(|entity| entity.copy.is_none()) {
        findings.extend(not_kept(context, entity));
    }
    findings.extend(behind_the_back(context));
    findings
}

/// Attributes that are neither stored nor in the key, but that an index key needs; and attributes that are nowhere.
fn not_kept(context: &Context<'_>, entity: &Entity) -> Vec<Finding> {
    let lost = |path: &str| {
        let top = path.split('.').next().unwrap_or(path);
        let stored = entity.attribute(top).is_none_or(|attribute| attribute.stored);
        let whole = |slot: &crate::template::Slot| slot.path == path && slot.format == crate::template::Format::Plain;
        !stored && !entity.key.slots().any(whole)
    };
    let mut findings = Vec::new();
    for key in &entity.index_keys {
        let templates = key.parts.iter().filter(|part| !part.implied).flat_map(|part| part.choices.iter().map(|choice| &choice.template));
        for template in templates {
            for slot in template.value.slots().filter(|slot| lost(&slot.path)) {
                let sentence = format!("`{}` is not stored and not in the key of `{}`, so an update cannot compute this index key again", slot.path, entity.name.value);
                let span = slot_span(context.source, template, slot);
                findings.push(Finding::new(&RULE, span, sentence).help(format!("store `{}`: take `stored = false` out", slot.path)));
            }
        }
    }
    if findings.is_empty() {
        for attribute in entity.attributes.iter().filter(|attribute| !attribute.stored && lost(&attribute.name.value)) {
            let sentence = format!("`{}` of `{}` is not stored and does not stand in its key: it is nowhere", attribute.name.value, entity.name.value);
            findings.push(Finding::new(&RULE, attribute.span, sentence).help("take `stored = false` out"));
        }
    }
    findings
}

/// Expressions, sent as they are written, that change what something depends on.
fn behind_the_back(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let steps = design.operations.iter().flat_map(|operation| &operation.steps);
    let steps = steps.chain(design.reactions.iter().flat_map(|reaction| &reaction.steps));
    let mut findings = Vec::new();
    for step in steps {
        let (Some(expression), Some(entity)) = (&step.expression, design.entity(&step.entity.value)) else { continue };
        let depended = depended_on(design, entity);
        for (name, at) in super::refused_expression::names(&expression.value) {
            if depended.iter().any(|path| path.split('.').next() == Some(name)) {
                let sentence = format!("this expression may change `{name}`, and what depends on it would not follow");
                let span = context.source.within(expression.span, &expression.value, at, at + name.len());
                findings.push(Finding::new(&RULE, span, sentence).help("write the change as set, add, append or remove"));
            }
        }
    }
    findings
}

/// The attributes on which keys, copies and counters depend.
pub(crate) fn depended_on<'d>(design: &'d Design, entity: &Entity) -> Cow<'d, [String]> {
    if let Some(known) = design.depended.get(&entity.name.value) {
        return Cow::Borrowed(known);
    }
    let mut paths = entity.keys().flat_map(|key| key.slots().map(|slot| slot.path.clone())).collect::<Vec<_>>();
    let whens = entity.keys().filter_map(|key| key.when.as_ref());
    paths.extend(whens.flat_map(|when| crate::resolve::attributes_of(&when.condition)));
    for copy in design.copies_of(&entity.name.value) {
        paths.extend(copy.attributes.iter().map(|attribute| attribute.name.value.clone()));
        let when = copy.copy.as_ref().and_then(|copy| copy.when.as_ref());
        paths.extend(when.into_iter().flat_map(|when| crate::resolve::attributes_of(&when.condition)));
    }
    for target in &design.entities {
        for tally in target.counters.iter().flat_map(|counter| &counter.tallies) {
            if tally.entity.value != entity.name.value {
                continue;
            }
            paths.extend(target.identity().into_iter().map(|slot| tally.source(slot).to_owned()));
            paths.extend(tally.sum.iter().map(|sum| sum.value.clone()));
            paths.extend(tally.when.iter().flat_map(|when| crate::resolve::attributes_of(&when.condition)));
        }
    }
    paths.sort_unstable();
    paths.dedup();
    Cow::Owned(paths)
}
