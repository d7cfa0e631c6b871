//! `monotable design`: the design format, and the designs that are built in.

use clap::{Args, Subcommand};

use crate::design_file::BUILT_IN;
use crate::failure::Failure;
use crate::{design_file, output};

/// The design format, and the designs that come with the program.
#[derive(Args)]
pub(crate) struct Design {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Prints the JSON Schema of design files, so that editors complete and check them.
    #[command(
        after_help = "Example:\n  monotable design schema > design.schema.json\n\nThen, first in a design:\n  #:schema ./design.schema.json"
    )]
    Schema,
    /// Lists the designs that are built in.
    List,
    /// Prints a design that is built in, to read or to start from.
    #[command(after_help = "Example:\n  monotable design show kefir > mine.toml")]
    Show {
        /// Its name.
        name: String,
    },
}

impl Design {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::Schema => output::text(&design::json_schema()),
            Action::List => BUILT_IN.iter().try_for_each(|(name, _)| {
                output::line(&format!("{name:<12}  {}", design_file::checked(name)?.about))
            }),
            Action::Show { name } => output::text(design_file::find(&name)?.text()),
        }
    }
}
