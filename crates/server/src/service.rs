//! What all connections share, and how an operation is run for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
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

impl Service {
    /// Reads a request, runs it and hands over its reply. The calling thread never waits: a write that waits for the disk is
    /// answered from the thread that waits for it.
    pub(crate) async fn run(&self, target: Target, access: Access, json: &[u8]) -> Result<Reply, ApiError> {
        let operation = sheltered(target, || Operation::parse(target.name, json))?;
        if access == Access::ReadOnly && !only_reads(&operation) {
            return Err(not_allowed(target));
        }
        let (give, take) = oneshot::channel();
        sheltered(target, || {
            self.engine.submit(operation, Mailbox::answer_to(give));
            Ok(())
        })?;
        take.await.unwrap_or_else(|_| Err(ApiError::internal().because("the engine dropped the request")))
    }
}

/// Turns a panic into an InternalServerError: one request fails, its connection and the others go on.
pub(crate) fn sheltered<T>(
    target: Target,
    work: impl FnOnce() -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    // What the panic said is not repeated: it may quote values.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(ApiError::internal().because(format!("{} panicked", target.name))))
}

fn not_allowed(target: Target) -> ApiError {
    let message =
        format!("User is not authorized to perform: dynamodb:{} because the key is read-only", target.name);
    ApiError::new(ErrorKind::AccessDenied, message)
}

/// The reply as JSON; nothing at all where DynamoDB has nothing to say.
pub(crate) fn reply_json(target: Target, reply: &Reply) -> Result<Bytes, ApiError> {
    if matches!(reply, Reply::TagResource(_) | Reply::UntagResource(_)) {
        return Ok(Bytes::new());
    }
    sheltered(target, || Ok(scratch::write(|out| reply.write_json(out))))
}

/// The error as JSON.
pub(crate) fn error_json(error: &ApiError) -> Bytes {
    scratch::write(|out| error.write_json(out))
}

mod scratch {
    //! One buffer for each thread that answers are written into, so that a small answer costs one allocation of its exact size.

    use std::cell::RefCell;

    use bytes::Bytes;

    /// A larger answer takes the buffer with it.
    const KEPT_BYTES: usize = 64 << 10;

    thread_local! {
        static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }

    /// What is written, as bytes.
    pub(super) fn write(write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
        let mut buffer = BUFFER.take();
        buffer.clear();
        write(&mut buffer);
        if buffer.len() > KEPT_BYTES {
            return buffer.into();
        }
        let bytes = Bytes::copy_from_slice(&buffer);
        if buffer.capacity() <= KEPT_BYTES * 2 {
            BUFFER.set(buffer);
        }
        bytes
    }
}
