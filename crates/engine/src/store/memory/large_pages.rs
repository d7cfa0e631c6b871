//! Large pages for what a database keeps in memory.
//!
//! A system gives memory when it is first used, in pages of 4 KB, and clears each of them. For a database that grows by a kilobyte with every write
//! that is a good part of what a write costs, on a virtual machine more than half of it. Of memory that is known to be used whole it gives 2 MB at once.
//!
//! Always true: nothing but speed depends on it. A small database gets no large pages, as it would hold more memory than it uses.
//!
//! Only the allocator knows which memory that is. So now and then a value that has just been stored is asked where it lies, and what was mapped together
//! with it is used whole from then on.

use std::ops::Range;

/// How much a database grows before it is asked where its values lie, for the first time and from time to time.
const STEP_BYTES: usize = 32 << 20;

/// How far a database has grown, and the memory that is used whole.
#[derive(Debug, Default)]
pub(super) struct LargePages {
    grown_bytes: usize,
    advised: Range<usize>,
}

impl LargePages {
    /// Notes that the database grows by so many bytes, among them this value.
    pub(super) fn note(&mut self, bytes: usize, value: &[u8]) {
        self.grown_bytes += bytes;
        if self.grown_bytes < STEP_BYTES {
            return;
        }
        self.grown_bytes = 0;
        let address = value.as_ptr().addr();
        if !self.advised.contains(&address)
            && let Some(mapping) = system::mapping_of(address)
        {
            system::use_whole(&mapping);
            self.advised = mapping;
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::ops::Range;

    use rustix::mm::{Advice, madvise};

    /// What was mapped together with an address.
    pub(super) fn mapping_of(address: usize) -> Option<Range<usize>> {
        let mappings = fs::read_to_string("/proc/self/maps").ok()?;
        mappings.lines().filter_map(range_of).find(|mapping| mapping.contains(&address))
    }

    /// The addresses at the beginning of a line, such as `7f00a000-7f00c000 rw-p`.
    fn range_of(line: &str) -> Option<Range<usize>> {
        let (addresses, _) = line.split_once(' ')?;
        let (start, end) = addresses.split_once('-')?;
        Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
    }

    /// Tells the system that memory is used whole.
    pub(super) fn use_whole(mapping: &Range<usize>) {
        let start = std::ptr::with_exposed_provenance_mut(mapping.start);
        // SAFETY: this says how memory is to be provided that is used for the first time. What is mapped, what it holds and what may be done with it stays as
        // it is, whoever it belongs to, and addresses that are no longer mapped are refused.
        // A system without large pages refuses, and goes on as before.
        #[allow(unsafe_code, reason = "there is no other way to ask for large pages")]
        let _ = unsafe { madvise(start, mapping.len(), Advice::LinuxHugepage) };
    }

    #[cfg(test)]
    mod tests {
        use super::super::{LargePages, STEP_BYTES};

        /// What the system says of the memory at an address.
        fn flags_at(address: usize) -> String {
            let all = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let mut lines = all
                .lines()
                .skip_while(|line| super::range_of(line).is_none_or(|mapping| !mapping.contains(&address)));
            lines.find(|line| line.starts_with("VmFlags:")).unwrap().to_owned()
        }

        #[test]
        fn memory_is_used_whole_once_a_database_has_grown() {
            if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
                eprintln!("SKIPPED: this system has no large pages");
                return;
            }
            // As large as this it is mapped by itself.
            let value = vec![1; STEP_BYTES];
            let is_whole = || flags_at(value.as_ptr().addr() + STEP_BYTES / 2).contains(" hg");
            let mut pages = LargePages::default();
            pages.note(STEP_BYTES - 1, &value);
            assert!(!is_whole());
            pages.note(1, &value);
            assert!(is_whole());
            assert!(pages.advised.contains(&value.as_ptr().addr()));
        }

        #[test]
        fn an_address_that_is_not_mapped_is_passed_over() {
            let mut pages = LargePages::default();
            pages.note(STEP_BYTES, &[]);
            assert!(pages.advised.is_empty());
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::ops::Range;

    /// Unknown here.
    pub(super) fn mapping_of(_: usize) -> Option<Range<usize>> {
        None
    }

    /// Nothing that could be said here.
    pub(super) fn use_whole(_: &Range<usize>) {}
}
