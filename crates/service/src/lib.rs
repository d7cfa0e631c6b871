//! A checked design that runs.
//!
//! Path of a read: [`Service::ask`] -> `ask` (streams of requests from `design::bind_query`) -> [`Backend`] -> `shape` (items as their
//! entities see them) -> [`Answer`] with a signed cursor.
//! Path of a write: [`Service::create`] and the like -> `write` (`design::bind_write` until it knows enough) -> [`Backend`] -> tried again
//! from fresh reads when others were faster -> [`Written`].
//!
//! Always true: what a design implies (index keys, copies, uniqueness, counters) is written in the same transaction as what
//! implies it; a refused write has changed nothing; secrets are never answered.

#![allow(clippy::single_match_else, reason = "a match of two arms shows both sides alike")]

mod answer;
mod ask;
mod backend;
mod backoff;
mod cursor;
mod example;
mod export;
mod ids;
mod json;
mod openapi;
mod options;
mod prepare;
mod reaction;
mod read;
mod refusal;
mod rest;
mod scan;
mod seed;
mod service;
mod shape;
mod state;
mod verify;
mod write;

pub use answer::{
    Answer, Changes, Entity, Limits, PageRequest, Part, TableChange, TableOutcome, WriteOptions, Written,
};
pub use backend::{Backend, Capabilities, Embedded, Prefixed, Remote, RemoteSettings, Running};
pub use example::{ExampleOutcome, test_examples};
pub use export::Exported;
pub use options::{Options, Random, SystemBytes};
pub use reaction::{
    DeadLetter, HttpPoster, Posted, Poster, Posting, ReactionStatus, Reactions, ShardStatus, WaitingEvent,
};
pub use refusal::Refusal;
pub use rest::{Rest, answer_json, items_json, value_from_argument, value_json};
pub use seed::Seeded;
pub use service::Service;
pub use verify::{Finding, FindingKind, Verification};
