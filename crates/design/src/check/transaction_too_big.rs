//! An operation that does not fit one transaction.

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Action, Design, EachOver, Operation, Step, Type};

pub(crate) const RULE: Rule = Rule {
    code: "D052",
    title: "an operation that does not fit one transaction",
    family: Family::TooBig,
    severity: Severity::Error,
    why: "A transaction has at most 100 items, consequences included, and one of them is the outcome that is kept for an idempotency key. A step that repeats over a list must say how long the list can be (`max-items`), or that it may be done \
          in ordered, resumable chunks, each of them whole (`chunks = true`).",
    wrong: shop!(
        "[entity.Message]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\n\n[entity.Message.attributes]\nuserId = \"key\"\nid     = \"ulid\"\n\n\
         [operation.send]\ninput = { userIds = \"key[]\" }\n\n[[operation.send.step]]\ncreate = \"Message\"\neach   = { userId = \"userIds\" }\n"
    ),
    right: shop!(
        "[entity.Message]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\n\n[entity.Message.attributes]\nuserId = \"key\"\nid     = \"ulid\"\n\n\
         [operation.send]\nchunks = true\ninput  = { userIds = \"key[]\" }\n\n[[operation.send.step]]\ncreate = \"Message\"\neach   = { userId = \"userIds\" }\n"
    ),
};

/// DynamoDB takes 100 actions in a transaction. One is kept free: for the outcome of an idempotency key, or for how far a stream was followed.
const ACTIONS_MAX: usize = 99;

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for operation in &context.design.operations {
        let single = operation.steps.iter().filter(|step| step.each.is_none()).map(|step| items(context.design, step)).sum::<usize>();
        let repeated = operation.steps.iter().filter(|step| step.each.is_some());
        let once = repeated.clone().map(|step| items(context.design, step)).sum::<usize>();
        if single + once > ACTIONS_MAX {
            let sentence = format!("operation `{}` writes up to {} items, and a transaction has room for {ACTIONS_MAX}", operation.name.value, single + once);
            findings.push(Finding::new(&RULE, operation.name.span, sentence).help("split it into several operations"));
            continue;
        }
        for step in repeated {
            let most = longest(operation, step);
            let fits = most.is_some_and(|most| single + most.saturating_mul(once) <= ACTIONS_MAX);
            if !fits && !operation.chunks {
                findings.push(too_long(operation, step, most, once));
            }
        }
    }
    findings
}

fn too_long(operation: &Operation, step: &Step, most: Option<usize>, once: usize) -> Finding {
    let sentence = match most {
        Some(most) => format!("operation `{}` repeats {most} times {once} items, and a transaction has room for {ACTIONS_MAX}", operation.name.value),
        None => format!("operation `{}` repeats over a list of any length, and a transaction has room for {ACTIONS_MAX} items", operation.name.value),
    };
    Finding::new(&RULE, step.entity.span, sentence).help("say chunks = true, or limit the list: { type = \"key[]\", max-items = … }")
}

/// The longest list that the step repeats over, if it is known.
fn longest(operation: &Operation, step: &Step) -> Option<usize> {
    match &step.each.as_ref()?.over {
        EachOver::Input(list) => {
            let input = operation.inputs.iter().find(|input| input.attribute.name.value == list.value)?;
            matches!(input.attribute.kind, Type::List(_)).then_some(input.attribute.max_items)?
        }
        EachOver::Pattern(_) => None,
    }
}

/// How many items a step writes at most, with everything that follows from it.
pub(crate) fn items(design: &Design, step: &Step) -> usize {
    // What was read must not have changed: a condition.
    if matches!(step.action, Action::Get | Action::Check) {
        return 1;
    }
    let name = &step.entity.value;
    // A copy or counter whose key changes is one item less and one item more.
    let moves = if step.action == Action::Update || step.action == Action::Upsert { 2 } else { 1 };
    let copies = design.copies_of(name).count() * moves;
    let counters = design.entities.iter().filter(|target| {
        target.counters.iter().any(|counter| !counter.eventual && counter.tallies.iter().any(|tally| tally.entity.value == *name))
    });
    1 + copies + counters.count() * moves + sources(design, step)
}

/// How many items must not change while a new item copies attributes of theirs, and be a condition for it.
fn sources(design: &Design, step: &Step) -> usize {
    let makes = matches!(step.action, Action::Create | Action::Upsert);
    let Some(entity) = design.entity(&step.entity.value).filter(|_| makes) else { return 0 };
    let followed = entity.attributes.iter().filter_map(|attribute| attribute.from.as_ref());
    let mut sources = followed.filter(|from| from.refresh).map(|from| (from.entity(), &from.by)).collect::<Vec<_>>();
    sources.dedup_by(|left, right| left.0 == right.0 && left.1.len() == right.1.len());
    sources.len()
}
