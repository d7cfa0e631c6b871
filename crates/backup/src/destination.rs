//! A place for backups, opened: its objects, and how they are checked and sealed.
//!
//! Path of an opening: [`Address`] -> objects -> `keys` (if it is sealed) -> [`Destination`].

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use seal::MasterKey;

use crate::BackupError;
use crate::index::INDEX;
use crate::objects::{Local, Objects, Remote, Version};
use crate::vault::{KEYS, Vault};

/// Where backups go: a directory, or a part of an object store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// A path, or `s3://BUCKET/PATH`, `gs://BUCKET/PATH`, `az://CONTAINER/PATH`.
    pub text: String,
    /// The endpoint of an object store of one's own, such as `http://127.0.0.1:9000`.
    pub endpoint: Option<String>,
    /// Settings of the `object_store` crate by name, such as `aws_region`.
    pub options: Vec<(String, String)>,
}

impl Address {
    /// An address without further settings.
    pub fn new(text: impl Into<String>) -> Address {
        Address { text: text.into(), ..Address::default() }
    }

    /// Whether it is in an object store, and not a directory.
    pub fn is_remote(&self) -> bool {
        self.text.contains("://")
    }

    /// An endpoint that was given without TLS is meant so.
    pub(crate) fn allows_http(&self) -> bool {
        self.endpoint.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// A place for backups.
#[derive(Clone)]
pub struct Destination {
    pub(crate) objects: Arc<dyn Objects>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) place: String,
}

impl Destination {
    /// Opens a place to put backups into; with a key, they are sealed. It may be empty.
    pub fn open_or_make(address: &Address, key: Option<&dyn MasterKey>) -> Result<Destination, BackupError> {
        Destination::on(objects(address)?, &address.text, key, true)
    }

    /// Opens a place that holds backups.
    pub fn open(address: &Address, key: Option<&dyn MasterKey>) -> Result<Destination, BackupError> {
        Destination::on(objects(address)?, &address.text, key, false)
    }

    pub(crate) fn on(
        objects: Arc<dyn Objects>,
        place: &str,
        key: Option<&dyn MasterKey>,
        makes: bool,
    ) -> Result<Destination, BackupError> {
        let keys = objects.get(KEYS)?.map(|(bytes, _)| bytes);
        let has_index = objects.get(INDEX)?.is_some();
        let place = place.to_owned();
        let vault = match (keys, key) {
            (Some(keys), Some(key)) => Vault::open(&keys, key)?,
            (Some(_), None) => return Err(BackupError::NeedsKey { place }),
            (None, None) => Vault::plain(),
            (None, Some(key)) if makes && !has_index => make_keys(&*objects, key)?,
            (None, Some(_)) if has_index => return Err(keys_missing_or_plain(&*objects, place)),
            (None, Some(_)) => return Err(BackupError::NoBackup { place }),
        };
        if !makes && !has_index {
            return Err(BackupError::NoBackup { place });
        }
        Ok(Destination { objects, vault: Arc::new(vault), place })
    }

    /// Whether backups here are sealed.
    pub fn is_sealed(&self) -> bool {
        self.vault.is_sealed()
    }

    /// Reads an object and checks it.
    pub(crate) fn read(&self, name: &str) -> Result<Option<(Vec<u8>, Version)>, BackupError> {
        let Some((stored, version)) = self.objects.get(name)? else { return Ok(None) };
        Ok(Some((self.vault.unwrap(name, &stored)?, version)))
    }

    /// Reads an object that must be there, and checks it.
    pub(crate) fn read_needed(&self, name: &str) -> Result<Vec<u8>, BackupError> {
        self.read(name)?.map(|(body, _)| body).ok_or_else(|| BackupError::damaged(name, "is missing"))
    }

    /// Writes an object; returns what it takes.
    pub(crate) fn write(&self, name: &str, body: &[u8]) -> Result<u64, BackupError> {
        let stored = Bytes::from(self.vault.wrap(name, body));
        let size = stored.len() as u64;
        self.objects.put(name, stored).map(|()| size)
    }
}

pub(crate) fn objects(address: &Address) -> Result<Arc<dyn Objects>, BackupError> {
    Ok(if address.is_remote() {
        Arc::new(Remote::new(address)?)
    } else {
        Arc::new(Local::new(Path::new(&address.text)))
    })
}

/// Two that begin at the same moment must not seal with different keys: the first one's stay.
fn make_keys(objects: &dyn Objects, key: &dyn MasterKey) -> Result<Vault, BackupError> {
    let guard = objects.guard()?;
    if let Some((keys, _)) = objects.get(KEYS)? {
        return Vault::open(&keys, key);
    }
    let (vault, keys) = Vault::create(key)?;
    let was_first = objects.replace(KEYS, keys.into(), None)?;
    drop(guard);
    match (was_first, objects.get(KEYS)?) {
        (false, Some((keys, _))) => Vault::open(&keys, key),
        _ => Ok(vault),
    }
}

fn keys_missing_or_plain(objects: &dyn Objects, place: String) -> BackupError {
    match objects.get(INDEX) {
        Ok(Some((index, _))) if Vault::is_sealed_object(&index) => BackupError::damaged(KEYS, "is missing"),
        Err(error) => error,
        _ => BackupError::NotSealed { place },
    }
}
