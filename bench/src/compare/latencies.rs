//! Latencies that throughput does not show: reads while writes go on, at rates that do not depend on the server (open loop), and pages of
//! several sizes.

use std::time::Duration;

use super::{Bench, Compare, Figures, median};
use crate::load::{self, Load, Outcome, Timing};
use crate::servers::{DURABLE, PEER_DURABLE};
use crate::workloads::{get_item, put_item, query_of};

/// Reads per second, and connections that they come over.
const READS: f64 = 1_000.0;
const READERS: usize = 4;
const WRITERS: usize = 32;
const WARM_UP: Duration = Duration::from_millis(300);
/// What the workloads of this part write lies beyond what the others wrote.
const AREA: u64 = 85;

/// Reads of a server, alone and under writes.
pub struct Mixed {
    pub server: &'static str,
    pub alone: Vec<Outcome>,
    pub loaded: Vec<UnderWrites>,
}

/// Reads while writes go on.
pub struct UnderWrites {
    /// Writes per second that were asked for; none if as many as the server can take.
    pub asked: Option<f64>,
    pub reads: Vec<Outcome>,
    pub writes: Vec<Outcome>,
}

pub fn measure(options: &Compare, benches: &mut [Bench], figures: &mut Figures) {
    for bench in benches {
        let name = bench.running.server.name;
        if name == DURABLE || name == PEER_DURABLE {
            eprintln!("reads under writes: {name}");
            match mixed(options, bench) {
                Ok(mixed) => figures.mixed.push(mixed),
                Err(error) => figures.left_out.push(format!("{name}, reads under writes: {error}")),
            }
        }
        if name == DURABLE {
            figures.pages = pages(options, bench);
        }
    }
}

fn mixed(options: &Compare, bench: &Bench) -> std::io::Result<Mixed> {
    let server = bench.running.address;
    let timing = Timing::of(WARM_UP, options.time());
    let mut gets = get_item(bench.filled.items);
    let mut puts = put_item().in_area(AREA, bench.filled.items);
    let writes_at_most = load::run(server, &mut puts, WRITERS, timing)?.per_second;
    let mut alone = Vec::new();
    let mut loaded = [Some(writes_at_most / 2.0), None].map(|asked| UnderWrites {
        asked,
        reads: Vec::new(),
        writes: Vec::new(),
    });
    for _ in 0..options.rounds {
        let reads = Load { workload: &mut gets, connections: READERS, rate: Some(READS) };
        alone.extend(load::run_all(server, &mut [reads], timing)?);
        for under in &mut loaded {
            let reads = Load { workload: &mut gets, connections: READERS, rate: Some(READS) };
            let writes = Load { workload: &mut puts, connections: WRITERS, rate: under.asked };
            let mut outcomes = load::run_all(server, &mut [reads, writes], timing)?.into_iter();
            under.reads.extend(outcomes.next());
            under.writes.extend(outcomes.next());
        }
    }
    Ok(Mixed { server: bench.running.server.name, alone, loaded: loaded.into() })
}

/// How long a Query takes in the middle, by how many items it returns. They take turns.
fn pages(options: &Compare, bench: &Bench) -> Vec<(u64, f64)> {
    let sizes = [1, 10, 100, 300, 1_000];
    let mut times = [const { Vec::new() }; 5];
    for _ in 0..options.rounds {
        for (size, times) in sizes.iter().zip(&mut times) {
            let timing = Timing::of(Duration::from_millis(100), options.time() / 2);
            let outcome = load::run(bench.running.address, &mut query_of("pages", *size), 1, timing);
            let counted = outcome.ok().filter(|outcome| outcome.count() > 0);
            times.extend(counted.map(|outcome| outcome.quantile_microseconds(0.5)));
        }
    }
    sizes.into_iter().zip(times.map(median)).filter_map(|(size, time)| Some((size, time?))).collect()
}
