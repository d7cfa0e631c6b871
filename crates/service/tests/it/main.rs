//! The service on the five designs.

mod examples;
mod support;

mod scenario;
