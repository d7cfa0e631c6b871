//! Exports: a table as it was at a moment, or what changed in it in a period, as files in DynamoDB's export format.
//!
//! An export is first a copy beside the tables ([`crate::copying`]), so that writing files, which takes long, holds up nobody and
//! goes on after a crash; then files, one at a time; then its manifests. The copy goes when they are written.
//!
//! Always true: files lie below the directory for exports, in a folder for the bucket, whatever the names in a request are.

pub(crate) mod changed;
pub(crate) mod files;

use dynamo::operation::{
    Choice, ExportDescription, ExportFormat, ExportStatus, ExportSummary, ExportType, ExportViewType,
    IncrementalExportSpecification, S3SseAlgorithm, Timestamp,
};
use dynamo::{ApiError, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::arn::{Arn, Resource};
use crate::catalog::Catalog;
use crate::copying::Copying;
use crate::engine::Inner;
use crate::layout::{CollectionId, ItemKey};
use crate::table::Table;

/// How long an export is remembered after its start.
pub(crate) const REMEMBERED_MILLISECONDS: i64 = 90 * 24 * 60 * 60 * 1000;

/// An export of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Export {
    /// Where its copy is, until it is written.
    pub(crate) id: CollectionId,
    /// The last part of its ARN, and the name of its folder.
    pub(crate) label: String,
    /// The table as it was.
    pub(crate) table: Table,
    pub(crate) destination: Destination,
    #[serde(default)]
    pub(crate) client_token: Option<String>,
    /// The moment that it shows, or at which its period ends.
    pub(crate) time_milliseconds: i64,
    /// The period of an incremental export; nothing for a full one.
    #[serde(default)]
    pub(crate) period: Option<Period>,
    pub(crate) started_milliseconds: i64,
    #[serde(default)]
    pub(crate) ended_milliseconds: Option<i64>,
    pub(crate) phase: Phase,
    #[serde(default)]
    pub(crate) files: Vec<DataFile>,
    #[serde(default)]
    pub(crate) item_count: u64,
    #[serde(default)]
    pub(crate) size_bytes: u64,
    #[serde(default)]
    pub(crate) failure: Option<String>,
}

/// From when to when changes are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Period {
    /// Changes of this moment are in it.
    pub(crate) from_milliseconds: i64,
    /// Changes of this moment are not.
    pub(crate) to_milliseconds: i64,
    /// The number of the first change after it.
    pub(crate) end: u64,
    /// Whether items are also shown as they were before it.
    pub(crate) has_old_images: bool,
}

impl Period {
    pub(crate) fn view(&self) -> ExportViewType {
        if self.has_old_images { ExportViewType::NewAndOldImages } else { ExportViewType::NewImage }
    }
}

/// Where the files go, as the request says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Destination {
    pub(crate) bucket: String,
    #[serde(default)]
    pub(crate) bucket_owner: Option<String>,
    #[serde(default)]
    pub(crate) prefix: Option<String>,
    #[serde(default)]
    pub(crate) encryption: Option<String>,
    #[serde(default)]
    pub(crate) encryption_key: Option<String>,
}

/// How far an export is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// The copy is being made.
    Copying(Copying),
    /// The items up to this one are written.
    Writing(Option<ItemKey>),
    /// It succeeded or failed.
    Ended,
}

/// A file of items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DataFile {
    /// Its name, in the folder `data`.
    pub(crate) name: String,
    pub(crate) item_count: u64,
    /// The checksum of its bytes.
    pub(crate) md5: [u8; 16],
}

impl Export {
    /// What copies it, while it is being copied.
    pub(crate) fn copying(&self) -> Option<&Copying> {
        match &self.phase {
            Phase::Copying(copying) => Some(copying),
            Phase::Writing(_) | Phase::Ended => None,
        }
    }

    /// Whether it succeeded or failed: its copy is gone.
    pub(crate) fn is_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// The names of its folder in the bucket.
    pub(crate) fn folder(&self) -> Vec<&str> {
        let prefix = self.destination.prefix.as_deref().unwrap_or_default();
        let prefix = prefix.split('/').filter(|name| !name.is_empty());
        prefix.chain(["AWSDynamoDB", &self.label]).collect()
    }

    /// The names of the folder of its items: its own, or the one that all incremental exports share.
    pub(crate) fn data_folder(&self) -> Vec<&str> {
        let mut names = self.folder();
        if self.period.is_some() {
            names.pop();
        }
        names.push("data");
        names
    }

    /// The key that a file of this export would have in the bucket.
    pub(crate) fn key_of(&self, file: &str) -> String {
        let mut names = self.folder();
        names.push(file);
        names.join("/")
    }

    /// The key that a file of its items would have in the bucket.
    pub(crate) fn data_key_of(&self, file: &str) -> String {
        let mut names = self.data_folder();
        names.push(file);
        names.join("/")
    }

    fn kind(&self) -> ExportType {
        if self.period.is_some() { ExportType::IncrementalExport } else { ExportType::FullExport }
    }

