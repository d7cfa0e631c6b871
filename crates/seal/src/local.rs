//! A master key that this process holds, from a file or the environment.
//!
//! Written as 32 raw bytes, 64 hexadecimal digits, or base64 of 32 bytes (any alphabet, with or without padding); white space
//! around text does not count.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use zeroize::Zeroizing;

use crate::{KEY_BYTES, KeyBytes, MasterKey, SealError};

/// No written form of a key is longer, with some room for white space.
const FILE_BYTES_MAX: u64 = 256;

/// A master key that this process holds.
///
/// It wraps with AES-256-GCM and random nonces: so few keys are ever wrapped that 96 random bits do not meet.
pub struct LocalKey {
    id: String,
    wrapping: LessSafeKey,
}

impl fmt::Debug for LocalKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LocalKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl LocalKey {
    /// The key with these bytes. Its id tells nothing about them but whether two keys are the same.
    pub fn new(bytes: &KeyBytes) -> LocalKey {
        let naming = hmac::Key::new(hmac::HMAC_SHA256, bytes.as_slice());
        let name = hmac::sign(&naming, b"monotable master key id");
        let number = name.as_ref().first_chunk().copied().map_or(0, u64::from_be_bytes);
        let unbound =
            UnboundKey::new(&AES_256_GCM, bytes.as_slice()).expect("the key has the length of its cipher");
        LocalKey { id: format!("local-{number:016x}"), wrapping: LessSafeKey::new(unbound) }
    }

    /// The key in a file.
    pub fn from_file(path: &Path) -> Result<LocalKey, SealError> {
        let from = || path.display().to_string();
        let mut bytes = Zeroizing::new(Vec::new());
        File::open(path)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
            .map_err(|error| SealError::Unreadable { from: from(), reason: error.to_string() })?;
        LocalKey::read(&bytes, from)
    }

    /// The key in an environment variable.
    pub fn from_environment(variable: &str) -> Result<LocalKey, SealError> {
        let from = || format!("the environment variable {variable}");
        match std::env::var(variable) {
            Ok(text) => LocalKey::read(Zeroizing::new(text).as_bytes(), from),
            Err(error) => Err(SealError::Unreadable { from: from(), reason: error.to_string() }),
        }
    }

    /// The key that somebody wrote down; `from` says where, for the error.
    pub fn from_text(text: &str, from: &str) -> Result<LocalKey, SealError> {
        LocalKey::read(text.as_bytes(), || from.to_owned())
    }

    /// A new random key, as text for a key file.
    pub fn generate() -> Result<Zeroizing<String>, SealError> {
        let bytes = random_key()?;
        Ok(Zeroizing::new(base64::engine::general_purpose::STANDARD.encode(bytes.as_slice())))
    }

    fn read(written: &[u8], from: impl Fn() -> String) -> Result<LocalKey, SealError> {
        let reason = "a key is 32 bytes, raw, as 64 hexadecimal digits or as base64; `monotable key new FILE` makes one";
        match parse(written) {
            Some(bytes) => Ok(LocalKey::new(&bytes)),
            None => Err(SealError::Unreadable { from: from(), reason: reason.to_owned() }),
        }
    }
}

impl MasterKey for LocalKey {
    fn id(&self) -> &str {
        &self.id
    }

    fn wrap(&self, context: &str, key: &KeyBytes) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0; NONCE_LEN];
        fill_random(&mut nonce)?;
        let mut sealed = Zeroizing::new(key.to_vec());
        let tag = self
            .wrapping
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(context), &mut sealed)
            .expect("a key is shorter than what the cipher can take");
        Ok([&nonce[..], &sealed, tag.as_ref()].concat())
    }

    fn unwrap(&self, context: &str, wrapped: &[u8]) -> Result<Option<KeyBytes>, SealError> {
        let Some((nonce, sealed)) = wrapped.split_first_chunk::<NONCE_LEN>() else { return Ok(None) };
        let mut sealed = Zeroizing::new(sealed.to_vec());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.wrapping.open_in_place(nonce, Aad::from(context), &mut sealed);
        Ok(opened.ok().and_then(|key| key_of(key)))
    }
}

