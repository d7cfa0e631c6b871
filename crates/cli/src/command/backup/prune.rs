//! `monotable backup prune`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use backup::{Keep, Pruned};
use clap::Args;

use crate::backup_place::{BackupPlace, explain};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress;
use crate::size::parse_duration;

/// Removes old backups, with what only they needed. The newest one always stays.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  monotable backup prune /mnt/backups --keep 7\n  monotable backup prune /mnt/backups --older-than 30d    every moment of the last 30 days can still be restored"
)]
pub(crate) struct Prune {
    #[command(flatten)]
    place: BackupPlace,
    #[command(flatten)]
    what: What,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct What {
    /// So many stay, the newest.
    #[arg(long, value_name = "COUNT")]
    keep: Option<usize>,
    /// Those stay that are needed for moments younger than this.
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    older_than: Option<Duration>,
}

impl What {
    fn keep(&self) -> Keep {
        match (self.keep, self.older_than) {
            (Some(count), _) => Keep::Newest(count),
            (None, age) => {
                let then = SystemTime::now().checked_sub(age.unwrap_or(Duration::MAX)).unwrap_or(UNIX_EPOCH);
                let since_epoch = then.duration_since(UNIX_EPOCH).unwrap_or_default();
                Keep::Since(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
            }
        }
    }
}

impl Prune {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let destination = self.place.open()?;
        let bar = progress::bar(None, "objects");
        let outcome = backup::prune(&destination, self.what.keep(), &|done, _| bar.set_position(done));
        bar.finish_and_clear();
        let pruned = outcome.map_err(explain)?;
        match self.format {
            Format::Json => output::line(
                &serde_json::json!({
                    "backups": pruned.backups,
                    "chunks": pruned.chunks,
                    "parts": pruned.parts,
                    "bytes": pruned.bytes,
                    "left": pruned.left,
                })
                .to_string(),
            ),
            Format::Text => output::line(&as_text(&pruned)),
        }
    }
}

fn as_text(pruned: &Pruned) -> String {
    let [backups, chunks, parts, left] = [
        (pruned.backups, "backup"),
        (pruned.chunks, "chunk"),
        (pruned.parts, "part"),
        (pruned.left, "backup"),
    ]
    .map(|(count, of)| output::count(count, of));
    let verb = if pruned.left == 1 { "is" } else { "are" };
    let bytes = output::bytes(pruned.bytes);
    format!("removed {backups}, {chunks} and {parts} of the log ({bytes}); {left} {verb} left")
}
