//! Measures Monotable beside its peers over HTTP, in this process, and beside its own storage engine, each in one run. Machines are shared
//! and noisy, so only ratios within a run mean anything.
//!
//! `./compare` installs the peers, builds ours and runs the standard comparison; `./large` does the one with ten million items.

mod compare;
mod disk;
mod item;
mod large;
mod load;
mod memory;
mod nothing;
mod process;
mod profile;
mod raw;
mod report;
mod servers;
mod shape;
mod single;
mod table;
mod workloads;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(
    about = "Measures Monotable beside its peers and beside its own storage engine.",
    disable_help_subcommand = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Compare(compare::Compare),
    Large(large::LargeOptions),
    Load(single::LoadOptions),
    /// Serves the server that does nothing, on hyper.
    Nothing {
        port: u16,
    },
    /// Compares with dynoxide in this process, in memory.
    Memory {
        #[arg(default_value_t = 50_000)]
        items: usize,
    },
    /// Compares with the storage engine used raw, in this process, on disk.
    Disk {
        #[arg(default_value_t = 1_000_000)]
        items: usize,
    },
    /// Shows how costs grow: transactions, indexes, opening.
    Shape,
    /// Runs one operation of ours again and again, for a profiler to look at.
    Profile {
        #[arg(value_parser = ["put", "get", "query", "replace", "transact"])]
        operation: String,
        #[arg(default_value_t = 5_000)]
        count: usize,
    },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Compare(options) => compare::run(&options),
        Command::Large(options) => large::run(&options),
        Command::Load(options) => single::run(&options),
        Command::Nothing { port } => nothing::serve(port),
        Command::Memory { items } => {
            memory::run(items);
            Ok(())
        }
        Command::Disk { items } => {
            disk::run(items);
            Ok(())
        }
        Command::Shape => {
            shape::run();
            Ok(())
        }
        Command::Profile { operation, count } => {
            profile::run(&operation, count);
            Ok(())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
