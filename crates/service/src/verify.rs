//! Compares everything that follows from items with what the items imply: index keys, copies, uniqueness, counters, denormalised attributes.
//!
//! Two passes over each table: the first learns what the items imply, the second compares. Memory is needed for what is implied, not for the
//! items. Writes that go on meanwhile look like differences, so a table is verified while it rests.

mod repair;

use std::collections::BTreeMap;

use design::{CheckedDesign, Entity, ItemKey, Share};
use dynamo::{Item, Number, Value};

use crate::ids::Ids;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::{scan, state};

/// Something that is not as the items imply.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The entity of the item that is wrong.
    pub entity: String,
    /// Where it stands.
    pub key: ItemKey,
    /// In words.
    pub message: String,
    pub(crate) mend: Mend,
}

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// An index key is not what the attributes make it.
    IndexKey,
    /// A copy, or uniqueness item, is not there.
    CopyMissing,
    /// A copy is not equal to what it copies.
    CopyDiffers,
    /// A copy of something that is not there.
    CopyOrphaned,
    /// Two items claim one copy: what must be unique is not.
    CopyClaimedTwice,
    /// A counter is not what there is to count.
    Counter,
    /// A denormalised attribute is not that of its source.
    Stale,
    /// An item that is of no entity.
    Unknown,
}

/// How a finding is put right.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mend {
    /// The item becomes this; none deletes it.
    Become { old: Option<Item>, new: Option<Item> },
    /// The copy is made again from its source.
    CopyOf { source: ItemKey, old: Option<Item> },
    /// The counter becomes this.
    Count { attribute: String, old: Option<Value>, new: Number, initial: Option<Item> },
    /// Only a person can.
    Nothing,
}

/// What verifying found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verification {
    /// Items that were looked at.
    pub items: u64,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Findings that were put right.
    pub repaired: u64,
}

/// An item's place, as something that can be looked up.
type Place = (String, Vec<u8>);

fn place(key: &ItemKey) -> Place {
    let mut bytes = Vec::new();
    dynamo::write_item(&key.key, &mut bytes);
    (key.table.clone(), bytes)
}

/// What the items imply.
#[derive(Default)]
struct Implied {
    /// Copies: the hash of what they must be, and whose they are.
    copies: BTreeMap<Place, (String, String, ItemKey, ItemKey)>,
    counters: BTreeMap<(Place, String), (Number, Share)>,
    /// Attributes that others have copies of.
    sources: BTreeMap<Place, Item>,
}

impl Service {
    /// Compares every index key, copy, uniqueness item, counter and denormalised attribute with what the items imply. Calls `progress` with the number of
    /// items looked at so far.
    pub async fn verify(&self, progress: &mut (dyn FnMut(u64) + Send)) -> Result<Verification, Refusal> {
        let mut found = Verification::default();
        let mut implied = Implied::default();
        let tables = self.inner.shapes.tables.iter().map(|table| table.physical.clone()).collect::<Vec<_>>();
        for table in &tables {
            scan::pages(self, table, |items| {
                for stored in &items {
                    self.learn(table, stored, &mut implied, &mut found.findings);
                }
                Ok(())
            })
            .await?;
        }
        for table in &tables {
            scan::pages(self, table, |items| {
                for stored in &items {
                    found.items += 1;
                    self.compare(table, stored, &mut implied, &mut found.findings);
                }
                progress(found.items);
                Ok(())
            })
            .await?;
        }
        missing(self.design(), implied, &mut found.findings);
        Ok(found)
    }

