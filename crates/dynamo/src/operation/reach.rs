//! What an operation reaches: which tables it names, and whether it writes.

use std::collections::BTreeMap;

use super::{Operation, TransactWriteItem};

impl Operation {
    /// The tables that the request names, by name or ARN, as often as it names them. PartiQL statements are not read.
    pub fn table_names(&self) -> Vec<&str> {
        match self {
            Operation::BatchGetItem(request) => keys(request.request_items.as_ref()),
            Operation::BatchWriteItem(request) => keys(request.request_items.as_ref()),
            Operation::TransactGetItems(request) => {
                let items = request.transact_items.iter().flatten();
                items.filter_map(|item| item.get.as_ref()?.table_name.as_deref()).collect()
            }
            Operation::TransactWriteItems(request) => {
                request.transact_items.iter().flatten().filter_map(table_of_action).collect()
            }
            Operation::RestoreTableFromBackup(request) => {
                request.target_table_name.as_deref().into_iter().collect()
            }
            Operation::RestoreTableToPointInTime(request) => {
                let source = request.source_table_name.as_deref().or(request.source_table_arn.as_deref());
                source.into_iter().chain(request.target_table_name.as_deref()).collect()
            }
            Operation::ExportTableToPointInTime(request) => {
                request.table_arn.as_deref().into_iter().collect()
            }
            Operation::ListExports(request) => request.table_arn.as_deref().into_iter().collect(),
            Operation::TagResource(request) => request.resource_arn.as_deref().into_iter().collect(),
            Operation::UntagResource(request) => request.resource_arn.as_deref().into_iter().collect(),
            Operation::ListTagsOfResource(request) => request.resource_arn.as_deref().into_iter().collect(),
            other => other.one_table_name().into_iter().collect(),
        }
    }

    /// The `TableName` of the requests that have one.
    fn one_table_name(&self) -> Option<&str> {
        match self {
            Operation::PutItem(request) => request.table_name.as_deref(),
            Operation::GetItem(request) => request.table_name.as_deref(),
            Operation::UpdateItem(request) => request.table_name.as_deref(),
            Operation::DeleteItem(request) => request.table_name.as_deref(),
            Operation::Query(request) => request.table_name.as_deref(),
            Operation::Scan(request) => request.table_name.as_deref(),
            Operation::CreateTable(request) => request.table_name.as_deref(),
            Operation::DescribeTable(request) => request.table_name.as_deref(),
            Operation::UpdateTable(request) => request.table_name.as_deref(),
            Operation::DeleteTable(request) => request.table_name.as_deref(),
            Operation::UpdateTimeToLive(request) => request.table_name.as_deref(),
            Operation::DescribeTimeToLive(request) => request.table_name.as_deref(),
            Operation::ListStreams(request) => request.table_name.as_deref(),
            Operation::DescribeContinuousBackups(request) => request.table_name.as_deref(),
            Operation::UpdateContinuousBackups(request) => request.table_name.as_deref(),
            Operation::CreateBackup(request) => request.table_name.as_deref(),
            Operation::ListBackups(request) => request.table_name.as_deref(),
            _ => None,
        }
    }

    /// True when the operation may change something. A PartiQL statement may, unless it begins with SELECT.
    pub fn is_write(&self) -> bool {
        match self {
            Operation::ExecuteStatement(request) => is_writing_statement(request.statement.as_ref()),
            Operation::BatchExecuteStatement(request) => {
                request.statements.iter().flatten().any(|each| is_writing_statement(each.statement.as_ref()))
            }
            Operation::ExecuteTransaction(request) => {
                let statements = request.transact_statements.iter().flatten();
                statements.into_iter().any(|each| is_writing_statement(each.statement.as_ref()))
            }
            Operation::GetItem(_)
            | Operation::Query(_)
            | Operation::Scan(_)
            | Operation::BatchGetItem(_)
            | Operation::TransactGetItems(_)
            | Operation::DescribeTable(_)
            | Operation::ListTables(_)
            | Operation::ListTagsOfResource(_)
            | Operation::DescribeTimeToLive(_)
            | Operation::ListStreams(_)
            | Operation::DescribeStream(_)
            | Operation::GetShardIterator(_)
            | Operation::GetRecords(_)
            | Operation::DescribeLimits(_)
            | Operation::DescribeEndpoints(_)
            | Operation::DescribeContinuousBackups(_)
            | Operation::DescribeBackup(_)
            | Operation::ListBackups(_)
            | Operation::DescribeExport(_)
            | Operation::ListExports(_) => false,
            _ => true,
        }
    }
}

fn keys<T>(map: Option<&BTreeMap<String, T>>) -> Vec<&str> {
    map.into_iter().flat_map(BTreeMap::keys).map(String::as_str).collect()
}

fn table_of_action(action: &TransactWriteItem) -> Option<&str> {
    let tables = [
        action.condition_check.as_ref().map(|check| &check.table_name),
        action.put.as_ref().map(|put| &put.table_name),
        action.delete.as_ref().map(|delete| &delete.table_name),
        action.update.as_ref().map(|update| &update.table_name),
    ];
    tables.into_iter().flatten().find_map(Option::as_deref)
}

fn is_writing_statement(statement: Option<&String>) -> bool {
    statement.is_some_and(|text| {
        !text.trim_start().get(..6).is_some_and(|verb| verb.eq_ignore_ascii_case("SELECT"))
    })
}
