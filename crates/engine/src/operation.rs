//! The operations. Each has four steps, with these names, in this order, because DynamoDB answers in this order: `check` (needs
//! only the request), `bind` (needs the table), `read` or `write` (needs the items), `reply`.
//!
//! A write is decided against the latest state by the owner of the commit; everything before that happens on the caller's thread.

mod account;
mod back_up_database;
mod backups;
mod batch_execute_statement;
mod batch_get_item;
mod batch_write_item;
mod check_data;
mod continuous_backups;
mod create_table;
mod delete_item;
mod delete_table;
mod describe_stream;
mod describe_table;
mod execute_statement;
mod execute_transaction;
mod exports;
mod get_item;
mod get_records;
mod get_shard_iterator;
mod list_streams;
mod list_tables;
mod put_item;
mod query;
mod restore;
mod scan;
mod tags;
mod time_to_live;
mod transact_get_items;
mod transact_write_items;
mod update_item;
mod update_table;

use std::task::Waker;

use dynamo::{ApiError, ErrorKind, Operation, Reply};

pub(crate) use self::query::partition_range;
pub(crate) use self::update_item::check_update;

use crate::commit::{Changes, Latest, wake};
use crate::engine::Engine;
use crate::fault::Fault;

/// The last step of a write: what it answers and changes, given the latest state.
pub(crate) trait Decide<T>:
    FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static
{
}

impl<T, F: FnOnce(&Latest<'_>) -> Result<(T, Changes), Fault> + Send + 'static> Decide<T> for F {}

/// An operation that reads or writes, whichever its statements say.
pub(crate) enum Begun<T, D> {
    /// It only read, and this is the answer.
    Read(T),
    /// It writes: the last step is left.
    Write(D),
}

impl Engine {
    /// Does the last step of an operation, if it is left.
    fn finish<T: Send + 'static>(&self, begun: Begun<T, impl Decide<T>>) -> Result<T, ApiError> {
        match begun {
            Begun::Read(reply) => Ok(reply),
            Begun::Write(decide) => self.commit(decide),
        }
    }
}

/// Runs an operation.
pub(crate) fn run(engine: &Engine, operation: Operation) -> Result<Reply, ApiError> {
    match operation {
        Operation::PutItem(request) => engine.put_item(request).map(Reply::from),
        Operation::GetItem(request) => engine.get_item(request).map(Reply::from),
        Operation::UpdateItem(request) => engine.update_item(request).map(Reply::from),
        Operation::DeleteItem(request) => engine.delete_item(request).map(Reply::from),
        Operation::Query(request) => engine.query(request).map(Reply::from),
        Operation::Scan(request) => engine.scan(request).map(Reply::from),
        Operation::BatchGetItem(request) => engine.batch_get_item(request).map(Reply::from),
        Operation::BatchWriteItem(request) => engine.batch_write_item(request).map(Reply::from),
        Operation::TransactGetItems(request) => engine.transact_get_items(request).map(Reply::from),
        Operation::TransactWriteItems(request) => engine.transact_write_items(request).map(Reply::from),
        Operation::ExecuteStatement(request) => engine.execute_statement(request).map(Reply::from),
        Operation::BatchExecuteStatement(request) => engine.batch_execute_statement(request).map(Reply::from),
        Operation::ExecuteTransaction(request) => engine.execute_transaction(request).map(Reply::from),
        Operation::CreateTable(request) => engine.create_table(request).map(Reply::from),
        Operation::DescribeTable(request) => engine.describe_table(request).map(Reply::from),
        Operation::UpdateTable(request) => engine.update_table(request).map(Reply::from),
        Operation::DeleteTable(request) => engine.delete_table(request).map(Reply::from),
        Operation::ListTables(request) => engine.list_tables(request).map(Reply::from),
        Operation::TagResource(request) => engine.tag_resource(request).map(Reply::from),
        Operation::UntagResource(request) => engine.untag_resource(request).map(Reply::from),
        Operation::ListTagsOfResource(request) => engine.list_tags_of_resource(request).map(Reply::from),
        Operation::UpdateTimeToLive(request) => engine.update_time_to_live(request).map(Reply::from),
        Operation::DescribeTimeToLive(request) => engine.describe_time_to_live(request).map(Reply::from),
        Operation::ListStreams(request) => engine.list_streams(request).map(Reply::from),
        Operation::DescribeStream(request) => engine.describe_stream(request).map(Reply::from),
        Operation::GetShardIterator(request) => engine.get_shard_iterator(request).map(Reply::from),
        Operation::GetRecords(request) => engine.get_records(request).map(Reply::from),
        Operation::DescribeLimits(request) => engine.describe_limits(request).map(Reply::from),
        Operation::DescribeEndpoints(request) => engine.describe_endpoints(request).map(Reply::from),
        Operation::UpdateContinuousBackups(request) => {
            engine.update_continuous_backups(request).map(Reply::from)
        }
        Operation::DescribeContinuousBackups(request) => {
            engine.describe_continuous_backups(request).map(Reply::from)
        }
        Operation::CreateBackup(request) => engine.create_backup(request).map(Reply::from),
        Operation::DescribeBackup(request) => engine.describe_backup(request).map(Reply::from),
        Operation::ListBackups(request) => engine.list_backups(request).map(Reply::from),
        Operation::DeleteBackup(request) => engine.delete_backup(request).map(Reply::from),
        Operation::RestoreTableFromBackup(request) => {
            engine.restore_table_from_backup(request).map(Reply::from)
        }
        Operation::RestoreTableToPointInTime(request) => {
            engine.restore_table_to_point_in_time(request).map(Reply::from)
        }
        Operation::ExportTableToPointInTime(request) => {
            engine.export_table_to_point_in_time(request).map(Reply::from)
        }
        Operation::DescribeExport(request) => engine.describe_export(request).map(Reply::from),
        Operation::ListExports(request) => engine.list_exports(request).map(Reply::from),
        Operation::CheckData(request) => engine.check_data(&request).map(Reply::from),
        Operation::BackUpDatabase(request) => engine.back_up_database(&request).map(Reply::from),
        Operation::Unsupported { name } => {
            let message = format!("{name} is not available here");
            Err(ApiError::new(ErrorKind::UnknownOperation, message))
        }
    }
}

