//! The server over real sockets: what it answers, what it refuses, and what hostile clients cannot do to others.

#![expect(clippy::unwrap_used, reason = "everything here is a test")]

mod abuse;
mod browser;
mod connections;
mod pages;
mod plain;
mod protocol;
mod signatures;
mod support;
mod tls;
