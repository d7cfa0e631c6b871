//! The DynamoDB and DynamoDB Streams protocols over HTTP, on the embedded engine.
//!
//! Always true: no thread waits for a client or a disk; what a client can make the server hold is bounded (`limits.rs`).
//!
//! Path of a request: `server.rs` accepts a connection and hands it to a worker; `connection/plain.rs` reads ordinary requests from it, hyper
//! and `http.rs` all others (with their bodies, `body.rs`); a request is let in (`origin.rs`); `operation.rs` names its operation
//! (`target.rs`), verifies its signature (`authentication.rs`, `signature.rs`), has the engine run it and writes the answer. Paths of
//! other pages go to `pages.rs`.

mod authentication;
mod body;
mod buffers;
mod client;
mod compression;
mod connection;
mod credentials;
mod date;
mod head;
mod http;
mod limits;
mod log;
mod mailbox;
mod metrics;
mod operation;
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
