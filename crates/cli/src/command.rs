//! The commands: one file each. They read arguments, call the crates that do the work and print what they say.

mod backup;
mod check;
mod design;
mod docs;
mod explain;
mod export;
mod fmt;
mod import;
mod new;
mod reactions;
mod restore;
mod run;
mod seed;
mod serve;
mod table;
mod test;
mod verify;

pub(crate) use backup::Backup;
pub(crate) use check::Check;
pub(crate) use design::Design;
pub(crate) use docs::Docs;
pub(crate) use explain::Explain;
pub(crate) use export::Export;
pub(crate) use fmt::Fmt;
pub(crate) use import::Import;
pub(crate) use new::New;
pub(crate) use reactions::Reactions;
pub(crate) use restore::Restore;
pub(crate) use run::Run;
pub(crate) use seed::Seed;
pub(crate) use serve::Serve;
pub(crate) use table::Table;
pub(crate) use test::Test;
pub(crate) use verify::Verify;
