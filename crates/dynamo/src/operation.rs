//! The operations of DynamoDB and DynamoDB Streams: requests, replies and the only list of them.
//!
//! A request goes through `Operation::parse` (shape errors), `Operation::check_fields` (the whole rule table) and the
//! engine; a reply is written as JSON straight from stored items.

mod back_up_database;
mod backup;
mod batch_execute_statement;
mod batch_get_item;
mod batch_write_item;
mod capacity;
mod check_data;
mod choice;
mod continuous_backups;
mod create_table;
mod delete_item;
mod delete_table;
mod describe_endpoints;
mod describe_limits;
mod describe_stream;
mod describe_table;
mod describe_time_to_live;
mod execute_statement;
mod execute_transaction;
mod export;
mod get_item;
mod get_records;
mod get_shard_iterator;
mod index;
mod legacy;
mod list_streams;
mod list_tables;
mod list_tags_of_resource;
mod opaque;
mod put_item;
mod query;
mod reach;
mod restore;
mod scan;
mod table;
mod tag_resource;
mod throughput;
mod timestamp;
mod transact_get_items;
mod transact_write_items;
mod unsupported;
mod untag_resource;
mod update_item;
mod update_table;
mod update_time_to_live;

pub use back_up_database::{BackUpDatabase, BackUpDatabaseReply, DatabaseBackupStatus};
pub use backup::{
    BackupDescription, BackupDetails, BackupStatus, BackupSummary, BackupType, BackupTypeFilter,
    CreateBackup, CreateBackupReply, DeleteBackup, DeleteBackupReply, DescribeBackup, DescribeBackupReply,
    ListBackups, ListBackupsReply, SourceTableDetails, SourceTableFeatureDetails,
};
pub use batch_execute_statement::{
    BatchExecuteStatement, BatchExecuteStatementReply, BatchStatementError, BatchStatementRequest,
    BatchStatementResponse,
};
pub use batch_get_item::{BatchGetItem, BatchGetItemReply, KeysAndAttributes};
pub use batch_write_item::{BatchWriteItem, BatchWriteItemReply, DeleteRequest, PutRequest, WriteRequest};
pub use capacity::{
    Capacity, ConsumedCapacity, ItemCollectionMetrics, ReturnConsumedCapacity, ReturnItemCollectionMetrics,
};
pub use check_data::{CheckData, CheckDataReply, CheckStatus};
pub use choice::Choice;
pub use continuous_backups::{
    BackupSwitch, ContinuousBackupsDescription, DescribeContinuousBackups, DescribeContinuousBackupsReply,
    PointInTimeRecoveryDescription, PointInTimeRecoverySpecification, UpdateContinuousBackups,
    UpdateContinuousBackupsReply,
};
pub use create_table::{CreateTable, CreateTableReply};
pub use delete_item::{DeleteItem, DeleteItemReply};
pub use delete_table::{DeleteTable, DeleteTableReply};
pub use describe_endpoints::{DescribeEndpoints, DescribeEndpointsReply, Endpoint};
pub use describe_limits::{DescribeLimits, DescribeLimitsReply};
pub use describe_stream::{
    DescribeStream, DescribeStreamReply, SequenceNumberRange, Shard, ShardFilter, ShardFilterType,
    StreamDescription, StreamStatus,
};
pub use describe_table::{DescribeTable, DescribeTableReply};
pub use describe_time_to_live::{
    DescribeTimeToLive, DescribeTimeToLiveReply, TimeToLiveDescription, TimeToLiveStatus,
};
pub use execute_statement::{ExecuteStatement, ExecuteStatementReply};
pub use execute_transaction::{ExecuteTransaction, ExecuteTransactionReply, ParameterizedStatement};
pub use export::{
    DescribeExport, DescribeExportReply, ExportDescription, ExportFormat, ExportStatus, ExportSummary,
    ExportTableToPointInTime, ExportTableToPointInTimeReply, ExportType, ExportViewType,
    IncrementalExportSpecification, ListExports, ListExportsReply, S3SseAlgorithm,
};
pub use get_item::{GetItem, GetItemReply};
pub use get_records::{GetRecords, GetRecordsReply, Identity, OperationType, Record, StreamRecord};
pub use get_shard_iterator::{GetShardIterator, GetShardIteratorReply, ShardIteratorType};
pub use index::{
    GlobalSecondaryIndex, GlobalSecondaryIndexDescription, GlobalSecondaryIndexInfo, IndexStatus,
    LocalSecondaryIndex, LocalSecondaryIndexDescription, LocalSecondaryIndexInfo, Projection, ProjectionType,
};
pub use legacy::{
    AttributeAction, AttributeValueUpdate, ComparisonOperator, Condition, ConditionalOperator,
    ExpectedAttributeValue,
};
pub use list_streams::{ListStreams, ListStreamsReply, Stream};
pub use list_tables::{ListTables, ListTablesReply};
pub use list_tags_of_resource::{ListTagsOfResource, ListTagsOfResourceReply};
pub use opaque::Opaque;
pub use put_item::{PutItem, PutItemReply, ReturnValues, ReturnValuesOnConditionCheckFailure};
pub use query::{Query, QueryReply, Select};
pub use restore::{
    RestoreTableFromBackup, RestoreTableFromBackupReply, RestoreTableToPointInTime,
    RestoreTableToPointInTimeReply,
};
pub use scan::{Scan, ScanReply};
pub use table::{
    AttributeDefinition, BillingMode, BillingModeSummary, KeyRole, KeySchemaElement, RestoreSummary,
    SSEDescription, SSESpecification, SSEStatus, SSEType, StreamSpecification, StreamViewType, TableClass,
    TableClassSummary, TableDescription, TableStatus,
};
pub use tag_resource::{Tag, TagResource, TagResourceReply};
pub use throughput::{
    GlobalSecondaryIndexWarmThroughputDescription, OnDemandThroughput, ProvisionedThroughput,
    ProvisionedThroughputDescription, TableWarmThroughputDescription, WarmThroughput,
};
pub use timestamp::Timestamp;
pub use transact_get_items::{Get, ItemResponse, TransactGetItem, TransactGetItems, TransactGetItemsReply};
pub use transact_write_items::{
    ConditionCheck, Delete, Put, TransactWriteItem, TransactWriteItems, TransactWriteItemsReply, Update,
};
pub use untag_resource::{UntagResource, UntagResourceReply};
pub use update_item::{UpdateItem, UpdateItemReply};
pub use update_table::{
    CreateGlobalSecondaryIndexAction, DeleteGlobalSecondaryIndexAction, GlobalSecondaryIndexUpdate,
    UpdateGlobalSecondaryIndexAction, UpdateTable, UpdateTableReply,
};
pub use update_time_to_live::{TimeToLiveSpecification, UpdateTimeToLive, UpdateTimeToLiveReply};

