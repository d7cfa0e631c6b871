//! What one client may take: sizes, times and connections.

use std::time::Duration;

/// The largest request body, before and after inflating: DynamoDB's 16 MB.
pub const BODY_BYTES_MAX: usize = 16 << 20;
/// The largest head of a request: its target and headers.
pub const HEAD_BYTES_MAX: usize = 16 << 10;
/// A body up to this size is read to its end before it is refused, so that the client hears the refusal instead of a reset.
pub(crate) const DISCARDED_BYTES_MAX: u64 = 64 << 20;
/// What hyper buffers for a connection. More than a head may have, so that a head over the limit is refused in our words.
pub(crate) const READ_BUFFER_BYTES: usize = 64 << 10;
/// Requests at once on one HTTP/2 connection.
pub(crate) const STREAMS_MAX: u32 = 128;
/// A body larger than this takes its share of [`Limits::bodies_bytes`].
pub(crate) const SMALL_BODY_BYTES: usize = 64 << 10;

/// Limits that a server can be started with.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections. One more closes the connection that has been idle for longest.
    pub connections: usize,
    /// Bytes of large request bodies held at once, all connections together.
    pub bodies_bytes: usize,
    /// From the first byte of a request to the end of its head; also for a TLS handshake.
    pub head: Duration,
    /// From the end of the head to the end of the body.
    pub body: Duration,
    /// How long a client may leave its answer unread.
    pub unread: Duration,
    /// How long a connection is kept open without a request.
    pub idle: Duration,
    /// How long requests may take to finish once the server was told to stop.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 4096,
            bodies_bytes: 512 << 20,
            head: Duration::from_secs(10),
            body: Duration::from_mins(1),
            unread: Duration::from_mins(1),
            idle: Duration::from_mins(10),
            drain: Duration::from_secs(20),
        }
    }
}

impl Limits {
    /// How often connections are looked at: often enough that no limit is overrun by a quarter.
    pub(crate) fn sweep(&self) -> Duration {
        let shortest = self.head.min(self.unread).min(self.idle);
        (shortest / 4).clamp(Duration::from_millis(10), Duration::from_secs(1))
    }
}
