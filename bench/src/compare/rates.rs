//! Operations per second over HTTP: every workload on all servers in turns.

use std::cell::Cell as StdCell;
use std::time::Duration;

use super::{Cell, Compare, Figures};
use crate::load::{self, Timing, Workload};
use crate::process::{Place, Running};
use crate::servers::{Place as Kept, Role};
use crate::workloads::{self, Filled, Group, fill_items, fill_systems, fill_wide};

/// Nothing is counted for so long after the first request.
const WARM_UP: Duration = Duration::from_millis(150);
/// A fast server that takes longer to be filled is not well.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server that is filled and running.
pub struct Bench {
    pub running: Running,
    pub filled: Filled,
    /// It stopped answering once, and is not asked again.
    is_lost: StdCell<bool>,
}

impl Bench {
    /// Whether a figure is asked for: not all make sense, and the slow ones are asked for the main ones.
    fn has(&self, group: Group, connections: usize) -> bool {
        let server = &self.running.server;
        match (group, server.role) {
            (Group::Route, role) => role == Role::Designs,
            (_, Role::Designs) => false,
            (Group::Operation, _) if server.is_slow => connections > 1 || server.place == Kept::Memory,
            (_, _) if server.is_slow && (connections == 1 || server.place == Kept::Disk) => false,
            (Group::System, _) => self.filled.has_systems,
            _ => true,
        }
    }
}

/// Starts and fills all servers that were found.
pub fn start(options: &Compare, place: &Place, figures: &mut Figures) -> Vec<Bench> {
    let mut benches = Vec::new();
    for about in &mut figures.servers {
        eprintln!("filling {}", about.server.name);
        match start_one(options, place, about.server) {
            Ok(bench) => {
                let has_items = matches!(about.server.role, Role::Ours | Role::Peer);
                about.filled = has_items.then_some(bench.filled);
                let bytes = bench.running.resident_bytes();
                about.loaded_bytes = Some((bytes, bytes));
                benches.push(bench);
            }
            Err(why) => figures.left_out.push(format!("{}: {why}", about.server.name)),
        }
    }
    benches
}

fn start_one(options: &Compare, place: &Place, server: crate::servers::Server) -> Result<Bench, String> {
    let running = Running::start(server, place)?;
    let time = if server.is_slow { Duration::from_secs_f64(options.fill_seconds) } else { PATIENCE };
    let mut filled = Filled { items: options.items, has_wide: true, has_systems: true };
    if matches!(server.role, Role::Ours | Role::Peer) {
        filled.items = fill_items(running.address, options.items, time)?;
        filled.has_wide = fill_wide(running.address, time)?;
    }
    if server.is_database() {
        // What does not need them is still worth measuring.
        filled.has_systems =
            fill_systems(running.address, server.role != Role::Designs, time).unwrap_or(false);
    }
    if filled.items == 0 {
        return Err(format!("no item was written within {} s", time.as_secs()));
    }
    Ok(Bench { running, filled, is_lost: StdCell::new(false) })
}

/// All workloads with many connections, then with one.
pub fn measure(options: &Compare, benches: &mut [Bench]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (area, connections) in [(0, 32), (1, 1)] {
        let mut workloads: Vec<Vec<(Group, Workload)>> =
            benches.iter().map(|bench| workloads::all(bench.filled, area)).collect();
        let count = workloads.first().map_or(0, Vec::len);
        for number in 0..count {
            let column: Vec<&mut (Group, Workload)> =
                workloads.iter_mut().map(|of_server| &mut of_server[number]).collect();
            cells.extend(measure_one(options, benches, column, connections));
        }
    }
    cells
}

/// One workload on all servers, in turns.
fn measure_one(
    options: &Compare,
    benches: &[Bench],
    workloads: Vec<&mut (Group, Workload)>,
    connections: usize,
) -> Vec<Cell> {
    let mut chosen: Vec<(&Bench, &mut Workload, Cell)> = benches
        .iter()
        .zip(workloads)
        .filter(|(bench, (group, workload))| bench.has(*group, connections) && options.wants(workload.name))
        .map(|(bench, (group, workload))| {
            let refusal = refusal(bench, workload);
            let (server, name) = (bench.running.server.name, workload.name);
            let cell =
                Cell { server, group: *group, workload: name, connections, refusal, rounds: Vec::new() };
            (bench, workload, cell)
        })
        .collect();
    let timing = Timing::of(WARM_UP, options.time());
    for round in 0..options.rounds {
        for (bench, workload, cell) in &mut chosen {
            let is_once =
                bench.running.server.is_slow || (connections == 1 && cell.group != Group::Operation);
            if cell.refusal.is_some() || (is_once && round > 0) {
                continue;
            }
            match load::run(bench.running.address, workload, connections, timing) {
                Ok(outcome) if outcome.is_stalled => {
                    bench.is_lost.set(true);
                    cell.refusal = Some("stopped answering".to_owned());
                }
                Ok(outcome) => cell.rounds.push(outcome),
                Err(error) => cell.refusal = Some(format!("no connection: {error}")),
            }
        }
    }
    let mut cells: Vec<Cell> = chosen.into_iter().map(|(_, _, cell)| cell).collect();
    for cell in cells.iter_mut().filter(|cell| cell.refusal.is_none() && cell.rate().is_none()) {
        let why = if cell.errors() > 0 { "all failed" } else { "none within the time" };
        cell.refusal = Some(why.to_owned());
    }
    cells.iter().for_each(print);
    cells
}

/// Why a server cannot do a workload. One that does nothing can do all.
fn refusal(bench: &Bench, workload: &mut Workload) -> Option<String> {
    if !bench.running.server.is_database() {
        return None;
    }
    if bench.is_lost.get() {
        return Some("not asked any longer".to_owned());
    }
    if !bench.filled.has(workload.name) {
        return Some("not filled in time".to_owned());
    }
    load::try_out(bench.running.address, workload).err()
}

fn print(cell: &Cell) {
    let figure = match (&cell.refusal, cell.rate()) {
        (Some(why), _) => why.clone(),
        (None, Some(rate)) => format!("{rate:.0}/s, {} errors", cell.errors()),
        (None, None) => "not measured".to_owned(),
    };
    eprintln!("{:<30} {:>3} {:<26} {figure}", cell.workload, cell.connections, cell.server);
}
