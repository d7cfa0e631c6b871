//! The data file: the storage crate's pages, sealed one by one.
//!
//! Always true:
//! - The storage crate sees a page as it wrote it, or an error; never anything else.
//! - After a failed write or sync nothing more is written to the file. What the storage crate goes on writing is kept in memory, so that it can
//!   still be read from; whoever commits asks `failure` before telling anybody.
//! - Of the two copies of page 0, the one that is on disk is never overwritten before the other one is.
//!
//! Path of a page: `write` -> `seal_page` -> file -> `open_page` -> `read`.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use parking_lot::{Mutex, RwLock, RwLockWriteGuard};
use redb::StorageBackend;
use seal::SealError;

use super::super::Faults;
use super::file::{read_at, write_again, write_at};
use super::keys::Keys;
use super::slots::{
    HEADER_BYTES, Header, PAGE_BYTES, SLOT_BYTES, file_bytes, header_offset, offset_of, open_page, pages_in,
    seal_page,
};

const PAGE: u64 = PAGE_BYTES as u64;

/// The pages of a data file.
pub(super) struct Pages {
    file: File,
    keys: Keys,
    state: Mutex<State>,
    /// Whether nothing is written to the file any more.
    is_detached: AtomicBool,
    /// Held for writing by whoever replaces pages in use where they lie, for reading by whoever writes others.
    in_place: RwLock<()>,
    faults: Faults,
}

struct State {
    header: Header,
    /// Whether the last copy of page 0 may not be on disk yet.
    header_is_unsynced: bool,
    /// The pages that may not be on disk yet.
    unsynced: BTreeSet<u64>,
    /// What is not written to the file any more.
    kept: HashMap<u64, Box<[u8]>>,
    kept_pages: u64,
    /// What failed first.
    failure: Option<Arc<io::Error>>,
    /// The first page that did not open.
    damage: Option<String>,
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pages").finish_non_exhaustive()
    }
}

impl Pages {
    /// The pages of this file, which is empty or was written by us.
    pub(super) fn open(file: File, keys: Keys, faults: Faults) -> io::Result<Pages> {
        let header = if file.metadata()?.len() == 0 { Header::none() } else { read_header(&file, &keys)? };
        let found = pages_in(file.metadata()?.len());
        if found < header.pages {
            return Err(damaged(format!(
                "the data file was cut: {found} of {} pages are left",
                header.pages
            )));
        }
        let state = State {
            header,
            header_is_unsynced: false,
            unsynced: BTreeSet::new(),
            kept: HashMap::new(),
            kept_pages: 0,
            failure: None,
            damage: None,
        };
        let (state, in_place) = (Mutex::new(state), RwLock::new(()));
        Ok(Pages { file, keys, state, is_detached: AtomicBool::new(false), in_place, faults })
    }

    /// What failed first, if anything did.
    pub(super) fn failure(&self) -> Option<Arc<io::Error>> {
        self.state.lock().failure.clone()
    }

    /// The first page that did not open: the storage crate forgets the reason of a failed read.
    pub(super) fn damage(&self) -> Option<String> {
        self.state.lock().damage.clone()
    }

    /// Writes nothing to the file any more.
    pub(super) fn detach(&self) {
        let mut state = self.state.lock();
        state.detach(pages_in(self.file.metadata().map_or(0, |metadata| metadata.len())));
        self.is_detached.store(true, Relaxed);
    }

    /// Writes again what may not be on disk, though the kernel believes it is: after a failed sync it forgets what it failed to write.
    pub(super) fn write_again(&self) -> io::Result<()> {
        let unsynced = self.state.lock().unsynced.clone();
        write_again(&self.file, 0..offset_of(1))?;
        for page in unsynced {
            write_again(&self.file, offset_of(page)..offset_of(page + 1))?;
        }
        self.file.sync_all()
    }

    fn pages(&self) -> io::Result<u64> {
        if self.is_detached.load(Relaxed) {
            return Ok(self.state.lock().kept_pages);
        }
        Ok(pages_in(self.file.metadata()?.len()))
    }

    fn read_pages(&self, first: u64, out: &mut [u8]) -> io::Result<()> {
        let count = out.len() / PAGE_BYTES;
        if first + count as u64 > self.pages()? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if self.is_detached.load(Relaxed) {
            return self.read_kept(first, out);
        }
        self.read_file(first, out).or_else(|_| {
            // The page may have been replaced while it was read.
            let _still = self.in_place.write();
            self.read_file(first, out)
        })
    }

