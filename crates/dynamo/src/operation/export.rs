//! ExportTableToPointInTime, DescribeExport and ListExports: a table as it was, as files.

use super::{Choice, Timestamp};
use crate::rules::{ARN, BUCKET, EXPORTS_LIMIT, PREFIX, REQUIRED_ARN};

choices! {
    /// Where an export is in its life.
    pub enum ExportStatus {
        InProgress = "IN_PROGRESS",
        Completed = "COMPLETED",
        Failed = "FAILED",
    }
}

choices! {
    /// The form of exported items.
    pub enum ExportFormat {
        DynamodbJson = "DYNAMODB_JSON",
        Ion = "ION",
    }
}

choices! {
    /// Whether all items are exported, or what changed.
    pub enum ExportType {
        FullExport = "FULL_EXPORT",
        IncrementalExport = "INCREMENTAL_EXPORT",
    }
}

choices! {
    /// How a bucket is encrypted.
    pub enum S3SseAlgorithm {
        Aes256 = "AES256",
        Kms = "KMS",
    }
}

choices! {
    /// What an incremental export shows of a change.
    pub enum ExportViewType {
        NewImage = "NEW_IMAGE",
        NewAndOldImages = "NEW_AND_OLD_IMAGES",
    }
}

shape! {
    /// Which changes are exported.
    pub struct IncrementalExportSpecification {
        export_from_time: Option<Timestamp> = "ExportFromTime",
        export_to_time: Option<Timestamp> = "ExportToTime",
        export_view_type: Option<Choice<ExportViewType>> = "ExportViewType",
    }
}

shape! {
    /// Writes a table as it was at a moment into files.
    pub struct ExportTableToPointInTime {
        table_arn: Option<String> = "TableArn" => REQUIRED_ARN,
        export_time: Option<Timestamp> = "ExportTime",
        client_token: Option<String> = "ClientToken",
        s3_bucket: Option<String> = "S3Bucket" => BUCKET,
        s3_bucket_owner: Option<String> = "S3BucketOwner",
        s3_prefix: Option<String> = "S3Prefix" => PREFIX,
        s3_sse_algorithm: Option<Choice<S3SseAlgorithm>> = "S3SseAlgorithm",
        s3_sse_kms_key_id: Option<String> = "S3SseKmsKeyId",
        export_format: Option<Choice<ExportFormat>> = "ExportFormat",
        export_type: Option<Choice<ExportType>> = "ExportType",
        incremental_export_specification: Option<IncrementalExportSpecification> = "IncrementalExportSpecification",
    }
}

shape! {
    /// An export.
    pub struct ExportDescription {
        export_arn: Option<String> = "ExportArn",
        export_status: Option<ExportStatus> = "ExportStatus",
        start_time: Option<Timestamp> = "StartTime",
        end_time: Option<Timestamp> = "EndTime",
        export_manifest: Option<String> = "ExportManifest",
        table_arn: Option<String> = "TableArn",
        table_id: Option<String> = "TableId",
        export_time: Option<Timestamp> = "ExportTime",
        client_token: Option<String> = "ClientToken",
        s3_bucket: Option<String> = "S3Bucket",
        s3_bucket_owner: Option<String> = "S3BucketOwner",
        s3_prefix: Option<String> = "S3Prefix",
        s3_sse_algorithm: Option<S3SseAlgorithm> = "S3SseAlgorithm",
        s3_sse_kms_key_id: Option<String> = "S3SseKmsKeyId",
        failure_code: Option<String> = "FailureCode",
        failure_message: Option<String> = "FailureMessage",
        export_format: Option<ExportFormat> = "ExportFormat",
        billed_size_bytes: Option<i64> = "BilledSizeBytes",
        item_count: Option<i64> = "ItemCount",
        export_type: Option<ExportType> = "ExportType",
        incremental_export_specification: Option<IncrementalExportSpecification> = "IncrementalExportSpecification",
    }
}

shape! {
    /// Answers ExportTableToPointInTime.
    pub struct ExportTableToPointInTimeReply {
        export_description: Option<ExportDescription> = "ExportDescription",
    }
}

shape! {
    /// Tells of an export.
    pub struct DescribeExport {
        export_arn: Option<String> = "ExportArn" => REQUIRED_ARN,
    }
}

shape! {
    /// Answers DescribeExport.
    pub struct DescribeExportReply {
        export_description: Option<ExportDescription> = "ExportDescription",
    }
}

shape! {
    /// Lists exports.
    pub struct ListExports {
        table_arn: Option<String> = "TableArn" => ARN,
        max_results: Option<i32> = "MaxResults" => EXPORTS_LIMIT,
        next_token: Option<String> = "NextToken",
    }
}

shape! {
    /// An export in a list.
    pub struct ExportSummary {
        export_arn: Option<String> = "ExportArn",
        export_status: Option<ExportStatus> = "ExportStatus",
        export_type: Option<ExportType> = "ExportType",
    }
}

shape! {
    /// Answers ListExports.
    pub struct ListExportsReply {
        export_summaries: Vec<ExportSummary> = "ExportSummaries",
        next_token: Option<String> = "NextToken",
    }
}
