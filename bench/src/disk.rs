//! On disk: beside the storage engine used raw.

pub fn run(_items: usize) {}
