//! Which operation a request names: `X-Amz-Target: DynamoDB_20120810.GetItem`.
//!
//! Always true: a [`Target`] names an operation of the API that it was asked of; all others are unknown.

use dynamo::Operation;

/// Prefix of the operations on tables and items.
const TABLES: &str = "DynamoDB_20120810.";
/// Prefix of the operations on streams.
const STREAMS: &str = "DynamoDBStreams_20120810.";

/// The operations of DynamoDB_20120810, and those of our own (BackUpDatabase, CheckData), sorted.
const TABLE_OPERATIONS: &[&str] = &[
    "BackUpDatabase",
    "BatchExecuteStatement",
    "BatchGetItem",
    "BatchWriteItem",
    "CancelBulkOperation",
    "CheckData",
    "CreateBackup",
    "CreateGlobalTable",
    "CreateTable",
    "DeleteBackup",
    "DeleteItem",
    "DeleteResourcePolicy",
    "DeleteTable",
    "DescribeBackup",
    "DescribeBulkOperation",
    "DescribeContinuousBackups",
    "DescribeContributorInsights",
    "DescribeEndpoints",
    "DescribeExport",
    "DescribeGlobalTable",
    "DescribeGlobalTableSettings",
    "DescribeImport",
    "DescribeKinesisStreamingDestination",
    "DescribeLimits",
    "DescribeTable",
    "DescribeTableReplicaAutoScaling",
    "DescribeTimeToLive",
    "DisableKinesisStreamingDestination",
    "EnableKinesisStreamingDestination",
    "ExecuteStatement",
    "ExecuteTransaction",
    "ExportTableToPointInTime",
    "GetItem",
    "GetResourcePolicy",
    "ImportTable",
    "ListBackups",
    "ListBulkOperations",
    "ListContributorInsights",
    "ListExports",
    "ListGlobalTables",
    "ListImports",
    "ListTables",
    "ListTagsOfResource",
    "PutItem",
    "PutResourcePolicy",
    "Query",
    "RestoreTableFromBackup",
    "RestoreTableToPointInTime",
    "Scan",
    "SearchVectors",
    "StartBulkPutItems",
    "TagResource",
    "TransactGetItems",
    "TransactWriteItems",
    "UntagResource",
    "UpdateContinuousBackups",
    "UpdateContributorInsights",
    "UpdateGlobalTable",
    "UpdateGlobalTableSettings",
    "UpdateItem",
    "UpdateKinesisStreamingDestination",
    "UpdateTable",
    "UpdateTableReplicaAutoScaling",
    "UpdateTimeToLive",
];

/// The operations of DynamoDBStreams_20120810, sorted.
const STREAM_OPERATIONS: &[&str] = &["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"];

/// How many targets there are: their indexes are below it.
pub(crate) const TARGETS: usize = TABLE_OPERATIONS.len() + STREAM_OPERATIONS.len();

/// An operation that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Its name, such as `GetItem`.
    pub(crate) name: &'static str,
    /// Its place among all targets.
    pub(crate) index: usize,
}

impl Target {
    /// The target that the header names.
    pub(crate) fn parse(header: &[u8]) -> Option<Target> {
        let header = std::str::from_utf8(header).ok()?;
        if let Some(name) = header.strip_prefix(TABLES) {
            find(TABLE_OPERATIONS, name, 0)
        } else {
            find(STREAM_OPERATIONS, header.strip_prefix(STREAMS)?, TABLE_OPERATIONS.len())
        }
    }

    /// All of them, in the order of their indexes.
    pub(crate) fn all() -> impl Iterator<Item = Target> {
        let names = TABLE_OPERATIONS.iter().chain(STREAM_OPERATIONS);
        names.enumerate().map(|(index, name)| Target { name, index })
    }
}

fn find(sorted: &[&'static str], name: &str, offset: usize) -> Option<Target> {
    let place = sorted.binary_search(&name).ok()?;
    sorted.get(place).map(|name| Target { name, index: offset + place })
}

/// Whether an operation leaves everything as it is, so that a read-only key may ask for it.
pub(crate) fn only_reads(operation: &Operation) -> bool {
    match operation {
        Operation::ExecuteStatement(request) => is_select(request.statement.as_ref()),
        Operation::ExecuteTransaction(request) => {
            request.transact_statements.iter().flatten().all(|part| is_select(part.statement.as_ref()))
        }
        Operation::BatchExecuteStatement(request) => {
            request.statements.iter().flatten().all(|part| is_select(part.statement.as_ref()))
        }
        other => reads_by_name(other.name()),
    }
}

fn reads_by_name(name: &str) -> bool {
    const READING: &[&str] = &["Get", "Describe", "List", "BatchGet", "TransactGet"];
    matches!(name, "Query" | "Scan" | "SearchVectors") || READING.iter().any(|start| name.starts_with(start))
}

/// A PartiQL statement that reads. What is not clearly a SELECT counts as a write, also when it is no statement at all.
fn is_select(statement: Option<&String>) -> bool {
    let Some(statement) = statement else { return false };
    let first = statement.trim_start().split(|character: char| !character.is_ascii_alphabetic()).next();
    first.is_some_and(|word| word.eq_ignore_ascii_case("select"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(TABLE_OPERATIONS.is_sorted());
        assert!(STREAM_OPERATIONS.is_sorted());
    }

    #[test]
    fn a_target_is_found_in_its_own_api_only() {
        assert_eq!(Target::parse(b"DynamoDB_20120810.GetItem").map(|target| target.name), Some("GetItem"));
        assert_eq!(Target::parse(b"DynamoDB_20120810.GetRecords"), None);
        assert_eq!(Target::parse(b"DynamoDBStreams_20120810.GetItem"), None);
        assert!(Target::parse(b"DynamoDBStreams_20120810.GetRecords").is_some());
        assert_eq!(Target::parse(b"DynamoDB_20111205.GetItem"), None);
        assert_eq!(Target::parse(b"DynamoDB_20120810.GetItem.x"), None);
        assert_eq!(Target::parse(b"GetItem"), None);
        assert_eq!(Target::parse(b""), None);
    }

    #[test]
    fn every_target_can_be_parsed() {
        for target in Target::all() {
            let outcome = Operation::parse(target.name, b"{}");
            assert_eq!(outcome.map(|operation| operation.name()), Ok(target.name));
        }
    }

    #[test]
    fn indexes_are_the_places_among_all_targets() {
        for (place, target) in Target::all().enumerate() {
            assert_eq!(target.index, place);
        }
        assert_eq!(Target::all().count(), TARGETS);
    }

    #[test]
    fn reading_is_told_from_writing_by_name_and_statement() {
        for name in
            ["GetItem", "DescribeTable", "ListTables", "Query", "Scan", "BatchGetItem", "TransactGetItems"]
        {
            assert!(reads_by_name(name), "{name}");
        }
        for name in ["PutItem", "BatchWriteItem", "UpdateTable", "TagResource", "CreateBackup", "EnableX"] {
            assert!(!reads_by_name(name), "{name}");
        }
        let is_select = |text: &str| is_select(Some(&text.to_owned()));
        assert!(is_select("  SELECT * FROM t"));
        assert!(is_select("select\n* FROM t"));
        assert!(!is_select("SELECTED"));
        assert!(!is_select("INSERT INTO t value {}"));
        assert!(!is_select(""));
    }
}
