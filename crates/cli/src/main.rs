//! The command line: reads arguments, calls the crates that do the work, prints what they say.

#![allow(clippy::single_match_else, reason = "a match of two arms shows both sides alike")]

mod arguments;
mod backup_place;
mod colour;
mod command;
mod database;
mod design_file;
mod design_place;
mod failure;
mod keys;
mod lines;
mod logs;
mod output;
mod pages;
mod progress;
mod size;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Monotable: single-table designs that run. A DynamoDB-compatible database in one program.
#[derive(Parser)]
#[command(name = "monotable", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Designs:
  monotable new shop                                a design to start from, in shop.toml
  monotable check shop.toml                         every mistake in it, with its place and a way out
  monotable explain shop.toml orders-of-user        the DynamoDB requests of a pattern, and what they cost
  monotable test shop.toml                          the examples in it
  monotable serve shop.toml                         the design over HTTP, with OpenAPI
  monotable run kefir batches userId=ada            a pattern or operation, from the shell
  monotable docs kefir                              a design as a document

The database:
  monotable serve                                   everything: five designs with data, in ./monotable-data
  monotable serve --in-memory                       a database for tests, gone when it stops
  monotable serve --data ./data                     a durable database on http://127.0.0.1:8000
  monotable table list --data ./data                the tables in it
  monotable import --data ./data Orders a.json.gz   items from DynamoDB's export to S3
  monotable key new ./key                           a master key, for an encrypted database:
  monotable serve --data ./data --key-file ./key
  monotable check-data --data ./data                whether everything fits together
  monotable backup /mnt/backups --data ./data       all of it, to a directory or an object store
  monotable restore /mnt/backups --data ./restored  and back, as it was at any second

Talk to it with any AWS SDK:
  aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000";

#[derive(Subcommand)]
enum Command {
    Serve(Box<command::Serve>),
    Check(command::Check),
    Explain(command::Explain),
    New(command::New),
    Fmt(command::Fmt),
    Docs(command::Docs),
    Design(command::Design),
    Run(command::Run),
    Test(command::Test),
    Seed(command::Seed),
    Verify(command::Verify),
    Reactions(command::Reactions),
    Table(command::Table),
    Import(command::Import),
    Export(command::Export),
    Key(command::Key),
    CheckData(command::CheckData),
    Backup(command::Backup),
    Restore(command::Restore),
}

fn main() -> ExitCode {
    let arguments = command::spelled_out(std::env::args_os().collect());
    let outcome = match Arguments::parse_from(arguments).command {
        Command::Serve(serve) => serve.run(),
        Command::Check(check) => check.run(),
        Command::Explain(explain) => explain.run(),
        Command::New(new) => new.run(),
        Command::Fmt(fmt) => fmt.run(),
        Command::Docs(docs) => docs.run(),
        Command::Design(design) => design.run(),
        Command::Run(run) => run.run(),
        Command::Test(test) => test.run(),
        Command::Seed(seed) => seed.run(),
        Command::Verify(verify) => verify.run(),
        Command::Reactions(reactions) => reactions.run(),
        Command::Table(table) => table.run(),
        Command::Import(import) => import.run(),
        Command::Export(export) => export.run(),
        Command::Key(key) => key.run(),
        Command::CheckData(check) => check.run(),
        Command::Backup(backup) => backup.run(),
        Command::Restore(restore) => restore.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}", failure.text());
            ExitCode::from(failure.status())
        }
    }
}
