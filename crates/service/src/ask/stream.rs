//! Streams: the rows that one request finds, read a page at a time and only as far as somebody looks.

use std::collections::VecDeque;

use design::{Entity as Declared, Page, Pattern, PatternKind};
use dynamo::operation::Query;
use dynamo::{Item, Operation, Reply, Value};

use super::parameter;
use crate::cursor::Positions;
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::shape;

/// An item that a request found.
#[derive(Clone)]
pub(super) struct Row<'s> {
    pub(super) entity: &'s Declared,
    /// The whole item, secrets and all.
    pub(super) item: Item,
    /// What it is ordered by.
    pub(super) rank: Vec<Value>,
    /// Its key in the table and the index: where to go on after it.
    position: Item,
}

/// What one request finds.
pub(super) struct Stream<'s> {
    pattern: &'s Pattern,
    by: Option<&'s str>,
    /// The request for the rows that were not fetched yet; none if there are none.
    request: Option<Query>,
    buffer: VecDeque<Row<'s>>,
    /// After what the next page goes on.
    position: Option<Item>,
}

/// The streams of some patterns, each from its position on. Items that are got by key are read here.
pub(super) async fn streams<'s>(
    service: &'s Service,
    patterns: &[&'s Pattern],
    parameters: &Item,
    by: Option<&'s str>,
    positions: Positions,
) -> Result<Vec<Stream<'s>>, Refusal> {
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
        for request in bound.map_err(Refusal::Invalid)? {
            let position = positions.next().flatten();
            let mut stream = Stream { pattern, by, request: None, buffer: VecDeque::new(), position };
            stream.begin(service, request).await?;
            streams.push(stream);
        }
    }
    Ok(streams)
}

impl<'s> Stream<'s> {
    async fn begin(&mut self, service: &'s Service, request: Operation) -> Result<(), Refusal> {
        // An empty position is behind the last row.
        if self.position.as_ref().is_some_and(Item::is_empty) {
            return Ok(());
        }
        match request {
            Operation::Query(mut query) => {
                query.exclusive_start_key.clone_from(&self.position);
                self.project(service, &mut query);
                self.request = Some(query);
            }
            other => {
                let found = fetch(service, other).await?;
                self.position = Some(Item::new());
                for (table, item) in found {
                    self.buffer.extend(self.row(service, &table, None, item));
                }
            }
        }
        Ok(())
    }

    /// Adds to the attributes that are selected what tells entities apart and pages from each other.
    fn project(&self, service: &'s Service, query: &mut Query) {
        let Some(projection) = &mut query.projection_expression else { return };
        let shape = service.inner.shapes.table(query.table_name.as_deref().unwrap_or_default());
        let index = query.index_name.as_ref();
        let keys = shape.into_iter().flat_map(|shape| {
            let own = index.and_then(|index| shape.indexes.get(index));
            shape.key.iter().chain(own.into_iter().flatten())
        });
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
        if !self.position.as_ref().is_some_and(Item::is_empty) {
            self.position = Some(row.position.clone());
        }
        Some(row)
    }

    /// Where the next page goes on.
    pub(super) fn into_position(self) -> Option<Item> {
        self.position
    }

    /// Fetches up to so many rows.
    pub(super) async fn fetch(&mut self, service: &'s Service, wanted: usize) -> Result<(), Refusal> {
        let Some(mut query) = self.request.take() else { return Ok(()) };
        query.limit = Some(i32::try_from(wanted).unwrap_or(i32::MAX).max(1));
        let (table, index) = (query.table_name.clone().unwrap_or_default(), query.index_name.clone());
        let Reply::Query(reply) = service.run(query.clone()).await? else {
            return Err(Refusal::strange("Query"));
        };
        for stored in reply.items.unwrap_or_default() {
            self.buffer.extend(self.row(service, &table, index.as_deref(), stored.decode()));
        }
        if let Some(last) = reply.last_evaluated_key {
            if self.buffer.is_empty() {
                self.position = Some(last.clone());
            }
            query.exclusive_start_key = Some(last);
            self.request = Some(query);
        }
        Ok(())
    }

    /// A stored item as a row; none if it is of no entity that the pattern means.
    fn row(&self, service: &'s Service, table: &str, index: Option<&str>, stored: Item) -> Option<Row<'s>> {
        let shapes = &service.inner.shapes;
        let entity = shapes.recognise(service.design(), table, &stored)?;
        let returns = &self.pattern.returns;
        if !returns.is_empty() && !returns.iter().any(|name| name.value == entity.name.value) {
            return None;
        }
        let shape = shapes.table(table)?;
        let own = index.and_then(|index| shape.indexes.get(index));
        let names = shape.key.iter().chain(own.into_iter().flatten());
        let position = names.filter_map(|name| Some((name.clone(), stored.get(name)?.clone()))).collect();
        let width = index
            .and_then(|index| service.design().index(index))
            .map_or(1, |index| index.partition_key.len());
        let sorted = own.unwrap_or(&shape.key).iter().skip(width).filter_map(|name| stored.get(name));
        let sorted = sorted.cloned().collect();
        let item = shape::whole(service.design(), entity, stored);
        let rank = match self.by {
            Some(by) => design::at(&item, by).into_iter().cloned().collect(),
            None => sorted,
        };
        Some(Row { entity, item, rank, position })
    }
}

/// Items by their keys, each with its table.
async fn fetch(service: &Service, request: Operation) -> Result<Vec<(String, Item)>, Refusal> {
    match request {
        Operation::GetItem(get) => {
            let table = get.table_name.clone().unwrap_or_default();
            let Reply::GetItem(reply) = service.run(get).await? else {
                return Err(Refusal::strange("GetItem"));
            };
            Ok(reply.item.map(|item| (table, item.decode())).into_iter().collect())
        }
        Operation::BatchGetItem(batch) => {
            let mut found = Vec::new();
            for (table, keys) in batch.request_items.into_iter().flatten() {
                let consistent = keys.consistent_read == Some(true);
                let wanted = keys.keys.unwrap_or_default();
                let wanted = wanted.into_iter().map(|key| design::ItemKey { table: table.clone(), key });
                let items = crate::read::items(service, &wanted.collect::<Vec<_>>(), consistent).await?;
                found.extend(items.into_iter().flatten().map(|item| (table.clone(), item)));
            }
            Ok(found)
        }
        other => Err(Refusal::Internal(format!("a pattern is not answered by {}", other.name()))),
    }
}
