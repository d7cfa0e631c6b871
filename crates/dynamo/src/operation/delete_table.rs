//! DeleteTable: removes a table and all its items.

use super::TableDescription;
use crate::rules::CONTROL_TABLE;

shape! {
    /// Removes a table and all its items.
    pub struct DeleteTable {
        table_name: Option<String> = "TableName" => CONTROL_TABLE,
    }
}

shape! {
    /// Answers DeleteTable.
    pub struct DeleteTableReply {
        table_description: Option<TableDescription> = "TableDescription",
    }
}

impl DeleteTable {
    /// A request to remove this table.
    pub fn new(table_name: impl Into<String>) -> DeleteTable {
        DeleteTable { table_name: Some(table_name.into()) }
    }
}
