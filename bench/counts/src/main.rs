//! What the main operations cost, in counts that do not depend on how busy the machine is: instructions, allocations, bytes written, syncs.
//!
//! `cargo run --release` compares with `recorded.txt` and fails where something became dearer; `-- --record` writes the file anew. An operation
//! is everything between its JSON text and the JSON text of its answer; some are counted over HTTP as well, from the socket to the socket. Instructions are counted by valgrind; where there is none they are left
//! out, and it says so.

mod allocations;
mod disk;
mod http;
mod instructions;
#[expect(dead_code, reason = "the benchmark uses more of it")]
#[path = "../../src/item.rs"]
mod item;
mod operations;
mod recorded;

use std::process::ExitCode;

use operations::OPERATIONS;
use recorded::{Counts, Table};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

const USAGE: &str = "\
usage: cargo run --release [-- --record]

Counts what the main operations cost and compares it with recorded.txt; fails where something became dearer.
--record writes the file anew.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // What valgrind runs.
        ["run", operation, count] => {
            operations::run(operation, count.parse().expect("a count"));
            ExitCode::SUCCESS
        }
        ["serve", operation, count] => {
            http::serve(operation, count.parse().expect("a count"));
            ExitCode::SUCCESS
        }
        ["client", address, operation, count] => {
            http::client(address, operation, count.parse().expect("a count"));
            ExitCode::SUCCESS
        }
        ["--record"] => {
            measure().write();
            ExitCode::SUCCESS
        }
        [] => compare(),
        _ => {
            println!("{USAGE}");
            ExitCode::from(if arguments == ["--help"] { 0 } else { 2 })
        }
    }
}

fn measure() -> Table {
    let counts_instructions = instructions::is_possible();
    if !counts_instructions {
        println!("SKIPPED: there is no valgrind, so instructions were not counted");
    }
    let rows = OPERATIONS.iter().map(|operation| {
        let heap = operations::allocations(operation);
        let disk = disk::count(operation);
        let counts = Counts {
            instructions: counts_instructions.then(|| instructions::count("run", operation)),
            allocations: Some(heap.allocations),
            allocated_bytes: Some(heap.bytes),
            written_bytes: disk.as_ref().map(|disk| disk.written_bytes),
            syncs: disk.as_ref().map(|disk| disk.syncs),
        };
        ((*operation).to_owned(), counts)
    });
    let over_http = http::OPERATIONS.iter().filter(|_| counts_instructions).map(|operation| {
        let instructions = Some(instructions::count("serve", operation));
        (format!("HTTP-{operation}"), Counts { instructions, ..Counts::default() })
    });
    Table { rows: rows.chain(over_http).collect() }
}

fn compare() -> ExitCode {
    let (now, before) = (measure(), Table::read());
    println!("{now}");
    let dearer = now.dearer_than(&before);
    for line in &dearer {
        println!("{line}");
    }
    if dearer.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("If that is worth it, record it: cd bench/counts && cargo run --release -- --record");
    ExitCode::FAILURE
}
