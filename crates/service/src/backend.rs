//! Where a design runs: the one interface to the embedded engine and to DynamoDB.
//!
//! Always true: a backend runs operations as they are. What they are for, and what to do when one fails, is decided above it.

mod embedded;
mod prefixed;
mod remote;

use std::future::Future;
use std::pin::Pin;

use dynamo::{ApiError, Operation, Reply};

pub use embedded::Embedded;
pub use prefixed::Prefixed;
pub use remote::{Remote, RemoteSettings};

/// A future that some backend makes.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Reply, ApiError>> + Send + 'a>>;

/// What a backend can do beyond reading and writing single items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// TransactWriteItems.
    pub transactions: bool,
    /// Streams of changes.
    pub streams: bool,
    /// How many actions a transaction may have: 100 in DynamoDB, fewer in servers that are older than September 2022.
    pub transaction_actions: usize,
}

impl Capabilities {
    /// Everything that DynamoDB has.
    pub const ALL: Capabilities =
        Capabilities { transactions: true, streams: true, transaction_actions: 100 };
}

/// Something that runs DynamoDB's operations.
pub trait Backend: Send + Sync {
    /// Runs an operation.
    fn run(&self, operation: Operation) -> Running<'_>;

    /// What it can do. Known from the start or found out once, when the backend was made.
    fn capabilities(&self) -> Capabilities;

    /// What it is, for messages: `the embedded database`, `http://localhost:8000`.
    fn name(&self) -> String;
}
