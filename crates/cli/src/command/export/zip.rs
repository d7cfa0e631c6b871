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

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::DeflateDecoder;

    use super::*;

    #[test]
    fn what_goes_in_comes_out_again() {
        let files = [("a.csv".to_owned(), b"x,y\r\n1,2\r\n".repeat(50)), ("b.csv".to_owned(), Vec::new())];
        let archive = archive(&files).unwrap();
        // Signature, nine numbers of the head, then the name and the content.
        assert!(archive.starts_with(b"PK\x03\x04"));
        let size = u32::from_le_bytes(archive[18..22].try_into().unwrap()) as usize;
        assert_eq!(&archive[30..35], b"a.csv");
        let mut content = Vec::new();
        DeflateDecoder::new(&archive[35..35 + size]).read_to_end(&mut content).unwrap();
        assert_eq!(content, files[0].1);
        let end = &archive[archive.len() - 22..];
        assert!(end.starts_with(b"PK\x05\x06"));
        assert_eq!(end[10], 2, "two files");
        let list = u32::from_le_bytes(end[16..20].try_into().unwrap()) as usize;
        assert!(archive[list..].starts_with(b"PK\x01\x02"));
        assert_eq!(archive.len() - 22 - list, u32::from_le_bytes(end[12..16].try_into().unwrap()) as usize);
    }
}
