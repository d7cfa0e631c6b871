//! Who may use the server: access keys with their secrets, from a file or the environment.
//!
//! The file is written like the AWS CLI's: a section for each key, and `access = read-only` for a key that may not write.
//!
//! ```text
//! [application]
//! aws_access_key_id = APPLICATION
//! aws_secret_access_key = a long secret
//!
//! [reports]
//! aws_access_key_id = REPORTS
//! aws_secret_access_key = another long secret
//! access = read-only
//! ```

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// What a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything.
    Full,
    /// What leaves everything as it is.
    ReadOnly,
}

/// Access keys and their secrets. Its `Debug` form shows no secrets.
#[derive(Clone, Default)]
pub struct Credentials {
    keys: Arc<HashMap<String, Key>>,
}

/// One access key.
pub(crate) struct Key {
    secret: String,
    pub(crate) access: Access,
    /// The key that signatures of one day are made with: making it takes four hashes.
    of_day: Mutex<Option<(String, hmac::Key)>>,
}

/// Why credentials cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CredentialsError {
    /// The file cannot be read.
    #[error("cannot read the credentials file {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A line that is none of the three forms.
    #[error("line {0} of the credentials file is not a [section], a comment or `name = value`")]
    NotALine(usize),
    /// A name or value that means nothing.
    #[error("line {0} of the credentials file: {1}")]
    Unknown(usize, String),
    /// A section without a key or secret.
    #[error("section [{0}] of the credentials file needs both aws_access_key_id and aws_secret_access_key")]
    Incomplete(String),
    /// The same key twice.
    #[error("the access key {0} is configured twice")]
    Twice(String),
    /// Nobody could use the server.
    #[error("the credentials file has no keys")]
    Empty,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.keys.keys()).finish()
    }
}

impl Credentials {
    /// True where there are none: then whatever credentials a client has are accepted.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// These and one more.
    pub fn with(self, id: &str, secret: &str, access: Access) -> Result<Credentials, CredentialsError> {
        let mut keys = Arc::try_unwrap(self.keys).unwrap_or_else(|shared| {
            shared.iter().map(|(id, key)| (id.clone(), Key::new(&key.secret, key.access))).collect()
        });
        if keys.insert(id.to_owned(), Key::new(secret, access)).is_some() {
            return Err(CredentialsError::Twice(id.to_owned()));
        }
        Ok(Credentials { keys: Arc::new(keys) })
    }

    /// Reads a credentials file.
    pub fn from_file(path: &Path) -> Result<Credentials, CredentialsError> {
        let text = std::fs::read_to_string(path).map_err(|error| CredentialsError::Unreadable {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        Credentials::parse(&text)
    }

    /// Reads the text of a credentials file.
    pub fn parse(text: &str) -> Result<Credentials, CredentialsError> {
        let mut credentials = Credentials::default();
        let mut section: Option<Section> = None;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                credentials = finish(credentials, section.take())?;
                section = Some(Section::named(name.trim()));
            } else {
                let section = section.get_or_insert_with(|| Section::named("default"));
                section.take(index + 1, line)?;
            }
        }
        let credentials = finish(credentials, section)?;
        if credentials.is_empty() { Err(CredentialsError::Empty) } else { Ok(credentials) }
    }

    /// What whoever knows this key and its secret may do. Takes as long for a wrong secret as for the right one, and for an
    /// unknown key.
    pub(crate) fn verify(&self, id: &str, secret: &str) -> Option<Access> {
        let key = self.find(id);
        // Digests under a key that nobody knows say nothing about how much of a secret was right.
        let mut blind = [0; 32];
        SystemRandom::new().fill(&mut blind).ok()?;
        let blind = hmac::Key::new(hmac::HMAC_SHA256, &blind);
        let right = hmac::sign(&blind, key.map_or(&b""[..], |key| key.secret.as_bytes()));
        let is_right = hmac::verify(&blind, secret.as_bytes(), right.as_ref()).is_ok();
        key.filter(|_| is_right).map(|key| key.access)
    }

