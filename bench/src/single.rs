//! Load on a server that is running already, for a profiler to look at.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;

use crate::load::{self, Load, Timing};
use crate::workloads::{self, Filled, Group, fill_items, fill_systems, fill_wide};

/// Fills a server that is running already, unless it is, and sends it workloads.
#[derive(Args, Clone)]
pub struct LoadOptions {
    /// Where the server is, such as 127.0.0.1:8000.
    server: SocketAddr,
    /// Workloads with one of these texts in their names; all single operations unless told otherwise.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    workloads: Vec<String>,
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// How long each workload is sent.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Operations per second over all connections, each due at its time; as many as are answered unless told otherwise.
    #[arg(long)]
    rate: Option<f64>,
    /// Items of 1 KB in the table.
    #[arg(long, default_value_t = 10_000)]
    items: u64,
    /// Send at once, to a server that knows neither tables nor items.
    #[arg(long)]
    nothing: bool,
}

const PATIENCE: Duration = Duration::from_secs(600);

pub fn run(options: &LoadOptions) -> Result<(), String> {
    let is_wanted = |(group, name): (Group, &str)| {
        if options.workloads.is_empty() {
            return group == Group::Operation;
        }
        group != Group::Route && options.workloads.iter().any(|text| name.contains(text.as_str()))
    };
    if !options.nothing {
        fill(options);
    }
    let timing = Timing::of(Duration::from_millis(200), Duration::from_secs_f64(options.seconds));
    let filled = Filled { items: options.items, has_wide: true, has_systems: true };
    // What an earlier run has written is overwritten by few.
    let area = u64::from(std::process::id() % 2);
    for (group, mut workload) in workloads::all(filled, area) {
        if !is_wanted((group, workload.name)) {
            continue;
        }
        if !options.nothing {
            load::try_out(options.server, &mut workload)
                .map_err(|why| format!("{}: {why}", workload.name))?;
        }
        let loads = Load { workload: &mut workload, connections: options.connections, rate: options.rate };
        let outcome =
            load::run_all(options.server, &mut [loads], timing).map_err(|error| error.to_string())?.remove(0);
        let at = |quantile| outcome.quantile_microseconds(quantile);
        println!(
            "{:<30} {:>3} {:>9.0}/s p50 {:>7.0} µs, p99 {:>7.0} µs, p99.9 {:>7.0} µs, {} errors",
            workload.name,
            options.connections,
            outcome.per_second,
            at(0.5),
            at(0.99),
            at(0.999),
            outcome.errors
        );
    }
    Ok(())
}

/// Makes and fills what is not there yet. A server that cannot be filled says so when the workloads are tried out.
fn fill(options: &LoadOptions) {
    if fill_items(options.server, options.items, PATIENCE).is_ok() {
        let _ = fill_wide(options.server, PATIENCE);
        let _ = fill_systems(options.server, true, PATIENCE);
    }
}
