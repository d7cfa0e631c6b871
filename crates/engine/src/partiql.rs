//! PartiQL: SELECT, INSERT, UPDATE and DELETE as readings and writes of the engine.
//!
//! Path of a statement: text -> `token` -> `parse`, which fills in the parameters as it goes -> `tree` -> `select` finds the ranges of
//! keys that a SELECT reads, `write` the one item that any other statement writes. Conditions and updates are those of expressions.
//!
//! Always true: whatever the text, parsing takes bounded time and stack. A statement that was parsed has used each parameter once.

mod error;
mod key;
mod keyword;
mod next_token;
mod parse;
mod select;
mod token;
mod tree;
mod write;

pub(crate) use error::StatementError;
pub(crate) use next_token::NextToken;
pub(crate) use parse::parse;
pub(crate) use select::{Selected, Selection};
pub(crate) use tree::Statement;
pub(crate) use write::{NotWritten, StatementWrite};

#[cfg(test)]
mod tests;
