//! Reading and writing at a place in a file, without moving a cursor that threads would share.

use std::fs::File;
use std::io;

#[cfg(unix)]
use std::os::unix::fs::FileExt as _;

/// File systems keep blocks of this size, or of parts of it.
const BLOCK_BYTES: u64 = 4_096;

/// Writes a part of a file again where it lies: after a failed sync the kernel may have forgotten what it failed to write, though it still reads
/// it. Blocks of zeros are left out: they were never written, take no space, and are to take none.
pub(super) fn write_again(file: &File, part: std::ops::Range<u64>) -> io::Result<()> {
    let end = part.end.min(file.metadata()?.len());
    let mut start = part.start / BLOCK_BYTES * BLOCK_BYTES;
    while start < end {
        let mut block = vec![0; usize::try_from((end - start).min(BLOCK_BYTES)).unwrap_or(0)];
        read_at(file, &mut block, start)?;
        if block.iter().any(|&byte| byte != 0) {
            write_at(file, &block, start)?;
        }
        start += BLOCK_BYTES;
    }
    Ok(())
}

/// Fills the buffer from this place on.
#[cfg(unix)]
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Writes all bytes from this place on.
#[cfg(unix)]
pub(super) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

#[cfg(windows)]
pub(super) fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                buffer = buffer.split_at_mut(count).1;
                offset += count as u64;
            }
        }
    }
    Ok(())
}

#[cfg(windows)]
pub(super) fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.split_at(count).1;
        offset += count as u64;
    }
    Ok(())
}
