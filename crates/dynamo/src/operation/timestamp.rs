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

impl std::fmt::Display for Timestamp {
    /// Seconds with three decimals.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.milliseconds < 0 { "-" } else { "" };
        let milliseconds = self.milliseconds.unsigned_abs();
        write!(formatter, "{sign}{}.{:03}", milliseconds / 1000, milliseconds % 1000)
    }
}
