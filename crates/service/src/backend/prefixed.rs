//! Another backend with a prefix before every table's name: examples and trials on a shared account, away from real tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use dynamo::operation::TransactWriteItem;
use dynamo::{Operation, Reply};

use super::{Backend, Capabilities, Running};

/// A backend whose tables all have a prefix.
#[derive(Clone)]
pub struct Prefixed {
    inner: Arc<dyn Backend>,
    prefix: String,
}

impl Prefixed {
    /// The tables of a backend whose names begin with a prefix, seen without it.
    pub fn new(inner: Arc<dyn Backend>, prefix: impl Into<String>) -> Prefixed {
        Prefixed { inner, prefix: prefix.into() }
    }

    fn name(&self, table: &mut Option<String>) {
        if let Some(table) = table {
            table.insert_str(0, &self.prefix);
        }
    }

    fn names<T>(&self, tables: Option<BTreeMap<String, T>>) -> Option<BTreeMap<String, T>> {
        let named = |(table, content)| (format!("{}{table}", self.prefix), content);
        tables.map(|tables| tables.into_iter().map(named).collect())
    }

    fn without<T>(&self, tables: Option<BTreeMap<String, T>>) -> Option<BTreeMap<String, T>> {
        let named = |(table, content): (String, T)| {
            (table.strip_prefix(&self.prefix).map(str::to_owned).unwrap_or(table), content)
        };
        tables.map(|tables| tables.into_iter().map(named).collect())
    }

    /// The operation on the tables as they are really named.
    fn outside(&self, mut operation: Operation) -> Operation {
        match &mut operation {
            Operation::GetItem(request) => self.name(&mut request.table_name),
            Operation::PutItem(request) => self.name(&mut request.table_name),
            Operation::UpdateItem(request) => self.name(&mut request.table_name),
            Operation::DeleteItem(request) => self.name(&mut request.table_name),
            Operation::Query(request) => self.name(&mut request.table_name),
            Operation::Scan(request) => self.name(&mut request.table_name),
            Operation::CreateTable(request) => self.name(&mut request.table_name),
            Operation::DescribeTable(request) => self.name(&mut request.table_name),
            Operation::UpdateTable(request) => self.name(&mut request.table_name),
            Operation::DeleteTable(request) => self.name(&mut request.table_name),
            Operation::UpdateTimeToLive(request) => self.name(&mut request.table_name),
            Operation::DescribeTimeToLive(request) => self.name(&mut request.table_name),
            Operation::UpdateContinuousBackups(request) => self.name(&mut request.table_name),
            Operation::DescribeContinuousBackups(request) => self.name(&mut request.table_name),
            Operation::BatchGetItem(request) => {
                request.request_items = self.names(request.request_items.take());
            }
            Operation::BatchWriteItem(request) => {
                request.request_items = self.names(request.request_items.take());
            }
            Operation::TransactGetItems(request) => {
                for get in request.transact_items.iter_mut().flatten().filter_map(|item| item.get.as_mut()) {
                    self.name(&mut get.table_name);
                }
            }
            Operation::TransactWriteItems(request) => {
                request.transact_items.iter_mut().flatten().for_each(|action| self.action(action));
            }
            _ => {}
        }
        operation
    }

    fn action(&self, action: &mut TransactWriteItem) {
        let TransactWriteItem { condition_check, put, delete, update } = action;
        let names = [
            condition_check.as_mut().map(|action| &mut action.table_name),
            put.as_mut().map(|action| &mut action.table_name),
            delete.as_mut().map(|action| &mut action.table_name),
            update.as_mut().map(|action| &mut action.table_name),
        ];
        names.into_iter().flatten().for_each(|table| self.name(table));
    }

    /// The answer with the tables as they are named inside.
    fn inside(&self, mut reply: Reply) -> Reply {
        if let Reply::BatchGetItem(reply) = &mut reply {
            reply.responses = self.without(reply.responses.take());
            reply.unprocessed_keys = self.without(reply.unprocessed_keys.take());
        }
        reply
    }
}

impl Backend for Prefixed {
    fn run(&self, operation: Operation) -> Running<'_> {
        let running = self.inner.run(self.outside(operation));
        Box::pin(async move { running.await.map(|reply| self.inside(reply)) })
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}
