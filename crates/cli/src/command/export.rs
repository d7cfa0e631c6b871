//! `monotable export`: the items of a table into a file.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;
use dynamo::operation::{DescribeTable, Scan};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::database::{Database, Place, expect_reply};
use crate::failure::Failure;
use crate::lines::Lines;

/// Writes the items of a table, one on each line, as DynamoDB's export to S3 does.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// The table.
    table: String,
    /// The file; compressed if its name ends in .gz. Without it, stdout.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  monotable export Orders --output orders.json.gz --data ./data
  monotable export Orders --endpoint-url http://127.0.0.1:8000 | head";

impl Export {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let database = self.place.open()?;
        let bar = bar(item_count(&database, &self.table)?);
        let mut lines = Lines::create(self.output.as_deref())?;
        let outcome = write_all(&database, &self.table, &mut lines, &bar).and_then(|()| Ok(lines.finish()?));
        bar.finish_and_clear();
        match outcome {
            Err(failure) if failure.is_broken_pipe() => Ok(()),
            Err(failure) => Err(failure),
            Ok(()) => {
                eprintln!("exported {} items of {}", bar.position(), self.table);
                Ok(())
            }
        }
    }
}

fn item_count(database: &Database, table: &str) -> Result<u64, Failure> {
    let reply =
        expect_reply!(database.run(DescribeTable { table_name: Some(table.to_owned()) })?, DescribeTable)?;
    let count = reply.table.and_then(|table| table.item_count).unwrap_or(0);
    Ok(u64::try_from(count).unwrap_or(0))
}

fn bar(items: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(items), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent}% {pos}/{len} items {per_sec} {eta}") {
        bar.set_style(style);
    }
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

fn write_all(database: &Database, table: &str, lines: &mut Lines, bar: &ProgressBar) -> Result<(), Failure> {
    let mut start = None;
    loop {
        let request =
            Scan { table_name: Some(table.to_owned()), exclusive_start_key: start, ..Scan::default() };
        let page = expect_reply!(database.run(request)?, Scan)?;
        for item in page.items.iter().flatten() {
            lines.write(item)?;
            bar.inc(1);
        }
        start = page.last_evaluated_key;
        if start.is_none() {
            return Ok(());
        }
    }
}
