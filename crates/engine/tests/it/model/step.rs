//! The steps of a script, and the requests they make of the engine.

use std::collections::BTreeMap;
use std::fmt;

use dynamo::operation::{
    BatchGetItem, BatchWriteItem, ConditionCheck, Delete, DeleteItem, DeleteRequest, Get, GetItem,
    KeysAndAttributes, Put, PutItem, PutRequest, Query, ReturnValues, ReturnValuesOnConditionCheckFailure,
    Scan, Select, TransactGetItem, TransactGetItems, TransactWriteItem, TransactWriteItems, Update,
    UpdateItem, WriteRequest,
};
use dynamo::{Choice, Item, Operation, Value};

use super::expression::{Action, Condition, Path, Placeholders, update_text};
use super::tables::TABLES;
use crate::design::TableDesign;

/// One step. A table is named by its place among [`TABLES`].
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write(ItemWrite, ReturnValues),
    Get(ItemRead),
    BatchWrite(Vec<ItemWrite>),
    BatchGet(BTreeMap<usize, (Vec<Item>, Vec<Path>)>),
    TransactWrite(Vec<ItemWrite>, Option<usize>),
    /// Sends the last transaction with this token again.
    TransactWriteAgain(usize),
    TransactGet(Vec<ItemRead>),
    Query(QueryStep),
    Scan(ScanStep),
    CreateTable(usize),
    DeleteTable(usize),
    AddIndex(usize, &'static str),
    RemoveIndex(usize, &'static str),
    SetExpiry(usize, bool),
    Wait {
        milliseconds: i64,
    },
    KeepHouse,
    Reopen,
    /// Compares everything.
    Verify,
}

/// A write to one item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ItemWrite {
    pub(crate) table: usize,
    pub(crate) change: ItemChange,
    pub(crate) condition: Option<Condition>,
    /// Whether the answer to a condition that fails has the item.
    pub(crate) shows_item: bool,
}

/// What is to happen to an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ItemChange {
    Put(Item),
    Update(Item, Vec<Action>),
    Delete(Item),
    Check(Item),
}

/// Reads one item.
#[derive(Clone, Debug)]
pub(crate) struct ItemRead {
    pub(crate) table: usize,
    pub(crate) key: Item,
    pub(crate) projection: Vec<Path>,
}

/// A query, read to its end page by page.
#[derive(Clone, Debug)]
pub(crate) struct QueryStep {
    pub(crate) table: usize,
    pub(crate) index: Option<&'static str>,
    pub(crate) partition: Vec<Value>,
    pub(crate) equal: Vec<Value>,
    pub(crate) range: Option<Range>,
    pub(crate) filter: Option<Condition>,
    pub(crate) projection: Vec<Path>,
    pub(crate) counts: bool,
    pub(crate) limit: Option<usize>,
    pub(crate) is_reverse: bool,
    pub(crate) start: Option<Item>,
}

/// A condition on a sort key.
#[derive(Clone, Debug)]
pub(crate) enum Range {
    Lt(Value),
    Le(Value),
    Gt(Value),
    Ge(Value),
    Between(Value, Value),
    BeginsWith(Value),
}

/// A scan, read to its end page by page, all segments.
#[derive(Clone, Debug)]
pub(crate) struct ScanStep {
    pub(crate) table: usize,
    pub(crate) index: Option<&'static str>,
    pub(crate) filter: Option<Condition>,
    pub(crate) projection: Vec<Path>,
    pub(crate) counts: bool,
    pub(crate) limit: Option<usize>,
    pub(crate) segments: Option<usize>,
}