    /// A page as it is in the file.
    pub(super) fn read_from_file(&self, page: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_file(page, out).or_else(|_| {
            // It may have been replaced while it was read.
            let _still = self.in_place.write();
            self.read_file(page, out)
        })
    }

    /// Page 0 and the number of pages, as they are now.
    pub(super) fn frozen(&self) -> io::Result<(Box<[u8]>, u64)> {
        Ok((self.state.lock().header.page.into(), self.pages()?))
    }

    fn read_kept(&self, first: u64, out: &mut [u8]) -> io::Result<()> {
        for (page, out) in (first..).zip(out.chunks_exact_mut(PAGE_BYTES)) {
            let kept = self.state.lock().kept.get(&page).cloned();
            match kept {
                Some(kept) => out.copy_from_slice(&kept),
                None => self.read_file(page, out)?,
            }
        }
        Ok(())
    }

    fn read_file(&self, first: u64, out: &mut [u8]) -> io::Result<()> {
        let mut slots = vec![0; out.len() / PAGE_BYTES * SLOT_BYTES];
        read_at(&self.file, &mut slots, offset_of(first))?;
        let keys = self.keys.load();
        let places = slots.chunks_exact_mut(SLOT_BYTES).zip(out.chunks_exact_mut(PAGE_BYTES));
        for (page, (slot, out)) in (first..).zip(places) {
            let plain = open_page(&keys.pages, page, slot).map_err(|error| unopened(page, &error))?;
            out.copy_from_slice(plain);
        }
        Ok(())
    }

    fn note_damage(&self, error: io::Error) -> io::Error {
        self.state.lock().damage.get_or_insert_with(|| error.to_string());
        error
    }

    fn write_pages(&self, first: u64, data: &[u8]) -> io::Result<()> {
        let _writing = self.in_place.read();
        let keys = self.keys.load();
        let mut slots = vec![0; data.len() / PAGE_BYTES * SLOT_BYTES];
        let places = slots.chunks_exact_mut(SLOT_BYTES).zip(data.chunks_exact(PAGE_BYTES));
        for (page, (slot, plain)) in (first..).zip(places) {
            seal_page(&keys.pages, page, plain, slot);
        }
        self.state.lock().unsynced.extend(first..first + (data.len() / PAGE_BYTES) as u64);
        write_at(&self.file, &slots, offset_of(first))
    }

    /// Replaces a part of page 0.
    fn change_header(&self, offset: usize, data: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock();
        let place = state.header.page.get_mut(offset..offset + data.len());
        place.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(data);
        if self.is_detached.load(Relaxed) {
            return Ok(());
        }
        state.header.pages = pages_in(self.file.metadata()?.len());
        self.write_header(&mut state)
    }

    fn write_header(&self, state: &mut State) -> io::Result<()> {
        // A copy that is not on disk yet is replaced, since the other one is.
        state.header.number += if state.header_is_unsynced { 2 } else { 1 };
        state.header_is_unsynced = true;
        let sealed = state.header.seal(&self.keys.load().pages);
        write_at(&self.file, &sealed, header_offset(state.header.copy()))
    }

    fn sync(&self) -> io::Result<()> {
        self.faults.before_sync()?;
        let mut state = self.state.lock();
        let unsynced = std::mem::take(&mut state.unsynced);
        let header_was_unsynced = std::mem::replace(&mut state.header_is_unsynced, false);
        drop(state);
        self.file.sync_data().inspect_err(|_| {
            let mut state = self.state.lock();
            state.unsynced.extend(unsynced);
            state.header_is_unsynced |= header_was_unsynced;
        })
    }

    fn resize(&self, pages: u64) -> io::Result<()> {
        if pages < self.pages()? {
            // Said before it is done, or a crash between the two would look as if somebody had cut the file.
            let mut state = self.state.lock();
            state.header.pages = pages;
            self.write_header(&mut state)?;
            drop(state);
            self.sync()?;
        }
        self.file.set_len(file_bytes(pages))
    }

