//! Streams as clients see them: labels, shards, sequence numbers and iterators.
//!
//! A stream has one shard for all its life. A record's sequence number is the engine's own number written with 21 digits, so numbers
//! compare as texts and as numbers alike. An iterator is a place in a shard and the time at which it was given out; it says all
//! that, so nothing is kept for it.

mod lag;

use std::ops::Bound;

use dynamo::{ApiError, ErrorKind};
use xxhash_rust::xxh3::xxh3_64;

use crate::arn::{Arn, Resource};
use crate::catalog::{Catalog, ClosedStream};
use crate::layout::{CollectionId, KeyRange, KeySchema, hex, parse_hex, parse_record_key, record_key};
use crate::meta::{self, MetaKey};
use crate::record::record_time_milliseconds;
use crate::store::{Direction, Snapshot, Space, StoreError};
use crate::table::{Stream, Table};

pub use lag::StreamMetrics;

/// How long records are kept, and closed streams with them.
pub(crate) const RETENTION_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;
/// How long an iterator can be used.
const ITERATOR_MILLISECONDS: i64 = 15 * 60 * 1000;

/// A stream that can be read.
#[derive(Clone, Debug)]
pub(crate) struct KnownStream {
    pub(crate) stream: Stream,
    pub(crate) table_name: String,
    pub(crate) schema: KeySchema,
    /// It takes no more records.
    pub(crate) is_closed: bool,
}

impl KnownStream {
    fn of_table(table: &Table) -> Option<KnownStream> {
        Some(KnownStream {
            stream: table.stream.clone()?,
            table_name: table.name.clone(),
            schema: table.schema.clone(),
            is_closed: false,
        })
    }

    fn closed(closed: &ClosedStream) -> KnownStream {
        KnownStream {
            stream: closed.stream.clone(),
            table_name: closed.table.name.clone(),
            schema: closed.table.schema.clone(),
            is_closed: true,
        }
    }

    /// Its label.
    pub(crate) fn label(&self) -> String {
        stream_label(self.stream.created_milliseconds)
    }

    /// The name of its only shard.
    pub(crate) fn shard_id(&self) -> String {
        let Stream { id, created_milliseconds, .. } = self.stream;
        format!("shardId-{created_milliseconds:020}-{:08x}", id.0)
    }

    /// The numbers that its records can have: from the first that was not trimmed to the last there is.
    pub(crate) fn bounds(&self, snapshot: &Snapshot) -> Result<ShardBounds, StoreError> {
        let id = self.stream.id;
        let trimmed = snapshot.get(Space::Meta, &meta::collection_key(MetaKey::TRIMMED, id))?;
        let trimmed = trimmed.and_then(|bytes| bytes.as_ref().try_into().ok().map(u64::from_be_bytes));
        let start = trimmed.map_or(0, |trimmed| trimmed.saturating_add(1));
        let range = KeyRange::of_collection(id);
        let (lower, upper) = range.bounds();
        // Its key is enough, which is not sealed with that of the table.
        let unopened = snapshot.unopened();
        let last = unopened.range(Space::Log, lower, upper, Direction::Reverse).next().transpose()?;
        let last = last.and_then(|(key, _)| parse_record_key(&key));
        Ok(ShardBounds { start, end: last.map_or(start, |last| last.saturating_add(1)) })
    }

    /// The first record made at this time or later, as a place; found by halving, since records are in the order of their times.
    pub(crate) fn place_at(&self, milliseconds: i64, snapshot: &Snapshot) -> Result<u64, StoreError> {
        let bounds = self.bounds(snapshot)?;
        let (mut early, mut late) = (bounds.start, bounds.end);
        while early < late {
            let middle = early + (late - early) / 2;
            match first_record_from(self.stream.id, middle, snapshot)? {
                Some((place, time)) if time < milliseconds => early = place.saturating_add(1),
                _ => late = middle,
            }
        }
        Ok(early)
    }
}