impl ItemWrite {
    /// The design of its table.
    pub(crate) fn design(&self) -> &'static TableDesign {
        &TABLES[self.table]
    }

    /// The item's key.
    pub(crate) fn key(&self) -> Item {
        match &self.change {
            ItemChange::Put(item) => self.design().key_item(item),
            ItemChange::Update(key, _) | ItemChange::Delete(key) | ItemChange::Check(key) => key.clone(),
        }
    }

    fn on_failure(&self) -> Option<Choice<ReturnValuesOnConditionCheckFailure>> {
        self.shows_item.then(|| ReturnValuesOnConditionCheckFailure::AllOld.into())
    }

    /// The request for this write alone.
    pub(crate) fn request(&self, return_values: ReturnValues) -> Operation {
        let table_name = Some(self.design().name.to_owned());
        let mut placeholders = Placeholders::default();
        let condition_expression = self.condition.as_ref().map(|condition| condition.text(&mut placeholders));
        let return_values = Some(return_values.into());
        let return_values_on_condition_check_failure = self.on_failure();
        match &self.change {
            ItemChange::Put(item) => Operation::PutItem(PutItem {
                table_name,
                item: Some(item.clone().into()),
                condition_expression,
                expression_attribute_names: placeholders.names(),
                expression_attribute_values: placeholders.values(),
                return_values,
                return_values_on_condition_check_failure,
                ..PutItem::default()
            }),
            ItemChange::Update(key, actions) => {
                let update_expression = update_text(actions, &mut placeholders);
                Operation::UpdateItem(UpdateItem {
                    table_name,
                    key: Some(key.clone()),
                    update_expression,
                    condition_expression,
                    expression_attribute_names: placeholders.names(),
                    expression_attribute_values: placeholders.values(),
                    return_values,
                    return_values_on_condition_check_failure,
                    ..UpdateItem::default()
                })
            }
            ItemChange::Delete(key) | ItemChange::Check(key) => Operation::DeleteItem(DeleteItem {
                table_name,
                key: Some(key.clone()),
                condition_expression,
                expression_attribute_names: placeholders.names(),
                expression_attribute_values: placeholders.values(),
                return_values,
                return_values_on_condition_check_failure,
                ..DeleteItem::default()
            }),
        }
    }

    /// The write as an action of a transaction.
    fn action(&self) -> TransactWriteItem {
        let table_name = Some(self.design().name.to_owned());
        let mut placeholders = Placeholders::default();
        let condition_expression = self.condition.as_ref().map(|condition| condition.text(&mut placeholders));
        let return_values_on_condition_check_failure = self.on_failure();
        let mut action = TransactWriteItem::default();
        match &self.change {
            ItemChange::Put(item) => {
                action.put = Some(Put {
                    table_name,
                    item: Some(item.clone().into()),
                    condition_expression,
                    expression_attribute_names: placeholders.names(),
                    expression_attribute_values: placeholders.values(),
                    return_values_on_condition_check_failure,
                    ..Put::default()
                });
            }
            ItemChange::Update(key, actions) => {
                let update_expression = update_text(actions, &mut placeholders);
                action.update = Some(Update {
                    table_name,
                    key: Some(key.clone()),
                    update_expression,
                    condition_expression,
                    expression_attribute_names: placeholders.names(),
                    expression_attribute_values: placeholders.values(),
                    return_values_on_condition_check_failure,
                    ..Update::default()
                });
            }
            ItemChange::Delete(key) => {
                action.delete = Some(Delete {
                    table_name,
                    key: Some(key.clone()),
                    condition_expression,
                    expression_attribute_names: placeholders.names(),
                    expression_attribute_values: placeholders.values(),
                    return_values_on_condition_check_failure,
                    ..Delete::default()
                });
            }
            ItemChange::Check(key) => {
                action.condition_check = Some(ConditionCheck {
                    table_name,
                    key: Some(key.clone()),
                    condition_expression,
                    expression_attribute_names: placeholders.names(),
                    expression_attribute_values: placeholders.values(),
                    return_values_on_condition_check_failure,
                    ..ConditionCheck::default()
                });
            }
        }
        action
    }

    fn batch_request(&self) -> WriteRequest {
        match &self.change {
            ItemChange::Put(item) => WriteRequest {
                put_request: Some(PutRequest { item: Some(item.clone().into()), ..PutRequest::default() }),
                delete_request: None,
            },
            _ => WriteRequest {
                put_request: None,
                delete_request: Some(DeleteRequest { key: Some(self.key()), ..DeleteRequest::default() }),
            },
        }
    }
}

