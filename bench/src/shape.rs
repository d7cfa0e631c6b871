//! How costs grow.

pub fn run() {}
