//! Objects in an object store: Amazon S3 and what speaks like it, Google Cloud Storage, Azure Blob Storage.
//!
//! The rest of the crate is synchronous, as the engine is; here is the one place with an event loop.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{
    ClientOptions, Error, ObjectStore, ObjectStoreExt as _, ObjectStoreScheme, PutMode, PutOptions,
    RetryConfig, UpdateVersion,
};
use tokio::runtime::Runtime;

use super::{Guard, Listed, Objects, Version};
use crate::BackupError;
use crate::destination::Address;

/// An object store answers in tens of milliseconds; several requests at a time hide that.
const LANES: usize = 8;
/// How long one request is tried again. Longer outages are for the caller to sit out.
const RETRY_SECONDS: u64 = 20;
const RETRIES: usize = 4;
const CONNECT_SECONDS: u64 = 5;
const REQUEST_SECONDS: u64 = 120;

/// A part of an object store.
pub(crate) struct Remote {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    runtime: Runtime,
}

impl Remote {
    /// Connects when the first request is made. Credentials come from the environment.
    pub(crate) fn new(address: &Address) -> Result<Remote, BackupError> {
        let wrong = |reason: String| BackupError::Address { address: address.text.clone(), reason };
        let url = url::Url::parse(&address.text).map_err(|error| wrong(error.to_string()))?;
        let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|error| wrong(error.to_string()))?;
        // Another part of the program may have chosen already: the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = build(&scheme, address).map_err(wrong)?;
        Remote::on(store, prefix)
    }

    /// On a store that is there.
    pub(crate) fn on(store: Arc<dyn ObjectStore>, prefix: Path) -> Result<Remote, BackupError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| BackupError::Unreachable {
            doing: "starting an event loop".to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Remote { store, prefix, runtime })
    }

    fn path(&self, name: &str) -> Path {
        self.prefix.parts().chain(Path::from(name).parts()).collect()
    }

    fn put_with(&self, name: &str, bytes: Bytes, mode: PutMode) -> Result<(), Error> {
        let options = PutOptions { mode, ..PutOptions::default() };
        self.runtime.block_on(self.store.put_opts(&self.path(name), bytes.into(), options)).map(drop)
    }
}

fn build(scheme: &ObjectStoreScheme, address: &Address) -> Result<Arc<dyn ObjectStore>, String> {
    let retry = RetryConfig {
        max_retries: RETRIES,
        retry_timeout: Duration::from_secs(RETRY_SECONDS),
        ..RetryConfig::default()
    };
    let client = ClientOptions::new()
        .with_connect_timeout(Duration::from_secs(CONNECT_SECONDS))
        .with_timeout(Duration::from_secs(REQUEST_SECONDS))
        .with_allow_http(address.allows_http());
    let said = |error: Error| error.to_string();
    match scheme {
        ObjectStoreScheme::AmazonS3 => {
            let mut builder = AmazonS3Builder::from_env().with_url(&address.text);
            builder = builder.with_client_options(client).with_retry(retry);
            if let Some(endpoint) = &address.endpoint {
                builder = builder.with_endpoint(endpoint);
            }
            for (key, value) in &address.options {
                builder = builder.with_config(key.parse::<AmazonS3ConfigKey>().map_err(said)?, value);
            }
            Ok(Arc::new(builder.build().map_err(said)?))
        }
        ObjectStoreScheme::GoogleCloudStorage => {
            let mut builder = GoogleCloudStorageBuilder::from_env().with_url(&address.text);
            builder = builder.with_client_options(client).with_retry(retry);
            if let Some(endpoint) = &address.endpoint {
                builder = builder.with_base_url(endpoint);
            }
            for (key, value) in &address.options {
                builder = builder.with_config(key.parse::<GoogleConfigKey>().map_err(said)?, value);
            }
            Ok(Arc::new(builder.build().map_err(said)?))
        }
        ObjectStoreScheme::MicrosoftAzure => {
            let mut builder = MicrosoftAzureBuilder::from_env().with_url(&address.text);
            builder = builder.with_client_options(client).with_retry(retry);
            if let Some(endpoint) = &address.endpoint {
                builder = builder.with_endpoint(endpoint.clone());
            }
            for (key, value) in &address.options {
                builder = builder.with_config(key.parse::<AzureConfigKey>().map_err(said)?, value);
            }
            Ok(Arc::new(builder.build().map_err(said)?))
        }
        _ => Err("use a directory, s3://BUCKET/PATH, gs://BUCKET/PATH or az://CONTAINER/PATH".to_owned()),
    }
}

fn failed(doing: &str, name: &str) -> impl FnOnce(Error) -> BackupError {
    let doing = format!("{doing} {name}");
    move |error| BackupError::Unreachable { doing, reason: error.to_string() }
}

impl Objects for Remote {
    fn get(&self, name: &str) -> Result<Option<(Bytes, Version)>, BackupError> {
        let reading = async {
            let found = self.store.get(&self.path(name)).await?;
            let version = Version { tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
            Ok((found.bytes().await?, version))
        };
        match self.runtime.block_on(reading) {
            Ok(found) => Ok(Some(found)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed("reading", name)(error)),
        }
    }

    fn put(&self, name: &str, bytes: Bytes) -> Result<(), BackupError> {
        self.put_with(name, bytes, PutMode::Overwrite).map_err(failed("writing", name))
    }

    fn replace(&self, name: &str, bytes: Bytes, seen: Option<&Version>) -> Result<bool, BackupError> {
        let mode = match seen {
            None => PutMode::Create,
            Some(seen) => {
                PutMode::Update(UpdateVersion { e_tag: seen.tag.clone(), version: seen.version.clone() })
            }
        };
        match self.put_with(name, bytes.clone(), mode) {
            Ok(()) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            // A store without conditions: there only one may work at a time.
            Err(Error::NotImplemented { .. }) => self.put(name, bytes).map(|()| true),
            Err(error) => Err(failed("writing", name)(error)),
        }
    }

    fn remove(&self, name: &str) -> Result<(), BackupError> {
        match self.runtime.block_on(self.store.delete(&self.path(name))) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed("removing", name)(error)),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, BackupError> {
        let listing = self.store.list(Some(&self.path(folder))).try_collect::<Vec<_>>();
        let found = self.runtime.block_on(listing).map_err(failed("listing", folder))?;
        let name_of = |location: &Path| {
            location
                .prefix_match(&self.prefix)
                .map(|parts| parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
        };
        let mut listed: Vec<Listed> = found
            .iter()
            .filter_map(|meta| Some(Listed { name: name_of(&meta.location)?, size_bytes: meta.size }))
            .collect();
        listed.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(listed)
    }

    /// An object store answers once it has an object.
    fn settle(&self) -> Result<(), BackupError> {
        Ok(())
    }

    fn guard(&self) -> Result<Guard, BackupError> {
        Ok(Box::new(()))
    }

    fn sweep(&self) -> Result<(), BackupError> {
        Ok(())
    }

    fn lanes(&self) -> usize {
        LANES
    }
}
