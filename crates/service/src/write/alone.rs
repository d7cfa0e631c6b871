//! Writes of one item from which nothing follows, and for which nothing must be known: one request, and the database says what it left.

use design::Write;
use dynamo::operation::{Choice, Operation, ReturnValues};
use dynamo::{ErrorKind, Item, Reply, StoredItem};

use super::{Done, Left};
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;

/// Makes such an item. What it is is known before it is sent.
pub(super) async fn create<'s>(
    service: &'s Service,
    entity: &'s design::Entity,
    attributes: Item,
) -> Result<Done<'s>, Refusal> {
    let ids = Ids::of(service);
    let bound =
        service.with_context(&ids, |context| design::bind_new(service.design(), entity, attributes, context));
    let request = bound.map_err(Refusal::Invalid)?;
    let Some(made) = request.item.clone() else { return Err(Refusal::strange("PutItem")) };
    for attempt in 0..service.options().attempts_max {
        match service.run(request.clone()).await {
            Ok(_) => return Ok(Done::new(service, entity, made)),
            Err(error) => match error.kind {
                ErrorKind::ConditionalCheckFailed => {
                    let entity = entity.name.value.clone();
                    let message = format!("there is such a {entity} already");
                    return Err(Refusal::Exists { entity, message });
                }
                ErrorKind::TransactionConflict | ErrorKind::ProvisionedThroughputExceeded => {
                    crate::backoff::pause(service, attempt).await;
                }
                _ => return Err(error.into()),
            },
        }
    }
    Err(Refusal::Busy)
}

/// Carries out an update or a delete of this kind. None if it is not of this kind, or if others were in its way.
pub(super) async fn change<'s>(service: &'s Service, write: &Write<'_>) -> Result<Option<Done<'s>>, Refusal> {
    let (Write::Update { entity, .. } | Write::Delete { entity, .. }) = write else { return Ok(None) };
    let entity = service.entity(entity)?;
    let ids = Ids::of(service);
    let bound = service.with_context(&ids, |context| design::bind_unread(service.design(), write, context));
    let Some(mut request) = bound else { return Ok(None) };
    if let Operation::UpdateItem(update) = &mut request {
        update.return_values = Some(Choice::Known(ReturnValues::AllNew));
    }
    match service.run(request).await {
        Ok(Reply::UpdateItem(reply)) => {
            let stored = reply.attributes.ok_or_else(|| Refusal::strange("UpdateItem"))?;
            Ok(Some(Done::new(service, entity, stored)))
        }
        Ok(_) => Ok(Some(Done::default())),
        Err(error) => match error.kind {
            ErrorKind::ConditionalCheckFailed => {
                let name = entity.name.value.clone();
                let message = format!("there is no such {name}");
                Err(Refusal::NotFound { name, message })
            }
            ErrorKind::TransactionConflict | ErrorKind::ProvisionedThroughputExceeded => Ok(None),
            _ => Err(error.into()),
        },
    }
}

impl<'s> Done<'s> {
    /// One item was left as it stands in the table.
    fn new(service: &'s Service, entity: &'s design::Entity, stored: StoredItem) -> Done<'s> {
        let left = service.inner.shapes.of_entity(service.design(), entity, stored).map(Left::Stored);
        Done { items: left.into_iter().collect(), repeated: false }
    }
}
