//! A counter that goes up and never comes down.

use dynamo::{Number, Value};

use super::Context;
use crate::diagnostic::{Family, Finding, Rule, Severity};
use crate::model::{Action, Design, Entity, EventKind, Given, Step, Type};
use crate::source::Placed;

pub(crate) const RULE: Rule = Rule {
    code: "D040",
    title: "a counter with a way up and no way down",
    family: Family::Incomplete,
    severity: Severity::Warning,
    why: "A number that is raised when an item is created, and not lowered when the item is deleted or expires, drifts: after a while it counts items that \
          are gone. Declared as a counter ({ count = \"Message\" }) it is kept by itself.",
    wrong: concat!(
        "design = \"inbox\"\n\n[table.Inbox]\npartition-key = \"PK\"\nsort-key      = \"SK\"\n\n",
        "[entity.Message]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\n\n[entity.Message.attributes]\nuserId    = \"key\"\nid        = \"ulid\"\nexpiresAt = \"ttl\"\n\n",
        "[entity.Stats]\nkey = { PK = \"USER#{userId}\", SK = \"STATS\" }\n\n[entity.Stats.attributes]\nuserId    = \"key\"\npublished = { type = \"number\", default = 0 }\n\n",
        "[operation.publish]\ninput = { userId = \"Message.userId\", expiresAt = \"Message.expiresAt\" }\n\n[[operation.publish.step]]\ncreate = \"Message\"\n\n",
        "[[operation.publish.step]]\nupsert = \"Stats\"\nadd    = { published = 1 }\n"
    ),
    right: concat!(
        "design = \"inbox\"\n\n[table.Inbox]\npartition-key = \"PK\"\nsort-key      = \"SK\"\nstream        = \"new-and-old-images\"\n\n",
        "[entity.Message]\nkey = { PK = \"USER#{userId}\", SK = \"M#{id}\" }\n\n[entity.Message.attributes]\nuserId    = \"key\"\nid        = \"ulid\"\nexpiresAt = \"ttl\"\n\n",
        "[entity.Stats]\nkey = { PK = \"USER#{userId}\", SK = \"STATS\" }\n\n[entity.Stats.attributes]\nuserId = \"key\"\n\n[entity.Stats.counters]\npublished = { count = \"Message\" }\n"
    ),
};

pub(crate) fn check(context: &Context<'_>) -> Vec<Finding> {
    let design = context.design;
    let mut findings = Vec::new();
    for operation in &design.operations {
        let created = operation.steps.iter().filter(|step| step.action == Action::Create);
        let created = created.filter_map(|step| design.entity(&step.entity.value)).filter(|entity| can_go(design, entity)).collect::<Vec<_>>();
        for step in &operation.steps {
            for raised in step.add.iter().filter(|entry| sign(&entry.value.value) == Some(true)) {
                let Some(gone) = created.iter().find(|gone| !is_lowered(design, step, &raised.name, gone)) else { continue };
                let how = if expires(gone) { "expires" } else { "is deleted" };
                let sentence = format!(
                    "`{}.{}` goes up when a `{}` is created, and nothing brings it down when one {how}",
                    step.entity.value, raised.name.value, gone.name.value
                );
                let help = format!(
                    "declare it as a counter of `{}`: {} = {{ count = \"{}\" }}",
                    step.entity.value, raised.name.value, gone.name.value
                );
                findings.push(Finding::new(&RULE, raised.name.span, sentence).help(help));
            }
        }
    }
    findings
}

/// True for a number above zero, false for one below; none for zero and for what is not known.
fn sign(given: &Given) -> Option<bool> {
    let Given::Value(Value::N(number)) = given else { return None };
    (*number != Number::ZERO).then(|| *number > Number::ZERO)
}

fn expires(entity: &Entity) -> bool {
    entity.attributes.iter().any(|attribute| attribute.kind == Type::Ttl)
}

/// Whether items of the entity go away in a way that the design names.
fn can_go(design: &Design, entity: &Entity) -> bool {
    expires(entity) || all_steps(design).any(|(_, step)| step.action == Action::Delete && step.entity.value == entity.name.value)
}

fn all_steps(design: &Design) -> impl Iterator<Item = (Option<(EventKind, &str)>, &Step)> {
    let operations = design.operations.iter().flat_map(|operation| operation.steps.iter().map(|step| (None, step)));
    let reactions = design.reactions.iter().flat_map(|reaction| {
        let event = Some((reaction.on.kind, reaction.on.entity.value.as_str()));
        reaction.steps.iter().map(move |step| (event, step))
    });
    operations.chain(reactions)
}

/// Whether something lowers the number when an item of `gone` goes away.
fn is_lowered(design: &Design, raising: &Step, attribute: &Placed<String>, gone: &Entity) -> bool {
    let lowers = |step: &Step| {
        step.entity.value == raising.entity.value
            && step.add.iter().any(|entry| entry.name.value == attribute.value && sign(&entry.value.value) == Some(false))
    };
    let from_stream = all_steps(design).any(|(event, step)| {
        let follows = event.is_some_and(|(kind, entity)| {
            entity == gone.name.value && matches!(kind, EventKind::Expire | EventKind::Delete | EventKind::Change)
        });
        follows && lowers(step)
    });
    let by_operation = !expires(gone)
        && design.operations.iter().any(|operation| {
            let deletes = operation.steps.iter().any(|step| step.action == Action::Delete && step.entity.value == gone.name.value);
            deletes && operation.steps.iter().any(lowers)
        });
    from_stream || by_operation
}
