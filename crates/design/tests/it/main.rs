//! Designs as people write them: findings and plans compared as people see them, and their examples carried out.
//! `UPDATE=1 cargo test` rewrites what is expected.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod examples;
mod findings;
mod plans;
mod robust;
mod table;
