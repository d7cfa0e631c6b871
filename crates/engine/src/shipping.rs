//! The log of commits: what every group wrote, kept for as long as it takes to ship it to another place.
//!
//! While shipping is on, a group adds one record to its own batch: its number, its time and all it wrote. So the log holds exactly
//! the commits that are in the store, after any crash. A record is forgotten once it has been shipped.
//!
//! ```text
//! key     collection 0, position                                   (in the log space; no table ever has the id 0)
//! value   time, commit number, bytes of the log before it, chain, writes
//! ```
//!
//! Always true: positions grow by one from record to record, unless commits are missing between the two: then one or more
//! positions are skipped. Times never go back. The chain of a record is a hash of the chain before it and of the record, so that a
//! record fits after one other only. The log never takes more than its limit: beyond it commits are made without a record.
//! Without shipping none of this costs anything.
//!
//! Path of a record: `Shipping::log` (in a group) -> store -> `Frozen::records_after` -> shipped -> `Engine::forget_records`.

use bytes::{Buf, BufMut, Bytes};
use xxhash_rust::xxh3::Xxh3;

use crate::layout::{CollectionId, KeyRange, parse_record_key, record_key};
use crate::meta::{self, MetaKey};
use crate::store::{Batch, Direction, Snapshot, Space, StoreError};

/// The collection of the log. Tables, indexes and streams have ids from 1.
pub(crate) const COMMIT_LOG: CollectionId = CollectionId(0);

const HEAD_BYTES: usize = 8 + 8 + 8 + 16;
/// No log, and so no record, is larger: lengths are written with four bytes.
const BYTES_MAX: u64 = 1 << 31;
/// Marks a write that stores a value; without it the key is removed.
const PUTS: u8 = 0x80;

/// A place between two records of the log: the last position before it, and the chain up to there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPlace {
    /// The position of the last record before it.
    pub position: u64,
    /// The chain of that record.
    pub chain: u128,
}

/// How the log stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogState {
    /// The end of the log.
    pub end: LogPlace,
    /// Bytes that wait to be shipped.
    pub waiting_bytes: u64,
    /// Whether commits are made without a record, because the log has reached its limit.
    pub is_full: bool,
}

/// What one group wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRecord {
    position: u64,
    time_milliseconds: i64,
    commit: u64,
    bytes_before: u64,
    chain: u128,
    bytes: Bytes,
}

impl CommitRecord {
    /// Reads a record; `None` if these bytes are not one.
    pub fn parse(position: u64, bytes: Bytes) -> Option<CommitRecord> {
        let mut head = bytes.get(..HEAD_BYTES)?;
        let record = CommitRecord {
            position,
            time_milliseconds: head.get_i64(),
            commit: head.get_u64(),
            bytes_before: head.get_u64(),
            chain: head.get_u128(),
            bytes,
        };
        record.writes().all(|write| write.is_some()).then_some(record)
    }

    /// Its position in the log.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// When it was committed.
    pub fn time_milliseconds(&self) -> i64 {
        self.time_milliseconds
    }

    /// The number of the commit.
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// The place after it.
    pub fn place(&self) -> LogPlace {
        LogPlace { position: self.position, chain: self.chain }
    }

    /// Whether it is the record that comes after this place.
    pub fn follows(&self, place: LogPlace) -> bool {
        place.position.checked_add(1) == Some(self.position) && self.chain == self.chained_to(place.chain)
    }

    /// Whether it only marks a place: nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == HEAD_BYTES
    }

    /// The record as it is stored and shipped.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The same writes, to make them again.
    pub(crate) fn batch(&self) -> Batch {
        let mut batch = Batch::default();
        for (space, key, value) in self.writes().flatten() {
            match value {
                Some(value) => batch.put(space, key, value),
                None => batch.remove(space, key),
            }
        }
        batch
    }

    fn chained_to(&self, before: u128) -> u128 {
        let writes = self.bytes.get(HEAD_BYTES..).unwrap_or_default();
        chain(before, self.position, self.time_milliseconds, self.commit, writes)
    }

    /// Its writes; `None` in the place of one that cannot be read, and then no more.
    fn writes(&self) -> Writes {
        Writes {
            bytes: self.bytes.get(HEAD_BYTES..).map_or_else(Bytes::new, |_| self.bytes.slice(HEAD_BYTES..)),
        }
    }
}

fn chain(before: u128, position: u64, time_milliseconds: i64, commit: u64, writes: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&before.to_be_bytes());
    hash.update(&position.to_be_bytes());
    hash.update(&time_milliseconds.to_be_bytes());
    hash.update(&commit.to_be_bytes());
    hash.update(writes);
    hash.digest128()
}

