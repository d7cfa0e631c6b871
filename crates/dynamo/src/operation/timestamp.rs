//! A moment on the wire: seconds since 1970 as a JSON number with a fraction.

/// A moment, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Milliseconds since 1970.
    pub milliseconds: i64,
}

impl Timestamp {
    /// The moment so many milliseconds after 1970.
    pub fn from_milliseconds(milliseconds: i64) -> Timestamp {
        Timestamp { milliseconds }
    }
}
