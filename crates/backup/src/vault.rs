//! How objects are checked and sealed.
//!
//! ```text
//! plain     "monotable-backup 1 plain <SHA-256 of name and body, in hexadecimal>\n" body
//! sealed    "monotable-backup 1 sealed\n" body sealed for its name
//! keys      plain: the envelope with the data key, and the sealed key that names are made with
//! ```
//!
//! Always true: `unwrap` returns exactly what `wrap` was given for the same name. In a sealed place only sealed objects count, so
//! nobody without the key can slip one in. Names of content are hashes with a key there, so that nobody can tell from a name
//! whether a known content is in the backup.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac};
use seal::{Envelope, KEY_BYTES, MasterKey, SealError, Sealer};
use serde::{Deserialize, Serialize};

use crate::BackupError;

/// The object with the wrapped keys.
pub(crate) const KEYS: &str = "keys";

const MAGIC: &[u8] = b"monotable-backup ";
/// What this version writes. In format 1 no index entry referred to its item; what restores it reads these, too.
const FORMAT: &[u8] = b"2 ";
const FORMAT_BEFORE: &[u8] = b"1 ";
const PLAIN: &[u8] = b"plain ";
const SEALED: &[u8] = b"sealed\n";
const HASH_DIGITS: usize = 64;

/// Checks, and seals if there are keys.
pub(crate) struct Vault {
    sealed: Option<Sealed>,
}

struct Sealed {
    sealer: Sealer,
    naming: hmac::Key,
}

#[derive(Serialize, Deserialize)]
struct Keys {
    envelope: String,
    naming: String,
}

impl Vault {
    /// Checks only.
    pub(crate) fn plain() -> Vault {
        Vault { sealed: None }
    }

    /// New keys under a master key, and the object that keeps them.
    pub(crate) fn create(master: &dyn MasterKey) -> Result<(Vault, Vec<u8>), BackupError> {
        let envelope = Envelope::create(master)?;
        let sealer = envelope.open(master)?.sealer("backup")?;
        let naming = random::<KEY_BYTES>()?;
        let hidden = STANDARD.encode(sealer.seal(b"naming", &naming));
        let keys = Keys { envelope: envelope.to_json(), naming: hidden };
        let body = serde_json::to_vec(&keys).expect("texts only");
        let naming = hmac::Key::new(hmac::HMAC_SHA256, &naming);
        Ok((Vault { sealed: Some(Sealed { sealer, naming }) }, wrap_plain(KEYS, &body)))
    }

    /// The keys that `create` made.
    pub(crate) fn open(keys: &[u8], master: &dyn MasterKey) -> Result<Vault, BackupError> {
        let unreadable = || BackupError::damaged(KEYS, "cannot be read");
        let body = unwrap_plain(KEYS, keys)?;
        let keys: Keys = serde_json::from_slice(body).map_err(|_| unreadable())?;
        let sealer = Envelope::from_json(keys.envelope.as_bytes())?.open(master)?.sealer("backup")?;
        let naming = STANDARD.decode(keys.naming).map_err(|_| unreadable())?;
        let naming = hmac::Key::new(hmac::HMAC_SHA256, &sealer.open(b"naming", &naming)?);
        Ok(Vault { sealed: Some(Sealed { sealer, naming }) })
    }

    pub(crate) fn is_sealed(&self) -> bool {
        self.sealed.is_some()
    }

    /// Whether an object looks sealed.
    pub(crate) fn is_sealed_object(stored: &[u8]) -> bool {
        after_format(stored).is_some_and(|rest| rest.starts_with(SEALED))
    }

    /// A name for a content, which no other content has.
    pub(crate) fn name_of(&self, content: &[u8]) -> String {
        match &self.sealed {
            None => hex(digest::digest(&digest::SHA256, content).as_ref()),
            Some(sealed) => hex(hmac::sign(&sealed.naming, content).as_ref()),
        }
    }

    /// An object with this name and body.
    pub(crate) fn wrap(&self, name: &str, body: &[u8]) -> Vec<u8> {
        match &self.sealed {
            None => wrap_plain(name, body),
            Some(sealed) => [MAGIC, FORMAT, SEALED, &sealed.sealer.seal(name.as_bytes(), body)].concat(),
        }
    }

