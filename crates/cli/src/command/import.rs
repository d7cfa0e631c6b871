//! `monotable import`: items from files into a table.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use dynamo::operation::{BatchWriteItem, PutItem, PutRequest, WriteRequest};
use dynamo::{Item, StoredItem};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::database::{Database, Place, expect_reply};
use crate::failure::Failure;
use crate::lines;
use crate::output::{self, Format};

/// What one BatchWriteItem takes.
const BATCH: usize = 25;

/// Reads items from files into a table: one item on each line, as DynamoDB's export to S3 writes them, plain or gzip.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// The table; it must exist.
    table: String,
    /// The files; `-` is stdin.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    place: Place,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  monotable import Orders export/data/*.json.gz --data ./data
  zcat items.json.gz | monotable import Orders - --endpoint-url http://127.0.0.1:8000

A line is an item in DynamoDB's JSON: {\"Item\":{\"pk\":{\"S\":\"a\"}}} or {\"pk\":{\"S\":\"a\"}}";

impl Import {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let database = self.place.open()?;
        let mut work = Work {
            database: &database,
            table: &self.table,
            waiting: Vec::new(),
            count: 0,
            bar: bar(&self.files),
        };
        for file in &self.files {
            work.import(file)?;
        }
        work.flush()?;
        work.bar.finish_and_clear();
        let count = work.count;
        database.finish()?;
        match self.format {
            Format::Text => output::line(&format!("imported {count} items into {}", self.table)),
            Format::Json => output::line(&serde_json::json!({ "imported": count }).to_string()),
        }
    }
}

/// Counts bytes of the files, on a terminal.
fn bar(files: &[PathBuf]) -> ProgressBar {
    let sizes = files.iter().map(|file| std::fs::metadata(file).map_or(0, |metadata| metadata.len()));
    let bar = ProgressBar::with_draw_target(Some(sizes.sum()), ProgressDrawTarget::stderr());
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {percent}% {bytes}/{total_bytes} {bytes_per_sec} {eta}")
    {
        bar.set_style(style);
    }
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

/// An import while it runs.
struct Work<'a> {
    database: &'a Database,
    table: &'a str,
    waiting: Vec<Item>,
    count: u64,
    bar: ProgressBar,
}

impl Work<'_> {
    fn import(&mut self, path: &Path) -> Result<(), Failure> {
        let failed =
            |error: &dyn std::fmt::Display| Failure::new(format!("cannot read {}: {error}", path.display()));
        let bar = self.bar.clone();
        let input = lines::open(path, move |bytes| bar.inc(bytes)).map_err(|error| failed(&error))?;
        for (index, line) in input.lines().enumerate() {
            let line = line.map_err(|error| failed(&error))?;
            if line.trim().is_empty() {
                continue;
            }
            let item = lines::read(&line).map_err(|error| {
                Failure::with_help(
                    format!("line {} of {} is not an item: {error}", index + 1, path.display()),
                    format!(
                        "{} items were imported before it; importing them again does no harm",
                        self.count
                    ),
                )
            })?;
            self.waiting.push(item);
            if self.waiting.len() == BATCH {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the waiting items.
    fn flush(&mut self) -> Result<(), Failure> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let items = std::mem::take(&mut self.waiting);
        self.count += items.len() as u64;
        let put = |item: &Item| WriteRequest {
            put_request: Some(PutRequest { item: Some(StoredItem::encode(item)), ..PutRequest::default() }),
            ..WriteRequest::default()
        };
        match self.write_batch(items.iter().map(put).collect()) {
            Ok(()) => Ok(()),
            // A batch fails as a whole where two of its items have the same key; one by one, the later one stays.
            Err(_) => items.into_iter().try_for_each(|item| self.write_one(item)),
        }
    }

    fn write_batch(&self, requests: Vec<WriteRequest>) -> Result<(), Failure> {
        let mut left = requests;
        let mut pause = Duration::from_millis(20);
        while !left.is_empty() {
            let request = BatchWriteItem {
                request_items: Some(BTreeMap::from([(self.table.to_owned(), left)])),
                ..BatchWriteItem::default()
            };
            let reply = expect_reply!(self.database.run(request)?, BatchWriteItem)?;
            left = reply.unprocessed_items.into_iter().flatten().flat_map(|(_, requests)| requests).collect();
            if !left.is_empty() {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_secs(5));
            }
        }
        Ok(())
    }

    fn write_one(&self, item: Item) -> Result<(), Failure> {
        let request = PutItem {
            table_name: Some(self.table.to_owned()),
            item: Some(item.into()),
            ..PutItem::default()
        };
        self.database.run(request).map(drop)
    }
}
