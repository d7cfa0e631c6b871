//! `monotable backup now`.

use std::time::Duration;

use backup::time_text;
use clap::Args;
use dynamo::Reply;
use dynamo::operation::{BackUpDatabase, BackUpDatabaseReply, DatabaseBackupStatus};

use crate::database::{Database, Place, expect_reply};
use crate::failure::Failure;
use crate::output::{self, Format};

/// Has a running server that backs itself up make a whole backup now, and waits for it.
#[derive(Args)]
#[command(
    after_help = "Example:\n  monotable backup now --endpoint-url http://127.0.0.1:8000\n\nThe server was started with --backup-to DEST."
)]
pub(crate) struct Now {
    #[command(flatten)]
    place: Place,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How often it is asked whether the backup is made.
const PAUSE: Duration = Duration::from_millis(200);

impl Now {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let database = self.place.open()?;
        let reply = wait(&database)?;
        let place = reply.destination.as_deref().unwrap_or_default();
        if reply.status != Some(DatabaseBackupStatus::Done) {
            let reason = reply.failure_message.as_deref().unwrap_or("nobody knows why");
            return Err(Failure::new(format!("the server could not back up to {place}: {reason}")));
        }
        match self.format {
            Format::Json => output::reply(&Reply::from(reply.clone())),
            Format::Text => {
                let time = reply.backup_date_time.map_or(0, |time| time.milliseconds);
                let id = reply.backup_id.as_deref().unwrap_or_default();
                output::line(&format!("{id} in {place} shows the database at {}", time_text(time)))
            }
        }
    }
}

fn ask(database: &Database, start: bool) -> Result<BackUpDatabaseReply, Failure> {
    expect_reply!(database.run(BackUpDatabase { start: Some(start) })?, BackUpDatabase)
}

fn wait(database: &Database) -> Result<BackUpDatabaseReply, Failure> {
    let mut reply = ask(database, true)?;
    while reply.status == Some(DatabaseBackupStatus::Running) {
        std::thread::sleep(PAUSE);
        reply = ask(database, false)?;
    }
    Ok(reply)
}
