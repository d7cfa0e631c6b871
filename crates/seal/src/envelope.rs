//! The wrapped data keys that stand beside the data, as JSON.
//!
//! Always true: each wrapped key is bound to the envelope's own id and to its number, so that keys cannot be exchanged between
//! envelopes or within one. The key with the highest number seals. Taking it out of the envelope makes what it sealed unreadable,
//! which is noticed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::local::{fill_random, random_key};
use crate::{KeyBytes, Keyring, MasterKey, SealError};

const VERSION: u32 = 1;

/// Wrapped data keys, and which master key unwraps them. It tells no secret, but without it what was sealed is lost: keep a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    version: u32,
    /// Random, so that two envelopes differ.
    id: String,
    master_key: String,
    data_keys: Vec<WrappedKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct WrappedKey {
    id: u32,
    wrapped: String,
}

impl Envelope {
    /// A new envelope with one data key.
    pub fn create(master: &dyn MasterKey) -> Result<Envelope, SealError> {
        let mut name = [0; 16];
        fill_random(&mut name)?;
        let id = format!("{:032x}", u128::from_be_bytes(name));
        let empty =
            Envelope { version: VERSION, id, master_key: master.id().to_owned(), data_keys: Vec::new() };
        empty.with_new_key(master)
    }

    /// Reads the envelope that `to_json` wrote.
    pub fn from_json(text: &[u8]) -> Result<Envelope, SealError> {
        let envelope: Envelope = serde_json::from_slice(text)
            .map_err(|error| SealError::Envelope { reason: error.to_string() })?;
        if envelope.version != VERSION {
            let reason = format!("its version is {}, and this program reads {VERSION}", envelope.version);
            return Err(SealError::Envelope { reason });
        }
        Ok(envelope)
    }

