//! Streams: the rows that one request finds, read a page at a time and only as far as somebody looks.

use std::collections::VecDeque;

use design::{Page, Pattern, PatternKind};
use dynamo::operation::Query;
use dynamo::{Item, Operation, Reply, StoredItem, Value, ValueRef};

use super::parameter;
use crate::cursor::Positions;
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::shape::{Found, TableShape};

/// An item that a request found.
#[derive(Clone)]
pub(super) struct Row<'s> {
    pub(super) found: Found<'s>,
    /// What it is ordered by; empty where there is only one stream.
    pub(super) rank: Vec<Value>,
    /// As it was read: its keys say where to go on after it.
    stored: StoredItem,
}

/// What one request finds.
pub(super) struct Stream<'s> {
    pattern: &'s Pattern,
    by: Option<&'s str>,
    /// Whether its rows are compared with those of other streams.
    is_ranked: bool,
    /// The table it reads.
    shape: Option<&'s TableShape>,
    /// The key of the index it reads, and how many of its attributes are the partition's.
    index: Option<(&'s [String], usize)>,
    /// The request for the rows that were not fetched yet; none if there are none.
    request: Option<Query>,
    buffer: VecDeque<Row<'s>>,
    /// After what the next page goes on.
    position: Position,
}

/// Where a stream goes on.
enum Position {
    /// From the beginning, or after a place that a request named.
    Key(Option<Item>),
    /// After this row.
    Row(StoredItem),
    /// Nowhere: all of it is read.
    End,
}

/// The streams of some patterns, each from its position on, and the mark that the page before left. Items that are got by key are read here.
pub(super) async fn streams<'s>(
    service: &'s Service,
    patterns: &[&'s Pattern],
    parameters: &Item,
    by: Option<&'s str>,
    positions: Positions,
) -> Result<(Vec<Stream<'s>>, Option<Mark>), Refusal> {
    let mut positions = positions.into_iter();
    let mut streams = Vec::new();
    for pattern in patterns {
        let own = match by {
            Some(_) => parameter::own(service.design(), &pattern.name.value, parameters),
            None => parameters.clone(),
        };
        let bound = service.with_context(&Ids::none(), |context| match &pattern.kind {
            PatternKind::Get { .. } => design::bind_get(service.design(), pattern, &own, context),
            _ => design::bind_query(service.design(), pattern, &own, &Page::default(), context),
        });
        let requests = bound.map_err(Refusal::Invalid)?;
        let is_ranked = by.is_some() || requests.len() > 1;
        for request in requests {
            let mut stream = Stream {
                pattern,
                by,
                is_ranked,
                shape: None,
                index: None,
                request: None,
                buffer: VecDeque::new(),
                // An empty position is behind the last row.
                position: match positions.next().flatten() {
                    Some(key) if key.is_empty() => Position::End,
                    key => Position::Key(key),
                },
            };
            stream.begin(service, request).await?;
            streams.push(stream);
        }
    }
    // What is left after the positions of the streams.
    let mark = positions.next().flatten().map(Mark::of);
    Ok((streams, mark))
}

/// How far pages of several streams have come: what the last row was ordered by. A stream of which nothing was given yet has no position of
/// its own, and rows that came to be in it since, before the mark, belong to pages that were given already.
#[derive(Clone, Debug)]
pub(super) struct Mark(pub(super) Vec<Value>);

impl Mark {
    fn of(position: Item) -> Mark {
        Mark(position.into_values().collect())
    }

    /// The mark as it stands in a cursor.
    pub(super) fn into_position(self) -> Item {
        // Ranks have one or two values: their numbers sort as texts.
        self.0.into_iter().enumerate().map(|(number, value)| (number.to_string(), value)).collect()
    }
}

impl<'s> Stream<'s> {
    async fn begin(&mut self, service: &'s Service, request: Operation) -> Result<(), Refusal> {
        let Position::Key(position) = &self.position else { return Ok(()) };
        match request {
            Operation::Query(mut query) => {
                query.exclusive_start_key.clone_from(position);
                self.reads(service, query.table_name.as_deref(), query.index_name.as_deref());
                self.project(service, &mut query);
                self.request = Some(query);
            }
            other => {
                self.position = Position::End;
                for (table, item) in fetch(service, other).await? {
                    self.reads(service, Some(&table), None);
                    self.buffer.extend(self.row(service, item));
                }
            }
        }
        Ok(())
    }

    /// Says what it reads.
    fn reads(&mut self, service: &'s Service, table: Option<&str>, index: Option<&str>) {
        self.shape = service.inner.shapes.table(table.unwrap_or_default());
        self.index = index.and_then(|name| {
            let width = service.design().index(name).map_or(1, |index| index.partition_key.len());
            Some((self.shape?.indexes.get(name)?.as_slice(), width))
        });
    }

