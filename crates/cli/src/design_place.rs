//! Where a design runs: the embedded database in a directory, or DynamoDB and what speaks its protocol.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use design::CheckedDesign;
use engine::{Durability, Engine};
use service::{Backend, Embedded, Service};

use crate::database::Place;
use crate::design_file;
use crate::failure::Failure;

/// Where the embedded database is when nobody says.
pub(crate) const DATA: &str = "monotable-data";

/// Where a design runs.
#[derive(Args)]
pub(crate) struct DesignPlace {
    /// The directory of the embedded database; monotable-data if nothing else is said.
    #[arg(long, value_name = "DIR", env = "MONOTABLE_DATA")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) variables: Variables,
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
                    Failure::with_help(format!("no design has the variable `{name}`"), help).as_misuse()
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
        DesignPlace { data: place.directory().map(Path::to_owned), variables: variables.clone() }
    }

    /// A service for a design, its tables made where they were missing.
    pub(crate) fn open(&self, given: &str, work: &Work) -> Result<Service, Failure> {
        let design = design_file::checked(given)?;
        let variables = self.variables.of(std::slice::from_ref(&design))?;
        let service = Service::new(
            design,
            self.backend()?,
            service::Options { variables, ..service::Options::default() },
        );
        work.wait(service.prepare()).map_err(Failure::new)?;
        Ok(service)
    }

    fn backend(&self) -> Result<Arc<dyn Backend>, Failure> {
        let data = self.data.as_deref().unwrap_or(Path::new(DATA));
        // What a command has said it did is done, whatever happens next.
        let options = engine::Options { durability: Durability::Sync, ..engine::Options::default() };
        let engine = Engine::open(data, options).map_err(|error| {
            Failure::with_help(
                error,
                "if a server has it open, work through the server: --endpoint-url http://127.0.0.1:8000",
            )
        })?;
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
