//! What holds for every store, and what holds on disk only.

mod both;
mod disk;

use std::sync::Arc;

use seal::{KeyBytes, LocalKey, MasterKey};

/// One of 256 master keys.
fn master_key(number: u8) -> Arc<dyn MasterKey> {
    Arc::new(LocalKey::new(&KeyBytes::new([number; 32])))
}