    /// The envelope as text.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("texts and numbers can be written as JSON");
        text.push('\n');
        text
    }

    /// The id of the master key that opens the envelope.
    pub fn master_key_id(&self) -> &str {
        &self.master_key
    }

    /// The random name of the envelope: the same from its creation on, whatever happens to its keys.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The numbers of the data keys.
    pub fn data_key_ids(&self) -> impl Iterator<Item = u32> {
        self.data_keys.iter().map(|key| key.id)
    }

    /// Unwraps the data keys.
    pub fn open(&self, master: &dyn MasterKey) -> Result<Keyring, SealError> {
        let mut keys = BTreeMap::new();
        for wrapped in &self.data_keys {
            match keys.entry(wrapped.id) {
                Entry::Vacant(place) => drop(place.insert(self.unwrap(master, wrapped)?)),
                Entry::Occupied(_) => {
                    let reason = format!("data key {} stands in it twice", wrapped.id);
                    return Err(SealError::Envelope { reason });
                }
            }
        }
        if keys.is_empty() {
            return Err(SealError::Envelope { reason: "it holds no data key".to_owned() });
        }
        Ok(Keyring::new(keys))
    }

    /// The same data keys, wrapped with another master key. Nothing that was sealed changes.
    pub fn rewrap(&self, old: &dyn MasterKey, new: &dyn MasterKey) -> Result<Envelope, SealError> {
        let mut rewrapped =
            Envelope { master_key: new.id().to_owned(), data_keys: Vec::new(), ..self.clone() };
        for wrapped in &self.data_keys {
            let key = self.unwrap(old, wrapped)?;
            rewrapped.push(new, wrapped.id, &key)?;
        }
        Ok(rewrapped)
    }

    /// The envelope with one more data key, which seals from now on.
    pub fn with_new_key(&self, master: &dyn MasterKey) -> Result<Envelope, SealError> {
        self.check_master(master)?;
        let last = self.data_key_ids().max().unwrap_or(0);
        let id = last.checked_add(1).ok_or_else(|| SealError::Envelope {
            reason: "it has had as many data keys as there are numbers".to_owned(),
        })?;
        let mut more = self.clone();
        more.push(master, id, &random_key()?)?;
        Ok(more)
    }

    /// The envelope with its current data key only: what older ones sealed cannot be opened with it.
    pub fn with_current_key_only(&self) -> Envelope {
        let current = self.data_key_ids().max();
        let data_keys = self.data_keys.iter().filter(|key| Some(key.id) == current).cloned().collect();
        Envelope { data_keys, ..self.clone() }
    }

    fn push(&mut self, master: &dyn MasterKey, id: u32, key: &KeyBytes) -> Result<(), SealError> {
        let wrapped = STANDARD.encode(master.wrap(&self.context(id), key)?);
        self.data_keys.push(WrappedKey { id, wrapped });
        Ok(())
    }

    fn unwrap(&self, master: &dyn MasterKey, wrapped: &WrappedKey) -> Result<KeyBytes, SealError> {
        self.check_master(master)?;
        let altered = || SealError::AlteredDataKey { id: wrapped.id, master: self.master_key.clone() };
        let bytes = STANDARD.decode(&wrapped.wrapped).map_err(|_| altered())?;
        master.unwrap(&self.context(wrapped.id), &bytes)?.ok_or_else(altered)
    }

    fn check_master(&self, master: &dyn MasterKey) -> Result<(), SealError> {
        if master.id() == self.master_key {
            return Ok(());
        }
        let (given, needed) = (master.id().to_owned(), self.master_key.clone());
        Err(SealError::WrongMasterKey { given, needed })
    }

    fn context(&self, id: u32) -> String {
        format!("monotable envelope {} data key {id}", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KEY_BYTES, LocalKey};

    fn master(byte: u8) -> LocalKey {
        LocalKey::new(&zeroize::Zeroizing::new([byte; KEY_BYTES]))
    }

    fn seals(keyring: &Keyring) -> Vec<u8> {
        keyring.sealer("test").unwrap().seal(b"place", b"canary")
    }

    fn opens(keyring: &Keyring, sealed: &[u8]) -> bool {
        keyring.sealer("test").unwrap().open(b"place", sealed).is_ok_and(|plain| plain == b"canary")
    }

    #[test]
    fn an_envelope_survives_being_written_and_read() {
        let envelope = Envelope::create(&master(1)).unwrap();
        let read = Envelope::from_json(envelope.to_json().as_bytes()).unwrap();
        assert_eq!(read, envelope);
        let sealed = seals(&envelope.open(&master(1)).unwrap());
        assert!(opens(&read.open(&master(1)).unwrap(), &sealed));
    }

    #[test]
    fn another_master_key_is_named_beside_the_one_that_is_needed() {
        let envelope = Envelope::create(&master(1)).unwrap();
        let expected =
            SealError::WrongMasterKey { given: master(2).id().into(), needed: master(1).id().into() };
        assert_eq!(envelope.open(&master(2)).unwrap_err(), expected);
        assert_eq!(envelope.rewrap(&master(2), &master(3)).unwrap_err(), expected);
        assert_eq!(envelope.with_new_key(&master(2)).unwrap_err(), expected);
    }

    #[test]
    fn rewrapping_changes_the_master_key_and_nothing_that_was_sealed() {
        let envelope = Envelope::create(&master(1)).unwrap().with_new_key(&master(1)).unwrap();
        let sealed = seals(&envelope.open(&master(1)).unwrap());
        let rewrapped = envelope.rewrap(&master(1), &master(2)).unwrap();
        assert_eq!(rewrapped.master_key_id(), master(2).id());
        assert!(opens(&rewrapped.open(&master(2)).unwrap(), &sealed));
        rewrapped.open(&master(1)).unwrap_err();
    }

    #[test]
    fn a_new_data_key_seals_and_the_old_one_opens_until_it_is_removed() {
        let first = Envelope::create(&master(1)).unwrap();
        let old = seals(&first.open(&master(1)).unwrap());
        let second = first.with_new_key(&master(1)).unwrap();
        let keyring = second.open(&master(1)).unwrap();
        let new = seals(&keyring);
        assert_eq!((keyring.current(), keyring.ids().collect()), (2, vec![1, 2]));
        assert!(opens(&keyring, &old) && opens(&keyring, &new));

        let only = second.with_current_key_only().open(&master(1)).unwrap();
        assert!(opens(&only, &new));
        let error = only.sealer("test").unwrap().open(b"place", &old).unwrap_err();
        assert_eq!(error, SealError::UnknownDataKey { id: 1 });
    }

    #[test]
    fn keys_cannot_be_exchanged_altered_or_doubled() {
        let one = Envelope::create(&master(1)).unwrap().with_new_key(&master(1)).unwrap();
        let other = Envelope::create(&master(1)).unwrap();
        let altered = |id| Err(SealError::AlteredDataKey { id, master: master(1).id().into() });

        let foreign = Envelope { data_keys: other.data_keys.clone(), ..one.clone() };
        assert_eq!(foreign.open(&master(1)).map(|_| ()), altered(1));
        let mut exchanged = one.clone();
        exchanged.data_keys[0].id = 2;
        exchanged.data_keys[1].id = 1;
        assert_eq!(exchanged.open(&master(1)).map(|_| ()), altered(2));
        let mut unreadable = one.clone();
        unreadable.data_keys[1].wrapped.insert(0, '!');
        assert_eq!(unreadable.open(&master(1)).map(|_| ()), altered(2));

        let mut doubled = one.clone();
        doubled.data_keys.push(one.data_keys[0].clone());
        assert!(matches!(doubled.open(&master(1)), Err(SealError::Envelope { .. })));
        let empty = Envelope { data_keys: Vec::new(), ..one };
        assert!(matches!(empty.open(&master(1)), Err(SealError::Envelope { .. })));
    }

    #[test]
    fn what_is_no_envelope_or_a_later_one_is_refused() {
        for text in ["", "{}", "[1]", "\u{0}"] {
            assert!(
                matches!(Envelope::from_json(text.as_bytes()), Err(SealError::Envelope { .. })),
                "{text}"
            );
        }
        let later = Envelope { version: 2, ..Envelope::create(&master(1)).unwrap() };
        let error = Envelope::from_json(later.to_json().as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "not an envelope of keys: its version is 2, and this program reads 1");
    }
}
