//! Operations and reactions: what may be done, and what happens by itself.

use super::attribute::Attribute;
use super::{GivenEntry, PlacedCondition};
use crate::source::{Placed, Span};

/// A named transaction.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its name.
    pub name: Placed<String>,
    /// What it does.
    pub about: String,
    /// What the caller gives.
    pub inputs: Vec<Input>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// True if a list that does not fit one transaction is done in ordered, resumable chunks.
    pub chunks: bool,
    /// Where it is declared.
    pub span: Span,
}

/// Something that the caller of an operation gives.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name and type.
    pub attribute: Attribute,
    /// The attribute whose type it has, as `Batch.userId`.
    pub like: Option<Placed<String>>,
}

/// One step of an operation or reaction.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done, to which entity.
    pub action: Action,
    /// The entity.
    pub entity: Placed<String>,
    /// The name under which later steps know the item.
    pub name: Option<Placed<String>>,
    /// The step is done only if this holds for the inputs and the items found before.
    pub when: Option<PlacedCondition>,
    /// What the step is repeated over.
    pub each: Option<Each>,
    /// The slots of the item's key; a slot that is not given has the value of the input or attribute of its name.
    pub key: Vec<GivenEntry>,
    /// What must hold for the item, or the whole operation fails.
    pub condition: Option<PlacedCondition>,
    /// What the caller is told if it does not hold.
    pub otherwise: Option<String>,
    /// Attributes of a created item.
    pub with: Vec<GivenEntry>,
    /// Attributes that are set.
    pub set: Vec<GivenEntry>,
    /// Numbers that are added to, sets that are joined.
    pub add: Vec<GivenEntry>,
    /// Lists that are added to at their end.
    pub append: Vec<GivenEntry>,
    /// Attributes that are removed.
    pub remove: Vec<Placed<String>>,
    /// An update expression that is sent to DynamoDB as it is written.
    pub expression: Option<Placed<String>>,
    /// Where it is declared.
    pub span: Span,
}

impl Step {
    /// What the step takes from inputs and from items that earlier steps have named: the paths of all slots, and those that `when` looks at.
    pub(crate) fn scope_paths(&self) -> Vec<String> {
        let entries = [&self.key, &self.with, &self.set, &self.add, &self.append].into_iter().flatten();
        let templates = entries.flat_map(|entry| entry.value.value.templates(entry.value.span));
        let mut paths = templates
            .flat_map(|(template, _)| template.slots())
            .map(|slot| slot.path.clone())
            .collect::<Vec<_>>();
        for condition in [&self.when, &self.condition].into_iter().flatten() {
            let slots = crate::resolve::slots_of(&condition.condition);
            paths.extend(slots.into_iter().map(|slot| slot.path.clone()));
        }
        paths.extend(self.when.iter().flat_map(|when| crate::resolve::attributes_of(&when.condition)));
        paths
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads an item, for later steps.
    Get,
    /// Makes an item that must not exist.
    Create,
    /// Makes an item, or changes it if it exists.
    Upsert,
    /// Changes an item that must exist.
    Update,
    /// Deletes an item.
    Delete,
    /// Only checks a condition.
    Check,
}

impl Action {
    /// All of them, as a design writes them.
    pub const ALL: [(&'static str, Action); 6] = [
        ("get", Action::Get),
        ("create", Action::Create),
        ("upsert", Action::Upsert),
        ("update", Action::Update),
        ("delete", Action::Delete),
        ("check", Action::Check),
    ];

    /// As a design writes it.
    pub fn name(self) -> &'static str {
        Action::ALL.iter().find(|(_, action)| *action == self).map_or("", |(name, _)| name)
    }
}

/// What a step is repeated over.
#[derive(Clone, Debug)]
pub struct Each {
    /// The name of one element.
    pub name: Placed<String>,
    /// What it is an element of.
    pub over: EachOver,
    /// An attribute by which equal elements count once.
    pub distinct: Option<Placed<String>>,
}

/// What is repeated over.
#[derive(Clone, Debug)]
pub enum EachOver {
    /// A list that the caller gives.
    Input(Placed<String>),
    /// The answer of a pattern.
    Pattern(Placed<String>),
}

/// What happens when items change.
#[derive(Clone, Debug)]
pub struct Reaction {
    /// Its name.
    pub name: Placed<String>,
    /// What it does.
    pub about: String,
    /// The change it follows.
    pub on: Event,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// An address that is told about the change.
    pub hook: Option<Placed<String>>,
    /// Where it is declared.
    pub span: Span,
}

/// A change of an item.
#[derive(Clone, Debug)]
pub struct Event {
    /// What kind of change.
    pub kind: EventKind,
    /// The entity.
    pub entity: Placed<String>,
    /// What must hold: of the new item, and not of the old one; of the item that is gone after a delete.
    pub when: Option<PlacedCondition>,
    /// Where it is written.
    pub span: Span,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An item came to be.
    Create,
    /// An item changed.
    Update,
    /// An item was deleted by somebody.
    Delete,
    /// An item's time was up.
    Expire,
    /// Any of these.
    Change,
}

impl EventKind {
    /// All of them, as a design writes them.
    pub const ALL: [(&'static str, EventKind); 5] = [
        ("create", EventKind::Create),
        ("update", EventKind::Update),
        ("delete", EventKind::Delete),
        ("expire", EventKind::Expire),
        ("change", EventKind::Change),
    ];
}
