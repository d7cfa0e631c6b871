//! How servers start: the time to the first answer over HTTP on an empty directory, what they hold while idle, and how often they sync.

use std::time::Duration;

use super::{About, median};
use crate::load::{self, Timing};
use crate::process::{Place, Running};
use crate::servers::{Place as Kept, Server};
use crate::workloads::{create_items, put_item};

/// How often a server is started.
const STARTS: usize = 5;
/// Writes that are watched.
const WRITES: u64 = 20;

pub fn unmeasured(server: Server) -> About {
    About {
        server,
        version: server.version(),
        first_answer: None,
        idle_bytes: None,
        syncs_of_20: None,
        filled: None,
        loaded_bytes: None,
    }
}

pub fn measure(server: Server, place: &Place) -> Result<About, String> {
    let mut times = Vec::new();
    for _ in 1..STARTS {
        times.push(Running::start(server, place)?.first_answer.as_secs_f64());
    }
    let running = Running::start(server, place)?;
    times.push(running.first_answer.as_secs_f64());
    std::thread::sleep(Duration::from_millis(500));
    let idle_bytes = running.resident_bytes();
    let syncs_of_20 = if server.place == Kept::Disk { syncs(&running) } else { None };
    Ok(About {
        first_answer: median(times).map(Duration::from_secs_f64),
        idle_bytes: Some(idle_bytes),
        syncs_of_20,
        ..unmeasured(server)
    })
}

/// Syncs of twenty writes that follow each other; nothing where it cannot be told.
fn syncs(running: &Running) -> Option<u64> {
    create_items(running.address).ok()?;
    let mut answered = 0;
    let syncs = running.syncs_while(|| {
        let timing = Timing { warm_up: Duration::ZERO, time: Duration::from_secs(20), operations: WRITES };
        let outcome = load::run(running.address, &mut put_item().in_area(0, 0), 1, timing);
        answered = outcome.map_or(0, |outcome| outcome.count());
    })?;
    (answered == WRITES).then_some(syncs)
}
