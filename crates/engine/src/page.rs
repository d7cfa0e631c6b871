//! Reading a page of items: in key order, until the limit, 1 MB or the end.

use dynamo::{Item, StoredItem};

use crate::fault::Fault;
use crate::index_entry::shown_item;
use crate::layout::KeyRange;
use crate::store::{Direction, Snapshot, Space};

/// A page ends with the item that brings it to this size.
pub(crate) const PAGE_BYTES_MAX: usize = 1 << 20;

/// What to read.
pub(crate) struct PageRequest {
    pub(crate) range: KeyRange,
    pub(crate) direction: Direction,
    pub(crate) limit: Option<usize>,
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// How many items were read, before filtering.
    pub(crate) scanned: usize,
    /// Their size.
    pub(crate) scanned_bytes: usize,
    /// The last item read, if the page ended before the range did.
    pub(crate) last: Option<StoredItem>,
}

/// Reads a page and hands each item to `take`.
pub(crate) fn read_page(
    snapshot: &Snapshot,
    request: &PageRequest,
    mut take: impl FnMut(StoredItem) -> Result<(), Fault>,
) -> Result<Page, Fault> {
    let mut page = Page::default();
    let (lower, upper) = (request.range.lower.as_ref(), request.range.upper.as_ref());
    let entries =
        snapshot.range(Space::Data, lower.map(|key| &**key), upper.map(|key| &**key), request.direction);
    for entry in entries {
        let (key, value) = entry?;
        let item = shown_item(snapshot, &key, value)?;
        page.scanned += 1;
        page.scanned_bytes += item.size_bytes();
        let is_full =
            request.limit.is_some_and(|limit| page.scanned >= limit) || page.scanned_bytes >= PAGE_BYTES_MAX;
        if is_full {
            page.last = Some(item.clone());
        }
        take(item)?;
        if is_full {
            break;
        }
    }
    Ok(page)
}

/// The key attributes of an item: what a page starts after.
pub(crate) fn key_attributes<'a>(item: &StoredItem, names: impl Iterator<Item = &'a str>) -> Item {
    names.filter_map(|name| Some((name.to_owned(), item.get(name)?.decode()))).collect()
}

#[cfg(test)]
mod tests;
