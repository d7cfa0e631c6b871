//! ListTables: the names of the tables, in order.

use crate::rules::{LIMIT_100, NAME};

shape! {
    /// The names of the tables, in order.
    pub struct ListTables {
        exclusive_start_table_name: Option<String> = "ExclusiveStartTableName" => NAME,
        limit: Option<i32> = "Limit" => LIMIT_100,
    }
}

shape! {
    /// Answers ListTables.
    pub struct ListTablesReply {
        table_names: Vec<String> = "TableNames",
        last_evaluated_table_name: Option<String> = "LastEvaluatedTableName",
    }
}
