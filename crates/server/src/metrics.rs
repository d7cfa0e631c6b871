//! Counts for Prometheus: requests, latencies, sizes, connections, commits.
//!
//! Counting costs a few additions to atomics for each request; the text is made when somebody asks for it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use dynamo::{ApiError, ErrorKind};
use engine::{Engine, StreamMetrics};
use parking_lot::Mutex;

use crate::target::{TARGETS, Target};

/// Upper bounds of the latency buckets, in microseconds, and as Prometheus writes them.
const BUCKETS: [(u64, &str); 14] = [
    (50, "0.00005"),
    (100, "0.0001"),
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (1_000_000, "1"),
    (5_000_000, "5"),
];

/// Metrics of something beside the server, such as a backup that goes on all the time.
pub trait MoreMetrics: Send + Sync + std::fmt::Debug {
    /// Gauges and counters as they stand now: name, kind (`gauge` or `counter`), what it means, value. `None` is not shown.
    fn read(&self) -> Vec<(&'static str, &'static str, &'static str, Option<f64>)>;
}

/// Running counts of a server.
pub(crate) struct Metrics {
    operations: Vec<OperationMetrics>,
    /// By operation and exception. Errors are rare enough for a lock.
    errors: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    connections: AtomicU64,
    open: AtomicU64,
    refused: AtomicU64,
    /// By the first digit of their status, from 1.
    pages: [AtomicU64; 5],
}

#[derive(Default)]
struct OperationMetrics {
    succeeded: AtomicU64,
    request_bytes: AtomicU64,
    reply_bytes: AtomicU64,
    nanoseconds: AtomicU64,
    buckets: [AtomicU64; BUCKETS.len() + 1],
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            operations: (0..TARGETS).map(|_| OperationMetrics::default()).collect(),
            errors: Mutex::default(),
            connections: AtomicU64::new(0),
            open: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            pages: Default::default(),
        }
    }
}

impl Metrics {
    /// Counts an answered request. Without a target it was refused before its operation was known.
    pub(crate) fn record(
        &self,
        target: Option<Target>,
        error: Option<&ApiError>,
        request_bytes: usize,
        reply_bytes: usize,
        time: Duration,
    ) {
        if let Some(error) = error {
            let operation = target.map_or("unknown", |target| target.name);
            *self.errors.lock().entry((operation, error.kind.name())).or_default() += 1;
        }
        let Some(counts) = target.and_then(|target| self.operations.get(target.index)) else { return };
        if error.is_none() {
            counts.succeeded.fetch_add(1, Relaxed);
        }
        counts.request_bytes.fetch_add(request_bytes as u64, Relaxed);
        counts.reply_bytes.fetch_add(reply_bytes as u64, Relaxed);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        counts.nanoseconds.fetch_add(nanoseconds, Relaxed);
        let bucket = BUCKETS.iter().position(|(bound, _)| nanoseconds / 1000 <= *bound);
        if let Some(bucket) = counts.buckets.get(bucket.unwrap_or(BUCKETS.len())) {
            bucket.fetch_add(1, Relaxed);
        }
    }

