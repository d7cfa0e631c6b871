//! A part of the log of commits: records that follow each other.
//!
//! Always true: the records of a part are whole commits without a gap, so that restoring up to any of them restores whole
//! transactions.

use bytes::{Buf as _, BufMut as _, Bytes};
use engine::{CommitRecord, LogPlace};

use crate::BackupError;
use crate::chunk::{compress, inflate};
use crate::destination::Destination;
use crate::log::{Part, segment_name};

/// A part is at most about so large, before it is compressed.
pub(crate) const SEGMENT_BYTES: usize = 4 << 20;

/// Records that follow each other, and the last position of the part before them.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) previous: u64,
    pub(crate) records: Vec<CommitRecord>,
}

impl Segment {
    /// Whether nothing is missing between the part before it and this one.
    pub(crate) fn is_continuous(&self) -> bool {
        self.records.first().is_some_and(|first| first.position() == self.previous + 1)
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.put_u64(self.previous);
        for record in &self.records {
            bytes.put_u64(record.position());
            bytes.put_u32(u32::try_from(record.bytes().len()).expect("a commit is far below 4 GB"));
            bytes.put_slice(record.bytes());
        }
        bytes
    }

    fn decode(bytes: Vec<u8>) -> Option<Segment> {
        let mut bytes = Bytes::from(bytes);
        let mut segment = Segment { previous: bytes.try_get_u64().ok()?, records: Vec::new() };
        while !bytes.is_empty() {
            let position = bytes.try_get_u64().ok()?;
            let length = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
            let record = (length <= bytes.len()).then(|| bytes.split_to(length))?;
            segment.records.push(CommitRecord::parse(position, record)?);
        }
        Some(segment)
    }

    /// The place after it, if its records follow each other from this place on.
    pub(crate) fn follow(&self, mut place: LogPlace) -> Option<LogPlace> {
        for record in &self.records {
            if !record.follows(place) {
                return None;
            }
            place = record.place();
        }
        Some(place)
    }
}

impl Destination {
    /// Writes a part of a log.
    pub(crate) fn write_segment(&self, database: &str, segment: &Segment) -> Result<(), BackupError> {
        let (Some(first), Some(last)) = (segment.records.first(), segment.records.last()) else {
            return Ok(());
        };
        let name = segment_name(database, first.position(), last.position());
        self.write(&name, &compress(&segment.encode())).map(drop)
    }

    /// Reads a part of a log and checks that it is what its name says.
    pub(crate) fn read_segment(&self, part: &Part) -> Result<Segment, BackupError> {
        let body = self.read_needed(&part.name)?;
        let segment = Segment::decode(inflate(&part.name, &body)?);
        let is_meant = |segment: &Segment| {
            let position = |record: Option<&CommitRecord>| record.map(CommitRecord::position);
            position(segment.records.first()) == Some(part.first)
                && position(segment.records.last()) == Some(part.last)
                && segment.previous < part.first
        };
        segment.filter(is_meant).ok_or_else(|| BackupError::damaged(&part.name, "cannot be read"))
    }
}
