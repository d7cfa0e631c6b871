//! Monotable beside its peers over HTTP: the same client, the same requests, the same machine, one run.
//!
//! Each server is started on a port of its own, filled, measured with every workload in turns with the others, and stopped. A peer that is
//! not installed is left out, and the result says so.

mod report;
mod server;

use std::time::Duration;

use crate::load::{self, Drive, Outcome};
use server::{Peer, Running, peers};

/// What was measured of one server with one workload.
pub struct Measured {
    pub server: &'static str,
    pub workload: &'static str,
    pub connections: usize,
    pub outcome: Outcome,
}

/// Runs the comparison and writes its result. With names, only of the servers whose names contain one of them.
pub fn run(seconds: u64, names: &[&str]) {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    let chosen = |peer: &Peer| names.is_empty() || names.iter().any(|name| peer.name.contains(name));
    for peer in peers().into_iter().filter(chosen) {
        eprintln!("starting and filling {}", peer.name);
        match start(&peer) {
            Ok(running) => found.push((peer, running)),
            Err(why) => missing.push(format!("{}: {why}", peer.name)),
        }
    }
    let mut measured = Vec::new();
    for connections in [32, 1] {
        for number in 0..load::workloads(0, load::ITEMS).len() {
            measured.extend(measure(&found, number, connections, seconds));
        }
    }
    report::write(&found, &missing, &measured);
}

/// Fills and loads a server that is running already, for a profiler to look at: all workloads, or those with this text in their names.
pub fn load_one(address: &str, named: &str, connections: usize, seconds: u64) {
    let address = address.parse().expect("an address with its port");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        if load::create_tables(address).await.is_ok() {
            load::fill(address, load::ITEMS).await.expect("items");
        }
    });
    let drive = Drive {
        connections,
        warm_up: Duration::from_millis(200),
        time: Duration::from_secs(seconds),
        rate: None,
    };
    let workloads = load::workloads(std::process::id() as usize % 8, load::ITEMS);
    for workload in workloads.iter().filter(|workload| workload.name.contains(named)) {
        let outcome = load::run(address, workload, drive);
        println!(
            "{:<22} {connections:>3} {:>9.0}/s p50 {:>7.0} µs, p99 {:>7.0} µs, {} errors",
            workload.name,
            outcome.per_second,
            outcome.quantile_microseconds(0.5),
            outcome.quantile_microseconds(0.99),
            outcome.errors
        );
    }
}

fn start(peer: &Peer) -> Result<Running, String> {
    let running = peer.start()?;
    if peer.is_database {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let filling = async {
            load::create_tables(running.address).await?;
            load::fill(running.address, load::ITEMS).await
        };
        runtime.block_on(filling).map_err(|error| format!("cannot be filled: {error}"))?;
    }
    Ok(running)
}

/// One workload on all servers.
fn measure(found: &[(Peer, Running)], number: usize, connections: usize, seconds: u64) -> Vec<Measured> {
    let drive = Drive {
        connections,
        warm_up: Duration::from_millis(500),
        time: Duration::from_secs(seconds),
        rate: None,
    };
    let place = usize::from(connections == 1);
    found
        .iter()
        .map(|(peer, running)| {
            let workload = &load::workloads(place, load::ITEMS)[number];
            let outcome = load::run(running.address, workload, drive);
            eprintln!(
                "{:<22} {connections:>3} {:<28} {:>9.0}/s",
                workload.name, peer.name, outcome.per_second
            );
            Measured { server: peer.name, workload: workload.name, connections, outcome }
        })
        .collect()
}
