//! The machine that was measured on, and how.

use super::tables::counted;
use crate::compare::Compare;

/// Processor, memory, system and how busy it is.
pub fn describe() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes =
        memory.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0);
    let system = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "{cores} cores ({}), {:.0} GB of memory, Linux {}; load at the end {}. Client and servers share the machine, so only ratios within \
         this run mean something.\n",
        model.trim_start_matches([' ', '\t', ':']).replace("(R)", ""),
        kilobytes / 1e6,
        system.trim(),
        load.split(' ').next().unwrap_or_default()
    )
}

pub fn settings(options: &Compare) -> String {
    format!(
        "\nItems of 1 KB, one global index with all attributes, {} items before the run, 20 in each partition, and four partitions of 1,250. Each \
         figure is the median of {} of {} s in which the servers take turns, after 0.15 s that are not counted; slow peers, and mixes and systems over one \
         connection, have one round. Monotable runs as it comes (`sync`, a cache of {}). An operation of several requests counts \
         once. A ratio is taken in each round, and its median counts.\n",
        options.items,
        counted(options.rounds, "round"),
        options.seconds,
        options.setting.cache
    )
}
