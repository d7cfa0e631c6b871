//! DescribeTable.

use dynamo::ApiError;
use dynamo::operation::{DescribeTable, DescribeTableReply};

use crate::catalog::find_named_table;
use crate::engine::Engine;

impl Engine {
    /// Tells how a table is. Items and bytes are exact, not six hours old.
    pub fn describe_table(&self, request: DescribeTable) -> Result<DescribeTableReply, ApiError> {
        request.check_fields()?;
        let view = self.view();
        let table = find_named_table(&view.catalog, request.table_name.as_deref())?;
        Ok(DescribeTableReply { table: Some(self.inner.describe_now(&table)) })
    }
}
