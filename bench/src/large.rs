//! A large database: what grows with the number of items and what does not, its memory beside its cache, its size, its reopening; and
//! the peers as far as they can be filled in the same time.

use std::time::{Duration, Instant};

use clap::Args;

use crate::compare::{Reopened, Setting, median, reopen};
use crate::load::{self, Outcome, Timing, Workload};
use crate::process::Running;
use crate::report;
use crate::servers::{self, DURABLE, PEER_DURABLE, PEER_IN_MEMORY, Server};
use crate::workloads::{self, Filled, Group, fill_items};

/// Measures Monotable with very many items beside itself with few, and writes a report.
#[derive(Args, Clone)]
pub struct LargeOptions {
    /// Items of 1 KB in the large table.
    #[arg(long, default_value_t = 10_000_000)]
    items: u64,
    /// Items in the small one.
    #[arg(long, default_value_t = 10_000)]
    small: u64,
    /// How long each figure is measured in each round.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// How often the two take turns; the median counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each peer may take to be filled; 0 leaves the peers out.
    #[arg(long, default_value_t = 120.0)]
    peer_seconds: f64,
    #[command(flatten)]
    setting: Setting,
}

/// Everything that was measured.
pub struct Large {
    pub settings: String,
    pub small_items: u64,
    pub reopened: Reopened,
    pub growth: Vec<Growth>,
    /// Memory of the large one after each workload.
    pub resident_bytes: Vec<u64>,
    pub cache_bytes: u64,
    pub peers: Vec<Peer>,
    pub left_out: Vec<String>,
}

/// What an operation takes on few items and on many, in microseconds.
pub struct Growth {
    pub workload: &'static str,
    pub connections: usize,
    pub small: Option<f64>,
    pub large: Option<f64>,
}

/// A peer with as many items as it took.
pub struct Peer {
    pub server: &'static str,
    pub items: u64,
    pub fill_seconds: f64,
    pub gets: Option<f64>,
    pub queries: Option<f64>,
    pub resident_bytes: u64,
}

const WARM_UP: Duration = Duration::from_millis(500);
/// More than enough to fill ours.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);
/// What is measured of both.
const WORKLOADS: [&str; 7] = [
    "GetItem",
    "Query of 20",
    "Query of 20, index",
    "YCSB C",
    "Update counter",
    "PutItem",
    "BatchWrite of 25",
];

pub fn run(options: &LargeOptions) -> Result<(), String> {
    let place = options.setting.place();
    let mut small = Running::start(server(DURABLE), &place)?;
    let small_items = fill_items(small.address, options.small, PATIENCE)?;
    let mut large = Running::start(server(DURABLE), &place)?;
    eprintln!("filling {} items", options.items);
    let started = Instant::now();
    let items = fill_items(large.address, options.items, PATIENCE)?;
    let reopened = reopen(&mut large, items, started.elapsed().as_secs_f64())?;
    let mut resident_bytes = Vec::new();
    let growth = growth(options, (&mut small, small_items), (&mut large, items), &mut resident_bytes)?;
    drop((small, large));
    let (peers, left_out) = peers(options);
    let cache_bytes = cache_bytes(&options.setting.cache)?;
    let measured = Large {
        settings: settings(options),
        small_items,
        reopened,
        growth,
        resident_bytes,
        cache_bytes,
        peers,
        left_out,
    };
    report::write_large(&options.setting.results(), &measured)
        .map_err(|error| format!("the report cannot be written: {error}"))
}

fn settings(options: &LargeOptions) -> String {
    format!(
        "\nItems of 1 KB, one global index with all attributes, Monotable as it comes (`sync`, a cache of {}). Each figure is the median of {} of {} s in which \
         the small and the large one take turns.\n",
        options.setting.cache,
        report::counted(options.rounds, "round"),
        options.seconds
    )
}

fn server(name: &str) -> Server {
    servers::all().into_iter().find(|server| server.name == name).expect("it is among them")
}

/// As `--cache` of the server reads it, in its simplest form.
fn cache_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = match text[digits.len()..].trim() {
        "" => 1,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        other => return Err(format!("a cache in MB or GB, not {other}")),
    };
    digits.parse::<u64>().map(|number| number * unit).map_err(|_| format!("{text} is not a size"))
}

fn chosen(items: u64, area: u64) -> Vec<Workload> {
    let filled = Filled { items, has_wide: true, has_systems: false };
    let all = workloads::all(filled, area).into_iter();
    all.filter(|(group, workload)| *group != Group::Route && WORKLOADS.contains(&workload.name))
        .map(|(_, workload)| workload)
        .collect()
}

fn growth(
    options: &LargeOptions,
    (small, small_items): (&mut Running, u64),
    (large, large_items): (&mut Running, u64),
    resident_bytes: &mut Vec<u64>,
) -> Result<Vec<Growth>, String> {
    let timing = Timing::of(WARM_UP, Duration::from_secs_f64(options.seconds));
    let mut rows = Vec::new();
    for (area, connections) in [(0, 32), (1, 1)] {
        let (mut of_small, mut of_large) = (chosen(small_items, area), chosen(large_items, area));
        for (few, many) in of_small.iter_mut().zip(&mut of_large) {
            let (mut small_times, mut large_times) = (Vec::new(), Vec::new());
            for _ in 0..options.rounds {
                let measure = |running: &Running, workload: &mut Workload| {
                    let outcome = load::run(running.address, workload, connections, timing);
                    outcome.map(|outcome| time(&outcome, connections)).map_err(|error| error.to_string())
                };
                small_times.push(measure(small, few)?);
                large_times.push(measure(large, many)?);
            }
            let row = Growth {
                workload: few.name,
                connections,
                small: median(small_times),
                large: median(large_times),
            };
            eprintln!("{:<24} {connections:>3} {:?} {:?}", row.workload, row.small, row.large);
            rows.push(row);
            resident_bytes.push(large.resident_bytes());
        }
    }
    Ok(rows)
}

/// The time of one operation in microseconds.
fn time(outcome: &Outcome, connections: usize) -> f64 {
    if connections == 1 { outcome.quantile_microseconds(0.5) } else { 1e6 / outcome.per_second }
}

fn peers(options: &LargeOptions) -> (Vec<Peer>, Vec<String>) {
    let (mut peers, mut left_out) = (Vec::new(), Vec::new());
    if options.peer_seconds <= 0.0 {
        return (peers, left_out);
    }
    for name in [PEER_DURABLE, PEER_IN_MEMORY] {
        eprintln!("filling {name}");
        match peer(options, name) {
            Ok(peer) => peers.push(peer),
            Err(why) => left_out.push(format!("{name}: {why}")),
        }
    }
    (peers, left_out)
}

fn peer(options: &LargeOptions, name: &'static str) -> Result<Peer, String> {
    let running = Running::start(server(name), &options.setting.place())?;
    let started = Instant::now();
    let items = fill_items(running.address, options.items, Duration::from_secs_f64(options.peer_seconds))?;
    let fill_seconds = started.elapsed().as_secs_f64();
    if items == 0 {
        return Err("nothing was written in time".to_owned());
    }
    let timing = Timing::of(WARM_UP, Duration::from_secs_f64(options.seconds));
    let mut workloads = chosen(items, 0);
    let mut rate = |workload: &str| {
        let workload = workloads.iter_mut().find(|one| one.name == workload)?;
        load::run(running.address, workload, 32, timing).ok().map(|outcome| outcome.per_second)
    };
    let (gets, queries) = (rate("GetItem"), rate("Query of 20"));
    Ok(Peer { server: name, items, fill_seconds, gets, queries, resident_bytes: running.resident_bytes() })
}