    /// Counts a request that was not let in, or whose body could not be read.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// Counts an accepted connection.
    pub(crate) fn connected(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    /// Notes how many connections are open.
    pub(crate) fn open_connections(&self, count: usize) {
        self.open.store(count as u64, Relaxed);
    }

    /// Everything as Prometheus reads it.
    pub(crate) fn text(&self, engine: &Engine, more: Option<&dyn MoreMetrics>) -> String {
        let mut text = Text::default();
        self.write_requests(&mut text);
        self.write_latencies(&mut text);
        self.write_connections(&mut text);
        write_engine(engine, &mut text);
        write_streams(engine, &mut text);
        for (name, kind, help, value) in more.map(MoreMetrics::read).unwrap_or_default() {
            if let Some(value) = value {
                text.family(name, kind, help);
                text.line(name, &[], value);
            }
        }
        text.0
    }

    fn used(&self) -> impl Iterator<Item = (&'static str, &OperationMetrics)> {
        let all = Target::all().zip(&self.operations);
        let used = all.filter(|(_, counts)| counts.buckets.iter().any(|bucket| bucket.load(Relaxed) > 0));
        used.map(|(target, counts)| (target.name, counts))
    }

    fn write_requests(&self, text: &mut Text) {
        let errors = self.errors.lock().clone();
        text.family("monotable_requests_total", "counter", "Requests by operation and outcome.");
        for (operation, counts) in self.used() {
            let succeeded = counts.succeeded.load(Relaxed);
            text.line(
                "monotable_requests_total",
                &[("operation", operation), ("outcome", "success")],
                succeeded,
            );
        }
        for ((operation, exception), count) in &errors {
            text.line("monotable_requests_total", &[("operation", operation), ("outcome", exception)], count);
        }
        text.family("monotable_throttles_total", "counter", "Requests refused because there were too many.");
        let throttled = ErrorKind::ProvisionedThroughputExceeded.name();
        let throttle_count: u64 =
            errors.iter().filter(|((_, exception), _)| *exception == throttled).map(|(_, count)| count).sum();
        text.line("monotable_throttles_total", &[], throttle_count);
        text.family("monotable_request_bytes_total", "counter", "Bytes of request bodies.");
        for (operation, counts) in self.used() {
            text.line(
                "monotable_request_bytes_total",
                &[("operation", operation)],
                counts.request_bytes.load(Relaxed),
            );
        }
        text.family(
            "monotable_reply_bytes_total",
            "counter",
            "Bytes of replies, before they are compressed.",
        );
        for (operation, counts) in self.used() {
            let bytes = counts.reply_bytes.load(Relaxed);
            text.line("monotable_reply_bytes_total", &[("operation", operation)], bytes);
        }
    }

    fn write_latencies(&self, text: &mut Text) {
        let name = "monotable_request_seconds";
        text.family(name, "histogram", "Time from the end of a request's head to its answer.");
        for (operation, counts) in self.used() {
            let mut below = 0;
            let bounds = BUCKETS.iter().map(|(_, text)| *text).chain(["+Inf"]);
            for (bound, bucket) in bounds.zip(&counts.buckets) {
                below += bucket.load(Relaxed);
                text.line(&format!("{name}_bucket"), &[("operation", operation), ("le", bound)], below);
            }
            let seconds = Duration::from_nanos(counts.nanoseconds.load(Relaxed)).as_secs_f64();
            text.line(&format!("{name}_sum"), &[("operation", operation)], seconds);
            text.line(&format!("{name}_count"), &[("operation", operation)], below);
        }
    }

    /// Counts an answer of a page.
    pub(crate) fn page(&self, status: u16) {
        if let Some(count) = self.pages.get(usize::from(status / 100).saturating_sub(1)) {
            count.fetch_add(1, Relaxed);
        }
    }

    fn write_connections(&self, text: &mut Text) {
        text.family("monotable_pages_total", "counter", "Answers of pages beside the protocol, by status.");
        for (status, count) in ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().zip(&self.pages) {
            text.line("monotable_pages_total", &[("status", status)], count.load(Relaxed));
        }
        text.family("monotable_connections_total", "counter", "Connections accepted.");
        text.line("monotable_connections_total", &[], self.connections.load(Relaxed));
        text.family("monotable_connections", "gauge", "Connections open.");
        text.line("monotable_connections", &[], self.open.load(Relaxed));
        text.family("monotable_refused_total", "counter", "Requests not let in, or not read to their end.");
        text.line("monotable_refused_total", &[], self.refused.load(Relaxed));
    }
}

fn write_engine(engine: &Engine, text: &mut Text) {
    let counts = engine.metrics();
    text.family("monotable_commit_groups_total", "counter", "Groups of writes committed together.");
    text.line("monotable_commit_groups_total", &[], counts.groups);
    text.family("monotable_commit_writes_total", "counter", "Writes in these groups.");
    text.line("monotable_commit_writes_total", &[], counts.writes);
    text.family("monotable_sync_seconds", "summary", "Time spent making groups durable.");
    text.line("monotable_sync_seconds_sum", &[], Duration::from_nanos(counts.sync_nanoseconds).as_secs_f64());
    text.line("monotable_sync_seconds_count", &[], counts.syncs);
    if let Ok(bytes) = engine.size_on_disk_bytes() {
        text.family("monotable_disk_bytes", "gauge", "What the database takes on disk.");
        text.line("monotable_disk_bytes", &[], bytes);
    }
    text.family("monotable_takes_writes", "gauge", "1 while the engine takes writes.");
    text.line("monotable_takes_writes", &[], u8::from(engine.failure().is_none()));
}

/// What is told of a stream: its metric's name, what it means, and where it stands.
type StreamGauge = (&'static str, &'static str, fn(&StreamMetrics) -> Option<Duration>);

const STREAM_GAUGES: [StreamGauge; 3] = [
    (
        "monotable_stream_lag_seconds",
        "Age of the oldest record that no reader was given since the start; 0 if there is none, absent if nobody reads.",
        |stream| stream.read_lag,
    ),
    ("monotable_stream_oldest_record_seconds", "Age of the oldest record that is kept.", |stream| {
        stream.oldest_record_age
    }),
    ("monotable_stream_newest_record_seconds", "Age of the newest record.", |stream| {
        stream.newest_record_age
    }),
];

fn write_streams(engine: &Engine, text: &mut Text) {
    let Ok(streams) = engine.stream_metrics() else { return };
    for (name, help, gauge) in STREAM_GAUGES {
        text.family(name, "gauge", help);
        for stream in &streams {
            if let Some(time) = gauge(stream) {
                let labels = [("table", stream.table_name.as_str()), ("stream", stream.label.as_str())];
                text.line(name, &labels, time.as_secs_f64());
            }
        }
    }
}

/// Prometheus' text format.
#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"{text}\"", if place == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_operation_outcome_and_latency() {
        let metrics = Metrics::default();
        let target = Target::parse(b"DynamoDB_20120810.GetItem");
        metrics.record(target, None, 10, 30, Duration::from_micros(70));
        metrics.record(target, Some(&ApiError::validation("x")), 10, 0, Duration::from_secs(9));
        let text = metrics.text(&Engine::in_memory(), None);
        for line in [
            "monotable_requests_total{operation=\"GetItem\",outcome=\"success\"} 1",
            "monotable_requests_total{operation=\"GetItem\",outcome=\"ValidationException\"} 1",
            "monotable_request_seconds_bucket{operation=\"GetItem\",le=\"0.00005\"} 0",
            "monotable_request_seconds_bucket{operation=\"GetItem\",le=\"0.0001\"} 1",
            "monotable_request_seconds_bucket{operation=\"GetItem\",le=\"+Inf\"} 2",
            "monotable_request_seconds_count{operation=\"GetItem\"} 2",
            "monotable_request_bytes_total{operation=\"GetItem\"} 20",
            "monotable_reply_bytes_total{operation=\"GetItem\"} 30",
            "monotable_throttles_total 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
