//! The standard comparison: Monotable beside its peers over HTTP, with the same client, the same requests, the same machine, in one run.
//!
//! Parts that need the machine for themselves come first: starting, what runs in this process, reopening a large database. Then all
//! servers are started and filled, and every workload goes to each of them in turns. A peer that is not installed is left out, and the
//! result says so.

mod latencies;
mod rates;
mod reopening;
mod starts;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::load::Outcome;
use crate::memory::{self, Rates};
use crate::process::{Place, Running};
use crate::servers::{self, Server};
use crate::workloads::{Filled, Group};
use crate::{raw, report, shape};

pub use latencies::Mixed;
pub use rates::Bench;
pub use reopening::{Reopened, reopen};

/// Compares Monotable with its peers and writes a report with charts.
#[derive(Args, Clone)]
pub struct Compare {
    /// Only servers whose names have one of these texts in them, such as Monotable,dynoxide.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Only workloads whose names have one of these texts in them, such as GetItem,YCSB.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub workloads: Vec<String>,
    /// Only these parts.
    #[arg(long, value_name = "PART,…", value_delimiter = ',', value_enum)]
    pub parts: Vec<Part>,
    /// How long each figure is measured in each round.
    #[arg(long, default_value_t = 0.6)]
    pub seconds: f64,
    /// How often the servers take turns; the median counts, of figures and of ratios. Slow peers have one round.
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// Items of 1 KB in the table.
    #[arg(long, default_value_t = 10_000)]
    pub items: u64,
    /// Items in the database that is killed and opened again.
    #[arg(long, default_value_t = 1_000_000)]
    pub reopen_items: u64,
    /// How long a table of a slow peer may take to be filled; it is measured with what it has then.
    #[arg(long, default_value_t = 20.0)]
    pub fill_seconds: f64,
    #[command(flatten)]
    pub setting: Setting,
}

/// What both comparisons are told.
#[derive(Args, Clone)]
pub struct Setting {
    /// The program of Monotable; the release build of this checkout unless told otherwise.
    #[arg(long, value_name = "FILE")]
    monotable: Option<PathBuf>,
    /// Where the databases are made. It must be on a disk, or syncing means nothing.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Memory that Monotable has for data read from disk.
    #[arg(long, value_name = "SIZE", default_value = "256MB")]
    pub cache: String,
    /// Where the report goes; bench/results unless told otherwise.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl Setting {
    pub fn place(&self) -> Place {
        let ours = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/release/monotable");
        Place {
            monotable: self.monotable.clone().unwrap_or(ours),
            scratch: self.scratch.clone().unwrap_or_else(std::env::temp_dir),
            cache: self.cache.clone(),
        }
    }

    pub fn results(&self) -> PathBuf {
        self.results.clone().unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("results"))
    }
}

/// A part of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// First answers, idle memory, syncs.
    Start,
    /// In this process: dynoxide embedded, the storage engine used raw, a sync of the disk, costs of many indexes.
    Process,
    /// A large database after a kill, its size on disk.
    Reopen,
    /// Requests per second over HTTP.
    Rates,
    /// Reads while writes go on, and pages of several sizes.
    Latencies,
}

/// Everything that was measured.
#[derive(Default)]
pub struct Figures {
    pub servers: Vec<About>,
    /// Which servers are missing, and why.
    pub left_out: Vec<String>,
    pub cells: Vec<Cell>,
    pub raw: Vec<(&'static str, f64)>,
    pub in_process: Vec<Rates>,
    pub by_entries: Vec<(usize, f64)>,
    pub sync_microseconds: Option<f64>,
    pub reopened: Option<Reopened>,
    pub mixed: Vec<Mixed>,
    /// Microseconds of a Query in the middle, by how many items it returns.
    pub pages: Vec<(u64, f64)>,
}

/// What is known of a server beside its figures.
pub struct About {
    pub server: Server,
    pub version: String,
    pub first_answer: Option<Duration>,
    pub idle_bytes: Option<u64>,
    /// Syncs of twenty writes, one after another.
    pub syncs_of_20: Option<u64>,
    pub filled: Option<Filled>,
    /// After the table was filled, and after the run.
    pub loaded_bytes: Option<(u64, u64)>,
}

/// What was measured of one server with one workload.
pub struct Cell {
    pub server: &'static str,
    pub group: Group,
    pub workload: &'static str,
    pub connections: usize,
    /// Why it could not be measured.
    pub refusal: Option<String>,
    pub rounds: Vec<Outcome>,
}

impl Cell {
    /// Operations per second, the median of the rounds.
    pub fn rate(&self) -> Option<f64> {
        self.median(|outcome| outcome.per_second)
    }

