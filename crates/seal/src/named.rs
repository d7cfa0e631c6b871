//! Master keys that are found by name: the keys of customers, of which there are several.
//!
//! Path of a name: `alias/NAME`, an id or an ARN -> [`KeySource::key`] -> [`MasterKey`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::{LocalKey, MasterKey, SealError};

/// Where named master keys come from: a directory ([`KeyDirectory`]), or a service that holds them.
pub trait KeySource: Send + Sync {
    /// The key with this id, ARN or alias, as it is now; an error while it cannot be used.
    fn key(&self, name: &str) -> Result<Arc<dyn MasterKey>, SealError>;

    /// How long to wait before asking again whether a key can still be used.
    fn patience(&self) -> Duration;
}

/// A directory with a file for each key: `DIR/ID` for an id, `DIR/alias/NAME` for an alias. Of an ARN, what follows `key/` or
/// begins with `alias/` counts.
#[derive(Debug, Clone)]
pub struct KeyDirectory {
    path: PathBuf,
}

impl KeyDirectory {
    /// The keys in a directory. Whether they are there is seen when one is asked for.
    pub fn new(path: &Path) -> KeyDirectory {
        KeyDirectory { path: path.to_path_buf() }
    }

    fn file(&self, name: &str) -> Option<PathBuf> {
        let resource = if name.starts_with("arn:") { name.splitn(6, ':').nth(5)? } else { name };
        let parts = resource.strip_prefix("key/").unwrap_or(resource).split('/');
        let mut path = self.path.clone();
        for part in parts {
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
            // Nothing outside of the directory can be named.
            if part.is_empty() || part.starts_with('.') || !part.chars().all(is_plain) {
                return None;
            }
            path.push(part);
        }
        Some(path)
    }
}

impl KeySource for KeyDirectory {
    fn key(&self, name: &str) -> Result<Arc<dyn MasterKey>, SealError> {
        let path = self.file(name).ok_or_else(|| SealError::Unreadable {
            from: format!("{} for {name:?}", self.path.display()),
            reason: "a key has a name of letters, digits, '-', '_' and '.', or alias/ and such a name"
                .to_owned(),
        })?;
        Ok(Arc::new(LocalKey::from_file(&path)?))
    }

    fn patience(&self) -> Duration {
        // Looking at a file costs nothing.
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_arns_and_aliases_name_files_of_the_directory_and_nothing_else() {
        let keys = KeyDirectory::new(Path::new("/keys"));
        let file = |name: &str| keys.file(name).map(|path| path.display().to_string());
        assert_eq!(file("orders").as_deref(), Some("/keys/orders"));
        assert_eq!(file("alias/orders").as_deref(), Some("/keys/alias/orders"));
        assert_eq!(file("arn:aws:kms:us-east-1:123456789012:key/orders").as_deref(), Some("/keys/orders"));
        let alias = "arn:aws:kms:us-east-1:123456789012:alias/orders";
        assert_eq!(file(alias).as_deref(), Some("/keys/alias/orders"));
        for name in ["", "..", "../orders", "/etc/passwd", "a//b", "arn:aws:kms", "key/", ".hidden", "a b"] {
            assert_eq!(file(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_key_is_there_while_its_file_is() {
        let directory = tempfile::tempdir().unwrap();
        let keys = KeyDirectory::new(directory.path());
        let file = directory.path().join("orders");
        assert!(keys.key("orders").is_err());
        std::fs::write(&file, LocalKey::generate().unwrap().as_bytes()).unwrap();
        let id = keys.key("orders").unwrap().id().to_owned();
        assert_eq!(keys.key("key/orders").unwrap().id(), id);
        std::fs::remove_file(&file).unwrap();
        assert!(keys.key("orders").is_err());
    }
}
