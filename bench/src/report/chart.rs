//! A chart: a panel for each workload, a bar for each server.

use std::fmt::Write as _;

use super::bars::cell;
use super::tables::{columns, thousands, workloads};
use crate::compare::{Cell, Figures};
use crate::servers::NOTHING;
use crate::workloads::Group;

const COLUMNS: usize = 3;
const PANEL: f64 = 384.0;
const GAP: f64 = 28.0;
const MARGIN: f64 = 28.0;
const TOP: f64 = 92.0;
const BAR: f64 = 17.0;
const TITLE: f64 = 30.0;
/// Room for the names of servers, and for figures behind the bars.
const NAME: f64 = 172.0;
const FIGURE: f64 = 62.0;

/// Operations per second, all panels from zero, each with its own scale.
pub fn of(figures: &Figures, group: Group, connections: usize) -> String {
    let mut servers = columns(figures, group, connections);
    servers.retain(|server| *server != NOTHING);
    let workloads = workloads(figures, group, connections);
    let height = TITLE + BAR * servers.len() as f64 + GAP;
    let rows = workloads.len().div_ceil(COLUMNS);
    let across = COLUMNS.min(workloads.len()) as f64;
    let width = (MARGIN * 2.0 + PANEL * across + GAP * (across - 1.0)).max(760.0);
    let mut panels = String::new();
    for (number, workload) in workloads.iter().enumerate() {
        let x = MARGIN + (number % COLUMNS) as f64 * (PANEL + GAP);
        let y = TOP + (number / COLUMNS) as f64 * height;
        panels += &panel(figures, &servers, workload, connections, (x, y));
    }
    let plural = if connections == 1 { "one connection" } else { "32 connections" };
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{width}" height="{total}" font-family="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="{MARGIN}" y="38" font-size="19" font-weight="600" fill="#1c2733">Operations per second, {plural}</text>
<text x="{MARGIN}" y="60" font-size="12.5" fill="#5b6773">Longer is better. Every panel has its own scale, from zero. The ceiling is a server that does nothing. Client and server share the machine.</text>
{panels}</svg>
"##,
        total = TOP + height * rows as f64
    )
}

fn panel(
    figures: &Figures,
    servers: &[&'static str],
    workload: &str,
    connections: usize,
    (x, y): (f64, f64),
) -> String {
    let rate = |server: &str| cell(figures, server, workload, connections).and_then(Cell::rate);
    let largest = servers.iter().filter_map(|server| rate(server)).fold(1.0, f64::max);
    let ceiling = rate(NOTHING).map_or(String::new(), |rate| format!("ceiling {}", thousands(rate)));
    let mut text = format!(
        r##"<g><text x="{x}" y="{base:.0}" font-size="14" font-weight="600" fill="#1c2733">{workload}</text><text x="{:.0}" y="{base:.0}" font-size="11" fill="#98a2ad" text-anchor="end">{ceiling}</text>
"##,
        x + PANEL,
        base = y + 14.0
    );
    for (number, server) in servers.iter().enumerate() {
        let top = y + TITLE + BAR * number as f64;
        let base = top + BAR - 5.5;
        let weight = if server.starts_with("Monotable") { 600 } else { 400 };
        let _ = writeln!(
            text,
            r##"<text x="{:.1}" y="{base:.1}" font-size="11" font-weight="{weight}" fill="#3a4651" text-anchor="end">{server}</text>"##,
            x + NAME - 8.0
        );
        let bar = x + NAME;
        let (length, label) = match rate(server) {
            Some(rate) => (rate / largest * (PANEL - NAME - FIGURE), thousands(rate)),
            None => (0.0, missing(figures, server, workload, connections)),
        };
        let _ = writeln!(
            text,
            r##"<rect x="{bar:.1}" y="{:.1}" width="{:.1}" height="{:.1}" rx="2" fill="{}"/><text x="{:.1}" y="{base:.1}" font-size="11" fill="#3a4651">{label}</text>"##,
            top + 1.5,
            length.max(1.0),
            BAR - 4.0,
            colour(server),
            bar + length.max(1.0) + 6.0
        );
    }
    text + "</g>\n"
}

fn missing(figures: &Figures, server: &str, workload: &str, connections: usize) -> String {
    let why = cell(figures, server, workload, connections).and_then(|cell| cell.refusal.as_deref());
    match why {
        Some(why) if why.starts_with("refused") => "refused".to_owned(),
        Some(_) => "not done".to_owned(),
        None => "–".to_owned(),
    }
}

/// One colour for each program, lighter where it keeps data in memory.
fn colour(server: &str) -> &'static str {
    match (server.split(',').next().unwrap_or(server), server.contains("memory")) {
        ("Monotable", false) => "#0f766e",
        ("Monotable", true) => "#5eb8ad",
        ("dynoxide", false) => "#c2570c",
        ("dynoxide", true) => "#f0a26a",
        ("dynalite", _) => "#7c6bb0",
        ("DynamoDB Local", _) => "#4a7ab5",
        _ => "#98a2ad",
    }
}
