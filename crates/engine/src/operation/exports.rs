//! ExportTableToPointInTime, DescribeExport and ListExports.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use dynamo::operation::{
    Choice, DescribeExport, DescribeExportReply, ExportFormat, ExportTableToPointInTime,
    ExportTableToPointInTimeReply, ExportType, ExportViewType, ListExports, ListExportsReply,
};
use dynamo::{ApiError, ErrorKind};

use super::restore::undo_to;
use crate::arn;
use crate::backup::new_label;
use crate::catalog::{CatalogChange, find_backed_up_table};
use crate::commit::{Changes, Latest};
use crate::copying::{Copying, Place, Undo};
use crate::engine::Engine;
use crate::export::{Destination, Export, Period, Phase, find_export};
use crate::fault::Fault;
use crate::history;
use crate::layout::CollectionId;
use crate::table::Table;

/// Exports on one page.
const EXPORTS_PER_PAGE: i32 = 25;

impl Engine {
    /// Writes a table as it was at a moment into files below the directory for exports, in the background.
    pub fn export_table_to_point_in_time(
        &self,
        request: ExportTableToPointInTime,
    ) -> Result<ExportTableToPointInTimeReply, ApiError> {
        let destination = check(&request)?;
        if self.inner.options.export_directory.is_none() {
            return Err(ApiError::validation(NO_DIRECTORY));
        }
        let export = self.inner.committer.run(move |latest| write(&request, &destination, latest))?;
        self.wake_housekeeper();
        let description = self.inner.describe_export_of(&export);
        Ok(ExportTableToPointInTimeReply { export_description: Some(description) })
    }

    /// Tells of an export.
    pub fn describe_export(&self, request: DescribeExport) -> Result<DescribeExportReply, ApiError> {
        request.check_fields()?;
        let export = find_export(&self.catalog(), request.export_arn.as_deref().unwrap_or_default())?;
        Ok(DescribeExportReply { export_description: Some(self.inner.describe_export_of(&export)) })
    }

    /// Lists exports of the last 90 days, the oldest first.
    pub fn list_exports(&self, request: ListExports) -> Result<ListExportsReply, ApiError> {
        request.check_fields()?;
        let table = request.table_arn.as_deref().map(arn::table_name);
        let after = request.next_token.as_deref();
        let catalog = self.catalog();
        let of_table = |export: &&Arc<Export>| table.is_none_or(|table| export.table.name == table);
        let mut exports: Vec<&Arc<Export>> = catalog.exports().filter(of_table).collect();
        exports.sort_by(|left, right| left.label.cmp(&right.label));
        exports.retain(|export| after.is_none_or(|after| export.label.as_str() > after));
        let limit = usize::try_from(request.max_results.unwrap_or(EXPORTS_PER_PAGE)).unwrap_or_default();
        let page = exports.get(..limit).unwrap_or(&exports);
        let has_more = page.len() < exports.len();
        Ok(ListExportsReply {
            export_summaries: page.iter().map(|export| self.inner.export_summary(export)).collect(),
            next_token: page.last().filter(|_| has_more).map(|export| export.label.clone()),
        })
    }
}

const NO_DIRECTORY: &str = "There is no place for exports: start the server with --export-dir DIR, where each bucket \
                            is a folder.";

fn check(request: &ExportTableToPointInTime) -> Result<Destination, ApiError> {
    request.check_fields()?;
    if request.export_format.as_ref().and_then(Choice::known) == Some(ExportFormat::Ion) {
        return Err(ApiError::validation("ExportFormat ION is not supported here; use DYNAMODB_JSON"));
    }
    check_period(request)?;
    let algorithm = request.s3_sse_algorithm.as_ref().and_then(Choice::known);
    let destination = Destination {
        bucket: request.s3_bucket.clone().unwrap_or_default(),
        bucket_owner: request.s3_bucket_owner.clone(),
        prefix: request.s3_prefix.clone(),
        encryption: algorithm.map(|algorithm| algorithm.name().to_owned()),
        encryption_key: request.s3_sse_kms_key_id.clone(),
    };
    destination.check()?;
    Ok(destination)
}

/// What an incremental export needs, and a full one must not have. The words are ours.
fn check_period(request: &ExportTableToPointInTime) -> Result<(), ApiError> {
    let is_incremental =
        request.export_type.as_ref().and_then(Choice::known) == Some(ExportType::IncrementalExport);
    let specification = request.incremental_export_specification.as_ref();
    let from = specification.and_then(|specification| specification.export_from_time);
    let to = specification.and_then(|specification| specification.export_to_time);
    let wrong = match (is_incremental, specification) {
        (false, None) => return Ok(()),
        (false, Some(_)) => "IncrementalExportSpecification needs ExportType INCREMENTAL_EXPORT",
        (true, _) if request.export_time.is_some() => "ExportTime is not for ExportType INCREMENTAL_EXPORT",
        (true, _) if from.is_none() => {
            "ExportType INCREMENTAL_EXPORT needs ExportFromTime in IncrementalExportSpecification"
        }
        (true, _) => match (from, to) {
            (Some(from), Some(to)) if from.milliseconds >= to.milliseconds => {
                "ExportFromTime must be before ExportToTime"
            }
            _ => return Ok(()),
        },
    };
    Err(ApiError::validation(wrong))
}

