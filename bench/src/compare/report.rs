//! The result of a comparison: a table for people and a chart.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::Measured;
use super::server::{Peer, Running};

/// Writes `results/compare.md` and a chart for each number of connections.
pub fn write(found: &[(Peer, Running)], missing: &[String], measured: &[Measured]) {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("results");
    std::fs::create_dir_all(&directory).expect("a directory for the results");
    let mut text = String::from("# Monotable beside its peers\n\n");
    text.push_str(&machine());
    text.push_str(&servers(found, missing));
    for connections in [32, 1] {
        let _ = writeln!(text, "\n## {connections} connection{}\n", if connections == 1 { "" } else { "s" });
        text.push_str(&rates(found, measured, connections));
        text.push_str(&latencies(measured, connections));
        let chart = directory.join(format!("compare-{connections}.svg"));
        std::fs::write(chart, chart_of(found, measured, connections)).expect("a chart");
        let _ =
            writeln!(text, "\n![Requests per second, {connections} connections](compare-{connections}.svg)");
    }
    std::fs::write(directory.join("compare.md"), &text).expect("a result");
    println!("{text}");
}

fn machine() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "{cores} cores,{}; load at the end {}. Client and server share the machine; only ratios within this run mean something.\n\
         Items of 1 KB, one global index with all attributes, {} items before the run.\n\n",
        model.trim_start_matches([' ', '\t', ':']).replace("(R)", ""),
        load.split(' ').next().unwrap_or_default(),
        crate::load::ITEMS
    )
}

fn servers(found: &[(Peer, Running)], missing: &[String]) -> String {
    let mut text = String::from(
        "| server | a write that is answered is | first connection | idle memory | memory after the run |\n|---|---|---|---|---|\n",
    );
    for (peer, running) in found {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let _ = writeln!(
            text,
            "| {} | {} | {:.1} ms | {:.1} MB | {:.1} MB |",
            peer.name,
            peer.promise,
            running.first_answer.as_secs_f64() * 1000.0,
            megabytes(running.idle_bytes),
            megabytes(running.resident_bytes())
        );
    }
    for line in missing {
        let _ = writeln!(text, "\nLeft out: {line}");
    }
    text
}

fn of<'a>(
    measured: &'a [Measured],
    server: &str,
    workload: &str,
    connections: usize,
) -> Option<&'a Measured> {
    measured
        .iter()
        .find(|one| one.server == server && one.workload == workload && one.connections == connections)
}

fn workload_names(measured: &[Measured]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for one in measured {
        if !names.contains(&one.workload) {
            names.push(one.workload);
        }
    }
    names
}

fn rates(found: &[(Peer, Running)], measured: &[Measured], connections: usize) -> String {
    let mut text = String::from("Requests per second:\n\n| |");
    for (peer, _) in found {
        let _ = write!(text, " {} |", peer.name);
    }
    text.push_str(" durable : dynoxide file | in memory : dynoxide in memory | durable : nothing |\n|---|");
    text.push_str(&"---|".repeat(found.len() + 3));
    text.push('\n');
    for workload in workload_names(measured) {
        let _ = write!(text, "| {workload} |");
        for (peer, _) in found {
            let one = of(measured, peer.name, workload, connections);
            let errors = one.map_or(0, |one| one.outcome.errors);
            let note = if errors > 0 { format!(" ({errors} errors)") } else { String::new() };
            let _ = write!(text, " {:.0}{note} |", one.map_or(0.0, |one| one.outcome.per_second));
        }
        for (ours, theirs) in [
            ("Monotable", "dynoxide, file"),
            ("Monotable, in memory", "dynoxide, in memory"),
            ("Monotable", "nothing"),
        ] {
            let rate = |server| of(measured, server, workload, connections).map(|one| one.outcome.per_second);
            match (rate(ours), rate(theirs)) {
                (Some(ours), Some(theirs)) => {
                    let _ = write!(text, " {:.2}x |", ours / theirs);
                }
                _ => text.push_str(" |"),
            }
        }
        text.push('\n');
    }
    text
}

fn latencies(measured: &[Measured], connections: usize) -> String {
    let mut text = String::from(
        "\nLatencies in microseconds:\n\n| | server | p50 | p99 | p99.9 |\n|---|---|---|---|---|\n",
    );
    for one in measured.iter().filter(|one| one.connections == connections) {
        let at = |quantile| one.outcome.quantile_microseconds(quantile);
        let _ = writeln!(
            text,
            "| {} | {} | {:.0} | {:.0} | {:.0} |",
            one.workload,
            one.server,
            at(0.5),
            at(0.99),
            at(0.999)
        );
    }
    text
}

const BAR: usize = 14;
const LABEL: usize = 330;
const WIDTH: usize = 1000;

/// Bars on a logarithmic scale: the servers are three orders of magnitude apart.
fn chart_of(found: &[(Peer, Running)], measured: &[Measured], connections: usize) -> String {
    let mut rows = String::new();
    let mut y = 30;
    for workload in workload_names(measured) {
        let _ = writeln!(rows, r#"<text x="8" y="{}" font-weight="bold">{workload}</text>"#, y + 12);
        for (number, (peer, _)) in found.iter().enumerate() {
            let rate =
                of(measured, peer.name, workload, connections).map_or(0.0, |one| one.outcome.per_second);
            let length = rate.max(1.0).log10() / 6.0 * (WIDTH - LABEL - 90) as f64;
            let hue = number * 360 / found.len().max(1);
            let _ = writeln!(
                rows,
                r#"<text x="160" y="{}">{}</text><rect x="{LABEL}" y="{y}" width="{length:.0}" height="{}" fill="hsl({hue},55%,55%)"/><text x="{:.0}" y="{}">{rate:.0}</text>"#,
                y + 11,
                peer.name,
                BAR - 2,
                LABEL as f64 + length + 6.0,
                y + 11
            );
            y += BAR;
        }
        y += BAR;
    }
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/><text x="8" y="16" font-size="13">Requests per second, {connections} connections, logarithmic</text>{rows}</svg>"#
    )
}
