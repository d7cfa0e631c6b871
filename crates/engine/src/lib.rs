//! DynamoDB as an embedded, durable library.

mod catalog;
mod change;
mod clock;
mod commit;
mod engine;
mod fault;
mod housekeeping;
mod layout;
mod meta;
mod metrics;
mod operation;
mod options;
mod record;
mod store;
mod table;
mod totals;

pub use clock::{Clock, ManualClock, SystemClock};
pub use engine::{Engine, OpenError};
pub use metrics::{Metrics, MetricsSnapshot};
pub use options::{Durability, Options};
