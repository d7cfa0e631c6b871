//! The tables of a report.

use std::fmt::Write as _;
use std::time::Duration;

use super::bars::cell;
use crate::compare::{About, Cell, Figures, Reopened, median};
use crate::large::Large;
use crate::load::Outcome;
use crate::servers::{DURABLE, IN_MEMORY, NOTHING, PEER_DURABLE, PEER_IN_MEMORY, Place, ROUTES};
use crate::workloads::Group;

/// A number with a comma after each three digits.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digit != '-' {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and what it counts, of which there may be one.
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// Whether anything of a group was measured.
pub fn has(figures: &Figures, group: Group, connections: usize) -> bool {
    figures.cells.iter().any(|cell| cell.group == group && cell.connections == connections)
}

/// A heading row with the line under it.
fn heading(names: &[&str]) -> String {
    format!("\n| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()))
}

pub fn servers(figures: &Figures) -> String {
    let mut text = String::from("\n## Servers\n");
    text += &heading(&[
        "server",
        "version",
        "keeps data",
        "syncs of 20 PutItems",
        "first answer",
        "idle memory",
        "items",
        "memory when filled",
        "after the run",
    ]);
    for about in &figures.servers {
        text += &server(about);
    }
    text += "\nThe server that does nothing reads a request with hyper and answers `{}`: the ceiling of that stack. First answers are the median of five \
             starts on an empty directory, from the start of the process to an answer over HTTP. Syncs were counted with strace.\n";
    for line in &figures.left_out {
        let _ = writeln!(text, "\nLeft out: {line}");
    }
    text
}

fn server(about: &About) -> String {
    let or_not = |text: Option<String>| text.unwrap_or_default();
    let place = match about.server.place {
        Place::Nowhere => "no",
        Place::Memory => "in memory",
        Place::Disk if about.syncs_of_20.is_some_and(|syncs| syncs < 20) => {
            "on disk, not synced before the answer"
        }
        Place::Disk => "on disk",
    };
    format!(
        "| {} | {} | {place} | {} | {} | {} | {} | {} | {} |\n",
        about.server.name,
        about.version,
        or_not(about.syncs_of_20.map(|syncs| syncs.to_string())),
        or_not(about.first_answer.map(milliseconds)),
        or_not(about.idle_bytes.map(megabytes)),
        or_not(about.filled.map(|filled| thousands(filled.items as f64))),
        or_not(about.loaded_bytes.map(|(filled, _)| megabytes(filled))),
        or_not(about.loaded_bytes.map(|(_, after)| megabytes(after))),
    )
}

/// The names of the workloads of a group, in their order.
pub fn workloads(figures: &Figures, group: Group, connections: usize) -> Vec<&'static str> {
    let mut names = Vec::new();
    for cell in figures.cells.iter().filter(|cell| cell.group == group && cell.connections == connections) {
        if !names.contains(&cell.workload) {
            names.push(cell.workload);
        }
    }
    names
}

/// The servers that have a figure in a group, in their order; the routes of designs beside the systems that they are for.
pub fn columns(figures: &Figures, group: Group, connections: usize) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for about in &figures.servers {
        let is_there = |cell: &Cell| {
            let is_of_group = cell.group == group || (group == Group::System && cell.group == Group::Route);
            is_of_group && cell.connections == connections && cell.server == about.server.name
        };
        if figures.cells.iter().any(is_there) {
            names.push(about.server.name);
        }
    }
    names
}

/// What a cell says: its figure, or why there is none.
fn said(cell: Option<&Cell>, figure: impl Fn(&Cell) -> Option<String>) -> String {
    let Some(cell) = cell else { return String::new() };
    if let Some(why) = &cell.refusal {
        return why.replace('|', "/");
    }
    let errors = match cell.errors() {
        0 => String::new(),
        errors => format!(" ({errors} errors)"),
    };
    figure(cell).unwrap_or_default() + &errors
}

pub fn rates(figures: &Figures, group: Group, connections: usize) -> String {
    let columns = columns(figures, group, connections);
    let shows_raw = group == Group::Operation && connections > 1 && !figures.raw.is_empty();
    let mut names = vec![if connections == 1 {
        "operations per second, one connection"
    } else {
        "operations per second"
    }];
    names.extend(&columns);
    if shows_raw {
        names.push("storage engine, raw");
    }
    let mut text = heading(&names);
    for workload in workloads(figures, group, connections) {
        let _ = write!(text, "| {workload} |");
        for server in &columns {
            let said = said(cell(figures, server, workload, connections), |cell| cell.rate().map(thousands));
            let _ = write!(text, " {said} |");
        }
        if shows_raw {
            let raw = figures.raw.iter().find(|(name, _)| *name == workload);
            let _ = write!(text, " {} |", raw.map_or(String::new(), |(_, rate)| thousands(*rate)));
        }
        text.push('\n');
    }
    text
}

