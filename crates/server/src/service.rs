//! What all connections share, and how an operation is run for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dynamo::operation::Reply;
use dynamo::{ApiError, ErrorKind, Operation};
use engine::Engine;
use tokio::sync::oneshot;

use crate::body::Budget;
use crate::credentials::Access;
use crate::limits::Limits;
use crate::mailbox::Mailbox;
use crate::metrics::{Metrics, MoreMetrics};
use crate::origin::Door;
use crate::pages::Pages;
use crate::signature::Verifier;
use crate::target::{Target, only_reads};

/// What all connections share.
pub(crate) struct Service {
    pub(crate) engine: Engine,
    pub(crate) verifier: Verifier,
    pub(crate) door: Door,
    pub(crate) limits: Limits,
    pub(crate) budget: Budget,
    pub(crate) metrics: Metrics,
    pub(crate) more_metrics: Option<Arc<dyn MoreMetrics>>,
    pub(crate) pages: Option<Arc<dyn Pages>>,
    /// Whether the DynamoDB protocols are served, and not only pages.
    pub(crate) dynamodb: bool,
}

/// What an operation comes to.
#[allow(
    clippy::large_enum_variant,
    reason = "it lives for a moment, and a box would cost more than moving it"
)]
pub(crate) enum Outcome {
    Now(Result<Reply, ApiError>),
    /// Once the write is as durable as promised.
    Later(oneshot::Receiver<Result<Reply, ApiError>>),
}

impl Service {
    /// Reads a request and has the engine run it. What only reads is answered by this thread, and a write that waits for the disk from the
    /// thread that waits for it; unless this thread has nothing else to do and is to wait itself.
    pub(crate) fn start(&self, target: Target, access: Access, json: &[u8], waits: bool) -> Outcome {
        let started = sheltered(target.name, || {
            let operation = Operation::parse(target.name, json)?;
            if access == Access::ReadOnly && !only_reads(&operation) {
                return Err(not_allowed(target));
            }
            if waits || !Engine::may_wait(&operation) {
                return Ok(Outcome::Now(self.engine.run(operation)));
            }
            let (give, take) = oneshot::channel();
            self.engine.submit(operation, Mailbox::answer_to(give));
            Ok(Outcome::Later(take))
        });
        started.unwrap_or_else(|error| Outcome::Now(Err(error)))
    }
}

/// Turns a panic into an InternalServerError: one request fails, its connection and the others go on.
pub(crate) fn sheltered<T>(
    operation: &str,
    work: impl FnOnce() -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    // What the panic said is not repeated: it may quote values.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(ApiError::internal().because(format!("{operation} panicked"))))
}

fn not_allowed(target: Target) -> ApiError {
    let message =
        format!("User is not authorized to perform: dynamodb:{} because the key is read-only", target.name);
    ApiError::new(ErrorKind::AccessDenied, message)
}