/// The request of a batch of writes.
pub(crate) fn batch_write(writes: &[ItemWrite]) -> BatchWriteItem {
    let mut request_items: BTreeMap<String, Vec<WriteRequest>> = BTreeMap::new();
    for write in writes {
        request_items.entry(write.design().name.to_owned()).or_default().push(write.batch_request());
    }
    BatchWriteItem { request_items: Some(request_items), ..BatchWriteItem::default() }
}

/// The request of a batch of reads.
pub(crate) fn batch_get(reads: &BTreeMap<usize, (Vec<Item>, Vec<Path>)>) -> BatchGetItem {
    let asked = reads.iter().map(|(table, (keys, projection))| {
        let mut placeholders = Placeholders::default();
        let asked = KeysAndAttributes {
            keys: Some(keys.clone()),
            projection_expression: placeholders.projection(projection),
            expression_attribute_names: placeholders.names(),
            ..KeysAndAttributes::default()
        };
        (TABLES[*table].name.to_owned(), asked)
    });
    BatchGetItem { request_items: Some(asked.collect()), ..BatchGetItem::default() }
}

/// The request of a transaction.
pub(crate) fn transact_write(writes: &[ItemWrite], token: Option<usize>) -> TransactWriteItems {
    TransactWriteItems {
        transact_items: Some(writes.iter().map(ItemWrite::action).collect()),
        client_request_token: token.map(|token| format!("token-{token}")),
        ..TransactWriteItems::default()
    }
}

/// The request of a reading transaction.
pub(crate) fn transact_get(reads: &[ItemRead]) -> TransactGetItems {
    let action = |read: &ItemRead| {
        let mut placeholders = Placeholders::default();
        TransactGetItem {
            get: Some(Get {
                key: Some(read.key.clone()),
                table_name: Some(TABLES[read.table].name.to_owned()),
                projection_expression: placeholders.projection(&read.projection),
                expression_attribute_names: placeholders.names(),
                ..Get::default()
            }),
        }
    };
    TransactGetItems {
        transact_items: Some(reads.iter().map(action).collect()),
        ..TransactGetItems::default()
    }
}

impl ItemRead {
    /// The request.
    pub(crate) fn request(&self) -> GetItem {
        let mut placeholders = Placeholders::default();
        GetItem {
            table_name: Some(TABLES[self.table].name.to_owned()),
            key: Some(self.key.clone()),
            projection_expression: placeholders.projection(&self.projection),
            expression_attribute_names: placeholders.names(),
            ..GetItem::default()
        }
    }
}

impl QueryStep {
    /// The request of the page after this key.
    pub(crate) fn request(&self, start: Option<Item>) -> Query {
        let mut placeholders = Placeholders::default();
        Query {
            table_name: Some(TABLES[self.table].name.to_owned()),
            index_name: self.index.map(str::to_owned),
            key_condition_expression: Some(self.key_condition(&mut placeholders)),
            filter_expression: self.filter.as_ref().map(|filter| filter.text(&mut placeholders)),
            projection_expression: placeholders.projection(&self.projection),
            expression_attribute_names: placeholders.names(),
            expression_attribute_values: placeholders.values(),
            select: self.counts.then(|| Select::Count.into()),
            limit: self.limit.map(|limit| i32::try_from(limit).unwrap()),
            scan_index_forward: self.is_reverse.then_some(false),
            exclusive_start_key: start,
            ..Query::default()
        }
    }

