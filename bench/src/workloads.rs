//! What the servers are asked to do: single operations, the mixes of YCSB, and the traffic of the designs.
//!
//! All are on tables that [`fill_items`], [`fill_wide`] and [`fill_systems`] have filled. Each server gets workloads of its own ([`all`]), because
//! they count the items that they have made.

mod designs;
mod items;
mod systems;
mod ycsb;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::load::{self, Timing, Workload, ask};

pub use designs::DESIGNS;
use items::{PAGE, WIDE_ITEMS};
pub use items::{get_item, put_item, query_of};

/// What a workload belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// A single operation.
    Operation,
    /// A mix of YCSB.
    Mix,
    /// What a system of the designs does, as requests of DynamoDB.
    System,
    /// The same through the routes of the design.
    Route,
}

/// How far a server was filled.
#[derive(Clone, Copy)]
pub struct Filled {
    pub items: u64,
    /// The partitions that hold more than a page.
    pub has_wide: bool,
    pub has_systems: bool,
}

impl Filled {
    /// Whether a workload finds what it is about.
    pub fn has(self, workload: &str) -> bool {
        self.has_wide || ![PAGE, ycsb::SHORT_SCANS].contains(&workload)
    }
}

/// All workloads on a server with so many items; `area` keeps what they write apart from what others wrote.
pub fn all(filled: Filled, area: u64) -> Vec<(Group, Workload)> {
    let operations = items::workloads(filled.items).into_iter().map(|one| (Group::Operation, one));
    let mixes = ycsb::workloads(filled.items).into_iter().map(|one| (Group::Mix, one));
    let systems = systems::workloads().into_iter().map(|one| (Group::System, one));
    let routes = designs::workloads().into_iter().map(|one| (Group::Route, one));
    let all = operations.chain(mixes).chain(systems).chain(routes);
    let number = |(number, (group, workload)): (u64, (Group, Workload))| {
        (group, workload.in_area(area * 40 + number, filled.items))
    };
    (0..).zip(all).map(number).collect()
}

/// How many connections fill a table.
const FILLERS: u64 = 16;

/// Makes the table of items.
pub fn create_items(server: SocketAddr) -> Result<(), String> {
    ask(server, "CreateTable", items::TABLE)?;
    wait_until_active(server, "Items")
}

/// Makes the table of items and fills it, as far as it goes in the time; how many items are there.
pub fn fill_items(server: SocketAddr, items: u64, time: Duration) -> Result<u64, String> {
    create_items(server)?;
    Ok(fill(server, items::filling(), items.div_ceil(25), time)? * 25)
}

/// Fills the partitions that hold more than a page; false if that takes too long.
pub fn fill_wide(server: SocketAddr, time: Duration) -> Result<bool, String> {
    let batches = WIDE_ITEMS / 25;
    Ok(fill(server, items::wide(), batches, time)? == batches)
}

/// Makes the tables of the systems, where they are not there yet, and fills them; false if that takes too long.
pub fn fill_systems(server: SocketAddr, makes_tables: bool, time: Duration) -> Result<bool, String> {
    if makes_tables {
        for (name, table) in systems::tables() {
            ask(server, "CreateTable", &table)?;
            wait_until_active(server, name)?;
        }
    }
    for (workload, batches) in systems::fillings() {
        if fill(server, workload, batches, time)? < batches {
            return Ok(false);
        }
    }
    Ok(true)
}

fn wait_until_active(server: SocketAddr, table: &str) -> Result<(), String> {
    for _ in 0..200 {
        let description = ask(server, "DescribeTable", &format!(r#"{{"TableName":"{table}"}}"#))?;
        if description.contains(r#""TableStatus":"ACTIVE""#)
            || description.contains(r#""TableStatus": "ACTIVE""#)
        {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{table} does not become active"))
}

/// Sends so many operations of a workload, and no longer than this; how many were answered well.
fn fill(server: SocketAddr, mut workload: Workload, operations: u64, time: Duration) -> Result<u64, String> {
    let timing = Timing { warm_up: Duration::ZERO, time, operations };
    let connections = usize::try_from(FILLERS.min(operations)).expect("small");
    let outcome = load::run(server, &mut workload, connections, timing).map_err(of_filling)?;
    if outcome.is_stalled {
        return Err(format!(
            "stopped answering while it was filled, after {} of {operations} batches",
            outcome.count()
        ));
    }
    if outcome.errors > 0 {
        load::try_out(server, &mut workload)?;
        return Err(format!("{} of {operations} batches failed", outcome.errors));
    }
    Ok(outcome.count())
}

fn of_filling(error: io::Error) -> String {
    format!("cannot be filled: {error}")
}
