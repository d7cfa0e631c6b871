//! `monotable serve`: the database over the DynamoDB protocol, and designs over HTTP beside it.

mod backing;
mod designs;
mod greeting;

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use engine::{Durability, Engine, Options};
use seal::MasterKey;
use server::{Access, Credentials, Limits, Server, Settings, StartError, Tls};
use service::{Backend, Embedded};
use tracing::level_filters::LevelFilter;

use crate::design_file::BUILT_IN;
use crate::design_place::{DATA, RemotePlace, Variables, Work};
use crate::failure::Failure;
use crate::keys::KeyPlace;
use crate::logs::{self, LogFormat};
use crate::size::{parse_durability, parse_size};

use backing::Backing;
use designs::Designs;

/// Serves designs over HTTP, and the DynamoDB and DynamoDB Streams protocols beside them.
///
/// Without a design, a directory or --in-memory, everything is started: the five designs that are built in, with seed data, in
/// ./monotable-data.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Design files, or names of built-in designs: their tables are made, and each is served under /v1/NAME.
    #[arg(value_name = "DESIGN")]
    designs: Vec<String>,
    /// Make the items that the designs start from, where their tables are new.
    #[arg(long, env = "MONOTABLE_SEED")]
    seed: bool,
    #[command(flatten)]
    variables: Variables,
    /// The directory of the database; it is made where there is none. monotable-data if nothing else is said.
    #[arg(long, value_name = "DIR", env = "MONOTABLE_DATA")]
    data: Option<PathBuf>,
    #[command(flatten)]
    key: KeyPlace,
    #[command(flatten)]
    remote: RemotePlace,
    /// Keep everything in memory; it is gone when the server stops.
    #[arg(long, conflicts_with_all = ["data", "endpoint_url"], env = "MONOTABLE_IN_MEMORY")]
    in_memory: bool,
    /// The port; 0 lets the system choose one.
    #[arg(long, short, default_value_t = 8000, env = "MONOTABLE_PORT")]
    port: u16,
    /// The address to listen on. Beyond loopback only with credentials.
    #[arg(long, default_value = "127.0.0.1", env = "MONOTABLE_HOST")]
    host: IpAddr,
    /// When a write is acknowledged: once it is on disk (sync), or once the system has it and it is on disk soon after
    /// (interval=MS) or at some time (none).
    #[arg(long, value_name = "sync|interval=MS|none", default_value = "sync", value_parser = parse_durability, env = "MONOTABLE_DURABILITY")]
    durability: Durability,
    /// Memory for data read from disk.
    #[arg(long, value_name = "SIZE", default_value = "256MB", value_parser = parse_size, env = "MONOTABLE_CACHE")]
    cache: u64,
    /// The directory that ExportTableToPointInTime writes into, with a folder for each bucket. Without it, exports are refused.
    #[arg(long, value_name = "DIR", env = "MONOTABLE_EXPORT_DIR")]
    export_dir: Option<PathBuf>,
    /// The region in names of resources and in signatures.
    #[arg(long, default_value = "us-east-1", env = "MONOTABLE_REGION")]
    region: String,
    /// The account in names of resources.
    #[arg(long, value_name = "ID", default_value = "123456789012", env = "MONOTABLE_ACCOUNT")]
    account: String,
    /// A file with access keys, like the AWS CLI's; with `access = read-only` for keys that may not write.
    #[arg(long, value_name = "FILE", env = "MONOTABLE_CREDENTIALS")]
    credentials: Option<PathBuf>,
    /// A single access key, with its secret in MONOTABLE_SECRET_ACCESS_KEY.
    #[arg(long, value_name = "ID", env = "MONOTABLE_ACCESS_KEY_ID")]
    access_key_id: Option<String>,
    /// A further name that clients may reach the server by.
    #[arg(long, value_name = "NAME", env = "MONOTABLE_ALLOWED_HOST", value_delimiter = ',')]
    allowed_host: Vec<String>,
    /// An origin whose pages may use the server from a browser.
    #[arg(long, value_name = "ORIGIN", env = "MONOTABLE_CORS", value_delimiter = ',')]
    cors: Vec<String>,
    /// A certificate (PEM) to serve HTTPS with.
    #[arg(long, value_name = "FILE", requires = "tls_key", env = "MONOTABLE_TLS_CERT")]
    tls_cert: Option<PathBuf>,
    /// The key (PEM) of the certificate.
    #[arg(long, value_name = "FILE", requires = "tls_cert", env = "MONOTABLE_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// Connections at the same time.
    #[arg(long, value_name = "COUNT", default_value_t = 4096, env = "MONOTABLE_MAX_CONNECTIONS")]
    max_connections: usize,
    /// Threads that serve connections; 0 takes one for each processor.
    #[arg(long, value_name = "COUNT", default_value_t = 0, env = "MONOTABLE_WORKERS")]
    workers: usize,
    #[command(flatten)]
    backing: Backing,
    /// A file that is written once clients can connect; it holds the endpoint.
    #[arg(long, value_name = "FILE", env = "MONOTABLE_READY_FILE")]
    ready_file: Option<PathBuf>,
    /// How logs are written, to stderr.
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "MONOTABLE_LOG_FORMAT")]
    log_format: LogFormat,
    /// What is logged: error, warn, info, debug, trace or off.
    #[arg(long, value_name = "LEVEL", default_value = "warn", env = "MONOTABLE_LOG")]
    log: LevelFilter,
}

