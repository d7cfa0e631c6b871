//! The service on the five designs.
