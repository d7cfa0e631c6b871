//! The DynamoDB and DynamoDB Streams protocols over HTTP, on the embedded engine.
//!
//! Always true: no thread waits for a client or a disk; what a client can make the server hold is bounded (`limits.rs`).
//!
//! Path of a request: `server.rs` accepts a connection and hands it to a worker; `connection.rs` reads requests from it;
//! `http.rs` lets them in (`origin.rs`), reads their body (`body.rs`), names their operation (`target.rs`), verifies their signature
//! (`authentication.rs`, `signature.rs`), has the engine run them and writes the answer. Paths of other pages go to `pages.rs`.

mod authentication;
mod body;
mod client;
mod compression;
mod connection;
mod credentials;
mod date;
mod http;
mod limits;
mod log;
mod mailbox;
mod metrics;
mod origin;
mod pages;
mod query_string;
mod request_id;
mod server;
mod service;
mod settings;
mod signature;
mod target;
mod tls;
mod workers;

pub use client::{Client, ClientError};
pub use credentials::{Access, Credentials, CredentialsError};
pub use limits::{BODY_BYTES_MAX, HEAD_BYTES_MAX, Limits};
pub use metrics::MoreMetrics;
pub use pages::{Answering, Pages};
pub use server::{Server, StartError, Stopper};
pub use settings::Settings;
pub use signature::{Signed, sign};
pub use tls::{Tls, TlsError};
