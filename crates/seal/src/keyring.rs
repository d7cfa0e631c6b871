//! The data keys of an opened envelope.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{KeyBytes, SealError, Sealer};

/// The data keys of an opened envelope, by number. The last one seals; all of them open.
#[derive(Clone)]
pub struct Keyring {
    keys: Arc<BTreeMap<u32, KeyBytes>>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Keyring").field("ids", &self.ids().collect::<Vec<_>>()).finish()
    }
}

impl Keyring {
    /// There is at least one key.
    pub(crate) fn new(keys: BTreeMap<u32, KeyBytes>) -> Keyring {
        assert!(!keys.is_empty(), "a keyring without keys");
        Keyring { keys: Arc::new(keys) }
    }

    /// Seals and opens for one purpose. What was sealed for another purpose does not open, though the data keys are the same.
    pub fn sealer(&self, purpose: &'static str) -> Result<Sealer, SealError> {
        Sealer::new(self.clone(), purpose)
    }

    /// The number of the key that seals.
    pub fn current(&self) -> u32 {
        self.keys.last_key_value().map_or(0, |(id, _)| *id)
    }

    /// The numbers of all keys.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.keys.keys().copied()
    }

    pub(crate) fn key(&self, id: u32) -> Option<&KeyBytes> {
        self.keys.get(&id)
    }
}
