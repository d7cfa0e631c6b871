//! `monotable docs`: a design as the document that a team would otherwise write by hand.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::{design_file, output};

/// Writes a design as Markdown, with tables and a Mermaid diagram of its entities.
#[derive(Args)]
#[command(after_help = "Examples:\n  monotable docs kefir\n  monotable docs shop.toml --output shop.md")]
pub(crate) struct Docs {
    /// A design file, or the name of a built-in design.
    design: String,
    /// The file to write; without it, stdout.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Docs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let text = design::markdown(&design_file::checked(&self.design)?);
        let Some(path) = self.output else { return output::text(&text) };
        std::fs::write(&path, text)
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
        output::line(&format!("wrote {}", path.display()))
    }
}
