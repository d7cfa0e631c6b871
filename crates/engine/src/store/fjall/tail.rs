//! The journals, looked at before the storage crate opens them.
//!
//! The storage crate's checksums leave out the number that a batch begins with, which decides whose version of an entry is the
//! later one. Batches are numbered upwards, so a number that is not above the one before it was changed.
//!
//! A batch that was being written when the power went may lack any of its sectors: they are still the zeros that the
//! file began with. The storage crate takes such a batch for damage and does not open; and where damage hides the
//! beginning of a batch it cuts off all that follows, acknowledged or not. So the cut is made here.
//!
//! Always true:
//! - Only a batch that nothing whole follows is cut off, and only if sectors of it are missing: it was never synced,
//!   so nobody was told of it.
//! - Anything else that is not as it was written is an error, and the file is left as it is. A last batch of which only the
//!   lengths were changed still ends like one, so it is not taken for one that was being written.
//!
//! A batch is a start (tag 1, number of entries, sequence number), its entries (tag 2: a write; tag 4: a clearing) and
//! an end (tag 3, checksum of the entries, trailer); all numbers are little-endian.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use xxhash_rust::xxh3::xxh3_64;

use super::{super::StoreError, holes::data_end, journal::all_journals};

const START: u8 = 1;
const WRITE: u8 = 2;
const END: u8 = 3;
const CLEARING: u8 = 4;

const START_BYTES: usize = 1 + 4 + 8;
const CLEARING_BYTES: usize = 1 + 8;
const END_BYTES: usize = 1 + 8 + TRAILER.len();
const TRAILER: [u8; 4] = *b"FJL\x03";

/// What a disk writes whole or not at all.
const SECTOR_BYTES: usize = 512;

/// Sequence numbers are far below this one.
const SEQUENCE_MAX: u64 = 1 << 56;

/// Checks the order of batches in all journals, and cuts off the last batch of the last one if a loss of power left it
/// incomplete.
pub(super) fn examine_journals(database: &Path) -> Result<(), StoreError> {
    let mut journals = all_journals(database).map_err(StoreError::io("listing the journals"))?;
    let newest = journals.pop();
    let mut last = None;
    for journal in &journals {
        let written = read_written(journal).map_err(StoreError::io("reading the journal"))?;
        last = check_order(&written, last).map_err(|begin| damaged(journal, begin))?;
    }
    let Some(journal) = newest else { return Ok(()) };
    let written = read_written(&journal).map_err(StoreError::io("reading the journal"))?;
    check_order(&written, last).map_err(|begin| damaged(&journal, begin))?;
    match examine(&written) {
        End::Whole => Ok(()),
        End::Incomplete { begin } => {
            cut(&journal, begin).map_err(StoreError::io("cutting off an incomplete batch"))
        }
        End::Damaged { begin } => Err(damaged(&journal, begin)),
    }
}

fn damaged(journal: &Path, begin: usize) -> StoreError {
    let journal = journal.display();
    StoreError::corrupt(format!("the journal {journal} is not as it was written from byte {begin} on"))
}

/// The number of the last batch; the place of the first whose number is not above the one before.
fn check_order(written: &[u8], mut last: Option<u64>) -> Result<Option<u64>, usize> {
    let mut begin = 0;
    while let Some(rest) = written.get(begin..)
        && let Extent::Of(length) = extent(rest)
    {
        let number = rest.get(1 + 4..).and_then(<[u8]>::first_chunk).map(|bytes| u64::from_le_bytes(*bytes));
        match number.filter(|number| *number < SEQUENCE_MAX && last.is_none_or(|last| *number > last)) {
            Some(number) => last = Some(number),
            None => return Err(begin),
        }
        begin += length;
    }
    Ok(last)
}

fn cut(journal: &Path, begin: usize) -> io::Result<()> {
    let file = File::options().write(true).open(journal)?;
    file.set_len(begin as u64)?;
    file.sync_all()
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    /// After the last whole batch there is nothing.
    Whole,
    /// What follows the last whole batch was never written completely.
    Incomplete { begin: usize },
    /// What follows the last whole batch was complete once.
    Damaged { begin: usize },
}

