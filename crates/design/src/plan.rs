//! Plans: what a pattern asks and what it can answer, what a table is made of. The requests themselves come from `bind`.

mod pattern;
mod table;

pub use pattern::{Parameter, answers, parameters};
pub use table::{create_tables, time_to_live_attribute};
