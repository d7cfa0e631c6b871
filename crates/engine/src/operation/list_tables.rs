//! ListTables.

use dynamo::ApiError;
use dynamo::operation::{ListTables, ListTablesReply};

use crate::engine::Engine;

/// Tables on one page.
const TABLES_PER_PAGE: usize = 100;

impl Engine {
    /// Lists the names of the tables, in order.
    pub fn list_tables(&self, request: ListTables) -> Result<ListTablesReply, ApiError> {
        request.check_fields()?;
        let view = self.view();
        let limit = request.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(TABLES_PER_PAGE);
        let mut tables = view.catalog.tables_after(request.exclusive_start_table_name.as_deref());
        let table_names: Vec<String> = tables.by_ref().take(limit).map(|table| table.name.clone()).collect();
        let last = table_names.last().filter(|_| tables.next().is_some()).cloned();
        Ok(ListTablesReply { table_names, last_evaluated_table_name: last })
    }
}
