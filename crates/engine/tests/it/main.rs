//! The engine as a whole: against a reference, through crashes and faults, and with files of older versions.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::pedantic, clippy::explicit_auto_deref, reason = "tests read best as they are told")]

mod cost;
mod crash;
mod design;
mod encrypted;
#[cfg(target_os = "linux")]
mod faults;
mod history;
mod model;
mod old_files;
mod random;
mod requests;
mod submit;
mod verify;