/// A new data key.
pub(crate) fn random_key() -> Result<KeyBytes, SealError> {
    let mut bytes = KeyBytes::default();
    fill_random(bytes.as_mut_slice())?;
    Ok(bytes)
}

pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), SealError> {
    SystemRandom::new().fill(bytes).map_err(|_| SealError::NoRandomness)
}

fn parse(written: &[u8]) -> Option<KeyBytes> {
    // First, since random bytes can begin or end like white space.
    if let Some(raw) = key_of(written) {
        return Some(raw);
    }
    let text = std::str::from_utf8(written).ok()?.trim();
    if text.len() == 2 * KEY_BYTES {
        return parse_hexadecimal(text);
    }
    let unpadded = text.trim_end_matches('=');
    let decoded = STANDARD_NO_PAD.decode(unpadded).or_else(|_| URL_SAFE_NO_PAD.decode(unpadded));
    key_of(&Zeroizing::new(decoded.ok()?))
}

fn parse_hexadecimal(text: &str) -> Option<KeyBytes> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let mut key = KeyBytes::default();
    for (byte, pair) in key.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(key)
}

fn key_of(bytes: &[u8]) -> Option<KeyBytes> {
    bytes.try_into().ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> LocalKey {
        LocalKey::new(&Zeroizing::new([byte; KEY_BYTES]))
    }

    #[test]
    fn raw_hexadecimal_and_base64_write_the_same_key() {
        let bytes: [u8; KEY_BYTES] = std::array::from_fn(|at| u8::try_from(at * 8 + 7).unwrap());
        let hexadecimal: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
        let url = URL_SAFE_NO_PAD.encode(bytes);
        let id = LocalKey::new(&Zeroizing::new(bytes)).id;
        for written in [&bytes[..], hexadecimal.as_bytes(), base64.as_bytes(), url.as_bytes()] {
            assert_eq!(LocalKey::read(written, String::new).unwrap().id, id);
        }
        let spaced = format!("  {hexadecimal}\r\n");
        assert_eq!(LocalKey::from_text(&spaced, "a test").unwrap().id, id);
    }

    #[test]
    fn what_is_no_key_is_refused_with_the_place_and_the_next_step() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        for written in [&b""[..], b"secret", &[b'0'; 63], &[b'g'; 64], &[b'A'; 42], &[7; 300]] {
            std::fs::write(&path, written).unwrap();
            let error = LocalKey::from_file(&path).unwrap_err().to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
            assert!(error.contains("monotable key new"), "{error}");
        }
        let missing = LocalKey::from_file(&directory.path().join("none")).unwrap_err().to_string();
        assert!(missing.contains("No such file") || missing.contains("cannot find"), "{missing}");
        let unset = LocalKey::from_environment("MONOTABLE_NO_SUCH_KEY").unwrap_err().to_string();
        assert!(unset.contains("MONOTABLE_NO_SUCH_KEY"), "{unset}");
    }

    #[test]
    fn a_generated_key_can_be_read_and_is_another_each_time() {
        let (first, second) = (LocalKey::generate().unwrap(), LocalKey::generate().unwrap());
        let id = |text: &str| LocalKey::from_text(text, "a test").unwrap().id;
        assert_ne!(id(&first), id(&second));
    }

    #[test]
    fn only_the_same_key_in_the_same_context_unwraps() {
        let data = Zeroizing::new([42; KEY_BYTES]);
        let wrapped = key(1).wrap("here", &data).unwrap();
        assert_eq!(key(1).unwrap("here", &wrapped).unwrap(), Some(data.clone()));
        assert_eq!(key(1).unwrap("there", &wrapped).unwrap(), None);
        assert_eq!(key(2).unwrap("here", &wrapped).unwrap(), None);
        assert_ne!(key(1).wrap("here", &data).unwrap(), wrapped, "nonces are random");
        for at in 0..wrapped.len() {
            let mut altered = wrapped.clone();
            altered[at] ^= 1;
            assert_eq!(key(1).unwrap("here", &altered).unwrap(), None, "byte {at}");
            assert_eq!(key(1).unwrap("here", &wrapped[..at]).unwrap(), None, "cut at {at}");
        }
    }

    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(format!("{:?}", key(1)), format!("LocalKey {{ id: {:?}, .. }}", key(1).id));
    }
}
