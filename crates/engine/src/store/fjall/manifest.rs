//! The manifests: which tables a tree consists of, and in which order. Looked at before the storage crate opens them.
//!
//! The storage crate writes a checksum of each manifest beside its number (`current`), and does not look at it again; and where
//! `current` is missing it begins with an empty tree. A changed manifest could so bring back what was overwritten, or hide what is there.

use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::super::StoreError;
use super::contents::check_contents;

const KEYSPACES: &str = "keyspaces";
const CURRENT: &str = "current";

/// Checks the manifest of every tree, and the ends of its tables.
pub(super) fn check_trees(database: &Path) -> Result<(), StoreError> {
    let listing = || StoreError::io("listing the keyspaces");
    for entry in fs::read_dir(database.join(KEYSPACES)).map_err(listing())? {
        let tree = entry.map_err(listing())?.path();
        check_manifest(&tree)?;
        check_contents(&tree)?;
    }
    Ok(())
}

/// Reads it again where a newer one took its place meanwhile.
fn check_manifest(tree: &Path) -> Result<(), StoreError> {
    let current = read_current(tree)?;
    let outcome = check_against(tree, current);
    if outcome.is_err() && read_current(tree)? != current {
        return check_manifest(tree);
    }
    outcome
}

/// The number and the checksum of the manifest that counts.
fn read_current(tree: &Path) -> Result<(u64, u128), StoreError> {
    let path = tree.join(CURRENT);
    let damaged = || StoreError::corrupt(format!("{} is missing or damaged", path.display()));
    let bytes = fs::read(&path).map_err(|_| damaged())?;
    let (number, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    let (checksum, kind) = rest.split_first_chunk().ok_or_else(damaged)?;
    match kind {
        [0] => Ok((u64::from_le_bytes(*number), u128::from_le_bytes(*checksum))),
        _ => Err(damaged()),
    }
}

fn check_against(tree: &Path, (number, checksum): (u64, u128)) -> Result<(), StoreError> {
    let path = tree.join(format!("v{number}"));
    match fs::read(&path) {
        Ok(bytes) if xxh3_128(&bytes) == checksum => Ok(()),
        _ => Err(StoreError::corrupt(format!("the manifest {} is missing or damaged", path.display()))),
    }
}
