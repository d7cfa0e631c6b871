//! Sealed bytes: authenticated encryption under envelope keys, for data at rest.
//!
//! A *master key* never touches data: it wraps *data keys*, and these, wrapped, stand in an [`Envelope`] beside the data. Replacing
//! the master key is therefore wrapping a few data keys again. An opened envelope is a [`Keyring`], which gives out
//! [`Sealer`]s, one for each purpose.
//!
//! Always true:
//! - What [`Sealer::open`] returns is exactly what [`Sealer::seal`] was given, by somebody with the data key, for the same purpose
//!   and the same associated data; anything else is an error.
//! - No key is printed by `Debug`, and key material of ours is overwritten when it is dropped.
//! - No pair of key and nonce is used twice (`sealer.rs` says why).
//!
//! Path of a key: `LocalKey` (file, environment) or another [`MasterKey`] -> `Envelope::open` -> `Keyring` -> `Sealer`.

mod envelope;
mod error;
mod keyring;
mod local;
mod master;
mod named;
mod sealer;

pub use envelope::Envelope;
pub use error::SealError;
pub use keyring::Keyring;
pub use local::{LocalKey, random_bytes};
pub use master::{KEY_BYTES, KeyBytes, MasterKey};
pub use named::{KeyDirectory, KeySource};
pub use sealer::{OVERHEAD_BYTES, Sealer};
