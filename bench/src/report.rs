//! The report of a comparison: bars, tables and charts, for people to read.

mod bars;
mod chart;
mod machine;
mod tables;

use std::io;
use std::path::Path;

use crate::compare::{Compare, Figures};
use crate::large::Large;
use crate::workloads::Group;

pub use tables::counted;

/// The groups of workloads that have a table and a chart, each with its name and what it is.
const GROUPS: [(Group, &str, &str); 3] = [
    (Group::Operation, "operations", "Single operations"),
    (Group::Mix, "mixes", "The mixes of YCSB"),
    (Group::System, "systems", "The traffic of the designs"),
];

/// Writes `compare.md` and its charts.
pub fn write(options: &Compare, figures: &Figures) -> io::Result<()> {
    let directory = options.setting.results();
    std::fs::create_dir_all(&directory)?;
    let mut text = String::from("# Monotable beside its peers\n\n");
    text += &machine::describe();
    text += &machine::settings(options);
    text += &bars::table(&bars::of(figures));
    text += &tables::servers(figures);
    for connections in [32, 1] {
        let rows = GROUPS.iter().any(|(group, ..)| tables::has(figures, *group, connections));
        if rows {
            text += &format!("\n## {}\n", tables::counted(connections, "connection"));
        }
        for (group, name, title) in GROUPS {
            if tables::has(figures, group, connections) {
                text += &format!("\n### {title}, {connections}\n");
                text += &section(&directory, figures, group, name, connections)?;
            }
        }
    }
    text += &tables::under_writes(figures);
    text += &tables::growth(figures);
    text += &tables::in_process(figures);
    text += &tables::reopened(figures);
    std::fs::write(directory.join("compare.md"), &text)?;
    println!("{text}");
    Ok(())
}

fn section(
    directory: &Path,
    figures: &Figures,
    group: Group,
    name: &str,
    connections: usize,
) -> io::Result<String> {
    let file = format!("{name}-{connections}.svg");
    std::fs::write(directory.join(&file), chart::of(figures, group, connections))?;
    let chart = format!("\n![Operations per second, {connections} connections]({file})\n");
    Ok(tables::rates(figures, group, connections)
        + &tables::ratios(figures, group, connections)
        + &chart
        + &tables::latencies(figures, group, connections))
}

/// Writes `large.md`.
pub fn write_large(directory: &Path, large: &Large) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let text = format!(
        "# Monotable with {} items\n\n{}{}{}{}",
        tables::thousands(large.reopened.items as f64),
        machine::describe(),
        large.settings,
        bars::table(&bars::of_large(large)),
        tables::large(large)
    );
    std::fs::write(directory.join("large.md"), &text)?;
    println!("{text}");
    Ok(())
}