    /// The key with this id.
    pub(crate) fn find(&self, id: &str) -> Option<&Key> {
        self.keys.get(id)
    }
}

fn finish(credentials: Credentials, section: Option<Section>) -> Result<Credentials, CredentialsError> {
    match section {
        None => Ok(credentials),
        Some(Section { id: Some(id), secret: Some(secret), access, .. }) => {
            credentials.with(&id, &secret, access)
        }
        Some(section) => Err(CredentialsError::Incomplete(section.name)),
    }
}

/// A section of the file while it is read.
struct Section {
    name: String,
    id: Option<String>,
    secret: Option<String>,
    access: Access,
}

impl Section {
    fn named(name: &str) -> Section {
        Section { name: name.to_owned(), id: None, secret: None, access: Access::Full }
    }

    fn take(&mut self, number: usize, line: &str) -> Result<(), CredentialsError> {
        let (name, value) = line.split_once('=').ok_or(CredentialsError::NotALine(number))?;
        let value = value.trim().to_owned();
        match (name.trim(), value.as_str()) {
            (_, "") => {
                return Err(CredentialsError::Unknown(number, format!("`{}` has no value", name.trim())));
            }
            ("aws_access_key_id", _) => self.id = Some(value),
            ("aws_secret_access_key", _) => self.secret = Some(value),
            ("access", "full") => self.access = Access::Full,
            ("access", "read-only") => self.access = Access::ReadOnly,
            ("access", _) => {
                return Err(CredentialsError::Unknown(number, "access is `full` or `read-only`".to_owned()));
            }
            // What else the AWS CLI keeps in such a file has no meaning here.
            ("region" | "output", _) => {}
            (other, _) => {
                return Err(CredentialsError::Unknown(number, format!("`{other}` is not known here")));
            }
        }
        Ok(())
    }
}

impl Key {
    fn new(secret: &str, access: Access) -> Key {
        Key { secret: secret.to_owned(), access, of_day: Mutex::new(None) }
    }

    /// The key for signatures of one scope, `20150830/us-east-1/dynamodb`.
    pub(crate) fn signing_key(&self, scope: &str) -> hmac::Key {
        let mut of_day = self.of_day.lock();
        if let Some((known, key)) = &*of_day
            && known == scope
        {
            return key.clone();
        }
        let key = crate::signature::signing_key(&self.secret, scope);
        *of_day = Some((scope.to_owned(), key.clone()));
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# who may use it\n[app]\naws_access_key_id = APP\naws_secret_access_key=s=cret\n\n\
                        [reports]\naws_access_key_id=REPORTS\naws_secret_access_key = other\naccess = read-only\n";

    #[test]
    fn a_file_holds_several_keys() {
        let credentials = Credentials::parse(FILE).unwrap();
        assert_eq!(credentials.find("APP").map(|key| key.access), Some(Access::Full));
        assert_eq!(credentials.find("APP").map(|key| key.secret.as_str()), Some("s=cret"));
        assert_eq!(credentials.find("REPORTS").map(|key| key.access), Some(Access::ReadOnly));
        assert!(credentials.find("OTHER").is_none());
    }

    #[test]
    fn secrets_are_not_printed() {
        let printed = format!("{:?}", Credentials::parse(FILE).unwrap());
        assert!(
            printed.contains("APP") && !printed.contains("s=cret") && !printed.contains("other"),
            "{printed}"
        );
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| Credentials::parse(text).unwrap_err();
        assert_eq!(error(""), CredentialsError::Empty);
        assert_eq!(error("[a]\nhello"), CredentialsError::NotALine(2));
        assert_eq!(error("[a]\naws_access_key_id=A"), CredentialsError::Incomplete("a".to_owned()));
        assert!(matches!(error("[a]\naccess=none"), CredentialsError::Unknown(2, _)));
        assert!(matches!(error("[a]\nsecret=none"), CredentialsError::Unknown(2, _)));
        assert_eq!(error(&format!("{FILE}{FILE}")), CredentialsError::Twice("APP".to_owned()));
    }
}