/// Ours beside the others, like with like.
pub fn ratios(figures: &Figures, group: Group, connections: usize) -> String {
    let pairs = [
        ("durable : dynoxide file", DURABLE, PEER_DURABLE),
        ("in memory : dynoxide in memory", IN_MEMORY, PEER_IN_MEMORY),
        ("durable : nothing", DURABLE, NOTHING),
        ("in memory : nothing", IN_MEMORY, NOTHING),
        ("routes : requests by hand", ROUTES, DURABLE),
    ];
    let rate = |server, workload| {
        cell(figures, server, workload, connections).and_then(Cell::rate).filter(|rate| *rate > 0.0)
    };
    let ratio = |ours, theirs, workload| {
        let ours = cell(figures, ours, workload, connections)?;
        ours.ratio_to(cell(figures, theirs, workload, connections)?)
    };
    let workloads = workloads(figures, group, connections);
    let pairs: Vec<_> = pairs
        .into_iter()
        .filter(|(_, ours, theirs)| workloads.iter().any(|name| ratio(ours, theirs, name).is_some()))
        .collect();
    let shows_raw = group == Group::Operation && connections > 1 && !figures.raw.is_empty();
    if pairs.is_empty() && !shows_raw {
        return String::new();
    }
    let mut names = vec!["ratio"];
    names.extend(pairs.iter().map(|(name, ..)| *name));
    if shows_raw {
        names.push("durable : raw");
    }
    let mut text = heading(&names);
    for workload in workloads {
        let _ = write!(text, "| {workload} |");
        for (_, ours, theirs) in &pairs {
            let ratio = ratio(ours, theirs, workload).map_or(String::new(), |ratio| format!("{ratio:.2}x"));
            let _ = write!(text, " {ratio} |");
        }
        if shows_raw {
            let raw = figures.raw.iter().find(|(name, _)| *name == workload).map(|(_, rate)| *rate);
            let ratio = rate(DURABLE, workload)
                .zip(raw)
                .map_or(String::new(), |(ours, raw)| format!("{:.2}x", ours / raw));
            let _ = write!(text, " {ratio} |");
        }
        text.push('\n');
    }
    text
}

pub fn latencies(figures: &Figures, group: Group, connections: usize) -> String {
    let columns = columns(figures, group, connections);
    let mut names = vec!["p50 / p99 / p99.9 in microseconds"];
    names.extend(&columns);
    let mut text = heading(&names);
    for workload in workloads(figures, group, connections) {
        let _ = write!(text, "| {workload} |");
        for server in &columns {
            let figure = |cell: &Cell| {
                let at = |quantile| cell.quantile(quantile).map(thousands);
                Some(format!("{} / {} / {}", at(0.5)?, at(0.99)?, at(0.999)?))
            };
            let cell = cell(figures, server, workload, connections).filter(|cell| cell.refusal.is_none());
            let _ = write!(text, " {} |", said(cell, figure));
        }
        text.push('\n');
    }
    text
}

fn quantiles(outcomes: &[Outcome]) -> String {
    let at =
        |quantile| median(outcomes.iter().map(|outcome| outcome.quantile_microseconds(quantile)).collect());
    let text = |quantile| at(quantile).map_or(String::new(), thousands);
    format!("{} / {} / {}", text(0.5), text(0.99), text(0.999))
}

fn per_second(outcomes: &[Outcome]) -> String {
    median(outcomes.iter().map(|outcome| outcome.per_second).collect()).map_or(String::new(), thousands)
}

pub fn under_writes(figures: &Figures) -> String {
    if figures.mixed.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Reads while writes go on\n\n1,000 GetItems a second over 4 connections, each due at its time (open loop), alone and while 32 connections write. A latency counts \
         from when its request was due.\n",
    );
    text += &heading(&[
        "server",
        "writes asked for, per second",
        "writes done",
        "GetItem p50 / p99 / p99.9 in microseconds",
        "PutItem p50 / p99 / p99.9",
    ]);
    for mixed in &figures.mixed {
        let _ = writeln!(text, "| {} | none | | {} | |", mixed.server, quantiles(&mixed.alone));
        for under in &mixed.loaded {
            let asked = under.asked.map_or("as many as it takes".to_owned(), thousands);
            let (reads, writes) = (quantiles(&under.reads), quantiles(&under.writes));
            let _ = writeln!(
                text,
                "| {} | {asked} | {} | {reads} | {writes} |",
                mixed.server,
                per_second(&under.writes)
            );
        }
    }
    text
}