/// Places in a shard, from `start` on and before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardBounds {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

fn first_record_from(
    id: CollectionId,
    place: u64,
    snapshot: &Snapshot,
) -> Result<Option<(u64, i64)>, StoreError> {
    let range = KeyRange { lower: Bound::Included(record_key(id, place)), ..KeyRange::of_collection(id) };
    let (lower, upper) = range.bounds();
    let first = snapshot.range(Space::Log, lower, upper, Direction::Forward).next().transpose()?;
    Ok(first.and_then(|(key, record)| Some((parse_record_key(&key)?, record_time_milliseconds(&record)?))))
}

/// All streams: by table, the oldest first.
pub(crate) fn streams(catalog: &Catalog) -> Vec<KnownStream> {
    let open = catalog.tables().filter_map(|table| KnownStream::of_table(table));
    let closed = catalog.closed_streams().map(|closed| KnownStream::closed(closed));
    let mut streams: Vec<KnownStream> = open.chain(closed).collect();
    streams.sort_by(|left, right| {
        let key = |stream: &KnownStream| (stream.table_name.clone(), stream.stream.created_milliseconds);
        key(left).cmp(&key(right))
    });
    streams
}

/// The stream with this ARN.
pub(crate) fn find_stream(catalog: &Catalog, arn: &str) -> Result<KnownStream, ApiError> {
    let Some(Resource::Stream(table, label)) = Arn::parse(arn).map(|arn| arn.resource) else {
        return Err(ApiError::validation("Invalid StreamArn"));
    };
    let is_it = |stream: &Stream| stream_label(stream.created_milliseconds) == label;
    let open = catalog.table(table).filter(|table| table.stream.as_ref().is_some_and(is_it));
    let closed = || {
        let mut streams = catalog.closed_streams();
        streams.find(|closed| closed.table.name == table && is_it(&closed.stream))
    };
    open.and_then(|table| KnownStream::of_table(table))
        .or_else(|| closed().map(|closed| KnownStream::closed(closed)))
        .ok_or_else(|| {
            let message = format!("Requested resource not found: Stream: {arn} not found");
            ApiError::new(ErrorKind::ResourceNotFound, message)
        })
}

/// When a new stream of a table counts as made: now, or a little later where a stream of that table has that label.
pub(crate) fn new_stream_milliseconds(catalog: &Catalog, table_name: &str, now_milliseconds: i64) -> i64 {
    let of_table = |closed: &&std::sync::Arc<ClosedStream>| closed.table.name == table_name;
    let closed = catalog.closed_streams().filter(of_table).map(|closed| closed.stream.created_milliseconds);
    let open = catalog.table(table_name).and_then(|table| table.latest_stream_milliseconds);
    closed.chain(open).max().map_or(now_milliseconds, |latest| now_milliseconds.max(latest + 1))
}

/// A place in a shard to read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShardIterator {
    pub(crate) stream_arn: String,
    /// The number from which records are read.
    pub(crate) place: u64,
    pub(crate) issued_milliseconds: i64,
}

impl ShardIterator {
    /// The text that a client gets.
    pub(crate) fn to_text(&self) -> String {
        let mut bytes = Vec::with_capacity(24);
        bytes.extend_from_slice(&self.place.to_be_bytes());
        bytes.extend_from_slice(&self.issued_milliseconds.to_be_bytes());
        let check = check_of(&self.stream_arn, &bytes);
        bytes.extend_from_slice(&check.to_be_bytes());
        format!("{}|1|{}", self.stream_arn, hex(&bytes))
    }

    /// Reads such a text.
    pub(crate) fn parse(text: &str) -> Result<ShardIterator, ApiError> {
        parse_iterator(text).ok_or_else(|| ApiError::validation("Invalid ShardIterator"))
    }

