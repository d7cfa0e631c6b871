//! From a checked design and a caller's values to the exact DynamoDB requests.
//!
//! Entity writes and operations are the same thing here: steps on items. [`bind_write`] carries them out on what is known of the table and says
//! what else it must know first ([`Bound::Read`], [`Bound::Ask`]), or gives the writes: one for each item, with everything that follows from
//! the steps merged in. The caller reads, adds to [`Known`] and calls again; nothing is kept between the calls.
//!
//! Always true: no item is written twice; whatever was read and mattered is in a condition, so a lost race fails instead of writing nonsense;
//! all problems with the caller's values come at once, before anything is written.
//!
//! Path of a write: steps -> changes of items (`steps`) -> consequences of each change (`consequence`) -> merged by item (`write`) -> requests.

mod consequence;
mod item;
mod placeholders;
mod query;
mod steps;
mod time;
mod unread;
mod value;
mod write;

use std::collections::BTreeMap;

use dynamo::Item;

pub use consequence::{Implied, ImpliedCopy, ItemChange, Refresh, Share, consequences, implied, refreshes};
pub(crate) use item::physical_name;
pub use item::{KeyTexts, item_key, logical_item, recognise, stored_item};
pub use placeholders::holds;
pub use query::{Page, bind_get, bind_query};
pub use steps::{Write, bind_write};
pub use time::{iso_milliseconds, milliseconds_of};
pub(crate) use unread::Manner;
pub use unread::{bind_new, bind_unread, makes_alone};
pub use value::{at, coerced, mismatch, put_at, validate, validate_key};
pub(crate) use value::{fill, remove_at};
pub use write::{PlannedWrite, requests};

use crate::model::Type;

/// What comes from outside: variables, the time, new ids.
pub struct Context<'a> {
    /// The variables of the design that are set; others have their defaults.
    pub variables: &'a BTreeMap<String, String>,
    /// Milliseconds since 1970.
    pub now_milliseconds: i64,
    /// Makes the n-th new id of this request. Asked again for the same n, it gives the same id.
    pub new_id: &'a dyn Fn(&Type, usize) -> String,
}

/// An item of a table, by its key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ItemKey {
    /// The table, by its name in DynamoDB.
    pub table: String,
    /// The key.
    pub key: Item,
}

/// What has been read so far.
#[derive(Clone, Debug, Default)]
pub struct Known {
    items: Vec<(ItemKey, Option<Item>)>,
    answers: Vec<(String, Item, Vec<Item>)>,
    /// Every condition is taken to hold: for showing what a write does when it is done.
    assumes: bool,
}

impl Known {
    /// Knows nothing yet, and takes every condition to hold.
    pub(crate) fn assuming() -> Known {
        Known { assumes: true, ..Known::default() }
    }

    /// Adds an item as it is stored, or that there is none.
    pub fn item(&mut self, key: ItemKey, item: Option<Item>) {
        self.items.push((key, item));
    }

    /// Adds the whole answer of a pattern, as logical items.
    pub fn answer(&mut self, pattern: impl Into<String>, parameters: Item, items: Vec<Item>) {
        self.answers.push((pattern.into(), parameters, items));
    }

    #[expect(clippy::option_option, reason = "not known and not there are different answers")]
    pub(crate) fn find(&self, key: &ItemKey) -> Option<Option<&Item>> {
        self.items.iter().find(|(known, _)| known == key).map(|(_, item)| item.as_ref())
    }

    pub(crate) fn find_answer(&self, pattern: &str, parameters: &Item) -> Option<&[Item]> {
        let found = self.answers.iter().find(|(name, given, _)| name == pattern && given == parameters);
        found.map(|(_, _, items)| items.as_slice())
    }
}

/// What came of binding a write.
#[derive(Clone, Debug)]
pub enum Bound {
    /// These items must be read first, consistently.
    Read(Vec<ItemKey>),
    /// This pattern must be asked first, to its end.
    Ask {
        /// The pattern.
        pattern: String,
        /// Its parameters.
        parameters: Item,
    },
    /// The writes, at most one for each item. None if nothing changes.
    Write(Vec<PlannedWrite>),
}

/// Why something cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of problem.
    pub kind: ProblemKind,
    /// The attribute, parameter, entity or step.
    pub name: String,
    /// In the caller's words.
    pub message: String,
}

/// A kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A value is missing, unknown or not what it must be.
    Invalid,
    /// The item is not there.
    NotFound,
    /// The item is there already.
    Exists,
    /// A condition of a step does not hold.
    Condition,
}

impl Problem {
    pub(crate) fn new(kind: ProblemKind, name: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { kind, name: name.into(), message: message.into() }
    }

    pub(crate) fn invalid(name: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Invalid, name, message)
    }
}
