//! The service on the five designs.

mod chunks;
mod cost;
mod examples;
mod idempotency;
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