    /// A quantile of the latencies in microseconds, the median of the rounds.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        self.median(|outcome| outcome.quantile_microseconds(quantile))
    }

    pub fn errors(&self) -> u64 {
        self.rounds.iter().map(|outcome| outcome.errors).sum()
    }

    /// How many times as fast as another server, round by round, the median of the rounds: two rounds that follow each other meet the same
    /// machine, whatever else it does meanwhile.
    pub fn ratio_to(&self, other: &Cell) -> Option<f64> {
        self.compared(other, |outcome| outcome.per_second)
    }

    /// A quantile of the latencies beside that of another server, in the same way.
    pub fn quantile_ratio_to(&self, other: &Cell, quantile: f64) -> Option<f64> {
        self.compared(other, |outcome| outcome.quantile_microseconds(quantile))
    }

    fn compared(&self, other: &Cell, figure: impl Fn(&Outcome) -> f64) -> Option<f64> {
        let rounds = self.rounds.iter().zip(&other.rounds);
        let ratios = rounds.map(|(ours, theirs)| figure(ours) / figure(theirs));
        median(ratios.filter(|ratio| ratio.is_finite()).collect())
    }

    fn median(&self, figure: impl Fn(&Outcome) -> f64) -> Option<f64> {
        median(self.rounds.iter().filter(|outcome| outcome.count() > 0).map(figure).collect())
    }
}

/// The one in the middle; of two, the mean.
pub fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    match figures.len() {
        0 => None,
        length if length % 2 == 1 => Some(figures[middle]),
        _ => Some(f64::midpoint(figures[middle - 1], figures[middle])),
    }
}

impl Compare {
    fn has(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    fn servers(&self) -> Vec<Server> {
        let is_wanted = |server: &Server| {
            self.only.is_empty() || self.only.iter().any(|text| server.name.contains(text.as_str()))
        };
        servers::all().into_iter().filter(is_wanted).collect()
    }

    fn wants(&self, workload: &str) -> bool {
        self.workloads.is_empty() || self.workloads.iter().any(|text| workload.contains(text.as_str()))
    }

    fn time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

/// Runs the comparison and writes its report.
pub fn run(options: &Compare) -> Result<(), String> {
    let place = options.setting.place();
    if !place.monotable.exists() {
        return Err(format!(
            "there is no {}; build it with: cargo build --release -p monotable-cli",
            place.monotable.display()
        ));
    }
    let mut figures = Figures::default();
    find(options, &place, &mut figures);
    if options.has(Part::Process) {
        eprintln!("in this process");
        figures.in_process = memory::measure(50_000);
        figures.by_entries = shape::puts_by_entries();
        figures.sync_microseconds = Some(raw::sync_microseconds(&place.scratch));
        figures.raw =
            raw::measure(&place.scratch, usize::try_from(options.items).expect("64 bits"), options.time());
    }
    if options.has(Part::Reopen) {
        eprintln!("filling {} items to open them again", options.reopen_items);
        figures.reopened = Some(reopening::measure(options, &place)?);
    }
    if options.has(Part::Rates) || options.has(Part::Latencies) {
        let mut benches = rates::start(options, &place, &mut figures);
        if options.has(Part::Rates) {
            figures.cells = rates::measure(options, &mut benches);
        }
        if options.has(Part::Latencies) {
            latencies::measure(options, &mut benches, &mut figures);
        }
        for bench in &benches {
            let bytes = bench.running.resident_bytes();
            let about =
                figures.servers.iter_mut().find(|about| about.server.name == bench.running.server.name);
            if let Some(loaded) = about.and_then(|about| about.loaded_bytes.as_mut()) {
                loaded.1 = bytes;
            }
        }
    }
    report::write(options, &figures).map_err(|error| format!("the report cannot be written: {error}"))
}

/// Finds out which servers there are and, if that is wanted, how they start.
fn find(options: &Compare, place: &Place, figures: &mut Figures) {
    for server in options.servers() {
        let outcome = if options.has(Part::Start) {
            eprintln!("starting {}", server.name);
            starts::measure(server, place)
        } else {
            Running::start(server, place).map(|_| starts::unmeasured(server))
        };
        match outcome {
            Ok(about) => figures.servers.push(about),
            Err(why) => figures.left_out.push(format!("{}: {why}", server.name)),
        }
    }
}