use crate::json::{Reader, Wire};
use crate::{ApiError, ErrorKind, rules};

/// Lists the operations once: their requests and replies.
macro_rules! operations {
    ($($name:ident $reply:ident,)*) => {
        /// A request to DynamoDB.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Operation {
            $(#[doc = concat!("`", stringify!($name), "`.")] $name($name),)*
            /// An operation that exists in DynamoDB and not here.
            Unsupported {
                /// Its name.
                name: &'static str,
            },
        }

        /// The answer to an [`Operation`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum Reply {
            $(#[doc = concat!("Answers `", stringify!($name), "`.")] $name($reply),)*
        }

        impl Operation {
            /// Reads the request of the operation with this name from its JSON text. An operation that neither service
            /// has is an UnknownOperationException; text that is not such a request, a SerializationException.
            pub fn parse(name: &str, body: &[u8]) -> Result<Operation, ApiError> {
                match name {
                    $(stringify!($name) => Reader::document(body).map(Operation::$name),)*
                    _ => match unsupported::find(name) {
                        Some(name) => Ok(Operation::Unsupported { name }),
                        None => Err(ApiError::new(ErrorKind::UnknownOperation, "")),
                    },
                }
            }

            /// Appends the request as JSON.
            pub fn write_json(&self, out: &mut Vec<u8>) {
                match self {
                    $(Operation::$name(request) => request.write(out),)*
                    Operation::Unsupported { .. } => out.extend_from_slice(b"{}"),
                }
            }

            /// Checks the rules of all members: what is required, lengths, ranges, patterns and enumerations. Reports
            /// every violation at once, in DynamoDB's words. Faults of attribute values come later, see [`crate::Faults`].
            pub fn check_fields(&self) -> Result<(), ApiError> {
                match self {
                    $(Operation::$name(request) => request.check_fields(),)*
                    Operation::Unsupported { .. } => Ok(()),
                }
            }

            /// The operation's name in the API.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Operation::$name(_) => stringify!($name),)*
                    Operation::Unsupported { name } => name,
                }
            }
        }

        impl Reply {
            /// Appends the reply as JSON; stored items are written from their bytes.
            pub fn write_json(&self, out: &mut Vec<u8>) {
                match self {
                    $(Reply::$name(reply) => reply.write(out),)*
                }
            }

            /// Reads the reply of the operation with this name, as DynamoDB or another server gave it.
            pub fn parse(name: &str, body: &[u8]) -> Result<Reply, ApiError> {
                let body = if body.is_empty() { b"{}" } else { body };
                match name {
                    $(stringify!($name) => Reader::document(body).map(Reply::$name),)*
                    _ => Err(ApiError::new(ErrorKind::UnknownOperation, "")),
                }
            }
        }

        $(
            impl $name {
                /// Checks the rules of all members, see [`Operation::check_fields`].
                pub fn check_fields(&self) -> Result<(), ApiError> {
                    rules::check(self)
                }

                /// Appends the request as JSON.
                pub fn write_json(&self, out: &mut Vec<u8>) {
                    self.write(out);
                }
            }

            impl From<$name> for Operation {
                fn from(request: $name) -> Operation {
                    Operation::$name(request)
                }
            }

            impl From<$reply> for Reply {
                fn from(reply: $reply) -> Reply {
                    Reply::$name(reply)
                }
            }
        )*
    };
}