    /// An iterator is good for 15 minutes.
    pub(crate) fn check_age(&self, now_milliseconds: i64) -> Result<(), ApiError> {
        if now_milliseconds.saturating_sub(self.issued_milliseconds) > ITERATOR_MILLISECONDS {
            return Err(ApiError::new(ErrorKind::ExpiredIterator, "Shard iterator has expired"));
        }
        Ok(())
    }
}

fn parse_iterator(text: &str) -> Option<ShardIterator> {
    let mut parts = text.splitn(3, '|');
    let (stream_arn, version, content) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes = parse_hex(content)?;
    let (place, rest) = bytes.split_first_chunk()?;
    let (issued, check) = rest.split_first_chunk()?;
    let is_ours = version == "1" && check == check_of(stream_arn, bytes.get(..16)?).to_be_bytes();
    is_ours.then(|| ShardIterator {
        stream_arn: stream_arn.to_owned(),
        place: u64::from_be_bytes(*place),
        issued_milliseconds: i64::from_be_bytes(*issued),
    })
}

/// Tells a text that was cut or mistyped from one that was given out.
fn check_of(stream_arn: &str, bytes: &[u8]) -> u64 {
    xxh3_64(&[stream_arn.as_bytes(), bytes].concat())
}

/// Said of a place before the oldest record.
pub(crate) fn trimmed() -> ApiError {
    ApiError::new(ErrorKind::TrimmedDataAccess, "The data you are trying to access has been trimmed")
}

/// What the engine's number is added to, so that every sequence number has 21 digits and none starts with a zero.
const SEQUENCE_BASE: u128 = 100_000_000_000_000_000_000;

/// The label of a stream: when it was made, such as `2026-01-02T03:04:05.678`.
pub(crate) fn stream_label(created_milliseconds: i64) -> String {
    let days = created_milliseconds.div_euclid(DAY_MILLISECONDS);
    let in_day = created_milliseconds.rem_euclid(DAY_MILLISECONDS);
    let (year, month, day) = date_of(days);
    let (seconds, milliseconds) = (in_day / 1000, in_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}")
}

const DAY_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// Year, month and day of a day since 1970. Counts in years that begin in March, so that a leap day is the last of its year, and
/// in eras of 400 years, which all have the same number of days.
fn date_of(days_since_1970: i64) -> (i64, i64, i64) {
    const DAYS_PER_ERA: i64 = 146_097;
    const DAYS_FROM_YEAR_0_TO_1970: i64 = 719_468;
    let days = days_since_1970 + DAYS_FROM_YEAR_0_TO_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// The sequence number of a record, as clients see it.
pub(crate) fn sequence_text(sequence: u64) -> String {
    (SEQUENCE_BASE + u128::from(sequence)).to_string()
}

/// The engine's number of a sequence number; `None` for a text that [`sequence_text`] does not give.
pub(crate) fn parse_sequence(text: &str) -> Option<u64> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u128 = text.parse().ok()?;
    u64::try_from(number.checked_sub(SEQUENCE_BASE)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_dates() {
        assert_eq!(stream_label(0), "1970-01-01T00:00:00.000");
        assert_eq!(stream_label(951_782_400_000), "2000-02-29T00:00:00.000");
        assert_eq!(stream_label(1_767_323_045_678), "2026-01-02T03:04:05.678");
        assert_eq!(stream_label(4_107_542_400_000), "2100-03-01T00:00:00.000");
    }

    #[test]
    fn sequence_numbers_keep_their_order_and_come_back() {
        let mut last = String::new();
        for sequence in [0, 1, 9, 10, 1 << 20, u64::MAX - 1, u64::MAX] {
            let text = sequence_text(sequence);
            assert_eq!(text.len(), 21);
            assert!(last < text);
            assert_eq!(parse_sequence(&text), Some(sequence));
            last = text;
        }
        for wrong in ["", "1", "-1", "x", "99999999999999999999", "118446744073709551616"] {
            assert_eq!(parse_sequence(wrong), None, "{wrong}");
        }
    }
}
