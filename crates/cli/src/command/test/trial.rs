//! Tables to try examples on: in memory, or on a server under names of their own that are deleted afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

use dynamo::Reply;
use dynamo::operation::{DeleteTable, ListTables};
use engine::Engine;
use service::{Backend, Embedded, Prefixed};

use crate::failure::Failure;

/// New tables for every example.
pub(super) struct Trial {
    remote: Option<Arc<dyn Backend>>,
    /// What the names of all tables of this trial begin with.
    prefix: String,
    count: AtomicU32,
}

impl Trial {
    pub(super) fn new(remote: Option<Arc<dyn Backend>>) -> Trial {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let prefix = format!("monotable-test-{:x}-{:x}-", std::process::id(), time);
        Trial { remote, prefix, count: AtomicU32::new(0) }
    }

    /// A backend without tables.
    pub(super) fn backend(&self) -> Arc<dyn Backend> {
        match &self.remote {
            None => Arc::new(Embedded::new(Engine::in_memory())),
            Some(remote) => {
                let number = self.count.fetch_add(1, Relaxed);
                Arc::new(Prefixed::new(remote.clone(), format!("{}{number}-", self.prefix)))
            }
        }
    }

    /// Deletes the tables that were made on a server.
    pub(super) async fn clean_up(&self) -> Result<(), Failure> {
        let Some(remote) = &self.remote else { return Ok(()) };
        let mut start = None;
        loop {
            let list = ListTables { exclusive_start_table_name: start, limit: None };
            let Reply::ListTables(page) = remote.run(list.into()).await? else { return Ok(()) };
            for name in page.table_names.iter().filter(|name| name.starts_with(&self.prefix)) {
                remote.run(DeleteTable { table_name: Some(name.clone()) }.into()).await?;
            }
            start = page.last_evaluated_table_name;
            if start.is_none() {
                return Ok(());
            }
        }
    }
}
