//! The bars: what is to be reached, and whether it was.

use std::fmt::Write as _;

use super::tables::{counted, thousands};
use crate::compare::{Cell, Figures, Reopened, median};
use crate::large::Large;
use crate::servers::{DURABLE, IN_MEMORY, NOTHING, PEER_DURABLE, PEER_IN_MEMORY};

/// A figure and what it should be.
pub struct Bar {
    pub what: String,
    pub measured: f64,
    pub bar: f64,
    pub unit: &'static str,
    /// The figure should be at least the bar; at most otherwise.
    pub is_least: bool,
}

impl Bar {
    pub fn is_reached(&self) -> bool {
        if self.is_least { self.measured >= self.bar } else { self.measured <= self.bar }
    }
}

fn least(what: impl Into<String>, measured: f64, bar: f64) -> Bar {
    Bar { what: what.into(), measured, bar, unit: "x", is_least: true }
}

fn most(what: impl Into<String>, measured: f64, bar: f64, unit: &'static str) -> Bar {
    Bar { what: what.into(), measured, bar, unit, is_least: false }
}

/// What each operation should reach beside dynoxide: durable, and in memory.
const RATIOS: [(&str, f64, f64); 6] = [
    ("GetItem", 6.0, 6.0),
    ("PutItem", 10.0, 15.0),
    ("Query of 20", 8.0, 8.0),
    ("Update counter", 12.0, 12.0),
    ("TransactWrite of 3", 20.0, 20.0),
    ("BatchWrite of 25", 20.0, 20.0),
];

/// What was measured of one server with one workload.
pub fn cell<'a>(figures: &'a Figures, server: &str, workload: &str, connections: usize) -> Option<&'a Cell> {
    figures
        .cells
        .iter()
        .find(|cell| cell.server == server && cell.workload == workload && cell.connections == connections)
}

fn ratio(figures: &Figures, (ours, theirs): (&str, &str), workload: &str) -> Option<f64> {
    cell(figures, ours, workload, 32)?.ratio_to(cell(figures, theirs, workload, 32)?)
}

/// All bars that this run has figures for.
pub fn of(figures: &Figures) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (workload, durable, in_memory) in RATIOS {
        let of_disk = ratio(figures, (DURABLE, PEER_DURABLE), workload);
        let of_memory = ratio(figures, (IN_MEMORY, PEER_IN_MEMORY), workload);
        bars.extend(of_disk.map(|ratio| {
            least(format!("{workload}, durable : dynoxide file, 32 connections"), ratio, durable)
        }));
        bars.extend(of_memory.map(|ratio| {
            least(format!("{workload}, in memory : dynoxide in memory, 32 connections"), ratio, in_memory)
        }));
    }
    let ceiling = ratio(figures, (DURABLE, NOTHING), "GetItem");
    bars.extend(
        ceiling.map(|ratio| {
            least("GetItem, durable : the server that does nothing, 32 connections", ratio, 0.6)
        }),
    );
    bars.extend(one_connection(figures));
    for (what, ours, theirs) in &figures.in_process {
        let bar = match *what {
            "GetItem" => 10.0,
            "PutItem" => 20.0,
            _ => 12.0,
        };
        bars.push(least(format!("{what} in process, in memory : dynoxide embedded"), ours / theirs, bar));
    }
    bars.extend(under_writes(figures));
    bars.extend(starts(figures));
    bars.extend(figures.reopened.iter().flat_map(of_reopened));
    bars.extend(proportions(figures));
    bars
}

fn one_connection(figures: &Figures) -> Vec<Bar> {
    let middle = |server, workload| cell(figures, server, workload, 1).and_then(|cell| cell.quantile(0.5));
    let mut bars = Vec::new();
    let read = |server| cell(figures, server, "GetItem", 1);
    let reads =
        read(DURABLE).zip(read(NOTHING)).and_then(|(ours, nothing)| ours.quantile_ratio_to(nothing, 0.5));
    bars.extend(
        reads.map(|ratio| most("GetItem p50 : the server that does nothing, 1 connection", ratio, 1.25, "x")),
    );
    if let (Some(ours), Some(nothing), Some(sync)) =
        (middle(DURABLE, "PutItem"), middle(NOTHING, "PutItem"), figures.sync_microseconds)
    {
        let bar = 1.25 * nothing + 1.5 * sync;
        bars.push(most("PutItem p50, 1 connection (1.25 times nothing's and 1.5 syncs)", ours, bar, " µs"));
    }
    bars
}

fn under_writes(figures: &Figures) -> Vec<Bar> {
    let mut bars = Vec::new();
    for mixed in figures.mixed.iter().filter(|mixed| mixed.server == DURABLE) {
        let at = |outcomes: &[crate::load::Outcome], quantile| {
            median(outcomes.iter().map(|outcome| outcome.quantile_microseconds(quantile)).collect())
        };
        for under in &mixed.loaded {
            let load = if under.asked.is_some() {
                "half of the writes it can take"
            } else {
                "all writes it can take"
            };
            if let (Some(alone), Some(loaded)) = (at(&mixed.alone, 0.99), at(&under.reads, 0.99)) {
                bars.push(most(format!("GetItem p99 under {load} : alone"), loaded / alone, 5.0, "x"));
            }
            let worst = at(&under.writes, 0.999);
            bars.extend(
                worst.map(|worst| most(format!("PutItem p99.9 at {load}"), worst / 1000.0, 100.0, " ms")),
            );
        }
    }
    bars
}

