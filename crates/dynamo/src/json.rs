//! DynamoDB JSON: requests are read into their types without a tree in between, replies are written from stored bytes.

mod fault;

pub use fault::{Fault, Faults, ValueFault};
