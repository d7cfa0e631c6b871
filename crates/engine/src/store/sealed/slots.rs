//! Where pages lie in the data file, and what they are sealed with.
//!
//! ```text
//! 0         first copy of page 0, with its number and the number of pages
//! 8,192     second copy
//! 16,384    page 1, page 2, ...: 4,140 bytes each
//! ```
//!
//! Page 0 is the only one that the storage crate overwrites while it is in use, so it has two copies: a crash in the middle of one
//! leaves the other. All other pages are written to places that nothing refers to yet.
//!
//! Always true: a page opens only at the place it was sealed for.

use seal::{OVERHEAD_BYTES, SealError, Sealer};

/// The size of the storage crate's pages.
pub(super) const PAGE_BYTES: usize = 4_096;
/// A sealed page.
pub(super) const SLOT_BYTES: usize = PAGE_BYTES + OVERHEAD_BYTES;
/// A sealed copy of page 0.
pub(super) const HEADER_BYTES: usize = 16 + PAGE_BYTES + OVERHEAD_BYTES;

const HEADER_PLACE_BYTES: u64 = 8_192;
const PAGES_START: u64 = 2 * HEADER_PLACE_BYTES;
const HEADER_PLACE: &[u8] = b"page 0";

/// Page 0 as its copies hold it.
#[derive(Clone)]
pub(super) struct Header {
    /// Counts up with every copy that is written: the newer copy counts.
    pub(super) number: u64,
    /// How many pages the file had then, this one included. It is never shorter, unless it was cut.
    pub(super) pages: u64,
    /// The page itself.
    pub(super) page: [u8; PAGE_BYTES],
}

impl Header {
    /// The header of a file without one.
    pub(super) fn none() -> Header {
        Header { number: 0, pages: 0, page: [0; PAGE_BYTES] }
    }

    pub(super) fn seal(&self, sealer: &Sealer) -> Vec<u8> {
        let plain = [&self.number.to_be_bytes()[..], &self.pages.to_be_bytes(), &self.page].concat();
        sealer.seal(HEADER_PLACE, &plain)
    }

    pub(super) fn open(sealer: &Sealer, bytes: &[u8]) -> Result<Header, SealError> {
        let plain = sealer.open(HEADER_PLACE, bytes)?;
        let (number, rest) = plain.split_first_chunk().ok_or(SealError::Altered)?;
        let (pages, page) = rest.split_first_chunk().ok_or(SealError::Altered)?;
        Ok(Header {
            number: u64::from_be_bytes(*number),
            pages: u64::from_be_bytes(*pages),
            page: page.try_into().map_err(|_| SealError::Altered)?,
        })
    }

    /// Which of the copies holds it.
    pub(super) fn copy(&self) -> u64 {
        self.number % 2
    }
}

/// Where a copy of page 0 begins.
pub(super) fn header_offset(copy: u64) -> u64 {
    copy * HEADER_PLACE_BYTES
}

/// Where a page begins; it is not page 0.
pub(super) fn offset_of(page: u64) -> u64 {
    PAGES_START + (page - 1) * SLOT_BYTES as u64
}

/// How many pages a file of this length has room for.
pub(super) fn pages_in(file_bytes: u64) -> u64 {
    match file_bytes.checked_sub(PAGES_START) {
        Some(bytes) => 1 + bytes / SLOT_BYTES as u64,
        None => 0,
    }
}

/// The length of a file with so many pages.
pub(super) fn file_bytes(pages: u64) -> u64 {
    if pages == 0 { 0 } else { offset_of(pages) }
}

/// Seals a page for its place.
pub(super) fn seal_page(sealer: &Sealer, page: u64, plain: &[u8], slot: &mut [u8]) {
    sealer.seal_into(&page.to_be_bytes(), plain, slot);
}

/// Opens the page of a place.
pub(super) fn open_page<'a>(sealer: &Sealer, page: u64, slot: &'a mut [u8]) -> Result<&'a [u8], SealError> {
    sealer.open_in_place(&page.to_be_bytes(), slot).map(|plain| &*plain)
}
