//! The files of an export, laid out as DynamoDB lays them out in a bucket.
//!
//! ```text
//! BUCKET/PREFIX/AWSDynamoDB/LABEL/_started
//!                                 manifest-summary.json    manifest-summary.md5
//!                                 manifest-files.json      manifest-files.md5
//!                                 data/NAME.json.gz        one item on each line
//! ```
//!
//! Always true: a file has the name that the step which writes it gives it, so a step that is done again writes it again. The
//! summary comes last: an export that has one is whole.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dynamo::StoredItem;
use flate2::Compression;
use flate2::write::GzEncoder;
use md5::{Digest as _, Md5};
use serde_json::json;
use xxhash_rust::xxh3::xxh3_128;

use super::{DataFile, Export};
use crate::stream::stream_label;

/// The folder of an export.
pub(crate) fn folder(directory: &Path, export: &Export) -> PathBuf {
    let bucket = directory.join(&export.destination.bucket);
    export.folder().into_iter().fold(bucket, |folder, name| folder.join(name))
}

/// Makes the folder of an export, with the file that says that it has begun.
pub(crate) fn begin(directory: &Path, export: &Export) -> io::Result<()> {
    let folder = folder(directory, export);
    fs::create_dir_all(folder.join("data"))?;
    File::create(folder.join("_started"))?.sync_all()
}

/// Writes the next file of items.
pub(crate) fn write_items<'a>(
    directory: &Path,
    export: &Export,
    items: impl Iterator<Item = &'a StoredItem>,
) -> io::Result<DataFile> {
    let number = export.files.len();
    let name = format!("{:032x}.json.gz", xxh3_128(format!("{} {number}", export.label).as_bytes()));
    let mut compressed = GzEncoder::new(Vec::new(), Compression::default());
    let mut line = Vec::new();
    let mut item_count = 0;
    for item in items {
        line.clear();
        dynamo::write_export_line(item, &mut line);
        compressed.write_all(&line)?;
        item_count += 1;
    }
    let bytes = compressed.finish()?;
    write(&folder(directory, export).join("data").join(&name), &bytes)?;
    Ok(DataFile { name, item_count, md5: Md5::digest(&bytes).into() })
}

/// Writes the manifests.
pub(crate) fn end(directory: &Path, export: &Export, arns: (&str, &str), ended: i64) -> io::Result<()> {
    let folder = folder(directory, export);
    let mut files = String::new();
    for file in &export.files {
        files.push_str(&file_line(export, file));
        files.push('\n');
    }
    write_with_checksum(&folder, "manifest-files", &files)?;
    write_with_checksum(&folder, "manifest-summary", &summary(export, arns, ended))
}

fn file_line(export: &Export, file: &DataFile) -> String {
    json!({
        "itemCount": file.item_count,
        "md5Checksum": STANDARD.encode(file.md5),
        "etag": format!("{}-1", crate::layout::hex(&file.md5)),
        "dataFileS3Key": export.key_of(&format!("data/{}", file.name)),
    })
    .to_string()
}

fn summary(export: &Export, (export_arn, table_arn): (&str, &str), ended: i64) -> String {
    let time = |milliseconds: i64| format!("{}Z", stream_label(milliseconds));
    let destination = &export.destination;
    json!({
        "version": "2020-06-30",
        "exportArn": export_arn,
        "startTime": time(export.started_milliseconds),
        "endTime": time(ended),
        "tableArn": table_arn,
        "tableId": export.table.uuid,
        "exportTime": time(export.time_milliseconds),
        "s3Bucket": destination.bucket,
        "s3Prefix": destination.prefix,
        "s3SseAlgorithm": destination.encryption.as_deref().unwrap_or("AES256"),
        "s3SseKmsKeyId": destination.encryption_key,
        "manifestFilesS3Key": export.key_of("manifest-files.json"),
        "billedSizeBytes": export.size_bytes,
        "itemCount": export.item_count,
        "outputFormat": "DYNAMODB_JSON",
        "exportType": "FULL_EXPORT",
    })
    .to_string()
}

fn write_with_checksum(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let checksum = STANDARD.encode(Md5::digest(text.as_bytes()));
    write(&folder.join(format!("{name}.md5")), checksum.as_bytes())?;
    write(&folder.join(format!("{name}.json")), text.as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