operations! {
    PutItem PutItemReply,
    GetItem GetItemReply,
    UpdateItem UpdateItemReply,
    DeleteItem DeleteItemReply,
    Query QueryReply,
    Scan ScanReply,
    BatchGetItem BatchGetItemReply,
    BatchWriteItem BatchWriteItemReply,
    TransactGetItems TransactGetItemsReply,
    TransactWriteItems TransactWriteItemsReply,
    CreateTable CreateTableReply,
    DescribeTable DescribeTableReply,
    UpdateTable UpdateTableReply,
    DeleteTable DeleteTableReply,
    ListTables ListTablesReply,
    TagResource TagResourceReply,
    UntagResource UntagResourceReply,
    ListTagsOfResource ListTagsOfResourceReply,
    UpdateTimeToLive UpdateTimeToLiveReply,
    DescribeTimeToLive DescribeTimeToLiveReply,
    ListStreams ListStreamsReply,
    DescribeStream DescribeStreamReply,
    GetShardIterator GetShardIteratorReply,
    GetRecords GetRecordsReply,
    DescribeLimits DescribeLimitsReply,
    DescribeEndpoints DescribeEndpointsReply,
    ExecuteStatement ExecuteStatementReply,
    BatchExecuteStatement BatchExecuteStatementReply,
    ExecuteTransaction ExecuteTransactionReply,
    DescribeContinuousBackups DescribeContinuousBackupsReply,
    UpdateContinuousBackups UpdateContinuousBackupsReply,
    CreateBackup CreateBackupReply,
    DescribeBackup DescribeBackupReply,
    ListBackups ListBackupsReply,
    DeleteBackup DeleteBackupReply,
    RestoreTableFromBackup RestoreTableFromBackupReply,
    RestoreTableToPointInTime RestoreTableToPointInTimeReply,
    ExportTableToPointInTime ExportTableToPointInTimeReply,
    DescribeExport DescribeExportReply,
    ListExports ListExportsReply,
    CheckData CheckDataReply,
    BackUpDatabase BackUpDatabaseReply,
}

#[cfg(test)]
mod tests;
