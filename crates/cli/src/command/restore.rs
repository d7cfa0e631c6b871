//! `monotable restore`: a new database from a backup.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use backup::{Restored, parse_time, time_text};
use clap::Args;
use seal::MasterKey;

use crate::backup_place::{BackupPlace, explain};
use crate::failure::Failure;
use crate::keys;
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
    #[command(flatten)]
    into: NewDatabase,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How the new database is encrypted.
#[derive(Args)]
#[group(multiple = false)]
struct NewDatabase {
    /// The file of the master key for the new database; without it, the key that opens the backup.
    #[arg(long, value_name = "FILE")]
    new_key_file: Option<PathBuf>,
    /// The key in AWS KMS that is the master key of the new database.
    #[arg(long, value_name = "ID")]
    new_kms_key_id: Option<String>,
    /// Make a database that is not encrypted, though the backup is sealed.
    #[arg(long)]
    plain: bool,
}

impl NewDatabase {
    /// The master key of the new database, if it is to have one.
    fn key(&self, of_backup: Option<Arc<dyn MasterKey>>) -> Result<Option<Arc<dyn MasterKey>>, Failure> {
        match (&self.new_key_file, &self.new_kms_key_id) {
            (Some(path), _) => keys::from_file(path).map(Some),
            (None, Some(id)) => keys::kms(id, None).map(Some),
            (None, None) => Ok(of_backup.filter(|_| !self.plain)),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  monotable restore /mnt/backups --data ./restored
  monotable restore s3://bucket/monotable --data ./restored --at 2026-11-16T05:00:00Z
  monotable restore /mnt/sealed --data ./restored --key-file ./key            encrypted with the same key
  monotable restore /mnt/sealed --data ./restored --key-file ./key --new-key-file ./key2

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
        let key = self.into.key(self.place.master_key()?)?;
        let outcome = match &key {
            Some(key) => backup::restore_encrypted(&destination, work, &**key, &watch),
            None => backup::restore(&destination, work, &watch),
        };
        bar.finish_and_clear();
        let restored = outcome.map_err(explain)?;
        match self.format {
            Format::Json => output::line(&as_json(&restored)),
            Format::Text => {
                output::line(&as_text(&restored, &self.data))?;
                match &key {
                    Some(key) => output::line(&format!("It is encrypted with the master key {}.", key.id()))?,
                    None if self.into.plain => output::line("It is not encrypted.")?,
                    None => {}
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
