//! `monotable restore`: a new database from a backup.

use std::path::{Path, PathBuf};

use backup::{Restored, parse_time, time_text};
use clap::Args;

use crate::backup_place::{BackupPlace, explain};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress;

/// Makes a new database from a backup: the newest, or as it was at a moment.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Restore {
    #[command(flatten)]
    place: BackupPlace,
    /// The directory of the new database. A restore that was interrupted is begun again in it; a database is never overwritten.
    #[arg(long, value_name = "DIR", env = "MONOTABLE_DATA")]
    data: PathBuf,
    /// The moment, in UTC: everything that was committed up to the end of this second.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    at: Option<i64>,
    /// The backup to begin with; without --at, exactly that backup.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  monotable restore /mnt/backups --data ./restored
  monotable restore s3://bucket/monotable --data ./restored --at 2026-11-16T05:00:00Z

A restore that was interrupted leaves no database: run it again.";

impl Restore {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let destination = self.place.open()?;
        let bar = progress::bar(Some(0), "entries");
        let watch = |done: u64, of: Option<u64>| {
            bar.set_length(of.unwrap_or_default());
            bar.set_position(done);
        };
        let work =
            backup::Restore { directory: &self.data, id: self.id.as_deref(), at_milliseconds: self.at };
        let outcome = backup::restore(&destination, work, &watch);
        bar.finish_and_clear();
        let restored = outcome.map_err(explain)?;
        match self.format {
            Format::Json => output::line(&as_json(&restored)),
            Format::Text => {
                output::line(&as_text(&restored, &self.data))?;
                if self.place.master_key()?.is_some() {
                    let directory = self.data.display();
                    output::line(&format!(
                        "The restored database is not encrypted; `monotable key encrypt --data {directory}` does that."
                    ))?;
                }
                let gap = "the log has a gap there: what was committed after it is not in the backup";
                if restored.ends_at_gap { output::line(gap) } else { Ok(()) }
            }
        }
    }
}

fn as_text(restored: &Restored, directory: &Path) -> String {
    let (directory, moment) = (directory.display(), time_text(restored.time_milliseconds));
    let entries = output::count(restored.entries, "entry");
    let log = match restored.commits {
        0 => String::new(),
        commits => format!(", and {} of the log after them", output::count(commits, "commit")),
    };
    format!("restored {entries} into {directory}{log}: the database at {moment}")
}

fn as_json(restored: &Restored) -> String {
    serde_json::json!({
        "id": restored.id,
        "time": time_text(restored.time_milliseconds),
        "commit": restored.commit,
        "entries": restored.entries,
        "commits": restored.commits,
        "endsAtGap": restored.ends_at_gap,
    })
    .to_string()
}
