//! The service on the five designs.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::default_trait_access,
    clippy::type_complexity,
    reason = "a test that is surprised should stop"
)]

mod chunks;
mod cost;
mod examples;
mod idempotency;
mod openapi;
mod patterns;
mod races;
mod reactions;
mod remote;
mod repair;
mod scenario;
mod shop;
mod support;
mod tables;
mod writes;
