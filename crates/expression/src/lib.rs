//! The DynamoDB expression language: conditions, filters, key conditions, projections and updates.
//!
//! Path of an expression: text -> [`tree`], parsed once and cached -> [`Substitutions`] fill in the names and values of a
//! request -> [`Condition`], [`Update`] or [`Projection`] -> evaluated against or applied to stored items.
//! The [`legacy`] parameters become the same types, and so can other languages.
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

pub use cache::{cached_condition, cached_projection, cached_update};
pub use condition::{Condition, Operand};
pub use error::{ExpressionError, ExpressionKind, Fault};
pub use key_condition::{KeyCondition, KeyConditionError, KeyConditions, KeyRange, KeySchema, KeyTest};
pub use parse::{EXPRESSION_BYTES_MAX, parse_condition, parse_projection, parse_update};
pub use path::{Path, Step};
pub use project::Projection;
pub use substitute::Substitutions;
pub use update::{Action, Assigned, Update, UpdateError};