/// Whether [`submit`] may answer an operation later, from another thread.
pub(crate) fn may_wait(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::PutItem(_)
            | Operation::UpdateItem(_)
            | Operation::DeleteItem(_)
            | Operation::BatchWriteItem(_)
            | Operation::TransactWriteItems(_)
            | Operation::ExecuteStatement(_)
            | Operation::BatchExecuteStatement(_)
            | Operation::ExecuteTransaction(_)
    )
}

/// Starts an operation and calls `answer` when it is done: at once for what only reads, and for item writes once they are as durable as
/// promised, without a thread that waits.
pub(crate) fn submit(
    engine: &Engine,
    operation: Operation,
    answer: impl FnOnce(Result<Reply, ApiError>) -> Option<Waker> + Send + 'static,
) {
    macro_rules! write {
        ($module:ident, $request:expr) => {
            match $module::decide($request, &engine.catalog()) {
                Ok(decide) => engine
                    .inner
                    .committer
                    .submit(decide, |outcome| answer(outcome.map(Reply::from).map_err(ApiError::from))),
                Err(error) => wake(answer(Err(error))),
            }
        };
    }
    macro_rules! statements {
        ($module:ident, $request:expr) => {
            match $module::begin($request, engine) {
                Ok(Begun::Write(decide)) => engine
                    .inner
                    .committer
                    .submit(decide, |outcome| answer(outcome.map(Reply::from).map_err(ApiError::from))),
                Ok(Begun::Read(reply)) => wake(answer(Ok(Reply::from(reply)))),
                Err(error) => wake(answer(Err(error))),
            }
        };
    }
    match operation {
        Operation::PutItem(request) => write!(put_item, request),
        Operation::UpdateItem(request) => write!(update_item, request),
        Operation::DeleteItem(request) => write!(delete_item, request),
        Operation::BatchWriteItem(request) => write!(batch_write_item, request),
        Operation::TransactWriteItems(request) => write!(transact_write_items, request),
        Operation::ExecuteStatement(request) => statements!(execute_statement, request),
        Operation::BatchExecuteStatement(request) => statements!(batch_execute_statement, request),
        Operation::ExecuteTransaction(request) => statements!(execute_transaction, request),
        other => wake(answer(run(engine, other))),
    }
}
