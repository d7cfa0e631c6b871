//! The service: one checked design on one backend.

use std::sync::Arc;

use design::{CheckedDesign, Context, Type, Write};
use dynamo::operation::GetItem;
use dynamo::{Item, Operation, Reply};

use crate::answer::{Answer, Changes, Entity, Limits, PageRequest, WriteOptions, Written};
use crate::backend::Backend;
use crate::ids::Ids;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::shape::{Found, Shapes};
use crate::write::Done;

/// A checked design that runs on a backend. Cloning it gives another handle to the same service.
#[derive(Clone)]
pub struct Service {
    pub(crate) inner: Arc<Inner>,
}

/// What all handles share.
#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) design: Arc<CheckedDesign>,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) options: Options,
    pub(crate) shapes: Arc<Shapes>,
}

impl Service {
    /// A service for this design on this backend. Its tables are made by [`Service::prepare`].
    pub fn new(design: CheckedDesign, backend: Arc<dyn Backend>, options: Options) -> Service {
        let shapes = Arc::new(Shapes::of(&design, &options.variables));
        Service { inner: Arc::new(Inner { design: Arc::new(design), backend, options, shapes }) }
    }

    /// The same service with other settings: another clock, another secret.
    pub fn with_options(&self, change: impl FnOnce(&mut Options)) -> Service {
        let mut inner = Inner::clone(&self.inner);
        change(&mut inner.options);
        inner.shapes = Arc::new(Shapes::of(&inner.design, &inner.options.variables));
        Service { inner: Arc::new(inner) }
    }

    /// The design.
    pub fn design(&self) -> &CheckedDesign {
        &self.inner.design
    }

    /// The backend.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.inner.backend
    }

    /// The settings.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// How many items a page of a pattern has; none if there is no such pattern.
    pub fn limits(&self, pattern: &str) -> Option<Limits> {
        self.design().pattern(pattern).map(crate::ask::limits)
    }

    /// Answers a pattern.
    pub async fn ask(&self, pattern: &str, parameters: Item, page: PageRequest) -> Result<Answer, Refusal> {
        crate::ask::ask(self, pattern, parameters, page).await
    }

    /// The item of an entity with this key.
    pub async fn get(&self, entity: &str, key: Item, consistent: bool) -> Result<Option<Entity>, Refusal> {
        let found = self.find(self.entity(entity)?, &key, consistent).await?;
        Ok(found.map(|found| found.answered(&[])))
    }

    /// The same, as it was read.
    pub(crate) async fn find(
        &self,
        entity: &design::Entity,
        key: &Item,
        consistent: bool,
    ) -> Result<Option<Found<'_>>, Refusal> {
        let problems = design::validate_key(entity, key, &self.design().delimiters);
        if !problems.is_empty() {
            return Err(Refusal::Invalid(problems));
        }
        let place =
            self.with_context(&Ids::none(), |context| design::item_key(self.design(), entity, key, context));
        let Some(place) = place else { return Ok(None) };
        let shapes = &self.inner.shapes;
        let Some(table) = shapes.table(&place.table) else { return Ok(None) };
        let mut get = GetItem::new(place.table, place.key);
        get.consistent_read = consistent.then_some(true);
        let Reply::GetItem(reply) = self.run(get).await? else { return Err(Refusal::strange("GetItem")) };
        let found = reply.item.and_then(|stored| shapes.found(self.design(), table, stored));
        // Entities may share keys: what stands there may be another one.
        Ok(found.filter(|found| found.entity.name.value == entity.name.value))
    }

    /// Makes an item that must not exist yet.
    pub async fn create(&self, entity: &str, item: Item, given: WriteOptions) -> Result<Written, Refusal> {
        self.make(entity, item, given).await.map(Written::from)
    }

    /// The same, with what it made as it stands in the table.
    pub(crate) async fn make(
        &self,
        entity: &str,
        item: Item,
        given: WriteOptions,
    ) -> Result<Done<'_>, Refusal> {
        crate::write::given::creatable(self.entity(entity)?, &item)?;
        if given.expected_version.is_some() {
            return Err(Refusal::invalid("version", "cannot be expected of an item that is not there"));
        }
        let write = Write::Create { entity, attributes: item };
        crate::write::carry_out(self, write, given.idempotency_key).await
    }

    /// Changes attributes of an item that exists.
    pub async fn update(
        &self,
        entity: &str,
        key: Item,
        changes: Changes,
        given: WriteOptions,
    ) -> Result<Written, Refusal> {
        self.change(entity, key, changes, given).await.map(Written::from)
    }

    /// The same, with what it left as it stands in the table.
    pub(crate) async fn change(
        &self,
        entity: &str,
        key: Item,
        changes: Changes,
        given: WriteOptions,
    ) -> Result<Done<'_>, Refusal> {
        let found = self.entity(entity)?;
        crate::write::given::changeable(found, &changes)?;
        crate::write::given::versioned(found, given.expected_version)?;
        let Changes { set, remove } = changes;
        let write = Write::Update { entity, key, set, remove, version: given.expected_version };
        crate::write::carry_out(self, write, given.idempotency_key).await
    }

    /// Deletes an item that exists.
    pub async fn delete(&self, entity: &str, key: Item, given: WriteOptions) -> Result<Written, Refusal> {
        let found = self.entity(entity)?;
        crate::write::given::writable(found)?;
        crate::write::given::versioned(found, given.expected_version)?;
        let write = Write::Delete { entity, key, version: given.expected_version };
        crate::write::carry_out(self, write, given.idempotency_key).await.map(Written::from)
    }

    /// Carries out an operation.
    pub async fn operate(
        &self,
        operation: &str,
        input: Item,
        given: WriteOptions,
    ) -> Result<Written, Refusal> {
        self.carry_out(operation, input, given).await.map(Written::from)
    }

    /// The same, with what it left as it stands in the table.
    pub(crate) async fn carry_out(
        &self,
        operation: &str,
        input: Item,
        given: WriteOptions,
    ) -> Result<Done<'_>, Refusal> {
        let Some(found) = self.design().operation(operation) else {
            return Err(Refusal::unknown("operation", operation));
        };
        if given.expected_version.is_some() {
            return Err(Refusal::invalid("version", "cannot be expected by an operation"));
        }
        if found.chunks {
            return crate::write::chunk::operate(self, found, input, given.idempotency_key).await;
        }
        let write = Write::Operation { name: operation, inputs: input, part: None };
        crate::write::carry_out(self, write, given.idempotency_key).await
    }

    pub(crate) fn entity(&self, name: &str) -> Result<&design::Entity, Refusal> {
        self.design().entity(name).ok_or_else(|| Refusal::unknown("entity", name))
    }

    pub(crate) async fn run(&self, operation: impl Into<Operation>) -> Result<Reply, dynamo::ApiError> {
        self.inner.backend.run(operation.into()).await
    }

    pub(crate) fn now_milliseconds(&self) -> i64 {
        self.inner.options.clock.now_milliseconds()
    }

    /// Calls something of the design with what comes from outside.
    pub(crate) fn with_context<T>(&self, ids: &Ids, call: impl FnOnce(&Context<'_>) -> T) -> T {
        let new_id = |kind: &Type, number: usize| ids.make(kind, number);
        call(&Context {
            variables: &self.inner.options.variables,
            now_milliseconds: ids.now_milliseconds(),
            new_id: &new_id,
        })
    }
}
