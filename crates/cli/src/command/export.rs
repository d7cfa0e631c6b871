//! `monotable export`: what a pattern of a design finds, as CSV, JSON or zip; or the items of a table, as DynamoDB exports them.

mod files;
mod table;

use std::path::{Path, PathBuf};

use clap::Args;
use service::{Exported, Service};

use crate::arguments::{parameter_type, values};
use crate::command::explain;
use crate::command::run::refused;
use crate::database::Place;
use crate::design_place::{DesignPlace, Variables, Work, parse_pair};
use crate::failure::Failure;
use crate::output;

/// Writes everything that a pattern of a design finds, by entity; or, without a pattern, the items of a table.
#[derive(Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "monotable export <DESIGN> <PATTERN> [KEY=VALUE]... <--csv DIR|--zip FILE|--json>\n       monotable export <TABLE> [--output FILE]"
)]
pub(crate) struct Export {
    /// A design file or the name of a built-in design; or, without a pattern, a table.
    #[arg(value_name = "DESIGN|TABLE")]
    what: String,
    /// The pattern whose whole answer is written.
    pattern: Option<String>,
    /// Its parameters.
    #[arg(value_name = "KEY=VALUE", value_parser = parse_pair)]
    values: Vec<(String, String)>,
    /// A directory that gets one CSV file for each entity.
    #[arg(long, value_name = "DIR", requires = "pattern")]
    csv: Option<PathBuf>,
    /// A zip archive that gets one CSV file for each entity.
    #[arg(long, value_name = "FILE", requires = "pattern")]
    zip: Option<PathBuf>,
    /// One JSON object with a list for each entity, to stdout or --output.
    #[arg(long, requires = "pattern")]
    json: bool,
    /// The file for JSON, or for the items of a table (compressed if its name ends in .gz). Without it, stdout.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    variables: Variables,
}

const EXAMPLES: &str = "\
Examples: everything that a pattern finds, each item once, as people read it:
  monotable export kefir export userId=ada --csv ada/        User.csv, Batch.csv, BatchEvent.csv, …
  monotable export kefir export userId=ada --zip ada.zip
  monotable export kefir export userId=ada --json

The items of a table, one on each line, as DynamoDB's export to S3 writes them; `monotable import` reads them:
  monotable export Orders --output orders.json.gz --data ./data
  monotable export Orders --endpoint-url http://127.0.0.1:8000 | head";

impl Export {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Some(pattern) = &self.pattern else {
            return table::run(&self.what, self.output.as_deref(), &self.place);
        };
        let work = Work::start()?;
        let service = DesignPlace::of(&self.place, &self.variables).open(&self.what, &work)?;
        let found = self.find(&service, pattern, &work)?;
        match (&self.csv, &self.zip) {
            (Some(directory), _) => {
                files::write_directory(directory, &found).map_err(|error| unwritable(directory, &error))?;
            }
            (None, Some(file)) => files::write_zip(file, &found).map_err(|error| unwritable(file, &error))?,
            (None, None) => self.write_json(&found)?,
        }
        let count = found.iter().map(|group| group.items.len()).sum::<usize>();
        eprintln!("exported {count} items of {} entities", found.len());
        Ok(())
    }

    fn find(&self, service: &Service, pattern: &str, work: &Work) -> Result<Vec<Exported>, Failure> {
        if service.design().pattern(pattern).is_none() {
            return Err(explain::unknown(service.design(), pattern));
        }
        if self.csv.is_none() && self.zip.is_none() && !self.json {
            return Err(Failure::with_help(
                "how is it to be written?",
                "say --csv DIR, --zip FILE or --json",
            )
            .into_misuse());
        }
        let parameters = values(&self.values, |name| parameter_type(service.design(), pattern, name))?;
        work.wait(service.export(pattern, parameters)).map_err(refused)
    }

    fn write_json(&self, found: &[Exported]) -> Result<(), Failure> {
        let groups = found.iter().map(|group| {
            let items = group.items.iter().map(|item| service::value_json(&dynamo::Value::M(item.clone())));
            format!("  \"{}\": [\n    {}\n  ]", group.entity, items.collect::<Vec<_>>().join(",\n    "))
        });
        let text = format!("{{\n{}\n}}\n", groups.collect::<Vec<_>>().join(",\n"));
        match &self.output {
            None => output::text(&text),
            Some(path) => std::fs::write(path, text).map_err(|error| unwritable(path, &error)),
        }
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot write {}: {error}", path.display()))
}
