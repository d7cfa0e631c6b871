//! Made-up items in realistic amounts, made like any others, with all that follows from them.
//!
//! Path of an item: which entities it refers to (`reference`) -> existing items of those, chosen by chance -> values for the rest
//! (`value`) -> a create with its consequences.

mod chance;
mod reference;
mod value;

use std::collections::BTreeMap;

use design::{CheckedDesign, Entity};
use dynamo::Item;
use tokio::task::JoinSet;

use super::Seeded;
use crate::refusal::Refusal;
use crate::service::Service;

use chance::Chance;
use reference::{Reference, references};

/// How many items of an entity there are for each item that it belongs to.
const FANOUT: u64 = 3;
/// How deep belonging multiplies.
const DEPTH_MAX: u32 = 3;
/// How many writes are under way at once: enough to share what a commit costs.
const AT_ONCE: usize = 32;
/// How many items of an entity are remembered for others to refer to.
const REMEMBERED_MAX: usize = 5_000;

/// Makes items of every entity that is written by itself.
pub(super) async fn fill(
    service: &Service,
    scale: u32,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Seeded, Refusal> {
    let planned = planned(service.design(), scale);
    let total = planned.iter().map(|(_, _, count)| count).sum();
    let mut seeded = Seeded::default();
    let mut chance = Chance::new(service.options().random.bytes());
    let mut known: BTreeMap<String, Vec<Item>> = BTreeMap::new();
    for (entity, references, count) in planned {
        let mut left = count;
        let mut number = 0;
        while left > 0 {
            let wave = left.min(u64::try_from(AT_ONCE).unwrap_or(1));
            let mut items = Vec::new();
            for _ in 0..wave {
                number += 1;
                let made =
                    Maker { service, known: &known, chance: &mut chance }.item(entity, &references, number);
                items.extend(made);
            }
            left -= wave;
            for made in create(service, &entity.name.value, items).await? {
                let Some(item) = made else {
                    seeded.existing += 1;
                    continue;
                };
                seeded.created += 1;
                let list = known.entry(entity.name.value.clone()).or_default();
                if list.len() < REMEMBERED_MAX {
                    list.push(item);
                }
            }
            progress(seeded.created + seeded.existing, total);
        }
    }
    Ok(seeded)
}

/// The entities in an order in which those that others refer to come first, with how many there will be of each.
fn planned(design: &CheckedDesign, scale: u32) -> Vec<(&Entity, Vec<Reference>, u64)> {
    let written = |entity: &&Entity| entity.copy.is_none() && !entity.is_tally_only();
    let mut waiting =
        design.entities.iter().filter(written).map(|entity| (entity, references(design, entity)));
    let mut waiting = waiting.by_ref().collect::<Vec<_>>();
    let mut planned: Vec<(&Entity, Vec<Reference>, u64)> = Vec::new();
    let mut depths: BTreeMap<&str, u32> = BTreeMap::new();
    while !waiting.is_empty() {
        let is_ready = |(entity, references): &(&Entity, Vec<Reference>)| {
            let own = entity.name.value.as_str();
            references.iter().all(|to| to.entity == own || depths.contains_key(to.entity.as_str()))
        };
        // Entities that refer to each other in a circle begin somewhere.
        let next = waiting.iter().position(is_ready).unwrap_or(0);
        let (entity, references) = waiting.remove(next);
        let own = entity.name.value.as_str();
        let others = references.iter().filter(|to| to.entity != own);
        let depth = others.filter_map(|to| depths.get(to.entity.as_str())).max().map_or(0, |depth| depth + 1);
        depths.insert(own, depth);
        let count = u64::from(scale) * FANOUT.pow(depth.min(DEPTH_MAX));
        planned.push((entity, references, count));
    }
    planned
}

/// Creates some items at once: those that are new, and none for each that was there already.
async fn create(service: &Service, entity: &str, items: Vec<Item>) -> Result<Vec<Option<Item>>, Refusal> {
    let mut tasks = JoinSet::new();
    for item in items {
        let (service, entity) = (service.clone(), entity.to_owned());
        tasks.spawn(async move { service.sow(&entity, item).await });
    }
    let mut created = Vec::new();
    while let Some(done) = tasks.join_next().await {
        match done.map_err(|error| Refusal::Internal(error.to_string()))? {
            Ok(made) => created.push(made),
            // What it refers to by chance may not go together.
            Err(Refusal::NotFound { .. } | Refusal::Condition { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(created)
}

/// Makes up items.
struct Maker<'a> {
    service: &'a Service,
    known: &'a BTreeMap<String, Vec<Item>>,
    chance: &'a mut Chance,
}

impl Maker<'_> {
    /// An item, with ids and times left to the service; none if there is nothing that it could refer to.
    fn item(&mut self, entity: &Entity, references: &[Reference], number: u64) -> Option<Item> {
        let mut item = Item::new();
        for to in references {
            if !self.refer(&mut item, to) && !to.optional {
                return None;
            }
        }
        let now = self.service.now_milliseconds();
        let delimiters = &self.service.design().delimiters;
        let mut values = value::Values { chance: self.chance, now_milliseconds: now, number, delimiters };
        for attribute in &entity.attributes {
            let name = &attribute.name.value;
            let is_reference = references.iter().any(|to| to.slots.iter().any(|(_, local)| local == name));
            if !item.contains_key(name) && !is_reference {
                let is_own = entity.identity().last() == Some(&name.as_str());
                item.extend(values.attribute(entity, attribute, is_own).map(|value| (name.clone(), value)));
            }
        }
        let counted = entity.counters.iter().map(|counter| &counter.attribute.value);
        for path in counted.filter(|path| !path.contains('.')) {
            item.remove(path);
        }
        Some(item)
    }

    /// Has an item refer to one that exists and agrees with what it refers to already.
    fn refer(&mut self, item: &mut Item, to: &Reference) -> bool {
        if to.optional && self.chance.below(3) == 0 {
            return false;
        }
        let Some(existing) = self.known.get(&to.entity).filter(|list| !list.is_empty()) else { return false };
        let agrees = |other: &&Item| {
            to.slots.iter().all(|(slot, local)| match (item.get(local), other.get(slot)) {
                (Some(own), Some(value)) => own == value,
                (None, Some(_)) => true,
                (_, None) => false,
            })
        };
        let start = self.chance.index(existing.len());
        let Some(found) = existing.iter().cycle().skip(start).take(existing.len()).find(agrees) else {
            return false;
        };
        for (slot, local) in &to.slots {
            if let Some(value) = found.get(slot) {
                item.insert(local.clone(), value.clone());
            }
        }
        true
    }
}
