//! The tables of contents at the ends of table files, looked at before the storage crate opens them.
//!
//! The storage crate makes room for as many sections as a file says it has, and compares checksums afterwards: a changed count asks for more
//! memory than there is, and ends the process. Everything else about these files is left to it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::super::StoreError;

const TABLES: &str = "tables";
const TRAILER_MAGIC: &[u8] = b"SFA!";
const CONTENTS_MAGIC: &[u8] = b"TOC!";
/// The magic, a version, a kind of checksum, the checksum, and where the contents begin and how long they are.
const TRAILER_BYTES: usize = CONTENTS_START + 8 + 8;
/// Where in the trailer it says where the contents begin.
const CONTENTS_START: usize = 4 + 1 + 1 + 16;
/// Where a section begins, how long it is, and the length of its name.
const SECTION_BYTES_MIN: u64 = 8 + 8 + 2;

/// Checks that no table of a tree says it has more sections than there is room for.
pub(super) fn check_contents(tree: &Path) -> Result<(), StoreError> {
    let failed = || StoreError::io("looking at the tables");
    let tables = match fs::read_dir(tree.join(TABLES)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        tables => tables.map_err(failed())?,
    };
    for table in tables {
        let path = table.map_err(failed())?.path();
        if !has_room_for_sections(&path).map_err(failed())? {
            return Err(StoreError::corrupt(format!("{} is damaged at its end", path.display())));
        }
    }
    Ok(())
}

/// True also for what does not look like a table: a file that was never finished belongs to none, and others are refused when they are read.
fn has_room_for_sections(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        // Merging removes tables at any time.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        file => file?,
    };
    let end = file.metadata()?.len();
    let Some(trailer_start) = end.checked_sub(TRAILER_BYTES as u64) else { return Ok(true) };
    let mut trailer = [0; TRAILER_BYTES];
    file.read_exact_at(&mut trailer, trailer_start)?;
    let begin = trailer.get(CONTENTS_START..).and_then(|rest| rest.first_chunk()).copied();
    let begin = begin.map_or(u64::MAX, u64::from_le_bytes);
    let Some(room) = trailer_start.checked_sub(begin).filter(|room| *room >= 8) else { return Ok(true) };
    let mut start = [0; 8];
    file.read_exact_at(&mut start, begin)?;
    let [m0, m1, m2, m3, count @ ..] = start;
    if !trailer.starts_with(TRAILER_MAGIC) || [m0, m1, m2, m3] != CONTENTS_MAGIC {
        return Ok(true);
    }
    Ok(u64::from(u32::from_le_bytes(count)) <= room / SECTION_BYTES_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one section of 10 bytes that says it has so many.
    fn table(sections: u32) -> Vec<u8> {
        let mut bytes = b"ten bytes!TOC!".to_vec();
        bytes.extend(sections.to_le_bytes());
        bytes.extend([0_u64.to_le_bytes(), 10_u64.to_le_bytes()].concat());
        bytes.extend([1, 0, b'n']);
        bytes.extend(b"SFA!\x01\x00");
        bytes.extend([0; 16]);
        bytes.extend([10_u64.to_le_bytes(), 27_u64.to_le_bytes()].concat());
        bytes
    }

    fn check(bytes: &[u8]) -> bool {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir(tree.path().join(TABLES)).unwrap();
        fs::write(tree.path().join(TABLES).join("7"), bytes).unwrap();
        check_contents(tree.path()).is_ok()
    }

    #[test]
    fn a_count_that_cannot_be_is_damage() {
        assert!(check(&table(1)));
        for count in [2, 1 << 16, u32::MAX] {
            assert!(!check(&table(count)), "{count}");
        }
    }

    #[test]
    fn what_was_never_finished_is_no_damage() {
        let whole = table(u32::MAX);
        for length in 0..whole.len() {
            assert!(check(&whole[..length]), "{length}");
        }
        assert!(check_contents(Path::new("there is no such tree")).is_ok());
    }
}
