//! Holes: parts of a file that were never written, take no space and read as zeros. Only the file system can tell them from zeros.

use std::{fs::File, io};

#[cfg(target_os = "linux")]
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Where the part of a file ends that was ever written: the file system knows, and saves reading 64 MB of zeros.
#[cfg(target_os = "linux")]
pub(super) fn data_end(file: &File) -> io::Result<u64> {
    use rustix::fs::{SeekFrom, seek};
    let length = file.metadata()?.len();
    let mut end = 0;
    while end < length {
        match seek(file, SeekFrom::Data(end)) {
            Ok(data) => end = seek(file, SeekFrom::Hole(data))?,
            Err(rustix::io::Errno::NXIO) => break,
            // Not every file system can tell.
            Err(_) => {
                end = length;
                break;
            }
        }
    }
    seek(file, SeekFrom::Start(0))?;
    Ok(end)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn data_end(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.len())
}

/// Writes zeros into a part of a file that was never written, and says whether it was such a part. Nobody may write to it meanwhile.
#[cfg(target_os = "linux")]
pub(super) fn fill(file: &File, begin: u64, end: u64) -> io::Result<bool> {
    use rustix::fs::{SeekFrom, seek};
    use std::os::unix::fs::FileExt as _;
    match seek(file, SeekFrom::Data(begin)) {
        Ok(data) if data < end => return Ok(false),
        Ok(_) | Err(rustix::io::Errno::NXIO) => {}
        Err(error) => return Err(error.into()),
    }
    let mut place = begin;
    while place < end {
        let zeros = ZEROS.get(..usize::try_from(end - place).unwrap_or(usize::MAX)).unwrap_or(&ZEROS);
        file.write_all_at(zeros, place)?;
        place += zeros.len() as u64;
    }
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn fill(_file: &File, _begin: u64, _end: u64) -> io::Result<bool> {
    Ok(false)
}

/// Whether the file system writes a block where it was written before, as far as is known of it. Others take a new block each time.
#[cfg(target_os = "linux")]
pub(in super::super) fn writes_in_place(file: &File) -> bool {
    // ext4 and XFS; the type of the number differs between systems.
    rustix::fs::fstatfs(file).is_ok_and(|status| matches!(status.f_type, 0xEF53 | 0x5846_5342))
}

#[cfg(not(target_os = "linux"))]
pub(in super::super) fn writes_in_place(_file: &File) -> bool {
    false
}
