//! Seals bytes with AES-256-GCM and opens them again.
//!
//! ```text
//! sealed = data key (4 bytes) | salt (16 bytes) | number (8 bytes) | cipher text | tag (16 bytes)
//! ```
//!
//! AES-GCM fails badly if a nonce is used twice with one key, and 96 random bits meet too soon for a database that seals
//! thousands of pages a second for years (after 2^32 messages the chance is already 2^-32). So nonces are counted, not drawn:
//! - Every sealer draws a *salt* of 128 random bits when it is made and seals with a key that HKDF-SHA-256 derives from the data
//!   key, the salt, the purpose and the upper half of the message's number. Two sealers (of two processes, two starts, two
//!   copies of one directory) share a key only if their salts meet, which 2^50 of them do with a chance of 2^-29.
//! - Within a sealer the number counts up from 0; its lower half is the nonce. After 2^32 messages the upper half changes, and with
//!   it the key, so no key ever seals more than 2^32 messages, far below what GCM allows for pages of a few kilobytes.
//!
//! Nothing has to be stored for this, so nothing can be rolled back: an old copy of a directory starts with a new salt. A copy of
//! the memory of a running process (a virtual machine resumed twice) would count the same numbers twice; do not do that.
//!
//! Always true: the data key, the salt and the number are covered by the tag, since the key and the nonce follow from them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::RwLock;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

use crate::local::fill_random;
use crate::{Keyring, SealError};

/// How much longer sealed bytes are than plain ones.
pub const OVERHEAD_BYTES: usize = HEAD_BYTES + TAG_BYTES;

const SALT_BYTES: usize = 16;
const HEAD_BYTES: usize = 4 + SALT_BYTES + 8;
const TAG_BYTES: usize = 16;

/// Derived keys are remembered, one for each start of a process whose writings are read; more than that are forgotten at once.
const DERIVED_KEYS_MAX: usize = 4_096;

/// Seals and opens bytes for one purpose.
pub struct Sealer {
    keyring: Keyring,
    purpose: &'static str,
    salt: [u8; SALT_BYTES],
    next_number: AtomicU64,
    derived: RwLock<HashMap<Derivation, Arc<LessSafeKey>>>,
}

/// What a derived key follows from, beside the data key and the purpose.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Derivation {
    data_key: u32,
    salt: [u8; SALT_BYTES],
    upper_number: u32,
}

/// What stands before the cipher text.
struct Head {
    derivation: Derivation,
    lower_number: u32,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Sealer")
            .field("purpose", &self.purpose)
            .field("keyring", &self.keyring)
            .finish_non_exhaustive()
    }
}

impl Sealer {
    pub(crate) fn new(keyring: Keyring, purpose: &'static str) -> Result<Sealer, SealError> {
        let mut salt = [0; SALT_BYTES];
        fill_random(&mut salt)?;
        Ok(Sealer { keyring, purpose, salt, next_number: AtomicU64::new(0), derived: RwLock::default() })
    }

    /// Seals bytes. Opening them takes the same associated data, which is not stored: say with it what the bytes are and where
    /// they belong.
    pub fn seal(&self, associated: &[u8], plain: &[u8]) -> Vec<u8> {
        let mut sealed = vec![0; plain.len() + OVERHEAD_BYTES];
        self.seal_into(associated, plain, &mut sealed);
        sealed
    }

    /// Seals bytes into a place that is exactly [`OVERHEAD_BYTES`] longer.
    pub fn seal_into(&self, associated: &[u8], plain: &[u8], sealed: &mut [u8]) {
        assert_eq!(sealed.len(), plain.len() + OVERHEAD_BYTES, "the place for sealed bytes");
        let head = self.next_head();
        let key = self.derived_key(head.derivation).expect("the current key is in the keyring");
        let (start, rest) = sealed.split_at_mut(HEAD_BYTES);
        let (cipher_text, tag_place) = rest.split_at_mut(plain.len());
        start.copy_from_slice(&head.to_bytes());
        cipher_text.copy_from_slice(plain);
        let tag = key
            .seal_in_place_separate_tag(head.nonce(), Aad::from(associated), cipher_text)
            .expect("the cipher takes up to 64 GB at once");
        tag_place.copy_from_slice(tag.as_ref());
    }

    /// Opens sealed bytes.
    pub fn open(&self, associated: &[u8], sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut bytes = sealed.to_vec();
        let length = self.open_in_place(associated, &mut bytes)?.len();
        bytes.copy_within(HEAD_BYTES..HEAD_BYTES + length, 0);
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Opens sealed bytes where they stand. After an error nothing of them is of use.
    pub fn open_in_place<'a>(
        &self,
        associated: &[u8],
        sealed: &'a mut [u8],
    ) -> Result<&'a mut [u8], SealError> {
        let (start, rest) = sealed.split_first_chunk_mut::<HEAD_BYTES>().ok_or(SealError::Altered)?;
        let head = Head::from_bytes(start);
        let key = self.derived_key(head.derivation)?;
        key.open_in_place(head.nonce(), Aad::from(associated), rest).map_err(|_| SealError::Altered)
    }

    /// The number of the data key that sealed these bytes, as they say themselves.
    pub fn data_key_of(sealed: &[u8]) -> Option<u32> {
        sealed.first_chunk().copied().map(u32::from_be_bytes)
    }

    /// The keyring it seals with.
    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    fn next_head(&self) -> Head {
        let number = self.next_number.fetch_add(1, Relaxed);
        Head::new(self.keyring.current(), self.salt, number)
    }

    fn derived_key(&self, derivation: Derivation) -> Result<Arc<LessSafeKey>, SealError> {
        if let Some(key) = self.derived.read().get(&derivation) {
            return Ok(key.clone());
        }
        let key = Arc::new(self.derive(derivation)?);
        let mut derived = self.derived.write();
        if derived.len() >= DERIVED_KEYS_MAX {
            derived.clear();
        }
        derived.insert(derivation, key.clone());
        Ok(key)
    }

    fn derive(&self, derivation: Derivation) -> Result<LessSafeKey, SealError> {
        let id = derivation.data_key;
        let data_key = self.keyring.key(id).ok_or(SealError::UnknownDataKey { id })?;
        let extracted = Salt::new(HKDF_SHA256, &derivation.salt).extract(data_key.as_slice());
        let upper_number = derivation.upper_number.to_be_bytes();
        let information = [b"monotable seal 1", self.purpose.as_bytes(), &upper_number];
        let expanded =
            extracted.expand(&information, &AES_256_GCM).expect("HKDF gives many more than 32 bytes");
        Ok(LessSafeKey::new(UnboundKey::from(expanded)))
    }
}

