//! Patterns: what may be asked.

use super::attribute::Attribute;
use super::{GivenEntry, PlacedCondition};
use crate::source::{Placed, Span};

/// An access pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its name.
    pub name: Placed<String>,
    /// What it answers.
    pub about: String,
    /// How it is answered.
    pub kind: PatternKind,
    /// Parameters whose types do not follow from the keys.
    pub inputs: Vec<Attribute>,
    /// Which of the items read are answered.
    pub filter: Option<PlacedCondition>,
    /// The order of the answer.
    pub order: Option<Placed<Order>>,
    /// Items in a page when the caller does not say.
    pub limit: Option<Placed<usize>>,
    /// Most items in a page that a caller may ask for.
    pub max_limit: Option<Placed<usize>>,
    /// Whether the answer has every write acknowledged before.
    pub consistent: Option<Placed<bool>>,
    /// The attributes that are answered; empty for all.
    pub select: Vec<Placed<String>>,
    /// The entities that are meant; empty for all that match.
    pub returns: Vec<Placed<String>>,
    /// Where it is declared.
    pub span: Span,
}

/// How a pattern is answered.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// One item by its key, or up to `batch` items by their keys.
    Get {
        /// The entity.
        entity: Placed<String>,
        /// How many keys one request takes; none for a single item.
        batch: Option<Placed<usize>>,
    },
    /// One item collection, or a part of it.
    Query {
        /// The table.
        table: Placed<String>,
        /// The index; none for the table itself.
        index: Option<Placed<String>>,
        /// The key condition.
        condition: PlacedCondition,
    },
    /// Several patterns as one list.
    Merge {
        /// The patterns.
        patterns: Vec<Placed<String>>,
        /// The attribute that orders the list.
        by: Placed<String>,
        /// Items of one entity that are not listed but change others.
        apply: Option<Apply>,
    },
    /// Several patterns, later ones with what earlier ones found.
    Collect(Vec<Collected>),
}

/// Items of one entity that complete items of another.
#[derive(Clone, Debug)]
pub struct Apply {
    /// The entity that is applied.
    pub entity: Placed<String>,
    /// The entity that it is applied to.
    pub to: Placed<String>,
    /// The attribute that is equal in both.
    pub on: Placed<String>,
    /// The attributes that are taken.
    pub take: Vec<Placed<String>>,
}

/// One part of a collection.
#[derive(Clone, Debug)]
pub struct Collected {
    /// Its name in the answer.
    pub name: Placed<String>,
    /// The pattern that finds it.
    pub pattern: Placed<String>,
    /// Parameters from earlier parts: `{batch.batchId}`. A part that has many items repeats this one.
    pub with: Vec<GivenEntry>,
    /// Most items.
    pub limit: Option<Placed<usize>>,
}

/// The order of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By sort key, smallest first.
    Ascending,
    /// By sort key, largest first.
    Descending,
}
