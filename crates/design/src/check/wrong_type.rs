//! A value or comparison that the type of its attribute does not allow.

use dynamo::{Value, ValueType};

use super::Context;
use crate::condition::{Condition, Operand, Path};
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Entity, Given, GivenEntry, PlacedCondition, Seed, Type};
use crate::resolve::condition_span;
use crate::source::Span;

pub(crate) const RULE: Rule = Rule {
    code: "D008",
    title: "a value of the wrong type",
    family: Family::Unclear,
    severity: Severity::Error,
    why: "DynamoDB compares values of different types as simply not equal: the condition never holds, and nobody is told. \
          A value that is not of its attribute's type would be refused when it is written.",
    wrong: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\nstatus  = [\"open\", \"paid\"]\n\n\
         [operation.pay]\ninput = { orderId = \"Order.orderId\" }\n\n[[operation.pay.step]]\nupdate = \"Order\"\nif     = 'status = \"opened\"'\nset    = { status = \"paid\" }\n"
    ),
    right: shop!(
        "[entity.Order]\nkey = { PK = \"ORDER#{orderId}\", SK = \"ORDER\" }\n\n[entity.Order.attributes]\norderId = \"ulid\"\nstatus  = [\"open\", \"paid\"]\n\n\
         [operation.pay]\ninput = { orderId = \"Order.orderId\" }\n\n[[operation.pay.step]]\nupdate = \"Order\"\nif     = 'status = \"open\"'\nset    = { status = \"paid\" }\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let mut findings = Vec::new();
    for entity in &design.entities {
        let whens = entity.keys().flat_map(|key| {
            key.when.iter().chain(key.parts.iter().flat_map(|part| part.choices.iter().filter_map(|c| c.when.as_ref())))
        });
        whens.for_each(|when| condition(context, entity, when, &mut findings));
        if let Some(copy) = &entity.copy
            && let Some(source) = design.entity(&copy.source.value)
        {
            copy.when.iter().for_each(|when| condition(context, source, when, &mut findings));
        }
        for tally in entity.counters.iter().flat_map(|counter| &counter.tallies) {
            if let (Some(when), Some(counted)) = (&tally.when, design.entity(&tally.entity.value)) {
                condition(context, counted, when, &mut findings);
            }
        }
        for attribute in &entity.attributes {
            if let Some(default) = &attribute.default {
                given(&attribute.kind, &default.value, default.span, &attribute.name.value, &mut findings);
            }
        }
    }
    let steps = design.operations.iter().flat_map(|operation| &operation.steps);
    let steps = steps.chain(design.reactions.iter().flat_map(|reaction| &reaction.steps));
    for step in steps {
        let Some(entity) = design.entity(&step.entity.value) else { continue };
        step.condition.iter().for_each(|when| condition(context, entity, when, &mut findings));
        entries(entity, step.with.iter().chain(&step.set).chain(&step.add), &mut findings);
    }
    for reaction in &design.reactions {
        if let (Some(when), Some(entity)) = (&reaction.on.when, design.entity(&reaction.on.entity.value)) {
            condition(context, entity, when, &mut findings);
        }
    }
    for (query, answer) in context.sound_queries() {
        if let (Some(filter), [entity]) = (&query.pattern.filter, answer) {
            condition(context, entity, filter, &mut findings);
        }
    }
    seeds(context, &mut findings);
    findings
}

fn seeds(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let design = context.design;
    let of_examples = design.examples.iter().flat_map(|example| example.given.iter().chain(&example.then));
    let seeds: Vec<&Seed> = design.seeds.iter().chain(of_examples).collect();
    for seed in seeds {
        if let Some(entity) = design.entity(&seed.entity.value) {
            entries(entity, seed.attributes.iter(), findings);
        }
    }
}

fn entries<'a>(entity: &Entity, entries: impl Iterator<Item = &'a GivenEntry>, findings: &mut Vec<Finding>) {
    for entry in entries {
        if let Some(kind) = entity.type_at(&entry.name.value) {
            given(&kind, &entry.value.value, entry.value.span, &entry.name.value, findings);
        }
    }
}

