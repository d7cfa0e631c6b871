//! Items to start from, and examples: what must hold.

use super::GivenEntry;
use crate::source::{Placed, Span};

/// An item to start from.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Its entity.
    pub entity: Placed<String>,
    /// Its attributes.
    pub attributes: Vec<GivenEntry>,
    /// Where it is declared.
    pub span: Span,
}

/// Something that must hold. It starts from the seed data and the items given.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its name.
    pub name: Placed<String>,
    /// What it shows.
    pub about: String,
    /// Items beside the seed data.
    pub given: Vec<Seed>,
    /// What is asked or done.
    pub kind: ExampleKind,
    /// Its parameters.
    pub with: Vec<GivenEntry>,
    /// The time at which it happens.
    pub now: Option<Placed<String>>,
    /// The items answered, in order, each with the attributes that matter. For a collection, by part.
    pub answer: Option<Vec<ExpectedItem>>,
    /// The step or rule that refuses it, in the words of the answer.
    pub fails: Option<Placed<String>>,
    /// Items that are there afterwards.
    pub then: Vec<Seed>,
    /// Items that are not there afterwards.
    pub gone: Vec<Seed>,
    /// Where it is declared.
    pub span: Span,
}

/// An item of an answer.
#[derive(Clone, Debug)]
pub struct ExpectedItem {
    /// The part of a collection it is in; none otherwise.
    pub part: Option<Placed<String>>,
    /// The attributes that matter.
    pub attributes: Vec<GivenEntry>,
    /// Where it is written.
    pub span: Span,
}

/// What an example asks or does.
#[derive(Clone, Debug)]
pub enum ExampleKind {
    /// Asks a pattern.
    Pattern(Placed<String>),
    /// Does an operation.
    Operation(Placed<String>),
    /// Creates, updates or deletes an entity.
    Write(super::Action, Placed<String>),
}
