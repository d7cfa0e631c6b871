//! DynamoDB as an embedded, durable library.

mod arn;
mod catalog;
mod change;
mod clock;
mod commit;
mod describe;
mod engine;
mod fault;
mod housekeeping;
mod layout;
mod meta;
mod metrics;
mod operation;
mod options;
mod record;
mod schema;
mod store;
mod stream;
mod table;
mod tags;
mod throughput;
mod totals;

pub use clock::{Clock, ManualClock, SystemClock};
pub use engine::{Engine, OpenError};
pub use metrics::{Metrics, MetricsSnapshot};
pub use options::{Durability, Options};
