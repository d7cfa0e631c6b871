//! `monotable backup verify`.

use std::fmt::Write as _;

use backup::{Verified, time_text};
use clap::Args;

use crate::backup_place::{BackupPlace, explain};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress;

/// Reads everything that a restore would read, and says what is damaged. Ends with 0 if all is well, 1 if something is damaged.
#[derive(Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    place: BackupPlace,
    /// Only this backup; without it, all.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Verify {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let destination = self.place.open()?;
        let bar = progress::bar(Some(0), "chunks");
        let watch = |done: u64, of: Option<u64>| {
            bar.set_length(of.unwrap_or_default());
            bar.set_position(done);
        };
        let outcome = backup::verify(&destination, self.id.as_deref(), &watch);
        bar.finish_and_clear();
        let verified = outcome.map_err(explain)?;
        match self.format {
            Format::Json => output::line(&as_json(&verified))?,
            Format::Text => output::text(&as_text(&verified))?,
        }
        if verified.is_good() {
            return Ok(());
        }
        Err(Failure::with_help(
            format!("the backup in {} is damaged", self.place.text()),
            "`monotable backup DEST --data DIR --full` makes a whole one",
        ))
    }
}

fn as_text(verified: &Verified) -> String {
    let mut text = String::new();
    for finding in &verified.findings {
        let _ = writeln!(text, "{} {}", finding.name, finding.detail);
    }
    let [backups, chunks, entries, parts, commits] = [
        (verified.backups, "backup"),
        (verified.chunks, "chunk"),
        (verified.entries, "entry"),
        (verified.parts, "part"),
        (verified.commits, "commit"),
    ]
    .map(|(count, of)| output::count(count, of));
    let _ = writeln!(text, "read {backups}: {chunks} with {entries}");
    if let Some(until) = verified.log_until_milliseconds {
        let _ = writeln!(text, "read the log: {parts} with {commits}, up to {}", time_text(until));
    }
    if verified.is_good() {
        text.push_str("all is well\n");
    }
    text
}

fn as_json(verified: &Verified) -> String {
    let findings = verified
        .findings
        .iter()
        .map(|finding| serde_json::json!({ "name": finding.name, "detail": finding.detail }));
    serde_json::json!({
        "isGood": verified.is_good(),
        "backups": verified.backups,
        "chunks": verified.chunks,
        "entries": verified.entries,
        "parts": verified.parts,
        "commits": verified.commits,
        "logUntil": verified.log_until_milliseconds.map(time_text),
        "findings": findings.collect::<Vec<_>>(),
    })
    .to_string()
}
