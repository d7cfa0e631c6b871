//! The commands: one file each. They read arguments, call the crates that do the work and print what they say.

mod check;
mod design;
mod docs;
mod explain;
mod export;
mod fmt;
mod import;
mod new;
mod serve;
mod table;

pub(crate) use check::Check;
pub(crate) use design::Design;
pub(crate) use docs::Docs;
pub(crate) use explain::Explain;
pub(crate) use export::Export;
pub(crate) use fmt::Fmt;
pub(crate) use import::Import;
pub(crate) use new::New;
pub(crate) use serve::Serve;
pub(crate) use table::Table;
