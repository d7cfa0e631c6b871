//! Backups of a whole database, in a directory or an object store, and back.
//!
//! ```text
//! index                     which backups there are, with the checksum of each manifest
//! keys                      the wrapped keys of a sealed backup; there is none beside a plain one
//! backups/ID                a manifest: the chunks of one backup, in order
//! chunks/ab/HASH            entries of the database, named after what is in them
//! log/DATABASE/head         where the log of commits ends
//! log/DATABASE/FIRST-LAST   a part of the log: commits by position
//! ```
//!
//! Always true:
//! - What is written last makes what was written before count: chunks, then the manifest, then the index; parts of the log, then
//!   its head. So whatever is interrupted leaves nothing that looks whole and is not.
//! - Every object says what it is, under which name, with a checksum (or seal) over both. So an object that was altered, cut,
//!   removed or exchanged is noticed by whoever needs it.
//! - A chunk is named after its content, so that a backup uploads only what its destination does not have.
//! - In a sealed backup no object and no name tells anything about the database but sizes and times.
//!
//! Path of a backup: `Engine::freeze` -> [`create()`] -> `chunk` -> `vault` (compress, name, check, seal) -> `objects`.
//! Path of the log: `Engine::freeze` -> [`Shipper`] -> `segment` -> `vault` -> `objects`.
//! Path back: [`restore()`] -> `plan` -> chunks, then parts of the log -> `engine::Loading`.

mod chunk;
mod create;
mod destination;
mod error;
mod identity;
mod index;
mod lanes;
mod log;
mod manifest;
mod objects;
mod plan;
mod prune;
mod restore;
mod segment;
mod ship;
#[cfg(test)]
mod tests;
mod time;
mod vault;
mod verify;

pub use create::{Create, Created, create};
pub use destination::{Address, Destination};
pub use error::BackupError;
pub use identity::fresh_name;
pub use index::Summary;
pub use prune::{Keep, Pruned, prune};
pub use restore::{Restore, Restored, restore, restore_encrypted};
pub use ship::{ShipSettings, ShipStatus, Shipper};
pub use time::{parse_time, time_text};
pub use verify::{Finding, Verified, verify};

/// How far a long work is: things done, of how many if that is known.
pub type Progress<'a> = &'a (dyn Fn(u64, Option<u64>) + Sync);
