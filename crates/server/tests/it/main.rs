//! The server over real sockets: what it answers, what it refuses, and what hostile clients cannot do to others.

mod abuse;
mod browser;
mod connections;
mod protocol;
mod signatures;
mod support;
