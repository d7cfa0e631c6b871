//! Rotation of data keys while the database is in use.
//!
//! Somebody adds a data key to the envelope (`add_data_key`). The store that has the database open notices, seals with the new key
//! from then on, and seals what is there again, a few pages at a time; then it takes the old keys out of the envelope.
//!
//! Pages in use are replaced where they lie, so a crash could leave one half written. Each group of pages therefore goes to
//! `sealed/resealing` first, which is emptied once they are in place; opening the database puts in place what it finds there.
//!
//! Always true: a data key leaves the envelope only after a pass over all pages in which none was left that it seals.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use seal::{MasterKey, SealError, Sealer};

use super::super::StoreError;
use super::super::directory::{ENVELOPE, is_encrypted};
use super::SealedStore;
use super::file::{read_at, write_at};
use super::keys::{Sealers, read_envelope, update_envelope};
use super::pages::Pages;
use super::slots::{SLOT_BYTES, offset_of, open_page, pages_in, seal_page};

/// The pages that a crash may have found half replaced.
const JOURNAL: &str = "resealing";
/// Pages that are replaced at once: about a megabyte, and three syncs.
const STEP_PAGES: u64 = 256;
const ENTRY_BYTES: usize = 8 + SLOT_BYTES;

/// How far a rotation is.
#[derive(Default)]
pub(super) struct Rotation {
    /// The envelope as it was last looked at.
    seen: Vec<u8>,
    /// The page that comes next; nothing while no rotation is under way.
    next: Option<u64>,
}

impl SealedStore {
    /// Looks for a new data key, and does one small step of a rotation. Says whether there is more to do.
    pub(super) fn rotate_once(&self) -> Result<bool, StoreError> {
        let mut rotation = self.rotation.lock();
        self.check_running()?;
        self.look_at_envelope(&mut rotation)?;
        let Some(next) = rotation.next else { return Ok(false) };
        let instance = self.instance();
        let journal = self.journal().map_err(StoreError::io("opening the journal of a rotation"))?;
        let resealed = instance.pages.reseal(next, &journal);
        self.check_pages(&instance)?;
        rotation.next = resealed.map_err(StoreError::io("sealing pages again"))?;
        if rotation.next.is_none() {
            self.finish_rotation(&instance.pages)?;
        }
        Ok(true)
    }

    /// The pages that were looked at, and all there are, while a rotation is under way.
    pub(super) fn rotation_progress(&self) -> Option<(u64, u64)> {
        let next = self.rotation.lock().next?;
        let length = self.instance().pages.file().metadata().map_or(0, |metadata| metadata.len());
        Some((next, pages_in(length)))
    }

    fn journal(&self) -> io::Result<File> {
        let path = self.directory.sealed().join(JOURNAL);
        File::options().create(true).truncate(false).read(true).write(true).open(path)
    }

    fn look_at_envelope(&self, rotation: &mut Rotation) -> Result<(), StoreError> {
        let path = self.directory.path().join(ENVELOPE);
        let text = fs::read(path).map_err(StoreError::io("reading the envelope"))?;
        if text == rotation.seen {
            return Ok(());
        }
        let keyring = match read_envelope(self.directory.path())?.open(&*self.master) {
            Ok(keyring) => keyring,
            // Another master key wraps the same data keys now: the next start needs it, this one has all it needs.
            Err(SealError::WrongMasterKey { .. }) => {
                rotation.seen = text;
                return Ok(());
            }
            Err(error) => return Err(StoreError::key(error)),
        };
        if keyring.current() > self.keys.load().pages.keyring().current() {
            let mut writer = self.writer.lock();
            self.check_running()?;
            self.keys.store(std::sync::Arc::new(Sealers::new(&keyring)?));
            // The log and the mark are written again, with the new key.
            self.checkpoint(&mut writer)?;
        }
        if keyring.ids().count() > 1 {
            rotation.next = Some(1);
        }
        rotation.seen = text;
        Ok(())
    }

    fn finish_rotation(&self, pages: &Pages) -> Result<(), StoreError> {
        pages.reseal_header().map_err(StoreError::io("sealing page 0 again"))?;
        let mut writer = self.writer.lock();
        self.checkpoint(&mut writer)?;
        drop(writer);
        let current = self.keys.load().pages.keyring().current();
        update_envelope(self.directory.path(), |envelope| {
            // A key that came meanwhile begins another pass.
            let newest = envelope.data_key_ids().max();
            Ok(if newest == Some(current) { envelope.with_current_key_only() } else { envelope.clone() })
        })
    }
}

