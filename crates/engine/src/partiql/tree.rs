//! Statements with their parameters filled in.

use dynamo::Item;
use expression::{Condition, Path, Update};

use super::error::StatementError;
use super::token::Place;

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// Reads items.
    Select(Select),
    /// Makes an item that was not there.
    Insert(Insert),
    /// Changes an item that is there.
    Update(UpdateItem),
    /// Removes an item.
    Delete(Delete),
    /// Only in a transaction: there is such an item.
    Exists(Select),
}

impl Statement {
    /// What the statement reads or writes.
    pub(crate) fn source(&self) -> &From {
        match self {
            Statement::Select(select) | Statement::Exists(select) => &select.from,
            Statement::Insert(insert) => &insert.into,
            Statement::Update(update) => &update.from,
            Statement::Delete(delete) => &delete.from,
        }
    }

    /// True for a statement that changes nothing and is no part of a transaction that does.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self, Statement::Select(_))
    }

    /// True if the statement wants to see the item that it wrote.
    pub(crate) fn has_returning(&self) -> bool {
        match self {
            Statement::Update(update) => update.returning.is_some(),
            Statement::Delete(delete) => delete.returning.is_some(),
            _ => false,
        }
    }
}

/// A table, or an index of it.
#[derive(Clone, Debug)]
pub(crate) struct From {
    pub(crate) table: String,
    pub(crate) index: Option<String>,
    /// Where the name of the table stands.
    pub(super) place: Place,
}

/// SELECT.
#[derive(Clone, Debug)]
pub(crate) struct Select {
    /// What of each item is answered; everything if there are none.
    pub(super) projection: Vec<Path>,
    pub(super) from: From,
    pub(super) condition: Option<Condition>,
    pub(super) order: Vec<Order>,
    /// What is wrong with the projection; said once the table is known.
    pub(super) fault: Option<StatementError>,
}

/// One attribute of ORDER BY.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(super) name: String,
    pub(super) descends: bool,
}

/// INSERT.
#[derive(Clone, Debug)]
pub(crate) struct Insert {
    pub(super) into: From,
    pub(super) item: Item,
}

/// UPDATE.
#[derive(Clone, Debug)]
pub(crate) struct UpdateItem {
    pub(super) from: From,
    pub(super) update: Update,
    pub(super) condition: Option<Condition>,
    pub(super) returning: Option<Returning>,
}

/// DELETE.
#[derive(Clone, Debug)]
pub(crate) struct Delete {
    pub(super) from: From,
    pub(super) condition: Option<Condition>,
    pub(super) returning: Option<Returning>,
}

/// What a write answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returning {
    AllOld,
    ModifiedOld,
    AllNew,
    ModifiedNew,
}

impl Returning {
    /// As it is written.
    pub(super) fn name(self) -> &'static str {
        match self {
            Returning::AllOld => "ALL OLD",
            Returning::ModifiedOld => "MODIFIED OLD",
            Returning::AllNew => "ALL NEW",
            Returning::ModifiedNew => "MODIFIED NEW",
        }
    }
}
