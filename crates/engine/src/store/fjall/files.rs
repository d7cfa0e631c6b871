//! The files of tables, read whole and compared with the checksums that the manifest has of them. A block that somebody
//! reads is checked by the storage crate; this finds what nobody has read for long, or reads from the cache.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use fjall::{AbstractTree as _, Keyspace};
use xxhash_rust::xxh3::Xxh3Default;

use super::super::StoreError;

const CHUNK_BYTES: usize = 1 << 20;

/// What is wrong with which file. The files stay for as long as they are read, even if others take their place.
pub(super) fn damaged_tables(keyspace: &Keyspace) -> Result<Vec<String>, StoreError> {
    let mut findings = Vec::new();
    let version = keyspace.tree.current_version();
    for table in version.iter_tables() {
        let checksum = checksum_of(&table.path).map_err(StoreError::io("reading a table"))?;
        if checksum != table.checksum().into_u128() {
            findings.push(format!("the file {} is not as it was written", table.path.display()));
        }
    }
    Ok(findings)
}

fn checksum_of(path: &Path) -> io::Result<u128> {
    let mut file = File::open(path)?;
    let mut hasher = Xxh3Default::new();
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    while (&mut file).take(CHUNK_BYTES as u64).read_to_end(&mut chunk)? > 0 {
        hasher.update(&chunk);
        chunk.clear();
    }
    Ok(hasher.digest128())
}