const EXAMPLES: &str = "\
Examples:
  monotable serve                                  everything: five designs with data, in ./monotable-data, on port 8000
  monotable serve shop.toml                        your design, on a durable database in ./monotable-data
  monotable serve shop.toml --in-memory --seed     your design with its seed data, gone when it stops
  monotable serve shop.toml --backend dynamodb     your design on Amazon DynamoDB
  monotable serve --in-memory                      only the DynamoDB protocol, for tests
  monotable serve --data ./data --port 8001
  monotable serve --data ./data --port 0 --ready-file ready.txt
  monotable serve --data ./data --key-file ./key     an encrypted database; `monotable key new ./key` makes the key
  monotable serve --data ./data --backup-to s3://bucket/monotable       a lost machine loses seconds
  monotable serve --data ./data --host 0.0.0.0 --credentials keys.ini --allowed-host db.internal

A credentials file:
  [application]
  aws_access_key_id = APPLICATION
  aws_secret_access_key = a long secret
  [reports]
  aws_access_key_id = REPORTS
  aws_secret_access_key = another long secret
  access = read-only

Every option can be given in the environment as well, as MONOTABLE_PORT for --port. MONOTABLE_SECRET, which is only there, signs
cursors of patterns and what is sent to web hooks; without it both change when the server starts again.";

impl Serve {
    pub(crate) fn run(self) -> Result<(), Failure> {
        logs::start(self.log_format, self.log);
        let credentials = self.credentials()?;
        let is_open = credentials.is_empty();
        let mut settings = self.settings(credentials)?;
        let work = self.needs_work().then(Work::start).transpose()?;
        let remote = work.as_ref().map(|work| self.remote.connect(work)).transpose()?.flatten();
        // On another database there is nothing for the DynamoDB protocol here.
        settings.dynamodb = remote.is_none();
        let is_elsewhere = self.in_memory || remote.is_some();
        let key = if is_elsewhere { None } else { self.key.master_key()? };
        let engine = if remote.is_some() { Engine::in_memory() } else { self.engine(key.clone())? };
        let shipper = self.backing.start(&engine, is_elsewhere, key)?;
        settings.more_metrics = shipper.as_ref().map(backing::metrics);
        let backend = remote.unwrap_or_else(|| Arc::new(Embedded::new(engine.clone())));
        let designs = self.running(backend, work)?;
        if designs.is_none() && !settings.dynamodb {
            return Err(Failure::with_help(
                "which design?",
                "name the designs to serve: monotable serve shop.toml",
            )
            .into_misuse());
        }
        settings.pages = designs.as_ref().map(Designs::pages);
        let server = Server::bind(engine, settings).map_err(explain)?;
        let endpoint = self.endpoint(server.address());
        println!("{}", self.greeting(&endpoint, is_open, designs.as_ref()));
        std::io::stdout().flush()?;
        if let Some(path) = &self.ready_file {
            write_ready_file(path, &endpoint)?;
        }
        tracing::info!(%endpoint, "ready");
        server.run_until_signal()?;
        // Ships what is left.
        drop(shipper);
        Ok(())
    }