impl Head {
    fn new(data_key: u32, salt: [u8; SALT_BYTES], number: u64) -> Head {
        let bytes = number.to_be_bytes();
        let half = |bytes: Option<&[u8; 4]>| bytes.copied().map_or(0, u32::from_be_bytes);
        let derivation = Derivation { data_key, salt, upper_number: half(bytes.first_chunk()) };
        Head { derivation, lower_number: half(bytes.last_chunk()) }
    }

    fn to_bytes(&self) -> [u8; HEAD_BYTES] {
        let Derivation { data_key, salt, upper_number } = self.derivation;
        let parts = data_key.to_be_bytes().into_iter().chain(salt);
        let mut parts = parts.chain(upper_number.to_be_bytes()).chain(self.lower_number.to_be_bytes());
        std::array::from_fn(|_| parts.next().unwrap_or(0))
    }

    fn from_bytes(bytes: &[u8; HEAD_BYTES]) -> Head {
        let mut bytes = bytes.iter().copied();
        let mut next = || bytes.next().unwrap_or(0);
        let data_key = u32::from_be_bytes(std::array::from_fn(|_| next()));
        let salt = std::array::from_fn(|_| next());
        Head::new(data_key, salt, u64::from_be_bytes(std::array::from_fn(|_| next())))
    }

    fn nonce(&self) -> Nonce {
        let mut nonce = [0; NONCE_LEN];
        if let Some(place) = nonce.last_chunk_mut() {
            *place = self.lower_number.to_be_bytes();
        }
        Nonce::assume_unique_for_key(nonce)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use proptest::prelude::*;

    use super::*;
    use crate::KEY_BYTES;

    fn keyring() -> Keyring {
        Keyring::new(BTreeMap::from([(7, zeroize::Zeroizing::new([9; KEY_BYTES]))]))
    }

    fn sealer() -> Sealer {
        keyring().sealer("test").unwrap()
    }

    proptest! {
        #[test]
        fn what_was_sealed_opens_and_nothing_else(
            plain in prop::collection::vec(any::<u8>(), 0..200),
            associated in prop::collection::vec(any::<u8>(), 0..20),
            place in any::<prop::sample::Index>(),
            flip in 1_u8..,
        ) {
            let sealed = sealer().seal(&associated, &plain);
            prop_assert_eq!(sealed.len(), plain.len() + OVERHEAD_BYTES);
            prop_assert_eq!(sealer().open(&associated, &sealed).unwrap(), plain);

            let mut altered = sealed.clone();
            altered[place.index(sealed.len())] ^= flip;
            prop_assert!(sealer().open(&associated, &altered).is_err());
            prop_assert!(sealer().open(&associated, &sealed[..place.index(sealed.len())]).is_err());
            let elsewhere = [&associated[..], b"x"].concat();
            prop_assert_eq!(sealer().open(&elsewhere, &sealed), Err(SealError::Altered));
        }
    }

    #[test]
    fn one_purpose_does_not_open_what_another_sealed() {
        let sealed = sealer().seal(b"", b"plain");
        assert_eq!(keyring().sealer("other").unwrap().open(b"", &sealed), Err(SealError::Altered));
    }

    #[test]
    fn no_two_messages_share_key_and_nonce() {
        let (first, second) = (sealer(), sealer());
        let heads: HashSet<Vec<u8>> = (0..1_000)
            .flat_map(|_| [first.seal(b"", b"same"), second.seal(b"", b"same")])
            .map(|sealed| sealed[..HEAD_BYTES].to_vec())
            .collect();
        assert_eq!(heads.len(), 2_000);
    }

    #[test]
    fn after_2_to_the_32_messages_the_key_changes_and_all_of_them_open() {
        let sealer = sealer();
        sealer.next_number.store(u64::from(u32::MAX), Relaxed);
        let (last, first) = (sealer.seal(b"", b"last"), sealer.seal(b"", b"first"));
        assert_eq!(sealer.derived.read().len(), 2);
        assert_eq!(sealer.open(b"", &last).unwrap(), b"last");
        assert_eq!(sealer.open(b"", &first).unwrap(), b"first");
    }

    #[test]
    fn altered_salts_do_not_fill_the_memory() {
        let sealer = sealer();
        let mut message = sealer.seal(b"", b"plain");
        for salt in 0..10_000_u32 {
            message[4..8].copy_from_slice(&salt.to_be_bytes());
            let _ = sealer.open(b"", &message);
        }
        assert!(sealer.derived.read().len() <= DERIVED_KEYS_MAX);
    }

    #[test]
    fn keys_are_not_printed() {
        let printed = format!("{:?}", sealer());
        assert_eq!(printed, "Sealer { purpose: \"test\", keyring: Keyring { ids: [7] }, .. }");
    }
}
