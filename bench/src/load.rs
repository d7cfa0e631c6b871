//! A load generator: HTTP/1.1 connections that are kept alive, requests made beforehand, latencies in histograms.
//!
//! Closed loop: each connection sends its next request when the answer to the last one is there. Open loop: requests are due at fixed
//! times, and a latency counts from when its request was due, so a server that stalls cannot hide it by slowing the client down.
//!
//! The client is as small as it can be, since it shares the machine with the server: one thread, no parsing beyond the length of an answer, and it
//! does not interrupt the server for each answer, as a client on a machine of its own would not.

mod answer;
mod asking;
mod choice;
mod connection;
mod driver;
mod template;
#[cfg(test)]
mod tests;
mod workload;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hdrhistogram::Histogram;

pub use asking::{ask, is_answered, try_out};
pub use choice::{Numbers, Zipf};
use driver::Driver;
pub use workload::{Kind, Request, Timing, Workload};

/// A workload over so many connections.
pub struct Load<'a> {
    pub workload: &'a mut Workload,
    pub connections: usize,
    /// Operations per second over all connections; none for a closed loop.
    pub rate: Option<f64>,
}

/// What a run gave.
#[derive(Clone)]
pub struct Outcome {
    /// Operations that were answered well.
    pub per_second: f64,
    pub errors: u64,
    /// The server stopped answering.
    pub is_stalled: bool,
    latencies: Histogram<u64>,
    time: Duration,
}

impl Outcome {
    fn new(time: Duration) -> Outcome {
        let latencies = Histogram::new_with_bounds(1_000, 60_000_000_000, 3).expect("bounds of a histogram");
        Outcome { per_second: 0.0, errors: 0, is_stalled: false, latencies, time }
    }

    fn record(&mut self, latency: Duration, is_right: bool) {
        if is_right {
            self.latencies.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
        } else {
            self.errors += 1;
        }
    }

    /// How many operations were answered well.
    pub fn count(&self) -> u64 {
        self.latencies.len()
    }

    /// The latency that this part of all operations stayed within, in microseconds.
    pub fn quantile_microseconds(&self, quantile: f64) -> f64 {
        self.latencies.value_at_quantile(quantile) as f64 / 1000.0
    }
}

/// Sends a workload to a server, each connection as fast as it is answered.
pub fn run(
    server: SocketAddr,
    workload: &mut Workload,
    connections: usize,
    timing: Timing,
) -> io::Result<Outcome> {
    let mut loads = [Load { workload, connections, rate: None }];
    Ok(run_all(server, &mut loads, timing)?.remove(0))
}

/// Sends several workloads to a server at the same time.
pub fn run_all(server: SocketAddr, loads: &mut [Load<'_>], timing: Timing) -> io::Result<Vec<Outcome>> {
    let mut outcomes = std::thread::scope(|scope| {
        let driving = scope.spawn(|| {
            wait_for_turn();
            Driver::new(server, loads, timing)?.run()
        });
        driving.join().expect("the client does not panic")
    })?;
    for outcome in &mut outcomes {
        outcome.per_second = outcome.count() as f64 / outcome.time.as_secs_f64();
    }
    Ok(outcomes)
}

/// Marks this thread as batch work: when it is woken it waits until a processor is free. Otherwise each answer would take the processor
/// from the server in the middle of its work, and what is measured would be how fast the machine switches between the two.
fn wait_for_turn() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the call reads a structure that lives until it returns; 0 stands for this thread.
    let outcome = unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters) };
    assert_eq!(outcome, 0, "every thread may become batch work");
}
