//! An input that nothing uses.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Action, Design, EachOver, GivenEntry, Operation, Pattern, PatternKind, Step};
use crate::resolve::{attributes_of, slots_of};

pub(crate) const RULE: Rule = Rule {
    code: "D046",
    title: "an input that is not used",
    family: Family::Incomplete,
    severity: Severity::Warning,
    why: "The caller is asked for something that changes nothing. Either it is not needed, or a step forgets it.",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\nnote    = \"string?\"\n\n\
         [operation.remark]\ninput = { orderId = \"Order.orderId\", text = \"string\" }\n\n[[operation.remark.step]]\nupdate = \"Order\"\nset    = { note = \"done\" }\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\nnote    = \"string?\"\n\n\
         [operation.remark]\ninput = { orderId = \"Order.orderId\", text = \"string\" }\n\n[[operation.remark.step]]\nupdate = \"Order\"\nset    = { note = \"{text}\" }\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for operation in &context.design.operations {
        for input in &operation.inputs {
            let name = &input.attribute.name;
            if !is_used(context.design, operation, &name.value) {
                let sentence = format!("operation `{}` asks for `{}` and does not use it", operation.name.value, name.value);
                findings.push(Finding::new(&RULE, name.span, sentence).help(format!("use {{{}}} in a step, or take it out", name.value)));
            }
        }
    }
    for pattern in &context.design.patterns {
        for input in pattern.inputs.iter().filter(|input| !asked(context, pattern, &input.name.value)) {
            let sentence = format!("pattern `{}` declares `{}` and does not use it", pattern.name.value, input.name.value);
            findings.push(Finding::new(&RULE, input.name.span, sentence).help(format!("use {{{}}} in the condition, or take it out", input.name.value)));
        }
    }
    findings
}

fn is_used(design: &Design, operation: &Operation, name: &str) -> bool {
    operation.steps.iter().any(|step| {
        let entries = [&step.key, &step.with, &step.set, &step.add, &step.append];
        let in_entries = entries.into_iter().flatten().any(|entry| in_entry(entry, name));
        let conditions = step.when.iter().chain(&step.condition);
        let in_slots = conditions.clone().any(|condition| slots_of(&condition.condition).iter().any(|slot| top(&slot.path) == name));
        let in_when = step.when.iter().any(|when| attributes_of(&when.condition).any(|path| top(&path) == name));
        let in_each = step.each.as_ref().is_some_and(|each| match &each.over {
            EachOver::Input(list) => list.value == name,
            EachOver::Pattern(_) => true,
        });
        let in_expression = step.expression.as_ref().is_some_and(|text| text.value.contains(&format!(":{name}")));
        in_entries || in_expression || in_slots || in_when || in_each || by_name(design, step, name)
    })
}

/// An input that has the name of an attribute is its value: of a key slot, or of anything in an item that is created.
fn by_name(design: &Design, step: &Step, name: &str) -> bool {
    let Some(entity) = design.entity(&step.entity.value) else { return true };
    let in_key = entity.identity().contains(&name);
    let in_item = matches!(step.action, Action::Create | Action::Upsert) && entity.attribute(name).is_some();
    in_key || in_item
}

fn in_entry(entry: &GivenEntry, name: &str) -> bool {
    let templates = entry.value.value.templates(entry.value.span);
    templates.iter().any(|(template, _)| template.slots().any(|slot| top(&slot.path) == name))
}

fn top(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

fn asked(context: &Context<'_>, pattern: &Pattern, name: &str) -> bool {
    let in_filter = pattern.filter.iter().any(|filter| slots_of(&filter.condition).iter().any(|slot| slot.path == name));
    in_filter
        || match &pattern.kind {
            PatternKind::Query { condition, .. } => slots_of(&condition.condition).iter().any(|slot| slot.path == name),
            PatternKind::Get { entity, .. } => context.design.entity(&entity.value).is_some_and(|entity| entity.identity().contains(&name)),
            PatternKind::Merge { .. } | PatternKind::Collect(_) => true,
        }
}
