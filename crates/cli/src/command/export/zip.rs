//! Zip archives, as every system opens them: files deflated one after the other, then a list of them (PKWARE's APPNOTE, 4.3).

use std::io::{self, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// Reading needs version 2.0 of the format: deflated files.
const VERSION: u16 = 20;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
const DEFLATED: u16 = 8;
/// 1980-01-01: the same data makes the same archive.
const DATE: u16 = 0x21;

/// An archive of these files.
pub(super) fn archive(files: &[(String, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let offset = narrow(out.len())?;
        let entry = entry(name, content)?;
        out.extend_from_slice(&0x0403_4B50_u32.to_le_bytes());
        out.extend_from_slice(&entry.shared);
        out.extend_from_slice(&0_u16.to_le_bytes());
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&entry.deflated);
        list.extend_from_slice(&0x0201_4B50_u32.to_le_bytes());
        list.extend_from_slice(&VERSION.to_le_bytes());
        list.extend_from_slice(&entry.shared);
        // No extra fields, no comment, first disk, no attributes.
        list.extend_from_slice(&[0; 12]);
        list.extend_from_slice(&offset.to_le_bytes());
        list.extend_from_slice(name.as_bytes());
    }
    let start = narrow(out.len())?;
    let count = u16::try_from(files.len()).map_err(|_| too_large())?;
    out.extend_from_slice(&list);
    out.extend_from_slice(&0x0605_4B50_u32.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&narrow(list.len())?.to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    Ok(out)
}

/// A file on its way into an archive.
struct Entry {
    /// What stands both before the file and in the list.
    shared: Vec<u8>,
    deflated: Vec<u8>,
}

fn entry(name: &str, content: &[u8]) -> io::Result<Entry> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content)?;
    let deflated = encoder.finish()?;
    let mut crc = Crc::new();
    crc.update(content);
    let mut shared = Vec::new();
    for number in [VERSION, FLAGS, DEFLATED, 0, DATE] {
        shared.extend_from_slice(&number.to_le_bytes());
    }
    for number in [crc.sum(), narrow(deflated.len())?, narrow(content.len())?] {
        shared.extend_from_slice(&number.to_le_bytes());
    }
    let length = u16::try_from(name.len()).map_err(|_| too_large())?;
    shared.extend_from_slice(&length.to_le_bytes());
    Ok(Entry { shared, deflated })
}

fn narrow(size: usize) -> io::Result<u32> {
    u32::try_from(size).map_err(|_| too_large())
}

fn too_large() -> io::Error {
    io::Error::other("the archive would be larger than 4 GB; use --csv DIR")
}