    fn status(&self) -> ExportStatus {
        match (&self.phase, &self.failure) {
            (Phase::Ended, None) => ExportStatus::Completed,
            (Phase::Ended, Some(_)) => ExportStatus::Failed,
            _ => ExportStatus::InProgress,
        }
    }
}

impl Destination {
    /// Checks that the names stay where they are put.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        if !is_bucket(&self.bucket) {
            return Err(ApiError::validation(format!("Invalid S3Bucket: {}", self.bucket)));
        }
        let prefix = self.prefix.as_deref().unwrap_or_default();
        // An empty name between two slashes is left out; no name leads elsewhere.
        if prefix.split('/').any(|name| !name.is_empty() && !is_folder_name(name)) {
            return Err(ApiError::validation(format!("Invalid S3Prefix: {prefix}")));
        }
        Ok(())
    }
}

/// As S3 has it: letters, digits, dots, hyphens and underscores, with a letter or digit at both ends.
fn is_bucket(name: &str) -> bool {
    let is_end = |end: Option<char>| end.is_some_and(|end| end.is_ascii_alphanumeric());
    is_folder_name(name) && is_end(name.chars().next()) && is_end(name.chars().last())
}

/// S3 takes more, but a file system does not, or means something by it.
fn is_folder_name(name: &str) -> bool {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-=+@,".contains(character);
    (1..=255).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with('.')
}

/// The export with this ARN.
pub(crate) fn find_export(catalog: &Catalog, arn: &str) -> Result<std::sync::Arc<Export>, ApiError> {
    let not_found = || ApiError::new(ErrorKind::ExportNotFound, format!("Export not found: {arn}"));
    let Some(Resource::Export(table, label)) = Arn::parse(arn).map(|arn| arn.resource) else {
        return Err(not_found());
    };
    let mut exports = catalog.exports();
    exports.find(|export| export.label == label && export.table.name == table).cloned().ok_or_else(not_found)
}

impl Inner {
    /// The ARN of an export.
    pub(crate) fn export_arn(&self, export: &Export) -> String {
        self.arn(Resource::Export(&export.table.name, &export.label))
    }

    /// An export as ListExports tells of it.
    pub(crate) fn export_summary(&self, export: &Export) -> ExportSummary {
        ExportSummary {
            export_arn: Some(self.export_arn(export)),
            export_status: Some(export.status()),
            export_type: Some(export.kind()),
        }
    }

    /// An export as DescribeExport tells of it.
    pub(crate) fn describe_export_of(&self, export: &Export) -> ExportDescription {
        let Destination { bucket, bucket_owner, prefix, encryption, encryption_key } = &export.destination;
        let is_completed = export.status() == ExportStatus::Completed;
        let count = |count: u64| is_completed.then(|| i64::try_from(count).unwrap_or(i64::MAX));
        ExportDescription {
            export_arn: Some(self.export_arn(export)),
            export_status: Some(export.status()),
            start_time: Some(Timestamp::from_milliseconds(export.started_milliseconds)),
            end_time: export.ended_milliseconds.map(Timestamp::from_milliseconds),
            export_manifest: is_completed.then(|| export.key_of("manifest-summary.json")),
            table_arn: Some(self.arn(Resource::Table(&export.table.name))),
            table_id: Some(export.table.uuid.clone()),
            export_time: export
                .period
                .is_none()
                .then(|| Timestamp::from_milliseconds(export.time_milliseconds)),
            client_token: export.client_token.clone(),
            s3_bucket: Some(bucket.clone()),
            s3_bucket_owner: bucket_owner.clone(),
            s3_prefix: prefix.clone(),
            s3_sse_algorithm: encryption.as_deref().and_then(S3SseAlgorithm::from_name),
            s3_sse_kms_key_id: encryption_key.clone(),
            failure_code: export.failure.as_ref().map(|_| "UNKNOWN".to_owned()),
            failure_message: export.failure.clone(),
            export_format: Some(ExportFormat::DynamodbJson),
            billed_size_bytes: count(export.size_bytes),
            item_count: count(export.item_count),
            export_type: Some(export.kind()),
            incremental_export_specification: export.period.map(|period| IncrementalExportSpecification {
                export_from_time: Some(Timestamp::from_milliseconds(period.from_milliseconds)),
                export_to_time: Some(Timestamp::from_milliseconds(period.to_milliseconds)),
                export_view_type: Some(Choice::from(period.view())),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_directory() {
        let check = |bucket: &str, prefix: &str| {
            let prefix = Some(prefix.to_owned());
            Destination { bucket: bucket.to_owned(), prefix, ..Destination::default() }.check().is_ok()
        };
        assert!(check("my-bucket.eu_1", "daily//2026-01-01/a=b"));
        for bucket in ["", ".", "..", "a/b", "../x", "a\\b", "-a", "a-", "C:"] {
            assert!(!check(bucket, ""), "{bucket}");
        }
        for prefix in ["..", "a/../b", "a/./b", "a\\b", "a\0b", "/../x", ".hidden", "a/ b"] {
            assert!(!check("bucket", prefix), "{prefix}");
        }
    }
}