    /// Notes what an item implies, and whether its own keys are right.
    fn learn(&self, table: &str, stored: &Item, implied: &mut Implied, findings: &mut Vec<Finding>) {
        let design = self.design();
        let key = self.key_in(table, stored);
        let Some(entity) = self.recognised(table, stored) else {
            let message = "it is of no entity of the design".to_owned();
            findings.push(Finding {
                kind: FindingKind::Unknown,
                entity: String::new(),
                key,
                message,
                mend: Mend::Nothing,
            });
            return;
        };
        if entity.copy.is_some() {
            return;
        }
        let logical = design::logical_item(design, entity, stored);
        findings.extend(index_keys(entity, &key, &logical, stored));
        let follows = self.with_context(&Ids::none(), |context| {
            design::implied(design, &entity.name.value, &logical, context)
        });
        for copy in follows.copies {
            let hash = hash(&copy.stored);
            let entry = (copy.entity.clone(), hash, copy.key.clone(), key.clone());
            if let Some((_, _, _, other)) = implied.copies.insert(place(&copy.key), entry) {
                let message = format!("{} and {} both claim it", shown(&other), shown(&key));
                let kind = FindingKind::CopyClaimedTwice;
                findings.push(Finding {
                    kind,
                    entity: copy.entity,
                    key: copy.key,
                    message,
                    mend: Mend::Nothing,
                });
            }
        }
        for share in follows.shares {
            let counter = (place(&share.key), share.attribute.clone());
            let sum = implied.counters.entry(counter).or_insert_with(|| (Number::ZERO, share.clone()));
            sum.0 = sum.0.plus(share.number).unwrap_or(sum.0);
        }
        let copied = copied_attributes(design, entity, &logical);
        if !copied.is_empty() {
            implied.sources.insert(place(&key), copied);
        }
    }

    /// Compares an item with what others imply of it.
    fn compare(&self, table: &str, stored: &Item, implied: &mut Implied, findings: &mut Vec<Finding>) {
        let key = self.key_in(table, stored);
        let Some(entity) = self.recognised(table, stored) else { return };
        let name = entity.name.value.clone();
        if entity.copy.is_some() {
            let old = Some(stored.clone());
            let (kind, message, mend) = match implied.copies.remove(&place(&key)) {
                Some((_, expected, _, _)) if expected == hash(stored) => return,
                Some((_, _, _, source)) => {
                    let message = format!("it is not equal to {}", shown(&source));
                    (FindingKind::CopyDiffers, message, Mend::CopyOf { source, old })
                }
                None => {
                    let message = "there is nothing that it is a copy of".to_owned();
                    (FindingKind::CopyOrphaned, message, Mend::Become { old, new: None })
                }
            };
            findings.push(Finding { kind, entity: name, key, message, mend });
            return;
        }
        for counter in &entity.counters {
            let attribute = &counter.attribute.value;
            let expected = implied.counters.remove(&(place(&key), attribute.clone()));
            let expected = expected.map_or(Number::ZERO, |(number, _)| number);
            let old = design::at(stored, attribute).cloned();
            if old.clone().unwrap_or(Value::N(Number::ZERO)) != Value::N(expected) {
                let found = old.as_ref().map_or_else(|| "absent".to_owned(), number);
                let message = format!("{attribute} is {found}, and there are {expected}");
                let mend = Mend::Count { attribute: attribute.clone(), old, new: expected, initial: None };
                findings.push(Finding {
                    kind: FindingKind::Counter,
                    entity: name.clone(),
                    key: key.clone(),
                    message,
                    mend,
                });
            }
        }
        findings.extend(self.stale(entity, &key, stored, implied));
    }

    /// Denormalised attributes that are not those of their sources.
    fn stale(&self, entity: &Entity, key: &ItemKey, stored: &Item, implied: &Implied) -> Vec<Finding> {
        let design = self.design();
        let mut findings = Vec::new();
        for attribute in &entity.attributes {
            let Some(from) = attribute.from.as_ref().filter(|from| from.refresh) else { continue };
            let Some(source) = design.entity(from.entity()) else { continue };
            let logical = design::logical_item(design, entity, stored);
            let mut slots = Item::new();
            for slot in source.identity() {
                if let Some(value) = design::at(&logical, from.local(slot)) {
                    design::put_at(&mut slots, slot, value.clone());
                }
            }
            let at =
                self.with_context(&Ids::none(), |context| design::item_key(design, source, &slots, context));
            let Some(copied) = at.and_then(|at| implied.sources.get(&place(&at))) else { continue };
            let name = &attribute.name.value;
            let (expected, found) = (copied.get(from.attribute()), stored.get(name));
            if expected != found {
                let mut new = logical.clone();
                match expected {
                    Some(value) => new.insert(name.clone(), value.clone()),
                    None => new.remove(name),
                };
                findings.push(Finding {
                    kind: FindingKind::Stale,
                    entity: entity.name.value.clone(),
                    key: key.clone(),
                    message: format!("{name} is not {}", from.source.value),
                    mend: Mend::Become { old: Some(stored.clone()), new: design::stored_item(entity, &new) },
                });
            }
        }
        findings
    }