    /// Adds to the attributes that are selected what tells entities apart and pages from each other.
    fn project(&self, service: &'s Service, query: &mut Query) {
        let Some(projection) = &mut query.projection_expression else { return };
        let keys = self.key_names();
        let answers = design::answers(service.design(), &self.pattern.name.value);
        let constants = answers.iter().flat_map(|entity| &entity.constants).map(|(name, _)| &name.value);
        let hidden = answers.iter().flat_map(|entity| entity.identity()).map(str::to_owned);
        let mut wanted = keys.chain(constants).cloned().chain(hidden).collect::<Vec<_>>();
        wanted.retain(|name| {
            !self.pattern.select.iter().any(|path| path.value.split('.').next() == Some(name))
        });
        wanted.sort_unstable();
        wanted.dedup();
        let names = query.expression_attribute_names.get_or_insert_default();
        for (number, name) in wanted.into_iter().enumerate() {
            let placeholder = format!("#also_{number}");
            projection.push_str(", ");
            projection.push_str(&placeholder);
            names.insert(placeholder, name);
        }
    }

    /// The attributes of the keys of the table and the index.
    fn key_names(&self) -> impl Iterator<Item = &'s String> + use<'s> {
        let own = self.index.map(|(own, _)| own).unwrap_or_default();
        self.shape.map(|shape| shape.key.as_slice()).unwrap_or_default().iter().chain(own)
    }

    /// The next row, if it is known.
    pub(super) fn head(&self) -> Option<&Row<'s>> {
        self.buffer.front()
    }

    /// True if more must be fetched before the next row is known.
    pub(super) fn is_behind(&self) -> bool {
        self.buffer.is_empty() && self.request.is_some()
    }

    /// Takes the next row.
    pub(super) fn take(&mut self) -> Option<Row<'s>> {
        let row = self.buffer.pop_front()?;
        // What was got by key is read whole; its position says so already.
        if !matches!(self.position, Position::End) {
            self.position = Position::Row(row.stored.clone());
        }
        Some(row)
    }

    /// Where the next page goes on.
    pub(super) fn into_position(self) -> Option<Item> {
        let names = self.key_names();
        match self.position {
            Position::Key(key) => key,
            Position::End => Some(Item::new()),
            Position::Row(stored) => {
                let key = names.filter_map(|name| Some((name.clone(), stored.get(name)?.decode())));
                Some(key.collect())
            }
        }
    }

    /// Fetches up to so many rows.
    pub(super) async fn fetch(&mut self, service: &'s Service, wanted: usize) -> Result<(), Refusal> {
        let Some(mut query) = self.request.take() else { return Ok(()) };
        query.limit = Some(i32::try_from(wanted).unwrap_or(i32::MAX).max(1));
        let Reply::Query(reply) = service.run(query.clone()).await? else {
            return Err(Refusal::strange("Query"));
        };
        let items = reply.items.unwrap_or_default();
        self.buffer.reserve(items.len());
        for stored in items {
            self.buffer.extend(self.row(service, stored));
        }
        if let Some(last) = reply.last_evaluated_key {
            if self.buffer.is_empty() {
                self.position = Position::Key(Some(last.clone()));
            }
            query.exclusive_start_key = Some(last);
            self.request = Some(query);
        }
        Ok(())
    }

    /// A stored item as a row; none if it is of no entity that the pattern means.
    fn row(&self, service: &'s Service, stored: StoredItem) -> Option<Row<'s>> {
        let found = service.inner.shapes.found(service.design(), self.shape?, stored.clone())?;
        let returns = &self.pattern.returns;
        if !returns.is_empty() && !returns.iter().any(|name| name.value == found.entity.name.value) {
            return None;
        }
        let rank = match self.by {
            Some(by) => found.at(by).into_iter().collect(),
            None if self.is_ranked => self.sorted_by(&stored),
            None => Vec::new(),
        };
        Some(Row { found, rank, stored })
    }

    /// The sort key of an item in what is read.
    fn sorted_by(&self, stored: &StoredItem) -> Vec<Value> {
        let table = self.shape.map(|shape| shape.key.as_slice()).unwrap_or_default();
        let (names, width) = self.index.unwrap_or((table, 1));
        names.iter().skip(width).filter_map(|name| stored.get(name).map(ValueRef::decode)).collect()
    }
}

/// Items by their keys, each with its table.
async fn fetch(service: &Service, request: Operation) -> Result<Vec<(String, StoredItem)>, Refusal> {
    match request {
        Operation::GetItem(get) => {
            let table = get.table_name.clone().unwrap_or_default();
            let Reply::GetItem(reply) = service.run(get).await? else {
                return Err(Refusal::strange("GetItem"));
            };
            Ok(reply.item.map(|item| (table, item)).into_iter().collect())
        }
        Operation::BatchGetItem(batch) => {
            let mut found = Vec::new();
            for (table, keys) in batch.request_items.into_iter().flatten() {
                let consistent = keys.consistent_read == Some(true);
                let wanted = keys.keys.unwrap_or_default();
                let wanted = wanted.into_iter().map(|key| design::ItemKey { table: table.clone(), key });
                let items = crate::read::stored(service, &wanted.collect::<Vec<_>>(), consistent).await?;
                found.extend(items.into_iter().flatten().map(|item| (table.clone(), item)));
            }
            Ok(found)
        }
        other => Err(Refusal::Internal(format!("a pattern is not answered by {}", other.name()))),
    }
}