    /// The body of an object with this name.
    pub(crate) fn unwrap(&self, name: &str, stored: &[u8]) -> Result<Vec<u8>, BackupError> {
        let Some(sealed) = &self.sealed else { return unwrap_plain(name, stored).map(<[u8]>::to_vec) };
        let rest = head(name, stored)?.strip_prefix(SEALED);
        let rest = rest.ok_or_else(|| BackupError::damaged(name, "is not sealed, as everything else is"))?;
        sealed.sealer.open(name.as_bytes(), rest).map_err(|error| match error {
            SealError::Altered => BackupError::damaged(name, "was altered, cut short or exchanged"),
            error => BackupError::damaged(name, format!("does not open: {error}")),
        })
    }
}

fn wrap_plain(name: &str, body: &[u8]) -> Vec<u8> {
    [MAGIC, FORMAT, PLAIN, checksum(name, body).as_bytes(), b"\n", body].concat()
}

fn unwrap_plain<'a>(name: &str, stored: &'a [u8]) -> Result<&'a [u8], BackupError> {
    let rest = head(name, stored)?;
    if rest.starts_with(SEALED) {
        return Err(BackupError::damaged(name, "is sealed, unlike everything else"));
    }
    let found = rest.strip_prefix(PLAIN).and_then(|rest| rest.split_at_checked(HASH_DIGITS));
    let found = found.and_then(|(digits, rest)| Some((digits, rest.strip_prefix(b"\n")?)));
    match found {
        Some((digits, body)) if digits == checksum(name, body).as_bytes() => Ok(body),
        _ => Err(BackupError::damaged(name, "was altered, cut short or exchanged")),
    }
}

fn head<'a>(name: &str, stored: &'a [u8]) -> Result<&'a [u8], BackupError> {
    after_format(stored).ok_or_else(|| match stored.strip_prefix(MAGIC).and_then(<[u8]>::first) {
        Some(b'3'..=b'9') => BackupError::Newer { name: name.to_owned() },
        _ => BackupError::damaged(name, "is not an object of a backup"),
    })
}

fn after_format(stored: &[u8]) -> Option<&[u8]> {
    let rest = stored.strip_prefix(MAGIC)?;
    rest.strip_prefix(FORMAT).or_else(|| rest.strip_prefix(FORMAT_BEFORE))
}

fn checksum(name: &str, body: &[u8]) -> String {
    let mut hash = digest::Context::new(&digest::SHA256);
    hash.update(name.as_bytes());
    hash.update(&[0]);
    hash.update(body);
    hex(hash.finish().as_ref())
}

/// The SHA-256 of bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], BackupError> {
    use ring::rand::SecureRandom as _;
    let mut bytes = [0; N];
    ring::rand::SystemRandom::new().fill(&mut bytes).map_err(|_| SealError::NoRandomness)?;
    Ok(bytes)
}

/// Bytes as text: two hexadecimal digits each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seal::LocalKey;

    fn vaults() -> [Vault; 2] {
        let key = LocalKey::from_text(&"7".repeat(64), "a test").unwrap();
        let (vault, keys) = Vault::create(&key).unwrap();
        let again = Vault::open(&keys, &key).unwrap();
        assert_eq!(vault.name_of(b"x"), again.name_of(b"x"));
        [Vault::plain(), again]
    }

    #[test]
    fn an_object_is_what_was_written_or_an_error() {
        for vault in vaults() {
            let stored = vault.wrap("chunks/a", b"some body");
            assert_eq!(vault.unwrap("chunks/a", &stored).unwrap(), b"some body");
            assert!(vault.unwrap("chunks/b", &stored).is_err(), "it was exchanged");
            for place in 0..stored.len() {
                assert!(vault.unwrap("chunks/a", &stored[..place]).is_err());
                let mut altered = stored.clone();
                altered[place] ^= 4;
                assert!(vault.unwrap("chunks/a", &altered).is_err(), "{place}");
            }
        }
    }

    #[test]
    fn what_is_not_sealed_does_not_count_where_everything_is() {
        let [plain, sealed] = vaults();
        assert!(sealed.unwrap("a", &plain.wrap("a", b"x")).is_err());
        assert!(plain.unwrap("a", &sealed.wrap("a", b"x")).is_err());
        assert_ne!(plain.name_of(b"x"), sealed.name_of(b"x"));
    }

    #[test]
    fn another_key_opens_nothing() {
        let key = LocalKey::from_text(&"7".repeat(64), "a test").unwrap();
        let other = LocalKey::from_text(&"8".repeat(64), "a test").unwrap();
        let (_, keys) = Vault::create(&key).unwrap();
        assert!(matches!(Vault::open(&keys, &other), Err(BackupError::Key(_))));
    }
}