pub fn growth(figures: &Figures) -> String {
    let mut text = String::new();
    if !figures.pages.is_empty() {
        text += "\n## What a page costs\n";
        text += &heading(&["items returned by a Query", "p50 in microseconds", "each item"]);
        for (size, time) in &figures.pages {
            let _ =
                writeln!(text, "| {} | {time:.0} | {:.2} |", thousands(*size as f64), time / *size as f64);
        }
    }
    if !figures.by_entries.is_empty() {
        text += "\n## What indexes cost\n\nA PutItem of a new item into a table with 20 global indexes, in process, in memory.\n";
        text += &heading(&["indexes that it changes", "microseconds"]);
        for (entries, time) in &figures.by_entries {
            let _ = writeln!(text, "| {entries} | {time:.2} |");
        }
    }
    text
}

pub fn in_process(figures: &Figures) -> String {
    if figures.in_process.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n## In one process, in memory, one thread\n");
    text += &heading(&["operations per second", "Monotable", "dynoxide embedded", "ratio"]);
    for (what, ours, theirs) in &figures.in_process {
        let _ = writeln!(
            text,
            "| {what} | {} | {} | {:.1}x |",
            thousands(*ours),
            thousands(*theirs),
            ours / theirs
        );
    }
    if let Some(sync) = figures.sync_microseconds {
        let _ = writeln!(text, "\nA sync of 2.4 KB just written takes the disk {sync:.0} µs (median).");
    }
    text
}

pub fn reopened(figures: &Figures) -> String {
    figures.reopened.as_ref().map_or(String::new(), database)
}

fn database(reopened: &Reopened) -> String {
    let times: Vec<String> = reopened.first_answers.iter().map(|time| milliseconds(*time)).collect();
    let of = |bytes: u64| reopened.disk_bytes as f64 / bytes as f64;
    let mut text = format!("\n## A database of {} items\n", thousands(reopened.items as f64));
    text += &heading(&["", ""]);
    let rows = [
        (
            "filled over HTTP, BatchWrite of 25, 16 connections, synced, in",
            format!("{:.1} s", reopened.fill_seconds),
        ),
        ("memory when it was filled", megabytes(reopened.resident_bytes)),
        ("DynamoDB's size of the table", megabytes(reopened.table_bytes)),
        ("DynamoDB's size of its index", megabytes(reopened.index_bytes)),
        (
            "size on disk",
            format!(
                "{}: {:.2}x of table and index, {:.2}x of the table alone",
                megabytes(reopened.disk_bytes),
                of(reopened.table_bytes + reopened.index_bytes),
                of(reopened.table_bytes)
            ),
        ),
        ("first answer after a kill, several times", times.join(", ")),
        ("memory after it and a read", megabytes(reopened.reopened_bytes)),
    ];
    for (what, figure) in rows {
        let _ = writeln!(text, "| {what} | {figure} |");
    }
    text
}

pub fn large(large: &Large) -> String {
    let mut text = database(&large.reopened);
    let small = thousands(large.small_items as f64);
    let many = thousands(large.reopened.items as f64);
    let _ = writeln!(
        text,
        "\n## What grows with the number of items\n\nMicroseconds of one operation in the middle (p50) with one connection; with 32, the time of one operation is what the rate leaves it."
    );
    text +=
        &heading(&["operation", "connections", &format!("{small} items"), &format!("{many} items"), "ratio"]);
    for growth in &large.growth {
        let figure = |time: Option<f64>| time.map_or(String::new(), |time| format!("{time:.1}"));
        let ratio = growth
            .large
            .zip(growth.small)
            .map_or(String::new(), |(large, small)| format!("{:.2}x", large / small));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {ratio} |",
            growth.workload,
            growth.connections,
            figure(growth.small),
            figure(growth.large)
        );
    }
    let held: Vec<String> = large.resident_bytes.iter().map(|bytes| megabytes(*bytes)).collect();
    let _ = writeln!(
        text,
        "\nMemory of the large one after each of these: {}. Its cache is {}.",
        held.join(", "),
        megabytes(large.cache_bytes)
    );
    text += &peers(large);
    text
}

fn peers(large: &Large) -> String {
    if large.peers.is_empty() && large.left_out.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n## Peers, as far as they could be filled\n");
    text += &heading(&[
        "server",
        "filled for",
        "items",
        "GetItem per second, 32 connections",
        "Query of 20",
        "memory",
    ]);
    for peer in &large.peers {
        let rate = |rate: Option<f64>| rate.map_or(String::new(), thousands);
        let _ = writeln!(
            text,
            "| {} | {:.0} s | {} | {} | {} | {} |",
            peer.server,
            peer.fill_seconds,
            thousands(peer.items as f64),
            rate(peer.gets),
            rate(peer.queries),
            megabytes(peer.resident_bytes)
        );
    }
    for line in &large.left_out {
        let _ = writeln!(text, "\nLeft out: {line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn numbers_have_commas() {
        assert_eq!(thousands(999.4), "999");
        assert_eq!(thousands(1_000.0), "1,000");
        assert_eq!(thousands(10_000_000.0), "10,000,000");
    }
}
