//! Completes rows by what others say of them, where those are not next to them in the order of the list: each is looked up by its key.

use design::{Apply, ItemKey};
use dynamo::Item;

use super::stream::Row;
use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;

/// Takes from the items of the applied entity what they say of these rows.
pub(super) async fn complete(
    service: &Service,
    apply: &Apply,
    parameters: &Item,
    rows: &mut [Row<'_>],
) -> Result<(), Refusal> {
    let places = rows.iter().map(|row| place(service, apply, parameters, row)).collect::<Vec<_>>();
    let wanted = places.iter().flatten().cloned().collect::<Vec<_>>();
    if wanted.is_empty() {
        return Ok(());
    }
    let mut found = crate::read::items(service, &wanted, false).await?.into_iter();
    let entity = service.entity(&apply.entity.value)?;
    for (row, _) in rows.iter_mut().zip(&places).filter(|(_, place)| place.is_some()) {
        let Some(stored) = found.next().flatten() else { continue };
        let applied = design::logical_item(service.design(), entity, &stored);
        for name in &apply.take {
            if let Some(value) = applied.get(&name.value) {
                row.found.tree().insert(name.value.clone(), value.clone());
            }
        }
    }
    Ok(())
}

/// Where the item stands that completes a row: its key is made of the parameters of the list, and of the row.
fn place(service: &Service, apply: &Apply, parameters: &Item, row: &Row<'_>) -> Option<ItemKey> {
    if row.found.entity.name.value != apply.to.value {
        return None;
    }
    let entity = service.design().entity(&apply.entity.value)?;
    let mut key = Item::new();
    for slot in entity.identity() {
        let value = design::at(parameters, slot).cloned().or_else(|| row.found.at(slot))?;
        design::put_at(&mut key, slot, value);
    }
    service.with_context(&Ids::none(), |context| design::item_key(service.design(), entity, &key, context))
}