fn given(kind: &Type, value: &Given, span: Span, name: &str, findings: &mut Vec<Finding>) {
    let Given::Value(value) = value else { return };
    if !fits(kind, value) {
        let sentence = format!("`{name}` is {}, and this is {}", kind.name(), crate::model::shown(value));
        findings.push(Finding::new(&RULE, span, sentence).help("give a value of that type"));
    }
}

/// Whether a literal of the design can be a value of the type. Sets are written as lists.
fn fits(kind: &Type, value: &Value) -> bool {
    match (kind, value) {
        (Type::Any, _) => true,
        (Type::OneOf(values), value) => values.iter().any(|choice| choice.value == *value),
        (Type::List(element), Value::L(list)) => list.iter().all(|value| fits(element, value)),
        (Type::StringSet | Type::NumberSet | Type::BinarySet, Value::L(_)) => true,
        (Type::Map(map), Value::M(values)) => values.iter().all(|(name, value)| {
            match map.members.iter().find(|member| member.name.value == *name) {
                Some(member) => fits(&member.kind, value),
                None => map.others.as_deref().is_some_and(|kind| fits(kind, value)),
            }
        }),
        (Type::Binary, Value::S(_)) => true,
        (kind, value) => kind.value_type() == Some(value.value_type()),
    }
}

fn condition(context: &Context<'_>, entity: &Entity, placed: &PlacedCondition, findings: &mut Vec<Finding>) {
    walk(&placed.condition, &mut |path, operand| {
        let Some(kind) = entity.type_at(&path.dotted()) else { return };
        if let Some(sentence) = mismatch(&path.dotted(), &kind, operand) {
            let span = condition_span(context.source, placed, operand.at());
            findings.push(Finding::new(&RULE, span, sentence).help("compare it with a value of that type"));
        }
    });
}

/// Every pair of an attribute and what it is compared with.
fn walk(condition: &Condition, visit: &mut impl FnMut(&Path, &Operand)) {
    match condition {
        Condition::And(list) | Condition::Or(list) => list.iter().for_each(|inner| walk(inner, visit)),
        Condition::Not(inner) => walk(inner, visit),
        Condition::Compare(Operand::Path(path), _, other, _) | Condition::Compare(other, _, Operand::Path(path), _) => {
            visit(path, other);
        }
        Condition::Between(Operand::Path(path), low, high, _) => {
            visit(path, low);
            visit(path, high);
        }
        Condition::In(Operand::Path(path), list, _) => list.iter().for_each(|other| visit(path, other)),
        _ => {}
    }
}

fn mismatch(name: &str, kind: &Type, operand: &Operand) -> Option<String> {
    let value_type = kind.value_type()?;
    let (found, shown) = match operand {
        Operand::Text(template, _) => match template.constant() {
            Some(text) => {
                let value = Value::S(text);
                let is_choice = !matches!(kind, Type::OneOf(_)) || fits(kind, &value);
                if value_type == ValueType::S && is_choice {
                    return None;
                }
                (Some(value), None)
            }
            // One plain slot stands for a value of any type.
            None if template.only_slot().is_some() || value_type == ValueType::S => return None,
            None => (None, Some("a text")),
        },
        Operand::Number(number, _) => {
            let value = Value::N(*number);
            if fits(kind, &value) {
                return None;
            }
            (Some(value), None)
        }
        Operand::Boolean(flag, _) if value_type != ValueType::Bool => (Some(Value::Bool(*flag)), None),
        _ => return None,
    };
    let shown = found.as_ref().map(crate::model::shown).or(shown.map(str::to_owned))?;
    Some(format!("`{name}` is {}, so it never compares with {shown}", kind.name()))
}
