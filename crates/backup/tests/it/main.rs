//! Backups as a whole: made, continued, damaged, interrupted and restored.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::pedantic, reason = "tests read best as they are told")]

mod bench;
mod damage;
mod kills;
mod moments;
mod random;
mod round_trip;
mod shipping;