fn starts(figures: &Figures) -> Vec<Bar> {
    let ours = figures.servers.iter().find(|about| about.server.name == DURABLE);
    let first = ours.and_then(|about| about.first_answer);
    let idle = ours.and_then(|about| about.idle_bytes);
    let first =
        first.map(|time| most("first answer on an empty directory", time.as_secs_f64() * 1e3, 10.0, " ms"));
    let idle = idle.map(|bytes| most("idle memory", bytes as f64 / 1e6, 15.0, " MB"));
    first.into_iter().chain(idle).collect()
}

fn of_reopened(reopened: &Reopened) -> Vec<Bar> {
    let answers = reopened.first_answers.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    let bar = if reopened.items > 1_000_000 { None } else { Some(500.0) };
    let items = thousands(reopened.items as f64);
    let first = median(answers)
        .zip(bar)
        .map(|(time, bar)| most(format!("first answer with {items} items after a kill"), time, bar, " ms"));
    let size = reopened.disk_bytes as f64 / (reopened.table_bytes + reopened.index_bytes) as f64;
    let size =
        most(format!("size on disk of {items} items : DynamoDB's size of table and index"), size, 1.3, "x");
    first.into_iter().chain([size]).collect()
}

/// How much steeper a cost may become towards its end and still be called proportional.
const STEEPER: f64 = 1.25;

fn proportions(figures: &Figures) -> Vec<Bar> {
    let slope = |from: (f64, f64), to: (f64, f64)| (to.1 - from.1) / (to.0 - from.0);
    let mut bars = Vec::new();
    let page = |size| figures.pages.iter().find(|(of, _)| *of == size).map(|(of, time)| (*of as f64, *time));
    if let (Some(small), Some(middle), Some(large)) = (page(10), page(100), page(1_000)) {
        let steeper = slope(middle, large) / slope(small, middle);
        bars.push(most(
            "Query page: time of one more item between 100 and 1,000 : between 10 and 100",
            steeper,
            STEEPER,
            "x",
        ));
    }
    let entries =
        |count| figures.by_entries.iter().find(|(of, _)| *of == count).map(|(of, time)| (*of as f64, *time));
    if let (Some(none), Some(ten), Some(all)) = (entries(0), entries(10), entries(20)) {
        let steeper = slope(ten, all) / slope(none, ten);
        bars.push(most(
            "20 indexes: time of one more that changes, between 10 and 20 : between 0 and 10",
            steeper,
            STEEPER,
            "x",
        ));
    }
    bars
}

/// What memory may be held beside the cache: what was written and is not yet in files, and the program.
const BESIDE_CACHE: f64 = 128e6;

/// What may hardly grow with the number of items.
const GROWING: [&str; 2] = ["GetItem", "Query of 20"];

/// The bars of a large database.
pub fn of_large(large: &Large) -> Vec<Bar> {
    let mut bars = of_reopened(&large.reopened);
    let (small, many) = (thousands(large.small_items as f64), thousands(large.reopened.items as f64));
    for growth in large.growth.iter().filter(|growth| GROWING.contains(&growth.workload)) {
        if let (Some(few), Some(many_more)) = (growth.small, growth.large) {
            let what = format!(
                "{}, {}: time at {many} : at {small} items",
                growth.workload,
                counted(growth.connections, "connection")
            );
            bars.push(most(what, many_more / few, 1.5, "x"));
        }
    }
    let held = large.resident_bytes.iter().copied().max().unwrap_or(0) as f64;
    let bar = (large.cache_bytes as f64 + BESIDE_CACHE) / 1e6;
    bars.push(most(
        "most memory held (the cache and 128 MB for what is being written)",
        held / 1e6,
        bar,
        " MB",
    ));
    bars
}

pub fn table(bars: &[Bar]) -> String {
    if bars.is_empty() {
        return String::new();
    }
    let reached = bars.iter().filter(|bar| bar.is_reached()).count();
    let mut text = format!(
        "\n## Bars\n\n{reached} of {} reached.\n\n| figure | measured | bar | |\n|---|---|---|---|\n",
        bars.len()
    );
    for bar in bars {
        let word = if bar.is_reached() { "reached" } else { "**missed**" };
        let relation = if bar.is_least { "at least" } else { "at most" };
        let digits = if bar.measured >= 100.0 { 0 } else { 2 };
        let _ = writeln!(
            text,
            "| {} | {:.digits$}{} | {relation} {}{} | {word} |",
            bar.what,
            bar.measured,
            bar.unit,
            Trimmed(bar.bar),
            bar.unit
        );
    }
    text
}

/// A number without digits that say nothing.
struct Trimmed(f64);

impl std::fmt::Display for Trimmed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        formatter.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::{least, most, table};

    #[test]
    fn a_bar_is_reached_from_the_right_side() {
        assert!(least("a", 6.0, 6.0).is_reached() && !least("a", 5.9, 6.0).is_reached());
        assert!(most("a", 10.0, 10.0, " ms").is_reached() && !most("a", 10.1, 10.0, " ms").is_reached());
        let text = table(&[least("GetItem", 5.25, 6.0), most("start", 9.0, 10.0, " ms")]);
        assert!(text.contains("1 of 2 reached"), "{text}");
        assert!(text.contains("| GetItem | 5.25x | at least 6x | **missed** |"), "{text}");
        assert!(text.contains("| start | 9.00 ms | at most 10 ms | reached |"), "{text}");
    }
}
