//! Designs: single-table designs in TOML, read, checked and planned. Pure: text in, model, findings and plans out.
//!
//! Path of a design: [`Source`] -> `source::tree` (TOML with places) -> `read` (what is said) -> `resolve` (what is meant) ->
//! [`check()`] (all findings, and a [`CheckedDesign`] if there is no error) -> `plan` and `bind` (the exact DynamoDB requests) -> [`explain()`].
//!
//! Always true: no text makes this crate panic or run away; a [`CheckedDesign`] refers only to things that exist.

#![allow(clippy::single_match_else, reason = "a match of two arms shows both sides alike")]

mod bind;
mod check;
mod condition;
mod diagnostic;
mod docs;
mod explain;
mod format;
mod keys;
mod model;
mod plan;
mod query;
mod read;
mod resolve;
mod schema;
mod source;
mod start;
mod suggest;
mod template;
mod texts;

pub use bind::{
    Bound, Context, Implied, ImpliedCopy, ItemChange, ItemKey, KeyTexts, Known, Page, PlannedWrite, Problem,
    ProblemKind, Refresh, Share, Write, at, bind_get, bind_new, bind_query, bind_unread, bind_write, coerced,
    consequences, holds, implied, iso_milliseconds, item_key, logical_item, makes_alone, milliseconds_of,
    mismatch, put_at, recognise, refreshes, requests, stored_item, validate, validate_key,
};
pub use check::{CheckedDesign, Report, check, explain_rule, rule, rules};
pub use condition::{At, Comparator, Condition, ConditionError, DEPTH_MAX, Operand, Path, PathStep};
pub use diagnostic::{Family, Finding, Related, Rule, Severity, json, sarif, text};
pub use docs::markdown;
pub use explain::{Sizes, explain};
pub use format::format_design;
pub use model::*;
pub use plan::{Parameter, answers, create_tables, parameters, time_to_live_attribute};
pub use schema::json_schema;
pub use source::{Place, Placed, Source, Span};
pub use start::new_design;
pub use suggest::nearest;
pub use template::{Format, Piece, Slot, Template, TemplateError};
