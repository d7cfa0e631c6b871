//! DescribeTable: tells how a table is.

use super::TableDescription;
use crate::rules::CONTROL_TABLE;

shape! {
    /// Tells how a table is.
    pub struct DescribeTable {
        table_name: Option<String> = "TableName" => CONTROL_TABLE,
    }
}

shape! {
    /// Answers DescribeTable.
    pub struct DescribeTableReply {
        table: Option<TableDescription> = "Table",
    }
}

impl DescribeTable {
    /// A request to tell of this table.
    pub fn new(table_name: impl Into<String>) -> DescribeTable {
        DescribeTable { table_name: Some(table_name.into()) }
    }
}
