//! Master keys: what wraps data keys.

use zeroize::Zeroizing;

use crate::SealError;

/// How long master keys in files, and all data keys, are.
pub const KEY_BYTES: usize = 32;

/// A key in memory, overwritten when it is dropped.
pub type KeyBytes = Zeroizing<[u8; KEY_BYTES]>;

/// Something that wraps data keys: a key in a file ([`crate::LocalKey`]), or a service that holds one and never lets it go.
///
/// `context` is bound to what is wrapped: unwrapping with another one must fail. It is no secret.
pub trait MasterKey: Send + Sync {
    /// Names the key, without telling it; stands in envelopes, so it must not change.
    fn id(&self) -> &str;

    /// Wraps a data key.
    fn wrap(&self, context: &str, key: &KeyBytes) -> Result<Vec<u8>, SealError>;

    /// Unwraps a data key: `None` if it was altered, or wrapped with another key or in another context.
    fn unwrap(&self, context: &str, wrapped: &[u8]) -> Result<Option<KeyBytes>, SealError>;
}
