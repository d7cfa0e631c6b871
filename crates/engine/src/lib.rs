//! DynamoDB as an embedded, durable library.

mod arn;
mod capacity;
mod catalog;
mod change;
mod clock;
mod collection;
mod commit;
mod describe;
mod engine;
mod expressions;
mod fault;
mod housekeeping;
mod keys;
mod layout;
mod meta;
mod metrics;
mod operation;
mod options;
mod page;
mod parameters;
mod partiql;
mod reading;
mod record;
mod schema;
mod shipping;
mod single;
mod store;
mod stream;
mod table;
mod tags;
#[cfg(test)]
mod testing;
mod throughput;
mod token;
mod totals;
mod transfer;
mod write;

pub use clock::{Clock, ManualClock, SystemClock};
pub use engine::{Engine, OpenError};
pub use metrics::{Metrics, MetricsSnapshot};
pub use options::{Durability, Options};
pub use shipping::{CommitRecord, LogPlace, LogState};
pub use stream::StreamMetrics;
pub use transfer::{Entry, Frozen, Loading, TransferError};
