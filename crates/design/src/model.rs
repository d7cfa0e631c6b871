//! The model: a design as what it says, every name with its place.
//!
//! Always true: what came out of `crate::check` without an error refers only to things that exist, and its keys, copies and
//! counters are as the checker proved them. A model that has errors is never handed out.

mod attribute;
mod entity;
mod example;
mod given;
mod operation;
mod pattern;
mod table;

pub use attribute::{Attribute, From, MapType, Precision, TimeRole, Type};
pub use entity::{Choice, Copy, Counter, Entity, EntityKey, KeyPart, Tally};
pub use example::{Example, ExampleKind, ExpectedItem, Seed};
pub use given::{Given, GivenEntry};
pub use operation::{Action, Each, EachOver, Event, EventKind, Input, Operation, Reaction, Step};
pub use pattern::{Apply, Collected, Order, Pattern, PatternKind};
pub use table::{Billing, Index, KeyAttribute, Projection, StreamView, Table};

pub(crate) use attribute::shown;

use std::collections::BTreeMap;

use crate::condition::Condition;
use crate::source::{Placed, Span};

/// A condition with its text and place.
#[derive(Clone, Debug)]
pub struct PlacedCondition {
    /// The condition.
    pub condition: Condition,
    /// As it is written.
    pub text: String,
    /// Where the text stands.
    pub span: Span,
}

/// A place where a design is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The embedded database.
    Embedded,
    /// Amazon DynamoDB.
    DynamoDb,
    /// ScyllaDB Alternator.
    Alternator,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 3] = [Target::Embedded, Target::DynamoDb, Target::Alternator];

    /// As it is written in a design.
    pub fn name(self) -> &'static str {
        match self {
            Target::Embedded => "embedded",
            Target::DynamoDb => "dynamodb",
            Target::Alternator => "alternator",
        }
    }
}

/// A finding that the design accepts, with the reason.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// The code of the rule.
    pub code: Placed<String>,
    /// Why it is accepted.
    pub reason: String,
    /// The element it is accepted in.
    pub within: Span,
}

/// A variable of the design, such as the stage in a table's name.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Placed<String>,
    /// Its value when none is given.
    pub default: String,
}

/// A whole design.
#[derive(Clone, Debug, Default)]
pub struct Design {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// Variables and their defaults.
    pub variables: Vec<Variable>,
    /// Where it is to run.
    pub runs_on: Vec<Placed<Target>>,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its indexes.
    pub indexes: Vec<Index>,
    /// Its entities.
    pub entities: Vec<Entity>,
    /// Its access patterns.
    pub patterns: Vec<Pattern>,
    /// Its operations.
    pub operations: Vec<Operation>,
    /// Its reactions.
    pub reactions: Vec<Reaction>,
    /// Items to start from.
    pub seeds: Vec<Seed>,
    /// What must hold.
    pub examples: Vec<Example>,
    /// Findings that are accepted.
    pub allowed: Vec<Allowed>,
    /// For each query pattern the entities that can be in its answer, by their number. Filled when the design is checked.
    pub(crate) answers: BTreeMap<String, Vec<usize>>,
    /// The parameters of each pattern. Filled when the design is checked.
    pub(crate) parameters: BTreeMap<String, Vec<crate::plan::Parameter>>,
    /// For each entity the attributes on which keys, copies and counters depend. Filled when the design is checked.
    pub(crate) depended: BTreeMap<String, Vec<String>>,
    /// For each entity what is known of its writes before any values are. Filled when the design is checked.
    pub(crate) manners: Vec<crate::bind::Manner>,
    /// The characters that separate slots in the design's templates; a `key` contains none of them.
    pub delimiters: String,
}

impl Design {
    /// The table with this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name.value == name)
    }

    /// The index with this name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name.value == name)
    }

    /// The entity with this name.
    pub fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.name.value == name)
    }

    /// What is known of an entity's writes.
    pub(crate) fn manner(&self, entity: &Entity) -> Option<&crate::bind::Manner> {
        let number = self.entities.iter().position(|own| own.name.value == entity.name.value)?;
        self.manners.get(number)
    }

    /// The pattern with this name.
    pub fn pattern(&self, name: &str) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| pattern.name.value == name)
    }

    /// The parameters of a pattern, in the order in which they are first named. Known once the design is checked.
    pub fn parameters(&self, pattern: &str) -> &[crate::plan::Parameter] {
        self.parameters.get(pattern).map(Vec::as_slice).unwrap_or_default()
    }

    /// The operation with this name.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.name.value == name)
    }

    /// The entities of a table.
    pub fn entities_of<'a, 't>(&'a self, table: &'t str) -> impl Iterator<Item = &'a Entity> + use<'a, 't> {
        self.entities.iter().filter(move |entity| entity.table == table)
    }

    /// The copies of an entity.
    pub fn copies_of<'a, 't>(&'a self, entity: &'t str) -> impl Iterator<Item = &'a Entity> + use<'a, 't> {
        self.entities
            .iter()
            .filter(move |copy| copy.copy.as_ref().is_some_and(|of| of.source.value == entity))
    }
}
