//! `monotable check-data`: compares everything that is stored with itself.

use std::time::Duration;

use clap::Args;
use dynamo::Reply;
use dynamo::operation::{CheckData as Request, CheckDataReply, CheckStatus};

use crate::database::{Database, Place, expect_reply};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress;

/// Compares everything that is stored with itself: files with their checksums, indexes with items, streams with what they led
/// to. Works on a server while it serves, or on the directory of a database that no server has open.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckData {
    #[command(flatten)]
    place: Place,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  monotable check-data --data ./data
  monotable check-data --endpoint-url http://127.0.0.1:8000 --format json

It ends with status 1 if something does not fit together, or if the database cannot be opened for damage.";

/// How often it is asked how far the check is.
const PAUSE: Duration = Duration::from_millis(100);

impl CheckData {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let database = self.place.open()?;
        let reply = wait(&database)?;
        match self.format {
            Format::Json => output::reply(&Reply::from(reply.clone()))?,
            Format::Text => print(&reply)?,
        }
        match reply.finding_count {
            0 => Ok(()),
            count => Err(Failure::with_help(
                format!(
                    "{}: the data is damaged",
                    output::count(u64::try_from(count).unwrap_or(0), "finding")
                ),
                "keep the files, restore a backup, and look at the disk",
            )),
        }
    }
}

fn ask(database: &Database, start: bool) -> Result<CheckDataReply, Failure> {
    expect_reply!(database.run(Request { start: Some(start) })?, CheckData)
}

fn wait(database: &Database) -> Result<CheckDataReply, Failure> {
    let mut reply = ask(database, true)?;
    let bar = progress::bar(Some(0), "entries");
    while reply.status == Some(CheckStatus::Running) {
        bar.set_length(u64::try_from(reply.expected_entries).unwrap_or_default());
        bar.set_position(u64::try_from(reply.checked_entries).unwrap_or_default());
        std::thread::sleep(PAUSE);
        reply = ask(database, false)?;
    }
    bar.finish_and_clear();
    Ok(reply)
}

fn print(reply: &CheckDataReply) -> Result<(), Failure> {
    for finding in &reply.findings {
        output::line(finding)?;
    }
    if reply.finding_count == 0 {
        let entries = output::count(u64::try_from(reply.checked_entries).unwrap_or(0), "entry");
        output::line(&format!("checked {entries}: everything fits together"))?;
    }
    Ok(())
}
