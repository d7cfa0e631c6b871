//! Where a design runs: the embedded database in a directory, or DynamoDB and what speaks its protocol.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use design::CheckedDesign;
use engine::Durability;
use service::{Backend, Embedded, Remote, RemoteSettings, Service};

use crate::database::{Place, open_directory};
use crate::design_file;
use crate::failure::Failure;
use crate::keys::KeyPlace;

/// Where the embedded database is when nobody says.
pub(crate) const DATA: &str = "monotable-data";

/// Where a design runs.
#[derive(Args)]
pub(crate) struct DesignPlace {
    /// The directory of the embedded database; monotable-data if nothing else is said.
    #[arg(long, value_name = "DIR", env = "MONOTABLE_DATA")]
    data: Option<PathBuf>,
    #[command(flatten)]
    key: KeyPlace,
    #[command(flatten)]
    remote: RemotePlace,
    #[command(flatten)]
    variables: Variables,
}

/// DynamoDB, or a server that speaks its protocol.
#[derive(Args, Clone, Default)]
pub(crate) struct RemotePlace {
    /// A server that speaks DynamoDB, such as http://127.0.0.1:8000; with the access key in AWS_ACCESS_KEY_ID and
    /// AWS_SECRET_ACCESS_KEY.
    #[arg(long, value_name = "URL", env = "MONOTABLE_ENDPOINT_URL", conflicts_with = "data")]
    endpoint_url: Option<String>,
    /// The embedded database, or Amazon DynamoDB with the usual AWS configuration.
    #[arg(long, value_enum, default_value_t = BackendKind::Embedded, env = "MONOTABLE_BACKEND")]
    backend: BackendKind,
    /// The profile in the AWS configuration.
    #[arg(long, value_name = "NAME", env = "AWS_PROFILE")]
    profile: Option<String>,
}

/// What a design runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendKind {
    /// The database in this program.
    #[default]
    Embedded,
    /// Amazon DynamoDB.
    Dynamodb,
}

impl RemotePlace {
    /// The server at this address.
    pub(crate) fn at(endpoint_url: Option<&str>) -> RemotePlace {
        RemotePlace { endpoint_url: endpoint_url.map(str::to_owned), ..RemotePlace::default() }
    }

    /// Whether another database than the embedded one is meant.
    pub(crate) fn is_meant(&self) -> bool {
        self.endpoint_url.is_some() || self.backend == BackendKind::Dynamodb
    }

    /// Connects; none where the embedded database is meant.
    pub(crate) fn connect(&self, work: &Work) -> Result<Option<Arc<dyn Backend>>, Failure> {
        let mut settings = RemoteSettings { profile: self.profile.clone(), ..RemoteSettings::default() };
        match (&self.endpoint_url, self.backend) {
            (None, BackendKind::Embedded) => return Ok(None),
            (None, BackendKind::Dynamodb) => {}
            (Some(url), _) => {
                settings.endpoint_url = Some(url.clone());
                // A server on this machine asks for a region and a key, and believes any.
                let is_set = |name: &str| std::env::var_os(name).is_some();
                if !is_set("AWS_ACCESS_KEY_ID") && self.profile.is_none() {
                    settings.access_key = Some(("local".to_owned(), "local".to_owned()));
                }
                if !is_set("AWS_REGION") && !is_set("AWS_DEFAULT_REGION") {
                    settings.region = Some("us-east-1".to_owned());
                }
            }
        }
        let remote = work.wait(Remote::connect(settings)).map_err(|error| {
            Failure::with_help(
                format!("cannot reach {}: {error}", self.endpoint_url.as_deref().unwrap_or("DynamoDB")),
                "is it running, and is the access key right? `monotable serve` starts a server",
            )
        })?;
        Ok(Some(Arc::new(remote)))
    }
}

/// Variables of designs.
#[derive(Args, Clone)]
pub(crate) struct Variables {
    /// A variable of the design, such as stage=prod.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair, value_delimiter = ',', env = "MONOTABLE_SET")]
    set: Vec<(String, String)>,
}

impl Variables {
    /// What the service is told. A variable that no design has is a mistake.
    pub(crate) fn of(&self, designs: &[CheckedDesign]) -> Result<BTreeMap<String, String>, Failure> {
        for (name, _) in &self.set {
            let mut known = designs.iter().flat_map(|design| &design.variables);
            if !known.any(|variable| variable.name.value == *name) {
                let all = designs.iter().flat_map(|design| &design.variables);
                let all = all.map(|variable| variable.name.value.as_str()).collect::<Vec<_>>().join(", ");
                let help =
                    if all.is_empty() { "there are none".to_owned() } else { format!("there are: {all}") };
                return Err(
                    Failure::with_help(format!("no design has the variable `{name}`"), help).into_misuse()
                );
            }
        }
        Ok(self.set.iter().cloned().collect())
    }
}

/// Reads `name=value`.
pub(crate) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as name=value".to_owned()),
    }
}

impl DesignPlace {
    /// The place that another command's options name.
    pub(crate) fn of(place: &Place, variables: &Variables) -> DesignPlace {
        DesignPlace {
            data: place.directory().map(Path::to_owned),
            key: place.key().clone(),
            remote: RemotePlace::at(place.endpoint()),
            variables: variables.clone(),
        }
    }

    /// A service for a design, its tables made where they were missing.
    pub(crate) fn open(&self, given: &str, work: &Work) -> Result<Service, Failure> {
        let design = design_file::checked(given)?;
        let variables = self.variables.of(std::slice::from_ref(&design))?;
        let service = Service::new(
            design,
            self.backend(work)?,
            service::Options { variables, ..service::Options::default() },
        );
        work.wait(service.prepare()).map_err(Failure::new)?;
        Ok(service)
    }

    fn backend(&self, work: &Work) -> Result<Arc<dyn Backend>, Failure> {
        if let Some(remote) = self.remote.connect(work)? {
            return Ok(remote);
        }
        let data = self.data.as_deref().unwrap_or(Path::new(DATA));
        // What a command has said it did is done, whatever happens next.
        let options = engine::Options {
            durability: Durability::Sync,
            key: self.key.master_key()?,
            table_keys: self.key.table_keys(),
            ..engine::Options::default()
        };
        let engine = open_directory(data, options)?;
        Ok(Arc::new(Embedded::new(engine)))
    }
}

/// Carries out what has to wait: for a disk, for a network.
pub(crate) struct Work {
    runtime: tokio::runtime::Runtime,
}

impl Work {
    pub(crate) fn start() -> Result<Work, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        Ok(Work { runtime })
    }

    /// Begins something that goes on beside everything else.
    pub(crate) fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.runtime.spawn(work));
    }

    /// Waits for an outcome.
    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}
