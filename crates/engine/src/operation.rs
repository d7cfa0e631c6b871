//! The operations. Each has four steps, with these names, in this order, because DynamoDB answers in this order: `check` (needs
//! only the request), `bind` (needs the table), `read` or `write` (needs the items), `reply`.

mod create_table;
mod delete_table;
mod describe_table;
mod list_tables;

use dynamo::operation::{Operation, Reply};
use dynamo::{ApiError, ErrorKind};

use crate::engine::Engine;

/// Runs an operation.
pub(crate) fn run(engine: &Engine, operation: Operation) -> Result<Reply, ApiError> {
    match operation {
        Operation::CreateTable(request) => engine.create_table(request).map(Reply::from),
        Operation::DescribeTable(request) => engine.describe_table(request).map(Reply::from),
        Operation::DeleteTable(request) => engine.delete_table(request).map(Reply::from),
        Operation::ListTables(request) => engine.list_tables(request).map(Reply::from),
        other => Err(ApiError::new(ErrorKind::UnknownOperation, other.name())),
    }
}
