//! DynamoDB as an embedded, durable library.

mod arn;
mod backup;
mod capacity;
mod catalog;
mod change;
mod check;
mod clock;
mod collection;
mod commit;
mod copying;
mod describe;
mod engine;
mod export;
mod expressions;
mod fault;
mod history;
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
mod recovery;
mod schema;
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
mod write;

pub use clock::{Clock, ManualClock, SystemClock};
pub use engine::{Engine, OpenError};
pub use metrics::{Metrics, MetricsSnapshot};
pub use options::{Durability, Options};
pub use stream::StreamMetrics;
