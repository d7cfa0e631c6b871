//! What callers give and get: items as their entities see them, pages, parts, outcomes of writes.

use dynamo::{Item, Number};

/// An item as its entity sees it: attributes and constants, without secrets and without keys of indexes.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// The name of its entity.
    pub name: String,
    /// Its attributes.
    pub item: Item,
    /// Its version, if the entity has one.
    pub version: Option<Number>,
}

/// Which page of an answer is wanted.
#[derive(Clone, Debug, Default)]
pub struct PageRequest {
    /// How many items at most; the pattern's own limit if none is given.
    pub limit: Option<u32>,
    /// The cursor of the page before.
    pub cursor: Option<String>,
}

/// The answer of a pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The items, in order; empty for a collection.
    pub items: Vec<Entity>,
    /// The parts of a collection, in the order of the design; empty for other patterns.
    pub parts: Vec<Part>,
    /// Where the next page begins; none if there is nothing more.
    pub cursor: Option<String>,
}

/// One part of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name in the design.
    pub name: String,
    /// Its items.
    pub items: Vec<Entity>,
}

/// How many items a page of a pattern has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// When the caller does not say.
    pub default: u32,
    /// At most.
    pub max: u32,
}

/// Attributes that an update sets and removes; dots reach into maps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Attributes with their new values.
    pub set: Item,
    /// Attributes that are taken away.
    pub remove: Vec<String>,
}

/// How a write is to be done.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Done once, however often it is sent: a repeat gets the outcome of the first.
    pub idempotency_key: Option<String>,
    /// The version that the caller has seen; another one refuses the write.
    pub expected_version: Option<Number>,
}

/// What a write did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The items that its steps made or changed, as they are afterwards. What is deleted, copies and counters are not among them.
    pub items: Vec<Entity>,
    /// True if this idempotency key had been used before: nothing was done now, and the outcome is that of the first time.
    pub repeated: bool,
}

/// What came of preparing a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOutcome {
    /// Its name in DynamoDB.
    pub table: String,
    /// What was done.
    pub change: TableChange,
}

/// What was done to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableChange {
    /// It was there and as the design has it.
    None,
    /// It was made.
    Created,
    /// It was there, and these were added: indexes, a stream, expiry.
    Extended(Vec<String>),
}
