//! The files of an export, laid out as DynamoDB lays them out in a bucket.
//!
//! ```text
//! BUCKET/PREFIX/AWSDynamoDB/LABEL/_started
//!                                 manifest-summary.json    manifest-summary.md5
//!                                 manifest-files.json      manifest-files.md5
//!                                 data/NAME.json.gz        one item on each line
//!                        data/NAME.json.gz                 one changed item on each line, of an incremental export
//! ```
//!
//! Always true: a file has the name that the step which writes it gives it, so a step that is done again writes it again. The
//! summary comes last: an export that has one is whole.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use md5::{Digest as _, Md5};
use serde_json::json;
use xxhash_rust::xxh3::xxh3_128;

use super::changed::Changed;
use super::{DataFile, Export};
use crate::stream::stream_label;

/// The folder of an export.
pub(crate) fn folder(directory: &Path, export: &Export) -> PathBuf {
    let bucket = directory.join(&export.destination.bucket);
    export.folder().into_iter().fold(bucket, |folder, name| folder.join(name))
}

/// The folder of the items of an export.
fn data_folder(directory: &Path, export: &Export) -> PathBuf {
    let bucket = directory.join(&export.destination.bucket);
    export.data_folder().into_iter().fold(bucket, |folder, name| folder.join(name))
}

/// Makes the folders of an export, with the file that says that it has begun.
pub(crate) fn begin(directory: &Path, export: &Export) -> io::Result<()> {
    let folder = folder(directory, export);
    fs::create_dir_all(&folder)?;
    fs::create_dir_all(data_folder(directory, export))?;
    File::create(folder.join("_started"))?.sync_all()
}

/// Appends the line of what a period made of an item; nothing where it was neither there before nor is now.
pub(crate) fn write_change(export: &Export, changed: &Changed, line: &mut Vec<u8>) {
    let Some(item) = changed.new.as_ref().or(changed.old.as_ref()) else { return };
    let keys = item.filtered(|name| export.table.schema.contains(name));
    let shows_old = export.period.is_some_and(|period| period.has_old_images);
    let images = (changed.old.as_ref().filter(|_| shows_old), changed.new.as_ref());
    dynamo::write_change_line(changed.time_milliseconds, &keys, images, line);
}

/// Writes the next file of lines, each made by `write_line`, which may leave one out.
pub(crate) fn write_lines<T>(
    directory: &Path,
    export: &Export,
    entries: impl Iterator<Item = T>,
    write_line: impl Fn(T, &mut Vec<u8>),
) -> io::Result<DataFile> {
    let number = export.files.len();
    let name = format!("{:032x}.json.gz", xxh3_128(format!("{} {number}", export.label).as_bytes()));
    let mut compressed = GzEncoder::new(Vec::new(), Compression::default());
    let mut line = Vec::new();
    let mut item_count = 0;
    for entry in entries {
        line.clear();
        write_line(entry, &mut line);
        compressed.write_all(&line)?;
        item_count += u64::from(!line.is_empty());
    }
    let bytes = compressed.finish()?;
    write(&data_folder(directory, export).join(&name), &bytes)?;
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
        "dataFileS3Key": export.data_key_of(&file.name),
    })
    .to_string()
}

fn summary(export: &Export, (export_arn, table_arn): (&str, &str), ended: i64) -> String {
    let time = |milliseconds: i64| format!("{}Z", stream_label(milliseconds));
    let destination = &export.destination;
    let mut summary = json!({
        "exportArn": export_arn,
        "startTime": time(export.started_milliseconds),
        "endTime": time(ended),
        "tableArn": table_arn,
        "tableId": export.table.uuid,
        "s3Bucket": destination.bucket,
        "s3Prefix": destination.prefix,
        "s3SseAlgorithm": destination.encryption.as_deref().unwrap_or("AES256"),
        "s3SseKmsKeyId": destination.encryption_key,
        "manifestFilesS3Key": export.key_of("manifest-files.json"),
        "billedSizeBytes": export.size_bytes,
        "itemCount": export.item_count,
        "outputFormat": "DYNAMODB_JSON",
    });
    let of_its_type = match &export.period {
        None => json!({
            "version": "2020-06-30",
            "exportType": "FULL_EXPORT",
            "exportTime": time(export.time_milliseconds),
        }),
        Some(period) => json!({
            "version": "2023-08-01",
            "exportType": "INCREMENTAL_EXPORT",
            "outputView": period.view().name(),
            "exportFromTime": time(period.from_milliseconds),
            "exportToTime": time(period.to_milliseconds),
        }),
    };
    if let (Some(all), serde_json::Value::Object(more)) = (summary.as_object_mut(), of_its_type) {
        all.extend(more);
    }
    summary.to_string()
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
