//! DynamoDB as an embedded, durable library.

#[allow(dead_code, unused_imports, reason = "the engine above it uses it")]
mod store;
