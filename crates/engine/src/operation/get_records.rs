//! GetRecords.

#[cfg(test)]
mod tests;

use std::ops::Bound;

use bytes::Bytes;
use dynamo::operation::{
    GetRecords, GetRecordsReply, Identity, OperationType, Record as RecordReply, StreamRecord, Timestamp,
};
use dynamo::{ApiError, StoredItem};
use xxhash_rust::xxh3::xxh3_128;

use crate::commit::View;
use crate::describe::view_type;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::layout::{KeyRange, parse_record_key, record_key};
use crate::record::{Author, ChangeKind, Record};
use crate::store::{Direction, Space, StoreError};
use crate::stream::{KnownStream, ShardIterator, find_stream, sequence_text, trimmed};

/// Records of one answer.
const RECORDS_MAX: usize = 1000;
/// Bytes of one answer, unless one record alone is larger.
const ANSWER_BYTES_MAX: usize = 1 << 20;

impl Engine {
    /// Reads the records from a place in a shard on. At the end of a closed shard there is no next place.
    pub fn get_records(&self, request: GetRecords) -> Result<GetRecordsReply, ApiError> {
        let now_milliseconds = self.inner.committer.now_milliseconds();
        let iterator = check(&request, now_milliseconds)?;
        let view = self.view();
        let (stream, page) = self.read(&view, |view| {
            let stream = bind(&iterator, view)?;
            let page = read(&request, iterator.place, &stream, view)?;
            Ok((stream, page))
        })?;
        self.inner.metrics.stream_read(stream.stream.id, page.next);
        let records =
            page.records.iter().map(|(sequence, record)| self.record_reply(&stream, *sequence, record));
        let records = records.collect();
        let next = ShardIterator { place: page.next, issued_milliseconds: now_milliseconds, ..iterator };
        let is_over = stream.is_closed && page.is_last;
        Ok(GetRecordsReply { records, next_shard_iterator: (!is_over).then(|| next.to_text()) })
    }

    fn record_reply(&self, stream: &KnownStream, sequence: u64, record: &Record) -> RecordReply {
        let images = [Some(&record.keys), record.new_image.as_ref(), record.old_image.as_ref()];
        let size_bytes: usize = images.into_iter().flatten().map(StoredItem::size_bytes).sum();
        // DynamoDB tells the time of a record in whole seconds, rounded down.
        let seconds = record.time_milliseconds.div_euclid(1000);
        let unique = [stream.stream.id.0.to_be_bytes().as_slice(), &sequence.to_be_bytes()].concat();
        RecordReply {
            event_id: Some(format!("{:032x}", xxh3_128(&unique))),
            event_name: Some(event_name(record.kind)),
            event_version: Some("1.1".to_owned()),
            event_source: Some("aws:dynamodb".to_owned()),
            aws_region: Some(self.inner.options.region.clone()),
            dynamodb: Some(StreamRecord {
                approximate_creation_date_time: Some(Timestamp::from_milliseconds(seconds * 1000)),
                keys: Some(record.keys.clone()),
                new_image: record.new_image.clone(),
                old_image: record.old_image.clone(),
                sequence_number: Some(sequence_text(sequence)),
                size_bytes: Some(i64::try_from(size_bytes).unwrap_or(i64::MAX)),
                stream_view_type: Some(view_type(stream.stream.view)),
            }),
            user_identity: (record.author == Author::Expiry).then(|| Identity {
                principal_id: Some("dynamodb.amazonaws.com".to_owned()),
                r#type: Some("Service".to_owned()),
            }),
        }
    }
}

fn event_name(kind: ChangeKind) -> OperationType {
    match kind {
        ChangeKind::Insert => OperationType::Insert,
        ChangeKind::Modify => OperationType::Modify,
        ChangeKind::Remove => OperationType::Remove,
    }
}

fn check(request: &GetRecords, now_milliseconds: i64) -> Result<ShardIterator, ApiError> {
    request.check_fields()?;
    let iterator = ShardIterator::parse(request.shard_iterator.as_deref().unwrap_or_default())?;
    iterator.check_age(now_milliseconds)?;
    Ok(iterator)
}

fn bind(iterator: &ShardIterator, view: &View) -> Result<KnownStream, Fault> {
    let stream = find_stream(&view.catalog, &iterator.stream_arn)?;
    let bounds = stream.bounds(&view.snapshot)?;
    if iterator.place < bounds.start { Err(trimmed().into()) } else { Ok(stream) }
}

struct Page {
    records: Vec<(u64, Record)>,
    /// Where the next page starts.
    next: u64,
    is_last: bool,
}

fn read(request: &GetRecords, place: u64, stream: &KnownStream, view: &View) -> Result<Page, StoreError> {
    let id = stream.stream.id;
    let range = KeyRange { lower: Bound::Included(record_key(id, place)), ..KeyRange::of_collection(id) };
    let (lower, upper) = range.bounds();
    let entries = view.snapshot.range(Space::Log, lower, upper, Direction::Forward);
    let limit = request.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(RECORDS_MAX);
    let mut page = Page { records: Vec::new(), next: place, is_last: false };
    let mut bytes = 0;
    for entry in entries {
        let (key, value) = entry?;
        bytes += value.len();
        let is_full = page.records.len() >= limit || bytes > ANSWER_BYTES_MAX;
        if is_full && !page.records.is_empty() {
            return Ok(page);
        }
        let (sequence, record) = decode(&key, value)?;
        page.next = sequence.saturating_add(1);
        page.records.push((sequence, record));
    }
    page.is_last = true;
    Ok(page)
}

fn decode(key: &[u8], value: Bytes) -> Result<(u64, Record), StoreError> {
    let corrupt = || StoreError::Corrupt { detail: "a stream record cannot be read".into(), source: None };
    Ok((parse_record_key(key).ok_or_else(corrupt)?, Record::decode(value).ok_or_else(corrupt)?))
}