    fn recognised(&self, table: &str, stored: &Item) -> Option<&Entity> {
        self.inner.shapes.recognise(self.design(), table, stored)
    }

    pub(crate) fn key_in(&self, table: &str, stored: &Item) -> ItemKey {
        let names = self.inner.shapes.table(table).map(|table| table.key.as_slice()).unwrap_or_default();
        let key = names.iter().filter_map(|name| Some((name.clone(), stored.get(name)?.clone()))).collect();
        ItemKey { table: table.to_owned(), key }
    }
}

/// The attributes of an item that refreshed attributes elsewhere come from.
fn copied_attributes(design: &CheckedDesign, entity: &Entity, logical: &Item) -> Item {
    let attributes = design.entities.iter().flat_map(|other| &other.attributes);
    let sources = attributes.filter_map(|attribute| attribute.from.as_ref());
    let own = sources.filter(|from| from.refresh && from.entity() == entity.name.value);
    let mut copied = Item::new();
    for from in own {
        if let Some(value) = design::at(logical, from.attribute()) {
            copied.insert(from.attribute().to_owned(), value.clone());
        }
    }
    copied
}

/// Whether the keys that an item has in indexes are those that its attributes make.
fn index_keys(entity: &Entity, key: &ItemKey, logical: &Item, stored: &Item) -> Option<Finding> {
    let expected = design::stored_item(entity, logical)?;
    let parts = entity.index_keys.iter().flat_map(|key| &key.parts);
    let mut wrong =
        parts.map(|part| &part.attribute.value).filter(|name| expected.get(*name) != stored.get(*name));
    let first = wrong.next()?;
    let mut new = stored.clone();
    for part in entity.index_keys.iter().flat_map(|key| &key.parts) {
        let name = &part.attribute.value;
        match expected.get(name) {
            Some(value) => new.insert(name.clone(), value.clone()),
            None => new.remove(name),
        };
    }
    Some(Finding {
        kind: FindingKind::IndexKey,
        entity: entity.name.value.clone(),
        key: key.clone(),
        message: format!("{first} does not follow from the attributes"),
        mend: Mend::Become { old: Some(stored.clone()), new: Some(new) },
    })
}

/// What is implied and was not found.
fn missing(design: &CheckedDesign, implied: Implied, findings: &mut Vec<Finding>) {
    for (entity, _, key, source) in implied.copies.into_values() {
        let message = format!("there is no copy of {}", shown(&source));
        let mend = Mend::CopyOf { source, old: None };
        findings.push(Finding { kind: FindingKind::CopyMissing, entity, key, message, mend });
    }
    for (number, share) in implied.counters.into_values() {
        // What is counted may outlive what it is counted for, unless that comes to be by counting.
        let comes_to_be = design.entity(&share.entity).is_some_and(Entity::is_tally_only);
        if number == Number::ZERO || !comes_to_be {
            continue;
        }
        findings.push(Finding {
            kind: FindingKind::Counter,
            entity: share.entity,
            key: share.key,
            message: format!("{} is absent, and there are {number}", share.attribute),
            mend: Mend::Count { attribute: share.attribute, old: None, new: number, initial: share.initial },
        });
    }
}

fn hash(item: &Item) -> String {
    let mut bytes = Vec::new();
    dynamo::write_item(item, &mut bytes);
    state::fingerprint(&[&bytes])
}

fn number(value: &Value) -> String {
    match value {
        Value::N(number) => number.to_string(),
        other => other.value_type().name().to_owned(),
    }
}

/// A key in words: its values.
fn shown(key: &ItemKey) -> String {
    let values = key.key.values().map(|value| match value {
        Value::S(text) => text.clone(),
        other => number(other),
    });
    values.collect::<Vec<_>>().join(" ")
}
