//! The items of a table, one on each line, as DynamoDB's export to S3 writes them.

use std::path::Path;

use dynamo::operation::{DescribeTable, Scan};
use indicatif::ProgressBar;

use crate::database::{Database, Place, expect_reply};
use crate::failure::Failure;
use crate::lines::Lines;
use crate::progress;

/// Writes the items of a table, one on each line.
pub(super) fn run(table: &str, output: Option<&Path>, place: &Place) -> Result<(), Failure> {
    let database = place.open()?;
    let bar = progress::bar(Some(item_count(&database, table)?), "items");
    let mut lines = Lines::create(output)?;
    let outcome = write_all(&database, table, &mut lines, &bar).and_then(|()| Ok(lines.finish()?));
    bar.finish_and_clear();
    match outcome {
        Err(failure) if failure.is_broken_pipe() => Ok(()),
        Err(failure) => Err(failure),
        Ok(()) => {
            eprintln!("exported {} items of {table}", bar.position());
            Ok(())
        }
    }
}

fn item_count(database: &Database, table: &str) -> Result<u64, Failure> {
    let reply =
        expect_reply!(database.run(DescribeTable { table_name: Some(table.to_owned()) })?, DescribeTable)?;
    let count = reply.table.and_then(|table| table.item_count).unwrap_or(0);
    Ok(u64::try_from(count).unwrap_or(0))
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
