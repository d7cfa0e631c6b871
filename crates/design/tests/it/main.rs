//! Designs as people write them: findings and plans compared as people see them, and their examples carried out.
//! `UPDATE=1 cargo test` rewrites what is expected.

mod examples;
mod findings;
mod plans;
mod robust;
mod table;