fn examine(written: &[u8]) -> End {
    let mut begin = 0;
    while let Some(length) = written.get(begin..).and_then(whole_batch) {
        begin += length;
    }
    let rest = written.get(begin..).unwrap_or_default();
    if rest.is_empty() {
        End::Whole
    } else if (1..rest.len()).any(|place| rest.get(place..).and_then(whole_batch).is_some()) {
        End::Damaged { begin }
    } else if (is_cut_short(rest) && !ends_like_a_batch(rest)) || lacks_a_sector(written, begin) {
        End::Incomplete { begin }
    } else {
        End::Damaged { begin }
    }
}

/// The length of the batch that these bytes begin with, if it is whole.
fn whole_batch(bytes: &[u8]) -> Option<usize> {
    let Extent::Of(length) = extent(bytes) else { return None };
    let entries = bytes.get(START_BYTES..length - END_BYTES)?;
    let checksum = bytes.get(length - END_BYTES + 1..)?.first_chunk()?;
    (xxh3_64(entries) == u64::from_le_bytes(*checksum)).then_some(length)
}

fn is_cut_short(bytes: &[u8]) -> bool {
    matches!(extent(bytes), Extent::BeyondTheEnd)
}

/// True for bytes whose last ones are the end of a batch.
fn ends_like_a_batch(bytes: &[u8]) -> bool {
    matches!(bytes.last_chunk::<END_BYTES>(), Some(&[END, .., a, b, c, d]) if [a, b, c, d] == TRAILER)
}

/// How far a batch reaches, by the lengths that stand in it.
enum Extent {
    Of(usize),
    BeyondTheEnd,
    /// These bytes do not begin with a batch.
    Unknown,
}

fn extent(bytes: &[u8]) -> Extent {
    if bytes.first() != Some(&START) {
        return Extent::Unknown;
    }
    let Some(count) = number_at(bytes, 1) else { return Extent::BeyondTheEnd };
    let mut place = START_BYTES;
    for _ in 0..count {
        let length = match bytes.get(place) {
            Some(&WRITE) => write_bytes(bytes, place),
            Some(&CLEARING) => Some(CLEARING_BYTES),
            Some(_) => return Extent::Unknown,
            None => None,
        };
        match length.and_then(|length| place.checked_add(length)) {
            Some(next) => place = next,
            None => return Extent::BeyondTheEnd,
        }
    }
    match bytes.get(place..).and_then(<[u8]>::first_chunk::<END_BYTES>) {
        Some(&[END, .., a, b, c, d]) if [a, b, c, d] == TRAILER => Extent::Of(place + END_BYTES),
        Some(_) => Extent::Unknown,
        None => Extent::BeyondTheEnd,
    }
}

/// The length of a write: tag, kind, compression, keyspace, lengths of the key, of the value and of the value as it is
/// stored, and then key and value.
fn write_bytes(bytes: &[u8], place: usize) -> Option<usize> {
    let header = 1 + 1 + 1 + 8;
    let key = bytes.get(place + header..)?.first_chunk().map(|length| u16::from_le_bytes(*length))?;
    let value = number_at(bytes, place + header + 2 + 4)?;
    (header + 2 + 4 + 4 + usize::from(key)).checked_add(usize::try_from(value).ok()?)
}

fn number_at(bytes: &[u8], place: usize) -> Option<u32> {
    bytes.get(place..)?.first_chunk().map(|number| u32::from_le_bytes(*number))
}