/// Writes as they stand in a record.
struct Writes {
    bytes: Bytes,
}

impl Iterator for Writes {
    type Item = Option<(Space, Bytes, Option<Bytes>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let write = self.read();
        if write.is_none() {
            self.bytes.clear();
        }
        Some(write)
    }
}

impl Writes {
    fn read(&mut self) -> Option<(Space, Bytes, Option<Bytes>)> {
        let tag = self.bytes.try_get_u8().ok()?;
        let space = space_of(tag & !PUTS)?;
        let key = self.read_bytes().filter(|key| Batch::takes_key(key))?;
        let value = if tag & PUTS == 0 { None } else { Some(self.read_bytes()?) };
        Some((space, key, value))
    }

    fn read_bytes(&mut self) -> Option<Bytes> {
        let length = usize::try_from(self.bytes.try_get_u32().ok()?).ok()?;
        (length <= self.bytes.len()).then(|| self.bytes.split_to(length))
    }
}

/// The number of a space in records and entries that leave the database.
pub(crate) fn space_number(space: Space) -> u8 {
    match space {
        Space::Data => 0,
        Space::Log => 1,
        Space::Meta => 2,
    }
}

/// The space with a number.
pub(crate) fn space_of(number: u8) -> Option<Space> {
    [Space::Data, Space::Log, Space::Meta].get(usize::from(number)).copied()
}

/// Whether an entry is of this copy of the database only: its log of commits and its identity stay where they are.
pub(crate) fn stays(space: Space, key: &[u8]) -> bool {
    match space {
        Space::Data => false,
        Space::Log => key.starts_with(&COMMIT_LOG.0.to_be_bytes()),
        Space::Meta => *key == *meta::key(MetaKey::IDENTITY, b""),
    }
}

/// The log as the owner of the commit knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shipping {
    end: LogPlace,
    time_milliseconds: i64,
    /// Whether there were commits without a record after the last record.
    has_gap: bool,
    /// Whether there was no room for the last commit.
    is_full: bool,
    bytes_written: u64,
    bytes_forgotten: u64,
    bytes_max: u64,
}

impl Shipping {
    /// Goes on from the log in the store, whose last commit has this number. Commits that were made while shipping was off are
    /// a gap.
    pub(crate) fn resume(
        snapshot: &Snapshot,
        last_commit: u64,
        bytes_max: u64,
        time_milliseconds: i64,
    ) -> Result<Shipping, StoreError> {
        let mut shipping = Shipping {
            end: LogPlace::default(),
            time_milliseconds,
            has_gap: true,
            is_full: false,
            bytes_written: 0,
            bytes_forgotten: 0,
            bytes_max: bytes_max.min(BYTES_MAX),
        };
        if let Some(last) = end_of_log(snapshot, Direction::Reverse)? {
            shipping.end = last.place();
            shipping.time_milliseconds = time_milliseconds.max(last.time_milliseconds);
            shipping.has_gap = last.commit != last_commit;
            shipping.bytes_written = last.bytes_before + last.bytes.len() as u64;
        }
        if let Some(first) = end_of_log(snapshot, Direction::Forward)? {
            shipping.bytes_forgotten = first.bytes_before;
        }
        Ok(shipping)
    }

    /// As [`Shipping::resume`], with the settings of before.
    pub(crate) fn resume_again(&self, snapshot: &Snapshot, last_commit: u64) -> Result<Shipping, StoreError> {
        Shipping::resume(snapshot, last_commit, self.bytes_max, self.time_milliseconds)
    }

    /// Adds to a batch the record of what it writes. Returns what holds once the batch is in the store.
    #[must_use]
    pub(crate) fn log(mut self, batch: &mut Batch, commit: u64, now_milliseconds: i64) -> Shipping {
        let writes = encode(batch);
        let size = (HEAD_BYTES + writes.len()) as u64;
        // A mark is let in always: forgetting records, which makes room, leaves one.
        if !writes.is_empty() && self.waiting_bytes() + size > self.room() {
            (self.has_gap, self.is_full) = (true, true);
            return self;
        }
        let position = self.end.position + 1 + u64::from(self.has_gap);
        let before = if self.has_gap { 0 } else { self.end.chain };
        let time_milliseconds = self.time_milliseconds.max(now_milliseconds);
        let chain = chain(before, position, time_milliseconds, commit, &writes);
        let mut value = Vec::with_capacity(HEAD_BYTES + writes.len());
        value.put_i64(time_milliseconds);
        value.put_u64(commit);
        value.put_u64(self.bytes_written);
        value.put_u128(chain);
        value.put_slice(&writes);
        batch.put(Space::Log, record_key(COMMIT_LOG, position), value);
        Shipping {
            end: LogPlace { position, chain },
            time_milliseconds,
            has_gap: false,
            is_full: self.is_full && writes.is_empty(),
            bytes_written: self.bytes_written + size,
            ..self
        }
    }

