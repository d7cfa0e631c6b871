//! Backups as a whole: made, continued, damaged, interrupted and restored.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::pedantic, reason = "tests read best as they are told")]

mod bench;
mod canaries;
mod child;
mod damage;
mod kills;
mod moments;
#[expect(dead_code, reason = "the tests of the engine use more of it")]
#[path = "../../../engine/tests/it/random.rs"]
mod random;
mod round_trip;
mod shipping;