/// The moment of an export, the changes that it reads, and its period if it is an incremental one.
fn what_of(
    request: &ExportTableToPointInTime,
    table: &Table,
    latest: &Latest<'_>,
) -> Result<(i64, Undo, Option<Period>), Fault> {
    let specification = request.incremental_export_specification.as_ref();
    let Some((specification, from)) = specification.and_then(|asked| Some((asked, asked.export_from_time?)))
    else {
        let (moment, undo) = undo_to(table, request.export_time.map(|time| time.milliseconds), latest)?;
        return Ok((moment, undo, None));
    };
    // What is changed in the moment itself is before the end only if the end is later.
    let to = specification.export_to_time.map(|time| time.milliseconds);
    let (to, _) = undo_to(table, to, latest)?;
    let (from, undo) = undo_to(table, Some(from.milliseconds), latest)?;
    check_length(to - from)?;
    let first_at = |moment: i64| history::first_after(undo.history, moment - 1, latest.snapshot());
    let view = specification.export_view_type.as_ref().and_then(Choice::known);
    let period = Period {
        from_milliseconds: from,
        to_milliseconds: to,
        end: first_at(to)?,
        has_old_images: view != Some(ExportViewType::NewImage),
    };
    Ok((to, Undo { from: first_at(from)?, ..undo }, Some(period)))
}

/// DynamoDB exports the changes of at least 15 minutes and at most a day; its words are not known.
fn check_length(milliseconds: i64) -> Result<(), ApiError> {
    const MINUTE: i64 = 60 * 1000;
    if (15 * MINUTE..=24 * 60 * MINUTE).contains(&milliseconds) {
        return Ok(());
    }
    Err(ApiError::validation(
        "The time between ExportFromTime and ExportToTime must be at least 15 minutes and at most 24 hours",
    ))
}

fn write(
    request: &ExportTableToPointInTime,
    destination: &Destination,
    latest: &Latest<'_>,
) -> Result<(Arc<Export>, Changes), Fault> {
    let table = find_backed_up_table(latest.catalog, request.table_arn.as_deref().unwrap_or_default())?;
    latest.catalog.check_key(&table)?;
    if let Some(known) = known_by_token(request, destination, &table, latest)? {
        return Ok((known, Changes::default()));
    }
    let (time_milliseconds, undo, period) =
        what_of(request, &table, latest).map_err(|fault| match fault {
            Fault::Api(error) if error.kind == ErrorKind::InvalidRestoreTime => {
                ApiError::new(ErrorKind::InvalidExportTime, OUT_OF_WINDOW).into()
            }
            other => other,
        })?;
    let copying = Copying::new(table.id, Some(undo));
    let copying = match period {
        Some(_) => Copying { place: Place::Gathered(None), ..copying },
        None => copying,
    };
    let id = latest.catalog.next_id();
    let now = latest.now_milliseconds;
    let export = Arc::new(Export {
        id: CollectionId(id),
        label: new_label(&table.name, CollectionId(id), now),
        table: Table::clone(&table),
        destination: destination.clone(),
        client_token: request.client_token.clone(),
        time_milliseconds,
        period,
        started_milliseconds: now,
        ended_milliseconds: None,
        phase: Phase::Copying(copying),
        files: Vec::new(),
        item_count: 0,
        size_bytes: 0,
        failure: None,
    });
    let catalog = vec![CatalogChange::TakeIds(id), CatalogChange::PutExport(export.clone())];
    Ok((export, Changes { catalog, ..Changes::default() }))
}

const OUT_OF_WINDOW: &str = "The specified ExportTime is outside of the point in time recovery window.";

/// The export that this request began when it was sent before; an error if another request had its token.
fn known_by_token(
    request: &ExportTableToPointInTime,
    destination: &Destination,
    table: &Table,
    latest: &Latest<'_>,
) -> Result<Option<Arc<Export>>, ApiError> {
    let Some(token) = &request.client_token else { return Ok(None) };
    let mut exports = latest.catalog.exports();
    let Some(known) = exports.find(|export| export.client_token.as_ref() == Some(token)) else {
        return Ok(None);
    };
    let same_time = request.export_time.is_none_or(|time| time.milliseconds == known.time_milliseconds);
    let specification = request.incremental_export_specification.as_ref();
    let from = specification.and_then(|asked| asked.export_from_time).map(|time| time.milliseconds);
    let same_period = from == known.period.map(|period| period.from_milliseconds);
    if known.table.id != table.id || known.destination != *destination || !same_time || !same_period {
        let message = format!("An export with the ClientToken {token} has other parameters");
        return Err(ApiError::new(ErrorKind::ExportConflict, message));
    }
    Ok(Some(known.clone()))
}
