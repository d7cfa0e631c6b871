//! Designs as people write them: findings and plans compared as people see them. `UPDATE=1 cargo test` rewrites what is expected.

mod findings;
mod robust;
