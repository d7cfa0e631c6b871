//! A request with room for numbers: what differs between two requests of a workload is a few digits, and writing them costs the client
//! next to nothing.

use memchr::memmem;

use crate::item::{group, partition, sort};

/// A number that stands in a template where the number of the first item goes; those of further items follow it.
pub const PLACEHOLDER: usize = 1_500_000_000;

/// A request with room for the numbers of its items.
pub struct Template {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
}

/// Where digits go.
struct Slot {
    end: usize,
    digits: usize,
    /// The number is that of the first item, and this many more,
    offset: usize,
    /// divided by this.
    divisor: usize,
}

impl Template {
    /// A request about so many items, in which they are numbered from [`PLACEHOLDER`].
    pub fn new(bytes: Vec<u8>, items: usize) -> Template {
        let mut slots = Vec::new();
        let mut from = 0;
        for offset in 0..items {
            let number = PLACEHOLDER + offset;
            let texts = [(partition(number), 20), (sort(number), 1), (group(number), 20)];
            let found: Vec<Slot> = texts
                .iter()
                .filter_map(|(text, divisor)| {
                    let start = from + memmem::find(&bytes[from..], text.as_bytes())?;
                    let digits = text.bytes().filter(u8::is_ascii_digit).count();
                    Some(Slot { end: start + text.len(), digits, offset, divisor: *divisor })
                })
                .collect();
            from = found.iter().map(|slot| slot.end).max().unwrap_or(from);
            slots.extend(found);
        }
        assert!(!slots.is_empty(), "a request that never differs measures a cache");
        Template { bytes, slots }
    }

    /// Writes the request about the items from this number on.
    pub fn write(&self, number: usize, request: &mut Vec<u8>) {
        request.clear();
        request.extend_from_slice(&self.bytes);
        for slot in &self.slots {
            let mut rest = (number + slot.offset) / slot.divisor;
            for place in request[slot.end - slot.digits..slot.end].iter_mut().rev() {
                *place = b'0' + u8::try_from(rest % 10).expect("a digit");
                rest /= 10;
            }
        }
    }
}
