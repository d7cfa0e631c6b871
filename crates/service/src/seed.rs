//! Items to start from: those of the design, and any number of made-up ones.

mod fake;

use design::{Given, GivenEntry, Write};
use dynamo::Item;

use crate::answer::Written;
use crate::refusal::Refusal;
use crate::service::Service;

/// What came of seeding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeded {
    /// Items that were made.
    pub created: u64,
    /// Items that were there already.
    pub existing: u64,
}

/// The values that a design gives, as an item.
pub(crate) fn values(entries: &[GivenEntry]) -> Item {
    let values = entries.iter().filter_map(|entry| match &entry.value.value {
        Given::Value(value) => Some((entry.name.value.clone(), value.clone())),
        _ => None,
    });
    values.collect()
}

impl Service {
    /// Makes the items that the design starts from. Those that are there already stay as they are.
    pub async fn seed(&self) -> Result<Seeded, Refusal> {
        let mut seeded = Seeded::default();
        for seed in &self.design().seeds {
            match self.sow(&seed.entity.value, values(&seed.attributes)).await? {
                Some(_) => seeded.created += 1,
                None => seeded.existing += 1,
            }
        }
        Ok(seeded)
    }

    /// Makes made-up items in realistic proportions: about so many of each kind of thing that stands by itself, and several of each that
    /// belongs to another. Calls `progress` with the items made so far and the number there will be.
    pub async fn seed_scaled(
        &self,
        scale: u32,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Seeded, Refusal> {
        fake::fill(self, scale, progress).await
    }

    /// Makes an item with its consequences: the item as it is then, or none if it, or what must be unique in it, is there already.
    pub(crate) async fn sow(&self, entity: &str, attributes: Item) -> Result<Option<Item>, Refusal> {
        let write = Write::Create { entity, attributes };
        match crate::write::carry_out(self, write, None).await {
            Ok(done) => Ok(Written::from(done).items.into_iter().next().map(|entity| entity.item)),
            Err(Refusal::Exists { .. } | Refusal::Taken { .. }) => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }
}
