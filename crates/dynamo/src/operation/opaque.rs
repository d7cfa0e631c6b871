//! A member that is carried and not looked into.

/// The JSON text of a member that Monotable does not act on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opaque {
    /// The text, valid JSON.
    pub json: String,
}
