//! The databases that scripts run on.

mod embedded;
#[cfg(feature = "wire")]
mod endpoint;

pub(crate) use embedded::Embedded;
#[cfg(feature = "wire")]
pub(crate) use endpoint::Endpoint;

use crate::answer::Answer;

/// Something that answers requests as DynamoDB does.
pub(crate) trait Database {
    /// Sends a request. The body may be anything, JSON or not.
    fn call(&mut self, operation: &str, body: &str) -> Answer;

    /// Whether it was made for one script: empty before, gone after.
    fn is_thrown_away(&self) -> bool;

    /// Moves its clock, where that is possible.
    fn advance(&mut self, seconds: i64) -> bool;

    /// Waits a little, for what it does in the background.
    fn pause(&mut self);
}
