//! A load generator: HTTP/1.1 connections that are kept alive, requests made beforehand, latencies in histograms.
//!
//! Closed loop: each connection sends its next request when the answer to the last one is there. Open loop: requests are due at fixed
//! times, and a latency counts from when its request was due, so a server that stalls cannot hide it by slowing the client down.
//!
//! The client is as small as it can be, since it shares the machine with the server: no parsing beyond the length of an answer.

mod connection;
mod requests;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use connection::Connection;
pub use requests::{ITEMS, Workload, create_tables, fill, workloads};

/// How a run is driven.
#[derive(Clone, Copy)]
pub struct Drive {
    pub connections: usize,
    pub warm_up: Duration,
    pub time: Duration,
    /// Requests per second over all connections; none for a closed loop.
    pub rate: Option<f64>,
}

/// What a run gave.
pub struct Outcome {
    pub per_second: f64,
    pub errors: u64,
    latencies: Histogram<u64>,
}

impl Outcome {
    /// The latency that this part of all requests stayed within, in microseconds.
    pub fn quantile_microseconds(&self, quantile: f64) -> f64 {
        self.latencies.value_at_quantile(quantile) as f64 / 1000.0
    }
}

/// Sends a workload to a server and measures.
pub fn run(server: SocketAddr, workload: &Workload, drive: Drive) -> Outcome {
    let threads = drive.connections.min(2);
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || drive_thread(server, workload, drive, thread, threads)))
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("a client thread")).collect()
    });
    let mut latencies = new_histogram();
    let mut errors = 0;
    for part in parts {
        latencies.add(part.latencies).expect("histograms of one shape");
        errors += part.errors;
    }
    Outcome { per_second: latencies.len() as f64 / drive.time.as_secs_f64(), errors, latencies }
}

struct Part {
    latencies: Histogram<u64>,
    errors: u64,
}

fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1_000, 60_000_000_000, 3).expect("bounds of a histogram")
}

fn drive_thread(
    server: SocketAddr,
    workload: &Workload,
    drive: Drive,
    thread: usize,
    threads: usize,
) -> Part {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let local = tokio::task::LocalSet::new();
    let numbers = (0..drive.connections).filter(|number| number % threads == thread);
    let workload = workload.clone();
    local.block_on(&runtime, async move {
        let start = Instant::now();
        let tasks: Vec<_> = numbers
            .map(|number| {
                tokio::task::spawn_local(drive_connection(server, workload.clone(), drive, number, start))
            })
            .collect();
        let mut total = Part { latencies: new_histogram(), errors: 0 };
        for task in tasks {
            let part = task.await.expect("a connection");
            total.latencies.add(part.latencies).expect("histograms of one shape");
            total.errors += part.errors;
        }
        total
    })
}

async fn drive_connection(
    server: SocketAddr,
    workload: Workload,
    drive: Drive,
    number: usize,
    start: Instant,
) -> Part {
    let mut part = Part { latencies: new_histogram(), errors: 0 };
    let mut connection = Connection::open(server).await.expect("a connection");
    let measured = start + drive.warm_up;
    let end = measured + drive.time;
    let pause = drive.rate.map(|rate| Duration::from_secs_f64(drive.connections as f64 / rate));
    let mut due = start + pause.unwrap_or_default().mul_f64(number as f64 / drive.connections as f64);
    let mut request = Vec::with_capacity(4096);
    for turn in 0.. {
        workload.write(number, drive.connections, turn, &mut request);
        if pause.is_some() {
            tokio::time::sleep_until(due.into()).await;
        } else {
            due = Instant::now();
        }
        if due >= end {
            break;
        }
        let is_answered = connection.exchange(&request).await.is_ok_and(|status| status == 200);
        if due >= measured {
            part.latencies.saturating_record(u64::try_from(due.elapsed().as_nanos()).unwrap_or(u64::MAX));
            part.errors += u64::from(!is_answered);
        }
        if !is_answered {
            connection = Connection::open(server).await.expect("a connection");
        }
        due += pause.unwrap_or_default();
    }
    part
}
