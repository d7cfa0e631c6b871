//! The operations. Each has four steps, with these names, in this order, because DynamoDB answers in this order: `check` (needs
//! only the request), `bind` (needs the table), `read` or `write` (needs the items), `reply`.

use dynamo::operation::{Operation, Reply};
use dynamo::{ApiError, ErrorKind};

use crate::engine::Engine;

/// Runs an operation.
pub(crate) fn run(engine: &Engine, operation: Operation) -> Result<Reply, ApiError> {
    let _ = engine;
    Err(ApiError::new(ErrorKind::UnknownOperation, operation.name()))
}
