//! Where the master key of an encrypted database comes from.

mod kms;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use seal::{KeyDirectory, KeySource, LocalKey, MasterKey};

use crate::failure::Failure;
use kms::{KmsKey, KmsKeys};

/// The key itself stands in the environment only: what is on a command line, everybody on the machine can read.
const KEY: &str = "MONOTABLE_KEY";

/// The master key of an encrypted database.
#[derive(Args, Clone, Default)]
pub(crate) struct KeyPlace {
    /// A file with the master key of an encrypted database: 32 bytes, raw, hexadecimal or base64. The key itself can be in
    /// MONOTABLE_KEY instead.
    #[arg(long, value_name = "FILE", env = "MONOTABLE_KEY_FILE", conflicts_with = "kms_key_id")]
    key_file: Option<PathBuf>,
    /// A key in AWS KMS that wraps the keys of an encrypted database: its ARN, id or alias. Credentials and region are those of the
    /// AWS tools.
    #[arg(long, value_name = "ID", env = "MONOTABLE_KMS_KEY_ID")]
    kms_key_id: Option<String>,
    /// A server that speaks KMS, instead of AWS.
    #[arg(long, value_name = "URL", env = "MONOTABLE_KMS_ENDPOINT_URL")]
    kms_endpoint_url: Option<String>,
    /// A directory with the keys that single tables of an encrypted database are sealed with, as SSESpecification names them: a file
    /// for each, `DIR/ID` for an id and `DIR/alias/NAME` for an alias, as `monotable key new` makes them.
    #[arg(long, value_name = "DIR", env = "MONOTABLE_TABLE_KEYS", conflicts_with = "kms_table_keys")]
    table_keys: Option<PathBuf>,
    /// Take the keys that single tables are sealed with from AWS KMS.
    #[arg(long, env = "MONOTABLE_KMS_TABLE_KEYS")]
    kms_table_keys: bool,
}

impl KeyPlace {
    /// The key that was given, if any was.
    pub(crate) fn master_key(&self) -> Result<Option<Arc<dyn MasterKey>>, Failure> {
        if let Some(id) = &self.kms_key_id {
            return kms(id, self.kms_endpoint_url.as_deref()).map(Some);
        }
        if let Some(path) = &self.key_file {
            return from_file(path).map(Some);
        }
        match std::env::var_os(KEY) {
            Some(value) if !value.is_empty() => Ok(Some(Arc::new(LocalKey::from_environment(KEY)?))),
            _ => Ok(None),
        }
    }

    /// Where the keys of single tables come from, if that was said.
    pub(crate) fn table_keys(&self) -> Option<Arc<dyn KeySource>> {
        match &self.table_keys {
            Some(directory) => Some(Arc::new(KeyDirectory::new(directory))),
            None if self.kms_table_keys => Some(Arc::new(KmsKeys::new(self.kms_endpoint_url.clone()))),
            None => None,
        }
    }

    /// The key that was given; none is a mistake.
    pub(crate) fn required(&self) -> Result<Arc<dyn MasterKey>, Failure> {
        self.master_key()?.ok_or_else(|| {
            Failure::with_help(
                "which key?",
                "say where it is: --key-file FILE, the environment variable MONOTABLE_KEY, or --kms-key-id ID",
            )
            .into_misuse()
        })
    }
}

/// The key in a file.
pub(crate) fn from_file(path: &Path) -> Result<Arc<dyn MasterKey>, Failure> {
    Ok(Arc::new(LocalKey::from_file(path)?))
}

/// A key in KMS.
pub(crate) fn kms(id: &str, endpoint_url: Option<&str>) -> Result<Arc<dyn MasterKey>, Failure> {
    KmsKey::connect(id, endpoint_url).map(|key| Arc::new(key) as _).map_err(|error| {
        Failure::with_help(
            error,
            "are the credentials and the region those of the key, and may they use it (kms:DescribeKey, kms:Encrypt, kms:Decrypt)?",
        )
    })
}