impl Pages {
    /// Seals some pages again that older data keys sealed, from `first` on. Returns where to go on.
    fn reseal(&self, first: u64, journal: &File) -> io::Result<Option<u64>> {
        let _exclusive = self.exclusively()?;
        let pages = pages_in(self.file().metadata()?.len());
        let end = pages.min(first + STEP_PAGES);
        if first >= end {
            return Ok(None);
        }
        let resealed = self.resealed(first, end)?;
        if !resealed.is_empty() {
            write_at(journal, &resealed, 0)?;
            journal.sync_data()?;
            // From here on the pages may be half written.
            self.or_detach(put_in_place(self.file(), &resealed).and_then(|()| self.file().sync_data()))?;
            self.or_detach(journal.set_len(0).and_then(|()| journal.sync_data()))?;
        }
        Ok(Some(end))
    }

    /// The pages of a range that older data keys sealed, each with its number, sealed with the current one.
    fn resealed(&self, first: u64, end: u64) -> io::Result<Vec<u8>> {
        let keys = self.keys().load();
        let current = keys.pages.keyring().current();
        let count = usize::try_from(end - first).unwrap_or(0);
        let mut slots = vec![0; count * SLOT_BYTES];
        read_at(self.file(), &mut slots, offset_of(first))?;
        let mut entries = Vec::new();
        for (page, slot) in (first..end).zip(slots.chunks_exact_mut(SLOT_BYTES)) {
            if Sealer::data_key_of(slot) == Some(current) {
                continue;
            }
            // What does not open was never written, or was half written in a crash and belongs to nothing; or it is damaged, and
            // stays so.
            let Ok(plain) = open_page(&keys.pages, page, slot) else { continue };
            let mut sealed = vec![0; SLOT_BYTES];
            seal_page(&keys.pages, page, plain, &mut sealed);
            entries.extend(page.to_be_bytes());
            entries.extend(sealed);
        }
        Ok(entries)
    }
}

fn put_in_place(file: &File, entries: &[u8]) -> io::Result<()> {
    for (page, slot) in entries.chunks_exact(ENTRY_BYTES).filter_map(<[u8]>::split_first_chunk) {
        write_at(file, slot, offset_of(u64::from_be_bytes(*page)))?;
    }
    Ok(())
}

/// Puts in place the pages that a crash may have left half replaced.
pub(super) fn replay_journal(files: &Path, data: &File, sealer: &Sealer) -> io::Result<()> {
    let journal = match File::options().read(true).write(true).open(files.join(JOURNAL)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        journal => journal?,
    };
    let mut entries = vec![0; usize::try_from(journal.metadata()?.len()).unwrap_or(0)];
    if entries.is_empty() {
        return Ok(());
    }
    read_at(&journal, &mut entries, 0)?;
    let pages = pages_in(data.metadata()?.len());
    for (page, slot) in entries.chunks_exact(ENTRY_BYTES).filter_map(<[u8]>::split_first_chunk) {
        let page = u64::from_be_bytes(*page);
        // One that was not written whole was not put in place either.
        if (1..pages).contains(&page) && open_page(sealer, page, &mut slot.to_vec()).is_ok() {
            write_at(data, slot, offset_of(page))?;
        }
    }
    data.sync_data()?;
    journal.set_len(0)?;
    journal.sync_data()
}

/// Adds a data key to the envelope of a database, which may be open meanwhile: whoever has it open begins to use it.
pub(crate) fn add_data_key(directory: &Path, master: &dyn MasterKey) -> Result<(), StoreError> {
    update_envelope(directory, |envelope| envelope.with_new_key(master).map_err(StoreError::key))
}

/// Wraps the data keys of a database with another master key. The database may be open meanwhile.
pub(crate) fn rewrap(directory: &Path, old: &dyn MasterKey, new: &dyn MasterKey) -> Result<(), StoreError> {
    update_envelope(directory, |envelope| envelope.rewrap(old, new).map_err(StoreError::key))
}

/// The id of a master key, and the numbers of data keys with how many pages each of them seals.
type Status = (String, Vec<(u32, u64)>);

/// The id of the master key, and the numbers of the data keys with how many pages each of them seals, as the files tell without a key;
/// `None` for a plain database.
pub(crate) fn key_status(directory: &Path) -> Result<Option<Status>, StoreError> {
    if !is_encrypted(directory)? {
        return Ok(None);
    }
    let envelope = read_envelope(directory)?;
    let data = File::open(directory.join("sealed").join("data"));
    let pages = data.and_then(|file| pages_by_key(&file)).map_err(StoreError::io("reading the data file"))?;
    let count = |id: u32| pages.get(&id).copied().unwrap_or(0);
    let keys = envelope.data_key_ids().map(|id| (id, count(id))).collect();
    Ok(Some((envelope.master_key_id().to_owned(), keys)))
}

fn pages_by_key(file: &File) -> io::Result<BTreeMap<u32, u64>> {
    let mut pages = BTreeMap::new();
    for page in 1..pages_in(file.metadata()?.len()) {
        let mut id = [0; 4];
        read_at(file, &mut id, offset_of(page))?;
        *pages.entry(u32::from_be_bytes(id)).or_default() += 1;
    }
    Ok(pages)
}
