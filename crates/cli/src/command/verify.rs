//! `monotable verify`: what follows from items, compared with what is there.

use std::fmt::Write as _;

use clap::Args;
use service::Verification;

use crate::command::run::refused;
use crate::design_place::{DesignPlace, Work};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress;

/// Compares every index key, copy, uniqueness item, counter and denormalised attribute with what the items imply.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Verify {
    /// A design file, or the name of a built-in design.
    design: String,
    /// Put right what is wrong.
    #[arg(long)]
    repair: bool,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    place: DesignPlace,
}

const EXAMPLES: &str = "\
Examples:
  monotable verify kefir
  monotable verify shop.toml --repair

Verify a table that rests: writes that go on meanwhile look like differences.
Ends with 0 if all is well or was put right, 1 if something is wrong.";

impl Verify {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let work = Work::start()?;
        let service = self.place.open(&self.design, &work)?;
        let bar = progress::bar(None, "items");
        let mut progress = |done: u64| bar.set_position(done);
        let outcome = if self.repair {
            work.wait(service.repair(&mut progress))
        } else {
            work.wait(service.verify(&mut progress))
        };
        bar.finish_and_clear();
        let found = outcome.map_err(refused)?;
        match self.format {
            Format::Json => output::line(&as_json(&found))?,
            Format::Text => output::text(&as_text(&found))?,
        }
        let left = (found.findings.len() as u64).saturating_sub(found.repaired);
        match (left, self.repair) {
            (0, _) => Ok(()),
            (left, true) => Err(Failure::new(format!("{left} could not be put right"))),
            (left, false) => Err(Failure::with_help(
                format!("{left} of {} is not what the items imply", self.design),
                "`--repair` puts it right",
            )),
        }
    }
}

fn as_text(found: &Verification) -> String {
    let mut text = String::new();
    for finding in &found.findings {
        let key = service::value_json(&dynamo::Value::M(finding.key.key.clone()));
        let _ = writeln!(text, "{} {key} in {}: {}", finding.entity, finding.key.table, finding.message);
    }
    let repaired = if found.repaired > 0 { format!(", {} put right", found.repaired) } else { String::new() };
    let _ = writeln!(text, "{} items, {} findings{repaired}", found.items, found.findings.len());
    text
}

fn as_json(found: &Verification) -> String {
    let findings = found.findings.iter().map(|finding| {
        serde_json::json!({
            "kind": format!("{:?}", finding.kind),
            "entity": finding.entity,
            "table": finding.key.table,
            "key": finding.key.key.iter().map(|(name, value)| {
                (name.clone(), serde_json::from_str(&service::value_json(value)).unwrap_or_default())
            }).collect::<serde_json::Map<String, serde_json::Value>>(),
            "message": finding.message,
        })
    });
    serde_json::json!({
        "items": found.items,
        "repaired": found.repaired,
        "findings": findings.collect::<Vec<_>>(),
    })
    .to_string()
}
