//! `monotable check`: every mistake in a design, before it runs.

use clap::{Args, ValueEnum};
use design::{Finding, Severity, Source};

use crate::failure::Failure;
use crate::{colour, design_file, output};

/// Checks designs: all findings at once, each with its place and a way out.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The design files; `-` is stdin. The name of a built-in design will do as well.
    #[arg(required_unless_present = "explain", value_name = "FILE")]
    designs: Vec<String>,
    /// How findings are printed: for people, for scripts, or for code hosts.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Fail on warnings too.
    #[arg(long, value_enum)]
    deny: Option<Deny>,
    /// What a finding is about, with an example, such as D020.
    #[arg(long, value_name = "CODE", conflicts_with = "designs")]
    explain: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Sentences, with the line underlined.
    Text,
    /// One object with all findings.
    Json,
    /// SARIF 2.1.0.
    Sarif,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

const EXAMPLES: &str = "\
Examples:
  monotable check shop.toml
  monotable check designs/*.toml --deny warnings     in CI
  monotable check shop.toml --format sarif           for code hosts
  monotable check --explain D020                     teaches a rule

Ends with 0 if nothing was found that fails, 1 if something was, 2 if a file could not be read.
A design accepts a warning with a reason: allow = { D043 = \"few writes a day\" }";

impl Check {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(code) = &self.explain {
            return explain(code);
        }
        let mut unreadable = Vec::new();
        let mut checked = Vec::new();
        for given in &self.designs {
            match design_file::find(given) {
                Ok(source) => checked.push((design::check(&source).findings, source)),
                Err(failure) => unreadable.push(failure),
            }
        }
        let files =
            checked.iter().map(|(findings, source)| (source, findings.as_slice())).collect::<Vec<_>>();
        output::text(&self.shown(&files))?;
        for failure in &unreadable {
            eprintln!("{}", failure.text());
        }
        self.verdict(&files, unreadable.len())
    }

    fn shown(&self, files: &[(&Source, &[Finding])]) -> String {
        match self.format {
            Form::Json => design::json(files),
            Form::Sarif => design::sarif(files),
            Form::Text => files
                .iter()
                .map(|(source, findings)| match findings {
                    [] => format!("{}: no findings\n", source.name()),
                    found => colour::findings(&design::text(source, found)),
                })
                .collect(),
        }
    }

    fn verdict(&self, files: &[(&Source, &[Finding])], unreadable: usize) -> Result<(), Failure> {
        let count = |severity: Severity| {
            files.iter().flat_map(|(_, found)| *found).filter(|found| found.severity() == severity).count()
        };
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        if unreadable > 0 {
            return Err(
                Failure::new(format!("{} could not be checked", counted(unreadable, "file"))).into_misuse()
            );
        }
        if errors == 0 && (warnings == 0 || self.deny.is_none()) {
            return Ok(());
        }
        Err(Failure::with_help(
            format!("{} and {}", counted(errors, "error"), counted(warnings, "warning")),
            "`monotable check --explain CODE` says more about a finding",
        ))
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn explain(code: &str) -> Result<(), Failure> {
    match design::rule(code) {
        Some(rule) => output::text(&design::explain_rule(rule)),
        None => {
            let codes = design::rules().map(|rule| rule.code).collect::<Vec<_>>();
            Err(Failure::with_help(
                format!("there is no rule {code}"),
                format!("the rules are {} to {}", codes.first().unwrap_or(&""), codes.last().unwrap_or(&"")),
            )
            .into_misuse())
        }
    }
}