    /// The moment of a snapshot that is taken now, and the place in the log after it. Every later commit is later.
    pub(crate) fn freeze(&mut self, now_milliseconds: i64) -> (i64, LogPlace) {
        let time_milliseconds = self.time_milliseconds.max(now_milliseconds);
        self.time_milliseconds = time_milliseconds.saturating_add(1);
        if self.has_gap {
            // What is missing is in the snapshot; records after it are whole again.
            self.end = LogPlace { position: self.end.position + 1, chain: 0 };
            self.has_gap = false;
        }
        (time_milliseconds, self.end)
    }

    /// Whether a mark is needed so that a later gap can be told from none.
    pub(crate) fn needs_mark(&self) -> bool {
        self.has_gap
    }

    /// Notes that everything before this byte of the log is gone.
    pub(crate) fn forgotten(&mut self, bytes: u64) {
        self.bytes_forgotten = self.bytes_forgotten.max(bytes);
        self.is_full &= self.waiting_bytes() > self.room();
    }

    pub(crate) fn state(&self) -> LogState {
        LogState { end: self.end, waiting_bytes: self.waiting_bytes(), is_full: self.is_full }
    }

    fn waiting_bytes(&self) -> u64 {
        self.bytes_written.saturating_sub(self.bytes_forgotten)
    }

    /// Once it was full, the log takes records again when half of it is free: each beginning costs a whole backup.
    fn room(&self) -> u64 {
        if self.is_full { self.bytes_max / 2 } else { self.bytes_max }
    }
}

fn encode(batch: &Batch) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(batch.size_bytes() + batch.len() * 9);
    for write in batch.iter().filter(|write| !stays(write.space, &write.key)) {
        let puts = if write.value.is_some() { PUTS } else { 0 };
        bytes.put_u8(space_number(write.space) | puts);
        put_bytes(&mut bytes, &write.key);
        if let Some(value) = &write.value {
            put_bytes(&mut bytes, value);
        }
    }
    bytes
}

fn put_bytes(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.put_u32(u32::try_from(part.len()).expect("keys and values are far below 4 GB"));
    bytes.put_slice(part);
}

/// The records after a position, in order, up to about so many bytes, but at least one.
pub(crate) fn records_after(
    snapshot: &Snapshot,
    position: u64,
    bytes_max: usize,
) -> Result<Vec<CommitRecord>, StoreError> {
    let range = KeyRange::of_collection(COMMIT_LOG).after(record_key(COMMIT_LOG, position));
    let (lower, upper) = range.bounds();
    let (mut records, mut bytes) = (Vec::new(), 0);
    for entry in snapshot.range(Space::Log, lower, upper, Direction::Forward) {
        let record = record_of(entry?)?;
        bytes += record.bytes.len();
        records.push(record);
        if bytes >= bytes_max {
            break;
        }
    }
    Ok(records)
}

/// The keys of the records up to a position, and how much of the log ends with the last of them; at most so many.
pub(crate) fn keys_up_to(
    snapshot: &Snapshot,
    position: u64,
    count_max: usize,
) -> Result<(Vec<Bytes>, u64), StoreError> {
    let (mut keys, mut bytes_end) = (Vec::new(), 0);
    let range = KeyRange::of_collection(COMMIT_LOG);
    let (lower, upper) = range.bounds();
    for entry in snapshot.range(Space::Log, lower, upper, Direction::Forward).take(count_max) {
        let (key, value) = entry?;
        let record = record_of((key.clone(), value))?;
        if record.position > position {
            break;
        }
        bytes_end = record.bytes_before + record.bytes.len() as u64;
        keys.push(key);
    }
    Ok((keys, bytes_end))
}

/// The first or last record of the log.
fn end_of_log(snapshot: &Snapshot, direction: Direction) -> Result<Option<CommitRecord>, StoreError> {
    let range = KeyRange::of_collection(COMMIT_LOG);
    let (lower, upper) = range.bounds();
    snapshot.range(Space::Log, lower, upper, direction).next().transpose()?.map(record_of).transpose()
}

fn record_of((key, value): (Bytes, Bytes)) -> Result<CommitRecord, StoreError> {
    parse_record_key(&key)
        .and_then(|position| CommitRecord::parse(position, value))
        .ok_or_else(|| StoreError::corrupt("a record of the log of commits cannot be read"))
}
