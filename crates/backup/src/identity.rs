//! Names of databases.

use crate::BackupError;
use crate::vault::{hex, random};

/// A name for a database that has none yet; no two are the same.
pub fn fresh_name() -> Result<String, BackupError> {
    Ok(hex(&random::<8>()?))
}
