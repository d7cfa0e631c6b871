//! The operations that exist in DynamoDB and not here. Each has an answer all the same: a refusal by its name.

/// Their names.
const NAMES: &[&str] = &[
    "CancelBulkOperation",
    "CreateGlobalTable",
    "DeleteResourcePolicy",
    "DescribeBulkOperation",
    "DescribeContributorInsights",
    "DescribeGlobalTable",
    "DescribeGlobalTableSettings",
    "DescribeImport",
    "DescribeKinesisStreamingDestination",
    "DescribeTableReplicaAutoScaling",
    "DisableKinesisStreamingDestination",
    "EnableKinesisStreamingDestination",
    "GetResourcePolicy",
    "ImportTable",
    "ListBulkOperations",
    "ListContributorInsights",
    "ListGlobalTables",
    "ListImports",
    "PutResourcePolicy",
    "SearchVectors",
    "StartBulkPutItems",
    "UpdateContributorInsights",
    "UpdateGlobalTable",
    "UpdateGlobalTableSettings",
    "UpdateKinesisStreamingDestination",
    "UpdateTableReplicaAutoScaling",
];

/// The name as it is kept, if it is one of them.
pub(super) fn find(name: &str) -> Option<&'static str> {
    NAMES.iter().copied().find(|known| *known == name)
}
