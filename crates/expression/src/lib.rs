//! The DynamoDB expression language: conditions, filters, key conditions, projections and updates.
//!
//! Path of an expression: text -> [`tree`], parsed once and cached -> [`Substitutions`] fill in the names and values of a
//! request -> [`Condition`], [`Update`] or [`Projection`] -> evaluated against or applied to stored items.
//! The [`legacy`] parameters become the same types, and so can other languages.
//!
//! ```
//! use dynamo::{ApiError, Item, StoredItem, Value};
//! # use monotable_expression as expression;
//! use expression::Substitutions;
//!
//! # fn main() -> Result<(), ApiError> {
//! let key = Item::from([("pk".to_owned(), Value::from("counter"))]);
//! let values = Item::from([(":one".to_owned(), Value::from(1)), (":max".to_owned(), Value::from(9))]);
//!
//! let mut substitutions = Substitutions::new(None, Some(&values))?;
//! let update = substitutions.update("SET hits = if_not_exists(hits, :one) + :one")?;
//! let condition = substitutions.condition("attribute_not_exists(hits) OR hits < :max")?;
//! substitutions.finish()?;
//!
//! let old: Option<StoredItem> = None;
//! assert!(condition.matches(old.as_ref()));
//! let new = update.apply(old.as_ref(), &key)?.expect("SET creates the item");
//! assert_eq!(update.updated_new(&new).map(|item| item.decode()), Some(Item::from([("hits".to_owned(), Value::from(2))])));
//! # Ok(())
//! # }
//! ```
//!
//! Always true: whatever the text, parsing takes bounded time and stack. Evaluating a condition cannot fail.

mod bind;
mod cache;
mod condition;
mod error;
mod evaluate;
mod key_condition;
pub mod legacy;
mod parse;
mod path;
mod project;
mod reserved;
mod substitute;
#[cfg(test)]
mod testing;
mod token;
pub mod tree;
mod update;

pub use bind::check_bounds;
pub use cache::{cached_condition, cached_projection, cached_update};
pub use condition::{Condition, Operand};
pub use error::{ExpressionError, ExpressionKind, Fault};
pub use key_condition::{KeyCondition, KeyConditionError, KeyConditions, KeyRange, KeySchema, KeyTest};
pub use parse::{EXPRESSION_BYTES_MAX, parse_condition, parse_projection, parse_update};
pub use path::{Path, Step};
pub use project::Projection;
pub use substitute::Substitutions;
pub use update::{Action, Assigned, Update, UpdateError};
