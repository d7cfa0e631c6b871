//! The commands: one file each. They read arguments, call the crates that do the work and print what they say.

mod export;
mod import;
mod serve;
mod table;

pub(crate) use export::Export;
pub(crate) use import::Import;
pub(crate) use serve::Serve;
pub(crate) use table::Table;
