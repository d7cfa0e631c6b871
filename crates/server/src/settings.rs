//! How a server is started.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use crate::credentials::Credentials;
use crate::limits::Limits;
use crate::metrics::MoreMetrics;
use crate::pages::Pages;
use crate::tls::Tls;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens. Port 0 lets the system choose one.
    pub address: SocketAddr,
    /// Who may use it. Empty accepts whatever credentials a client has, on loopback only.
    pub credentials: Credentials,
    /// The region that signatures must be made for, where they are verified.
    pub region: String,
    /// Names that the server is known by besides those of this machine.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may use the server.
    pub cors_origins: Vec<String>,
    /// The certificate to serve HTTPS with.
    pub tls: Option<Tls>,
    /// What a client may take.
    pub limits: Limits,
    /// Threads that serve connections; 0 takes one for each processor.
    pub workers: usize,
    /// Other pages beside the DynamoDB protocol.
    pub pages: Option<Arc<dyn Pages>>,
    /// Further metrics, beside those of the server.
    pub more_metrics: Option<Arc<dyn MoreMetrics>>,
    /// Whether the DynamoDB protocols are served. Not where the pages work on another database than the engine of this server.
    pub dynamodb: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8000),
            credentials: Credentials::default(),
            region: "us-east-1".to_owned(),
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            tls: None,
            limits: Limits::default(),
            workers: 0,
            pages: None,
            more_metrics: None,
            dynamodb: true,
        }
    }
}
