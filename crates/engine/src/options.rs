//! Settings of an engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use seal::{KeySource, MasterKey};

use crate::clock::{Clock, SystemClock};

/// When a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Once it is on disk: an acknowledged write survives a crash of the process and of the machine. The default.
    Sync,
    /// Once the operating system has it; it is on disk after this interval at the latest while writes go on. A crash of the machine can
    /// take the writes of one interval; a crash of the process takes none.
    Interval(Duration),
    /// Once the operating system has it. For throw-away data.
    None,
    /// Once it is in memory; nothing survives the process.
    InMemory,
}

impl Durability {
    /// False where there is no disk at all.
    pub(crate) fn is_on_disk(self) -> bool {
        self != Durability::InMemory
    }
}

/// Settings of an engine.
#[derive(Clone)]
pub struct Options {
    /// When a write counts as done.
    pub durability: Durability,
    /// Memory for blocks read from disk.
    pub cache_bytes: u64,
    /// Free disk space below which writes are refused, so that the disk is never quite full.
    pub reserve_bytes: u64,
    /// The master key of an encrypted database: a new one is encrypted if there is a key, and an encrypted one is opened with it.
    /// Without a key, databases are plain.
    pub key: Option<Arc<dyn MasterKey>>,
    /// Where the keys of customers come from, by which single tables of an encrypted database are sealed. Without it, or in a
    /// plain database, a table's `SSESpecification` is kept and changes nothing.
    pub table_keys: Option<Arc<dyn KeySource>>,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Whether a thread removes what expired, fills new indexes and trims streams. Without it, call
    /// [`crate::Engine::keep_house`].
    pub housekeeping: Option<Duration>,
    /// The largest item collection: the items of one partition in a table with local indexes. DynamoDB's 10 GB; less is for
    /// tests.
    pub item_collection_bytes_max: u64,
    /// The region in the names of resources.
    pub region: String,
    /// The account in the names of resources.
    pub account: String,
    /// Where exports are written: a folder for each bucket. Without it there are none.
    pub export_directory: Option<PathBuf>,
    /// The address that DescribeEndpoints tells, such as `localhost:8000`; DynamoDB's own in the region where there is none.
    pub endpoint: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            durability: Durability::Sync,
            cache_bytes: 256 << 20,
            reserve_bytes: 128 << 20,
            key: None,
            table_keys: None,
            clock: Arc::new(SystemClock),
            housekeeping: Some(Duration::from_secs(1)),
            item_collection_bytes_max: crate::collection::BYTES_MAX,
            region: "us-east-1".to_owned(),
            account: "123456789012".to_owned(),
            export_directory: None,
            endpoint: None,
        }
    }
}
