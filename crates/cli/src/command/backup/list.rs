//! `monotable backup list`.

use backup::{Summary, time_text};
use clap::Args;

use crate::backup_place::{BackupPlace, explain};
use crate::failure::Failure;
use crate::output::{self, Format};

/// Lists backups, oldest first.
#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    place: BackupPlace,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl List {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let backups = self.place.open()?.backups().map_err(explain)?;
        match self.format {
            Format::Json => {
                let backups: Vec<_> = backups.iter().map(as_json).collect();
                output::line(&serde_json::json!({ "backups": backups }).to_string())
            }
            Format::Text => backups.iter().try_for_each(|summary| output::line(&as_text(summary))),
        }
    }
}

fn as_text(summary: &Summary) -> String {
    let log = if summary.is_continued { ", and the log from there on" } else { "" };
    let (size, time) = (output::bytes(summary.bytes), time_text(summary.time_milliseconds));
    format!("{}  {time}  {}, {size}{log}", summary.id, output::count(summary.entries, "entry"))
}

fn as_json(summary: &Summary) -> serde_json::Value {
    serde_json::json!({
        "id": summary.id,
        "database": summary.database,
        "time": time_text(summary.time_milliseconds),
        "commit": summary.commit,
        "entries": summary.entries,
        "bytes": summary.bytes,
        "isContinued": summary.is_continued,
    })
}
