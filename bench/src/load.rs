//! A load generator: HTTP/1.1 connections that are kept alive, requests made beforehand, latencies in histograms.
//!
//! Closed loop: each connection sends its next request when the answer to the last one is there. Open loop: requests are due at fixed
//! times, and a latency counts from when its request was due, so a server that stalls cannot hide it by slowing the client down.
//!
//! The client is as small as it can be, since it shares the machine with the server: no parsing beyond the length of an answer, and it
//! does not interrupt the server for each answer, as a client on a machine of its own would not.

mod connection;
mod requests;
mod template;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use connection::Connection;
pub use requests::{ITEMS, Workload, create_tables, fill, workloads};

/// A server that does not answer for so long ends the run.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// Marks this thread as batch work: when it is woken it waits until a processor is free. Otherwise each answer would take the processor
/// from the server in the middle of its work, and what is measured would be how fast the machine switches between the two.
#[cfg(target_os = "linux")]
fn wait_for_turn() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the call reads a structure that lives until it returns; 0 stands for this thread.
    let outcome = unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters) };
    assert_eq!(outcome, 0, "every thread may become batch work");
}

#[cfg(not(target_os = "linux"))]
fn wait_for_turn() {}

struct Part {
    latencies: Histogram<u64>,
    errors: u64,
}

impl Default for Part {
    fn default() -> Part {
        Part { latencies: new_histogram(), errors: 0 }
    }
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
    wait_for_turn();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let local = tokio::task::LocalSet::new();
    let numbers = (0..drive.connections).filter(|number| number % threads == thread);
    let workload = workload.clone();
    local.block_on(&runtime, async move {
        let start = Instant::now();
        // One for all connections of the thread: many large histograms would cost the server its caches.
        let total = Rc::new(RefCell::new(Part::default()));
        let tasks: Vec<_> = numbers
            .map(|number| {
                let part = total.clone();
                tokio::task::spawn_local(drive_connection(
                    server,
                    workload.clone(),
                    drive,
                    number,
                    start,
                    part,
                ))
            })
            .collect();
        for task in tasks {
            tokio::time::timeout(drive.warm_up + drive.time + PATIENCE, task)
                .await
                .expect("an answer within a minute")
                .expect("a connection");
        }
        total.take()
    })
}

async fn drive_connection(
    server: SocketAddr,
    workload: Workload,
    drive: Drive,
    number: usize,
    start: Instant,
    part: Rc<RefCell<Part>>,
) {
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
            let mut part = part.borrow_mut();
            part.latencies.saturating_record(u64::try_from(due.elapsed().as_nanos()).unwrap_or(u64::MAX));
            part.errors += u64::from(!is_answered);
        }
        if !is_answered {
            connection = Connection::open(server).await.expect("a connection");
        }
        due += pause.unwrap_or_default();
    }
}
