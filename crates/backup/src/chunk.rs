//! Chunks: runs of entries, cut where their content says so.
//!
//! Whether a chunk ends after an entry depends on that entry alone (a hash of its key, and its size) and on the least and largest size
//! of a chunk. So a change touches the chunk it is in, and the cuts behind it are the same again soon after.
//!
//! Always true: `decode(encode(entries)) == entries`; a chunk holds at least one entry, and whole entries.

use bytes::{Buf, BufMut as _, Bytes};
use engine::Entry;
use xxhash_rust::xxh3::xxh3_64;

use crate::BackupError;

/// A chunk is about so large, before it is compressed.
const BYTES_MEAN: u64 = 1 << 20;
const BYTES_MIN: usize = 128 << 10;
const BYTES_MAX: usize = 4 << 20;
/// Nothing is compressed better than this: it bounds what a length that somebody made up can make us allocate.
const COMPRESSION_MAX: usize = 255;

/// A run of entries, as bytes.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    pub(crate) entries: u64,
}

impl Chunk {
    /// Adds an entry. Says whether the chunk ends with it.
    pub(crate) fn push(&mut self, entry: &Entry) -> bool {
        let before = self.bytes.len();
        self.bytes.put_u8(entry.space);
        for part in [&entry.key, &entry.value] {
            self.bytes.put_u32(u32::try_from(part.len()).expect("keys and values are far below 4 GB"));
            self.bytes.put_slice(part);
        }
        self.entries += 1;
        let size = self.bytes.len();
        size >= BYTES_MAX || size >= BYTES_MIN && is_cut(&entry.key, size - before)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }
}

/// Large entries are cut after more often, so that chunks have one size whatever the items.
fn is_cut(key: &[u8], entry_bytes: usize) -> bool {
    xxh3_64(key) / (u64::MAX / BYTES_MEAN) < entry_bytes as u64
}

/// The entries of a chunk.
pub(crate) fn entries(name: &str, bytes: Vec<u8>) -> Result<Vec<Entry>, BackupError> {
    let mut bytes = Bytes::from(bytes);
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let entry = read_entry(&mut bytes);
        entries.push(entry.ok_or_else(|| BackupError::damaged(name, "holds something that is no entry"))?);
    }
    Ok(entries)
}

fn read_entry(bytes: &mut Bytes) -> Option<Entry> {
    let space = bytes.try_get_u8().ok()?;
    let key = read_part(bytes)?;
    let value = read_part(bytes)?;
    Some(Entry { space, key, value })
}

fn read_part(bytes: &mut Bytes) -> Option<Bytes> {
    let length = usize::try_from(bytes.try_get_u32().ok()?).ok()?;
    (length <= bytes.len()).then(|| bytes.split_to(length))
}

/// Compressed bytes, with their length before.
pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    lz4_flex::block::compress_prepend_size(bytes)
}

/// What was compressed.
pub(crate) fn inflate(name: &str, compressed: &[u8]) -> Result<Vec<u8>, BackupError> {
    let wrong = || BackupError::damaged(name, "cannot be inflated");
    let (size, rest) = lz4_flex::block::uncompressed_size(compressed).map_err(|_| wrong())?;
    if size > rest.len().saturating_mul(COMPRESSION_MAX) {
        return Err(wrong());
    }
    lz4_flex::block::decompress(rest, size).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64, size: usize) -> Entry {
        Entry {
            space: 0,
            key: Bytes::copy_from_slice(&number.to_be_bytes()),
            value: vec![u8::try_from(number % 251).unwrap(); size].into(),
        }
    }

    fn cut(all: impl Iterator<Item = Entry>) -> Vec<Chunk> {
        let mut chunks = vec![Chunk::default()];
        for entry in all {
            if chunks.last_mut().unwrap().push(&entry) {
                chunks.push(Chunk::default());
            }
        }
        chunks
    }

    #[test]
    fn entries_come_back_from_chunks_of_about_one_size() {
        for size in [10, 1000, 100_000] {
            let all: Vec<Entry> =
                (0..(40 << 20) / (size as u64 + 17)).map(|number| entry(number, size)).collect();
            let chunks = cut(all.iter().cloned());
            let mean = (40 << 20) / chunks.len();
            assert!((700 << 10..1600 << 10).contains(&mean), "{mean} bytes on average for entries of {size}");
            let back = chunks.into_iter().flat_map(|chunk| {
                let packed = compress(&chunk.bytes);
                entries("a chunk", inflate("a chunk", &packed).unwrap()).unwrap()
            });
            assert!(back.eq(all));
        }
    }

    #[test]
    fn a_change_touches_few_chunks() {
        let size = 1000;
        let before = cut((0..40_000).map(|number| entry(number, size)));
        // One entry less, one more, one changed.
        let changed = (0..40_000).filter(|number| *number != 5_000).flat_map(|number| match number {
            20_000 => vec![entry(number, size), Entry { value: Bytes::new(), ..entry(number, size) }],
            35_000 => vec![entry(number, size * 2)],
            _ => vec![entry(number, size)],
        });
        let known: Vec<_> = before.iter().map(|chunk| chunk.bytes.clone()).collect();
        let new = cut(changed).into_iter().filter(|chunk| !known.contains(&chunk.bytes)).count();
        assert!((1..=8).contains(&new), "{new} of {}", before.len());
    }

    #[test]
    fn bytes_that_are_no_chunk_are_refused() {
        assert!(entries("a chunk", vec![0, 0, 0, 0, 9, 1]).is_err());
        assert!(inflate("a chunk", &[255, 255, 255, 255, 0, 0]).is_err());
        assert!(inflate("a chunk", &[1]).is_err());
    }
}
