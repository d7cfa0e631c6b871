//! `monotable fmt`: one way to write a design.

use clap::Args;

use crate::failure::Failure;
use crate::{design_file, output};

/// Formats designs in place: aligned values, one empty line between elements, comments kept.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fmt {
    /// The files; `-` formats stdin to stdout.
    #[arg(required = true)]
    files: Vec<String>,
    /// Change nothing; fail if a file is not formatted, and name it.
    #[arg(long)]
    check: bool,
}

const EXAMPLES: &str = "\
Examples:
  monotable fmt shop.toml
  monotable fmt designs/*.toml --check      in CI";

impl Fmt {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut unformatted = 0;
        for path in &self.files {
            let source = design_file::read(path)?;
            refuse_what_is_not_toml(&source)?;
            let formatted = design::format_design(source.text());
            match (path.as_str(), self.check) {
                ("-", false) => output::text(&formatted)?,
                _ if formatted == source.text() => {}
                (_, true) => {
                    unformatted += 1;
                    output::line(source.name())?;
                }
                (_, false) => std::fs::write(path, formatted)
                    .map_err(|error| Failure::new(format!("cannot write {path}: {error}")))?,
            }
        }
        match unformatted {
            0 => Ok(()),
            _ => Err(Failure::with_help("not formatted", "`monotable fmt` without --check formats them")),
        }
    }
}

/// A file that cannot be read cannot be formatted either; it is left as it is.
fn refuse_what_is_not_toml(source: &design::Source) -> Result<(), Failure> {
    let findings = design::check(source).findings;
    let Some(finding) = findings.iter().find(|finding| finding.rule.code == NOT_TOML) else { return Ok(()) };
    eprint!("{}", crate::colour::findings(&design::text(source, std::slice::from_ref(finding))));
    Err(Failure::new(format!("{} is not TOML and was left as it is", source.name())))
}

/// The code of the rule that a file is TOML at all.
const NOT_TOML: &str = "D001";
