//! The commands: one file each.

mod serve;

pub(crate) use serve::Serve;
