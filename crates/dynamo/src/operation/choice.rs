//! A member that takes one of a few texts: kept as it came, so that the rules can report a text that is none of them.

/// One of the texts that the API lists, or another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice<T> {
    /// A listed text.
    Known(T),
    /// Another text; the field rules refuse it.
    Unknown(String),
}

impl<T: Copy> Choice<T> {
    /// The choice, if it is a listed one.
    pub fn known(&self) -> Option<T> {
        match self {
            Choice::Known(known) => Some(*known),
            Choice::Unknown(_) => None,
        }
    }
}

impl<T: PartialEq> PartialEq<T> for Choice<T> {
    fn eq(&self, other: &T) -> bool {
        matches!(self, Choice::Known(known) if known == other)
    }
}

impl From<crate::KeyType> for Choice<crate::KeyType> {
    fn from(known: crate::KeyType) -> Self {
        Choice::Known(known)
    }
}
