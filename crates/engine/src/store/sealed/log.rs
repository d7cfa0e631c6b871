//! The log: what was committed since the pages were last made durable.
//!
//! ```text
//! head     sealed: a random name of this run of records
//! record   commit number (8 bytes) | length (4 bytes) | sealed: the batch
//! record   ...
//! ```
//!
//! The file is written over from its beginning once its records are in the pages, because writing into blocks that a file already has is
//! cheaper to sync than making it longer. Each run has a name of its own, which is bound to its records: what is left of an earlier
//! run behind the last record does not open, and so ends the log.
//!
//! Always true: records of a run are numbered without a gap. Whether the log ended where it should, only the mark can tell (`mark.rs`).

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use bytes::Bytes;
use seal::{OVERHEAD_BYTES, Sealer};

use super::super::{Batch, Space, StoreError};
use super::file::write_at;
use super::keys::Keys;

const NAME_BYTES: usize = 16;
const HEAD_BYTES: usize = NAME_BYTES + OVERHEAD_BYTES;
const HEAD_PLACE: &[u8] = b"head of the log";

/// A file that grew beyond this, because of a large batch, is cut when it is begun again.
const FILE_BYTES_KEPT: u64 = 64 << 20;

type Name = [u8; NAME_BYTES];

/// A log that is being written.
pub(super) struct Log {
    file: File,
    keys: Keys,
    name: Name,
    end: u64,
}

impl Log {
    /// Begins an empty log in this file, whatever it held.
    pub(super) fn begin(file: File, keys: Keys, name: Name) -> io::Result<Log> {
        let mut log = Log { file, keys, name, end: 0 };
        log.begin_again(name)?;
        Ok(log)
    }

    /// A log that is kept as it is: nothing will be written.
    pub(super) fn idle(file: File, keys: Keys) -> Log {
        Log { file, keys, name: [0; NAME_BYTES], end: 0 }
    }

    /// Forgets all records: they are in the pages. The next sync makes that durable; until then they are merely found again.
    pub(super) fn begin_again(&mut self, name: Name) -> io::Result<()> {
        if self.file.metadata()?.len() > FILE_BYTES_KEPT {
            self.file.set_len(0)?;
        }
        write_at(&self.file, &self.keys.load().log.seal(HEAD_PLACE, &name), 0)?;
        self.name = name;
        self.end = HEAD_BYTES as u64;
        Ok(())
    }

    /// Adds a batch.
    pub(super) fn append(&mut self, number: u64, batch: &Batch) -> io::Result<()> {
        let sealed = self.keys.load().log.seal(&place(&self.name, number), &encode(batch));
        let length = u32::try_from(sealed.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let record = [&number.to_be_bytes()[..], &length.to_be_bytes(), &sealed].concat();
        write_at(&self.file, &record, self.end)?;
        self.end += record.len() as u64;
        Ok(())
    }

    /// Returns once all records are on disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Whether anything was added since it was begun.
    pub(super) fn has_records(&self) -> bool {
        self.end > HEAD_BYTES as u64
    }

    /// What the records take.
    pub(super) fn size_bytes(&self) -> u64 {
        self.end
    }
}

/// The batches that the log in a file holds, in order, with their numbers. It ends before the first record that does not open.
pub(super) fn read(path: &Path, sealer: &Sealer) -> Result<Vec<(u64, Batch)>, StoreError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(StoreError::io("reading the log"))?;
    let Some((head, mut rest)) = bytes.split_at_checked(HEAD_BYTES) else { return Ok(Vec::new()) };
    let name: Option<Name> = sealer.open(HEAD_PLACE, head).ok().and_then(|name| name.try_into().ok());
    let Some(name) = name else { return Ok(Vec::new()) };
    let mut batches: Vec<(u64, Batch)> = Vec::new();
    while let Some((number, plain, after)) = next_record(rest, &name, sealer) {
        if batches.last().is_some_and(|(last, _)| last + 1 != number) {
            break;
        }
        let batch = decode(&Bytes::from(plain));
        let detail = || StoreError::corrupt(format!("commit {number} of the log makes no sense"));
        batches.push((number, batch.ok_or_else(detail)?));
        rest = after;
    }
    Ok(batches)
}

fn next_record<'a>(bytes: &'a [u8], name: &Name, sealer: &Sealer) -> Option<(u64, Vec<u8>, &'a [u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let number = u64::from_be_bytes(*number);
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (batch, after) = rest.split_at_checked(length)?;
    Some((number, sealer.open(&place(name, number), batch).ok()?, after))
}

fn place(name: &Name, number: u64) -> Vec<u8> {
    [&name[..], &number.to_be_bytes()].concat()
}

const PUT: u8 = 1;

/// A batch as bytes: for each write the space, whether there is a value, the lengths of key and value, and both.
fn encode(batch: &Batch) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(batch.size_bytes() + 16 * batch.len());
    for write in batch.iter() {
        let value = write.value.as_deref();
        bytes.extend([space_number(write.space), if value.is_some() { PUT } else { 0 }]);
        bytes.extend((write.key.len() as u64).to_be_bytes());
        bytes.extend(&write.key);
        if let Some(value) = value {
            bytes.extend((value.len() as u64).to_be_bytes());
            bytes.extend(value);
        }
    }
    bytes
}

fn decode(bytes: &Bytes) -> Option<Batch> {
    let mut batch = Batch::default();
    let mut rest = bytes.clone();
    while !rest.is_empty() {
        let head = rest.split_to_checked(2)?;
        let (space, is_put) = (space_of(*head.first()?)?, *head.last()? == PUT);
        let key = take_field(&mut rest)?;
        if is_put {
            batch.put(space, key, take_field(&mut rest)?);
        } else {
            batch.remove(space, key);
        }
    }
    Some(batch)
}

fn take_field(rest: &mut Bytes) -> Option<Bytes> {
    let length = u64::from_be_bytes(rest.split_to_checked(8)?.as_ref().try_into().ok()?);
    rest.split_to_checked(usize::try_from(length).ok()?)
}

trait SplitChecked {
    /// The first bytes, which are taken away, if there are so many.
    fn split_to_checked(&mut self, count: usize) -> Option<Bytes>;
}

impl SplitChecked for Bytes {
    fn split_to_checked(&mut self, count: usize) -> Option<Bytes> {
        (count <= self.len()).then(|| self.split_to(count))
    }
}

fn space_number(space: Space) -> u8 {
    match space {
        Space::Data => 0,
        Space::Log => 1,
        Space::Meta => 2,
    }
}

fn space_of(number: u8) -> Option<Space> {
    [Space::Data, Space::Log, Space::Meta].get(usize::from(number)).copied()
}
