//! A place for backups, as it is named on a command line.

use std::sync::Arc;

use backup::{Address, BackupError, Destination};
use clap::Args;
use seal::MasterKey;

use crate::design_place::parse_pair;
use crate::failure::Failure;
use crate::keys::KeyPlace;

/// Where backups are, and how to reach and read them.
#[derive(Args, Clone)]
pub(crate) struct BackupPlace {
    /// A directory, or a part of an object store: s3://BUCKET/PATH, gs://BUCKET/PATH, az://CONTAINER/PATH.
    #[arg(value_name = "DEST")]
    destination: String,
    #[command(flatten)]
    access: BackupAccess,
    /// Seals the backup, and opens the database where that is encrypted.
    #[command(flatten)]
    key: KeyPlace,
}

/// How to reach an object store. Its credentials are taken from the environment (AWS_ACCESS_KEY_ID, GOOGLE_SERVICE_ACCOUNT,
/// AZURE_STORAGE_ACCOUNT_NAME and so on) or from the machine.
#[derive(Args, Clone)]
pub(crate) struct BackupAccess {
    /// The endpoint of an object store of your own, such as http://127.0.0.1:9000.
    #[arg(long, value_name = "URL", env = "MONOTABLE_BACKUP_ENDPOINT_URL")]
    backup_endpoint_url: Option<String>,
    /// A setting of the object store, such as aws_region=eu-central-1.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair, value_delimiter = ',', env = "MONOTABLE_BACKUP_OPTION")]
    backup_option: Vec<(String, String)>,
}

impl BackupAccess {
    /// The address of a place that is reached so.
    pub(crate) fn address(&self, destination: &str) -> Address {
        Address {
            text: destination.to_owned(),
            endpoint: self.backup_endpoint_url.clone(),
            options: self.backup_option.clone(),
        }
    }
}

impl BackupPlace {
    /// The place as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.destination
    }

    /// Opens a place that holds backups.
    pub(crate) fn open(&self) -> Result<Destination, Failure> {
        let key = self.master_key()?;
        let address = self.access.address(&self.destination);
        Destination::open(&address, key.as_deref()).map_err(explain)
    }

    /// Opens a place to put backups into.
    pub(crate) fn open_or_make(&self) -> Result<Destination, Failure> {
        let key = self.master_key()?;
        let address = self.access.address(&self.destination);
        Destination::open_or_make(&address, key.as_deref()).map_err(explain)
    }

    /// The master key, if one was given.
    pub(crate) fn master_key(&self) -> Result<Option<Arc<dyn MasterKey>>, Failure> {
        self.key.master_key()
    }
}

/// What went wrong with a backup, and what to do about it.
pub(crate) fn explain(error: BackupError) -> Failure {
    match &error {
        BackupError::NeedsKey { .. } => Failure::with_help(
            error,
            "say where the key is: --key-file FILE, or MONOTABLE_KEY in the environment",
        ),
        BackupError::Address { .. } => Failure::from(error).into_misuse(),
        BackupError::NoBackup { .. } => {
            Failure::with_help(error, "`monotable backup DEST --data DIR` makes one")
        }
        BackupError::UnknownId { .. } => {
            Failure::with_help(error, "`monotable backup list DEST` shows what there is")
        }
        BackupError::Damaged { .. } => Failure::with_help(
            error,
            "`monotable backup verify DEST` names everything that is damaged; `monotable backup DEST --full` makes a whole one",
        ),
        BackupError::NotCovered { .. } => Failure::with_help(
            error,
            "ask for an earlier moment, or leave out --at for the last that is known",
        ),
        _ => Failure::from(error),
    }
}
