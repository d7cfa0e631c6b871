//! `monotable table`: list, describe, create and delete tables.

mod create;
mod describe;

use clap::{Args, Subcommand};
use dynamo::operation::{DeleteTable, DescribeTable, ListTables};
use dynamo::{Operation, Reply};

use crate::database::{Database, Place, expect_reply};
use crate::failure::Failure;
use crate::output::{self, Format};

/// Lists, describes, creates and deletes tables.
#[derive(Args)]
pub(crate) struct Table {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Lists the tables.
    #[command(
        after_help = "Examples:\n  monotable table list --data ./data\n  monotable table list --endpoint-url http://127.0.0.1:8000 --format json"
    )]
    List {
        #[command(flatten)]
        place: Place,
        /// How the result is printed.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Describes a table: its keys, indexes, size and settings.
    #[command(after_help = "Example:\n  monotable table describe Orders --data ./data")]
    Describe {
        /// The table.
        table: String,
        #[command(flatten)]
        place: Place,
        /// How the result is printed.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    Create(create::Create),
    /// Deletes a table with everything in it.
    #[command(after_help = "Example:\n  monotable table delete Orders --data ./data --yes")]
    Delete {
        /// The table.
        table: String,
        /// Without it nothing is deleted.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        place: Place,
    },
}

impl Table {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::List { place, format } => list(&place.open()?, format),
            Action::Describe { table, place, format } => describe(&place.open()?, table, format),
            Action::Create(create) => create.run(),
            Action::Delete { table, yes, place } => delete(place.open()?, &table, yes),
        }
    }
}

fn list(database: &Database, format: Format) -> Result<(), Failure> {
    let mut names = Vec::new();
    let mut start = None;
    loop {
        let request = ListTables { exclusive_start_table_name: start, limit: None };
        let mut page = expect_reply!(database.run(request)?, ListTables)?;
        names.append(&mut page.table_names);
        start = page.last_evaluated_table_name;
        if start.is_none() {
            break;
        }
    }
    match format {
        Format::Json => output::line(&serde_json::json!({ "TableNames": names }).to_string()),
        Format::Text => names.iter().try_for_each(|name| output::line(name)),
    }
}

fn describe(database: &Database, table: String, format: Format) -> Result<(), Failure> {
    let reply = database.run(DescribeTable { table_name: Some(table) })?;
    match (format, &reply) {
        (Format::Text, Reply::DescribeTable(found)) => {
            output::line(describe::text(&found.table.clone().unwrap_or_default()).trim_end())
        }
        _ => output::reply(&reply),
    }
}

fn delete(database: Database, table: &str, yes: bool) -> Result<(), Failure> {
    if !yes {
        return Err(Failure::with_help(
            format!("{table} would be deleted with everything in it"),
            "say so with --yes",
        ));
    }
    database.run(Operation::from(DeleteTable { table_name: Some(table.to_owned()) }))?;
    database.finish()?;
    output::line(&format!("deleted {table}"))
}