    /// Does something to the file, or to what is kept in memory once that has failed.
    fn attempt(&self, to_file: impl FnOnce() -> io::Result<()>, to_memory: impl FnOnce(&mut State)) {
        if !self.is_detached.load(Relaxed) {
            let Err(error) = to_file() else { return };
            self.detach();
            self.state.lock().failure.get_or_insert(Arc::new(error));
        }
        to_memory(&mut self.state.lock());
    }

    /// Seals both copies of page 0 again, one after the other.
    pub(super) fn reseal_header(&self) -> io::Result<()> {
        for _ in 0..2 {
            self.or_detach(self.change_header(0, &[]).and_then(|()| self.sync()))?;
        }
        Ok(())
    }

    /// Nobody else writes while the answer is held; an error once nothing may be written any more.
    pub(super) fn exclusively(&self) -> io::Result<RwLockWriteGuard<'_, ()>> {
        let guard = self.in_place.write();
        if self.is_detached.load(Relaxed) {
            return Err(io::Error::other("the data file is not written to any more"));
        }
        Ok(guard)
    }

    /// Writes nothing more to the file if something went wrong.
    pub(super) fn or_detach(&self, outcome: io::Result<()>) -> io::Result<()> {
        outcome.inspect_err(|error| {
            self.detach();
            let failure = Arc::new(io::Error::new(error.kind(), error.to_string()));
            self.state.lock().failure.get_or_insert(failure);
        })
    }

    /// The file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// The keys that its pages are sealed with.
    pub(super) fn keys(&self) -> &Keys {
        &self.keys
    }
}

impl State {
    fn detach(&mut self, pages: u64) {
        self.kept_pages = self.kept_pages.max(pages);
    }

    fn keep(&mut self, first: u64, data: &[u8]) {
        for (page, plain) in (first..).zip(data.chunks_exact(PAGE_BYTES)) {
            self.kept.insert(page, plain.into());
        }
    }
}

fn read_header(file: &File, keys: &Keys) -> io::Result<Header> {
    let mut newest: Option<Header> = None;
    let mut first_error = None;
    for copy in 0..2 {
        let mut sealed = vec![0; HEADER_BYTES];
        let read = read_at(file, &mut sealed, header_offset(copy));
        match read.map_err(|_| SealError::Altered).and_then(|()| Header::open(&keys.load().pages, &sealed)) {
            Ok(header) if newest.as_ref().is_none_or(|newest| newest.number < header.number) => {
                newest = Some(header);
            }
            Ok(_) => {}
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    newest.ok_or_else(|| unopened(0, &first_error.unwrap_or(SealError::Altered)))
}

fn unopened(page: u64, error: &SealError) -> io::Error {
    damaged(format!("page {page} of the data file: {error}"))
}

/// What is on disk is not what was written.
fn damaged(detail: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, detail)
}

/// The pages as the storage crate wants them.
#[derive(Debug)]
pub(super) struct Backend(pub(super) Arc<Pages>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.pages()? * PAGE)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (page, within) = place_of(offset);
        if page == 0 {
            let state = self.0.state.lock();
            let part = state.header.page.get(within..within + out.len());
            out.copy_from_slice(part.ok_or(io::ErrorKind::InvalidInput)?);
            return Ok(());
        }
        check_whole_pages(within, out.len())?;
        self.0.read_pages(page, out).map_err(|error| self.0.note_damage(error))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let pages = len.div_ceil(PAGE);
        self.0.attempt(|| self.0.resize(pages), |state| state.kept_pages = pages);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.attempt(|| self.0.sync(), |_| {});
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (page, within) = place_of(offset);
        if page == 0 {
            self.0.attempt(|| self.0.change_header(within, data), |_| {});
            return Ok(());
        }
        check_whole_pages(within, data.len())?;
        self.0.attempt(|| self.0.write_pages(page, data), |state| state.keep(page, data));
        Ok(())
    }
}

/// The page of an offset, and where in it that is.
pub(super) fn place_of(offset: u64) -> (u64, usize) {
    (offset / PAGE, usize::try_from(offset % PAGE).unwrap_or(0))
}

/// Only page 0 is read and written in parts.
pub(super) fn check_whole_pages(within: usize, length: usize) -> io::Result<()> {
    if within == 0 && length.is_multiple_of(PAGE_BYTES) {
        Ok(())
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}
