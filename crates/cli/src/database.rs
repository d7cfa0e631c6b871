//! The database that a command works on: a directory, or a server.

use std::path::{Path, PathBuf};

use clap::Args;
use dynamo::Operation;
use dynamo::operation::Reply;
use engine::{Durability, Engine, Options};
use server::{Client, ClientError};

use crate::failure::Failure;
use crate::keys::KeyPlace;

/// Where the data is, and how to ask for it.
#[derive(Args)]
pub(crate) struct Place {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    key: KeyPlace,
    /// The region to sign requests for.
    #[arg(long, default_value = "us-east-1", env = "AWS_REGION")]
    region: String,
}

#[derive(Args)]
#[group(multiple = false)]
struct Source {
    /// The directory of a database that no server has open.
    #[arg(long, value_name = "DIR", env = "MONOTABLE_DATA")]
    data: Option<PathBuf>,
    /// A server that speaks DynamoDB, such as http://127.0.0.1:8000; with the access key in AWS_ACCESS_KEY_ID and
    /// AWS_SECRET_ACCESS_KEY.
    #[arg(long, value_name = "URL", env = "MONOTABLE_ENDPOINT_URL")]
    endpoint_url: Option<String>,
}

/// An open database.
pub(crate) enum Database {
    Directory(Engine),
    Endpoint(Box<Client>),
}

impl Place {
    /// The directory, if one was named.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.source.data.as_deref()
    }

    /// The key of the directory.
    pub(crate) fn key(&self) -> &KeyPlace {
        &self.key
    }

    /// The server, if one was named.
    pub(crate) fn endpoint(&self) -> Option<&str> {
        self.source.endpoint_url.as_deref()
    }

    /// Opens a database that is there.
    pub(crate) fn open(&self) -> Result<Database, Failure> {
        if let Some(path) = &self.source.data
            && !path.is_dir()
        {
            return Err(Failure::with_help(
                format!("there is no database in {}", path.display()),
                "`monotable table create` makes one",
            ));
        }
        self.open_or_make()
    }

    /// Opens a database, or makes one where there is none.
    pub(crate) fn open_or_make(&self) -> Result<Database, Failure> {
        if self.source.data.is_none() && self.source.endpoint_url.is_none() {
            return Err(Failure::with_help(
                "which database?",
                "say where it is: --data DIR, or --endpoint-url URL of a server",
            )
            .into_misuse());
        }
        if let Some(url) = &self.source.endpoint_url {
            let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| "local".to_owned());
            let (id, secret) = (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"));
            return Ok(Database::Endpoint(Box::new(Client::new(url, &self.region, &id, &secret)?)));
        }
        let path = self.source.data.clone().unwrap_or_default();
        // A command syncs once, at its end.
        let options = Options {
            durability: Durability::None,
            region: self.region.clone(),
            key: self.key.master_key()?,
            table_keys: self.key.table_keys(),
            ..Options::default()
        };
        open_directory(&path, options).map(Database::Directory)
    }
}

/// Opens the database in a directory; what has it open is the usual reason why that fails.
pub(crate) fn open_directory(path: &Path, options: Options) -> Result<Engine, Failure> {
    Engine::open(path, options).map_err(|error| {
        if !error.is_locked() {
            return Failure::new(error);
        }
        Failure::with_help(
            error,
            "if a server has it open, work through the server: --endpoint-url http://127.0.0.1:8000",
        )
    })
}

impl Database {
    /// Runs an operation.
    pub(crate) fn run(&self, operation: impl Into<Operation>) -> Result<Reply, Failure> {
        let operation = operation.into();
        match self {
            Database::Directory(engine) => Ok(engine.run(operation)?),
            Database::Endpoint(client) => client.run(&operation).map_err(|error| match &error {
                ClientError::Unreachable(..) => {
                    Failure::with_help(error, "is the server running? `monotable serve`")
                }
                _ => Failure::from(error),
            }),
        }
    }

    /// Makes what was written durable.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {
            Database::Directory(engine) => Ok(engine.sync()?),
            Database::Endpoint(_) => Ok(()),
        }
    }
}

/// Takes the reply that belongs to a request.
macro_rules! expect_reply {
    ($reply:expr, $variant:ident) => {
        match $reply {
            dynamo::Reply::$variant(reply) => Ok(reply),
            _ => Err($crate::failure::Failure::new("the server answered another request than it was asked")),
        }
    };
}

pub(crate) use expect_reply;