    fn engine(&self, key: Option<Arc<dyn MasterKey>>) -> Result<Engine, Failure> {
        let options = Options {
            key,
            table_keys: self.key.table_keys(),
            durability: self.durability,
            cache_bytes: self.cache,
            region: self.region.clone(),
            account: self.account.clone(),
            export_directory: self.export_dir.clone(),
            endpoint: (self.port != 0).then(|| format!("{}:{}", self.host, self.port)),
            ..Options::default()
        };
        if self.in_memory {
            return Ok(Engine::in_memory_with(options));
        }
        Ok(Engine::open(self.directory(), options)?)
    }

    fn directory(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new(DATA))
    }

    /// Whether nothing was said about what to serve: then it is everything there is.
    fn is_tour(&self) -> bool {
        self.designs.is_empty() && self.data.is_none() && !self.in_memory && !self.remote.is_meant()
    }

    /// The designs to serve.
    fn given(&self) -> Vec<String> {
        if self.is_tour() { BUILT_IN.map(|(name, _)| name.to_owned()).to_vec() } else { self.designs.clone() }
    }

    /// Whether there is more to do than to answer the DynamoDB protocol, which has threads of its own.
    fn needs_work(&self) -> bool {
        self.remote.is_meant() || !self.given().is_empty()
    }

    /// The designs that are served, ready to be asked.
    fn running(&self, backend: Arc<dyn Backend>, work: Option<Work>) -> Result<Option<Designs>, Failure> {
        let (given, Some(work)) = (self.given(), work) else { return Ok(None) };
        if given.is_empty() {
            return Ok(None);
        }
        Designs::start(&given, backend, work, &self.variables, self.seed || self.is_tour()).map(Some)
    }

    fn credentials(&self) -> Result<Credentials, Failure> {
        let credentials = match &self.credentials {
            None => Credentials::default(),
            Some(path) => Credentials::from_file(path).map_err(|error| {
                Failure::with_help(error, "`monotable serve --help` shows what a credentials file looks like")
            })?,
        };
        let Some(id) = &self.access_key_id else { return Ok(credentials) };
        let secret = std::env::var("MONOTABLE_SECRET_ACCESS_KEY").ok().filter(|secret| !secret.is_empty());
        let secret = secret.ok_or_else(|| {
            Failure::with_help(
                format!("the access key {id} has no secret"),
                "set MONOTABLE_SECRET_ACCESS_KEY, or use a file: --credentials FILE",
            )
        })?;
        Ok(credentials.with(id, &secret, Access::Full)?)
    }

    fn settings(&self, credentials: Credentials) -> Result<Settings, Failure> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Some(Tls::from_files(certificate, key)?),
            _ => None,
        };
        Ok(Settings {
            address: SocketAddr::new(self.host, self.port),
            credentials,
            region: self.region.clone(),
            allowed_hosts: self.allowed_host.clone(),
            cors_origins: self.cors.clone(),
            tls,
            limits: Limits { connections: self.max_connections, ..Limits::default() },
            workers: self.workers,
            ..Settings::default()
        })
    }

    fn endpoint(&self, address: SocketAddr) -> String {
        let scheme = if self.tls_cert.is_some() { "https" } else { "http" };
        match address.ip() {
            ip if ip.is_unspecified() => format!("{scheme}://localhost:{}", address.port()),
            _ => format!("{scheme}://{address}"),
        }
    }
}

/// Appears whole or not at all, so that a script that waits for it never reads half of it.
fn write_ready_file(path: &Path, endpoint: &str) -> std::io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    std::fs::write(&unfinished, format!("{endpoint}\n"))?;
    std::fs::rename(&unfinished, path)
}

fn explain(error: StartError) -> Failure {
    match &error {
        StartError::Open(_) => Failure::with_help(
            error,
            "configure access keys with --credentials FILE, or listen on this machine only with --host 127.0.0.1",
        ),
        StartError::Bind { .. } => {
            Failure::with_help(error, "choose another port with --port, or --port 0 for any that is free")
        }
        StartError::System(_) => Failure::from(error),
    }
}