    fn key_condition(&self, placeholders: &mut Placeholders) -> String {
        let (partition, sort) = self.names();
        let mut parts = Vec::new();
        for (name, value) in partition.iter().zip(&self.partition).chain(sort.iter().zip(&self.equal)) {
            parts.push(format!("{} = {}", placeholders.name(name), placeholders.value(value)));
        }
        if let (Some(range), Some(name)) = (&self.range, sort.get(self.equal.len())) {
            let name = placeholders.name(name);
            parts.push(match range {
                Range::Lt(value) => format!("{name} < {}", placeholders.value(value)),
                Range::Le(value) => format!("{name} <= {}", placeholders.value(value)),
                Range::Gt(value) => format!("{name} > {}", placeholders.value(value)),
                Range::Ge(value) => format!("{name} >= {}", placeholders.value(value)),
                Range::Between(low, high) => {
                    format!("{name} BETWEEN {} AND {}", placeholders.value(low), placeholders.value(high))
                }
                Range::BeginsWith(prefix) => format!("begins_with({name}, {})", placeholders.value(prefix)),
            });
        }
        parts.join(" AND ")
    }

    fn names(&self) -> (Vec<&'static str>, Vec<&'static str>) {
        let table = &TABLES[self.table];
        match self.index.map(|name| table.index(name)) {
            Some(index) => (
                index.partition.iter().map(|key| key.name).collect(),
                index.sort.iter().map(|key| key.name).collect(),
            ),
            None => (vec![table.partition.name], table.sort.iter().map(|key| key.name).collect()),
        }
    }
}

impl ScanStep {
    /// The request of the page of a segment after this key.
    pub(crate) fn request(&self, segment: usize, start: Option<Item>) -> Scan {
        let mut placeholders = Placeholders::default();
        Scan {
            table_name: Some(TABLES[self.table].name.to_owned()),
            index_name: self.index.map(str::to_owned),
            filter_expression: self.filter.as_ref().map(|filter| filter.text(&mut placeholders)),
            projection_expression: placeholders.projection(&self.projection),
            expression_attribute_names: placeholders.names(),
            expression_attribute_values: placeholders.values(),
            select: self.counts.then(|| Select::Count.into()),
            limit: self.limit.map(|limit| i32::try_from(limit).unwrap()),
            segment: self.segments.map(|_| i32::try_from(segment).unwrap()),
            total_segments: self.segments.map(|total| i32::try_from(total).unwrap()),
            exclusive_start_key: start,
            ..Scan::default()
        }
    }
}

/// A step as a line of a script: the request as DynamoDB JSON, or what else happens.
impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation: Operation = match self {
            Step::Write(write, return_values) => write.request(*return_values),
            Step::Get(read) => read.request().into(),
            Step::BatchWrite(writes) => batch_write(writes).into(),
            Step::BatchGet(reads) => batch_get(reads).into(),
            Step::TransactWrite(writes, token) => transact_write(writes, *token).into(),
            Step::TransactGet(reads) => transact_get(reads).into(),
            Step::Query(query) => query.request(query.start.clone()).into(),
            Step::Scan(scan) => scan.request(0, None).into(),
            Step::TransactWriteAgain(token) => {
                return write!(formatter, "the transaction of token-{token} again");
            }
            Step::CreateTable(table) => TABLES[*table].create().into(),
            Step::DeleteTable(table) => return write!(formatter, "delete the table {}", TABLES[*table].name),
            Step::AddIndex(table, index) => {
                return write!(formatter, "add the index {index} to {}", TABLES[*table].name);
            }
            Step::RemoveIndex(table, index) => {
                return write!(formatter, "remove the index {index} of {}", TABLES[*table].name);
            }
            Step::SetExpiry(table, enabled) => {
                return write!(formatter, "expiry of {}: {enabled}", TABLES[*table].name);
            }
            Step::Wait { milliseconds } => return write!(formatter, "wait {milliseconds} ms"),
            Step::KeepHouse => return formatter.write_str("keep house"),
            Step::Reopen => return formatter.write_str("reopen"),
            Step::Verify => return formatter.write_str("compare everything"),
        };
        let mut json = Vec::new();
        operation.write_json(&mut json);
        write!(formatter, "{} {}", operation.name(), String::from_utf8(json).unwrap())
    }
}