/// True if of some sector nothing from `begin` on was written.
fn lacks_a_sector(written: &[u8], begin: usize) -> bool {
    let first = SECTOR_BYTES - begin % SECTOR_BYTES;
    let (head, sectors) = written.get(begin..).unwrap_or_default().split_at(first.min(written.len() - begin));
    std::iter::once(head).chain(sectors.chunks(SECTOR_BYTES)).any(is_zero)
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// A journal up to its last byte that is not zero: it begins as 64 MB of zeros.
fn read_written(journal: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(journal)?;
    let length = data_end(&file)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    (&file).take(length).read_to_end(&mut bytes)?;
    let written = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(written);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(value: &[u8]) -> Vec<u8> {
        numbered(7, value)
    }

    fn numbered(number: u64, value: &[u8]) -> Vec<u8> {
        let mut entry = vec![WRITE, 0, 0];
        entry.extend(1_u64.to_le_bytes());
        entry.extend(3_u16.to_le_bytes());
        entry.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        entry.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        entry.extend(b"key");
        entry.extend(value);
        let mut bytes = vec![START, 1, 0, 0, 0];
        bytes.extend(number.to_le_bytes());
        bytes.extend(&entry);
        bytes.push(END);
        bytes.extend(xxh3_64(&entry).to_le_bytes());
        bytes.extend(TRAILER);
        bytes
    }

    fn zeroed(mut bytes: Vec<u8>, range: std::ops::Range<usize>) -> Vec<u8> {
        bytes[range].fill(0);
        bytes
    }

    #[test]
    fn whole_batches_are_left_alone() {
        assert_eq!(examine(&[]), End::Whole);
        assert_eq!(examine(&[batch(b"one"), batch(b"two")].concat()), End::Whole);
    }

    #[test]
    fn a_last_batch_that_lacks_any_sector_or_its_end_is_incomplete() {
        let first = batch(&[b'a'; 100]);
        let begin = first.len();
        let bytes = [first, batch(&[b'b'; 5_000])].concat();
        for sector in 0..=bytes.len() / SECTOR_BYTES {
            let range = (sector * SECTOR_BYTES).max(begin)..((sector + 1) * SECTOR_BYTES).min(bytes.len());
            assert_eq!(examine(&zeroed(bytes.clone(), range)), End::Incomplete { begin }, "sector {sector}");
        }
        for end in begin + 1..bytes.len() {
            assert_eq!(examine(&bytes[..end]), End::Incomplete { begin }, "{end} bytes");
        }
    }

    #[test]
    fn what_is_missing_before_a_whole_batch_is_damage() {
        let (first, second) = (batch(&[b'a'; 100]), batch(&[b'b'; 5_000]));
        let begin = first.len();
        let bytes = [first, second, batch(b"three")].concat();
        assert_eq!(examine(&zeroed(bytes.clone(), 1_024..2_048)), End::Damaged { begin });
        assert_eq!(examine(&zeroed(bytes, begin..1_024)), End::Damaged { begin });
    }

    #[test]
    fn a_flipped_bit_in_the_last_batch_is_damage() {
        let mut bytes = [batch(b"one"), batch(&[b'b'; 5_000])].concat();
        bytes[2_000] ^= 1;
        assert_eq!(examine(&bytes), End::Damaged { begin: batch(b"one").len() });
    }

    #[test]
    fn a_changed_length_in_the_last_batch_is_damage() {
        let first = batch(b"one");
        let mut bytes = [first.clone(), batch(&[b'b'; 300])].concat();
        // The length of the value, which now reaches beyond the end.
        bytes[first.len() + START_BYTES + 11 + 2 + 4 + 2] ^= 1;
        assert_eq!(examine(&bytes), End::Damaged { begin: first.len() });
    }

    #[test]
    fn numbers_of_batches_go_up() {
        let (first, second) = (numbered(7, b"one"), numbered(9, b"two"));
        assert_eq!(check_order(&[first.clone(), second.clone()].concat(), Some(6)), Ok(Some(9)));
        assert_eq!(check_order(&[first.clone(), second.clone()].concat(), Some(7)), Err(0));
        assert_eq!(check_order(&[second, first.clone()].concat(), None), Err(first.len()));
        assert_eq!(check_order(&numbered(1 << 60, b"one"), None), Err(0));
    }
}
