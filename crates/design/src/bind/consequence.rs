//! What follows from the change of an item: copies and counters.
//!
//! Always true: the consequences depend only on the item before and after, so a create, an update, a delete and an expiry are one case; and
//! an item that does not change has none.

use dynamo::{Item, Number, Value};

use super::item::{item_key, stored_item, with_constants};
use super::placeholders::holds;
use super::value::at;
use super::write::{Body, Changes, Guard, ItemWrite};
use super::{Bound, Context, ItemKey, Known};
use crate::check::CheckedDesign;
use crate::model::{Design, Entity, Tally};

/// An item before and after, as its entity sees it.
#[derive(Clone, Debug)]
pub struct ItemChange {
    /// The entity.
    pub entity: String,
    /// The item before; none if it was created.
    pub old: Option<Item>,
    /// The item after; none if it is gone.
    pub new: Option<Item>,
}

/// Which consequences are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Those that belong in the transaction.
    InTransaction,
    /// Those that the stream keeps.
    Eventual,
    /// All: the item expired, and nothing was done in a transaction.
    All,
}

/// What follows from a change that came from the stream: the eventual counters, or everything if the item expired.
pub fn consequences(
    design: &CheckedDesign,
    change: &ItemChange,
    expired: bool,
    known: &Known,
    context: &Context<'_>,
) -> Bound {
    let wanted = if expired { Wanted::All } else { Wanted::Eventual };
    let mut needs = Vec::new();
    let writes = follow(design, change, wanted, known, context, &mut needs);
    if needs.is_empty() { Bound::Write(super::write::merged(writes)) } else { Bound::Read(needs) }
}

pub(super) fn follow(
    design: &Design,
    change: &ItemChange,
    wanted: Wanted,
    known: &Known,
    context: &Context<'_>,
    needs: &mut Vec<ItemKey>,
) -> Vec<ItemWrite> {
    let mut writes = Vec::new();
    if wanted != Wanted::Eventual {
        for copy in design.copies_of(&change.entity) {
            writes.extend(copy_writes(design, copy, change, context));
        }
    }
    let Some(counted) = design.entity(&change.entity) else { return writes };
    let old = change.old.as_ref().map(|item| with_constants(counted, item));
    let new = change.new.as_ref().map(|item| with_constants(counted, item));
    for target in &design.entities {
        for counter in &target.counters {
            let is_wanted = wanted == Wanted::All || counter.eventual == (wanted == Wanted::Eventual);
            if is_wanted {
                for tally in counter.tallies.iter().filter(|tally| tally.entity.value == change.entity) {
                    let difference =
                        Difference { design, target, attribute: &counter.attribute.value, tally, context };
                    writes.extend(difference.writes(old.as_deref(), new.as_deref(), known, needs));
                }
            }
        }
    }
    writes
}

/// The copy of an item, as it is stored, if there is one.
fn copy_of(copy: &Entity, logical: &Item) -> Option<Item> {
    let when = copy.copy.as_ref()?.when.as_ref();
    if when.is_some_and(|when| !holds(&when.condition, logical, logical)) {
        return None;
    }
    let mut own = logical.clone();
    own.retain(|name, _| copy.attribute(name).is_some() || copy.constant(name).is_some());
    stored_item(copy, &own)
}

fn copy_writes(design: &Design, copy: &Entity, change: &ItemChange, context: &Context<'_>) -> Vec<ItemWrite> {
    let version = |item: &Option<Item>| {
        let logical = item.as_ref()?;
        let stored = copy_of(copy, logical)?;
        Some((item_key(design, copy, logical, context)?, stored))
    };
    let (old, new) = (version(&change.old), version(&change.new));
    let unique = copy.copy.as_ref().is_some_and(|copy| copy.unique);
    let write = |key: ItemKey, guards, body, why: &str| ItemWrite {
        key,
        entity: copy.name.value.clone(),
        because: vec![format!("{why} copy {} of {}", copy.name.value, change.entity)],
        otherwise: unique.then(|| format!("{} is taken", copy.name.value)),
        guards,
        body,
        before: None,
    };
    let new_guards = if unique { vec![Guard::NotExists] } else { Vec::new() };
    match (old, new) {
        (None, None) => Vec::new(),
        (None, Some((key, item))) => vec![write(key, new_guards, Body::Put(item), "new")],
        (Some((key, _)), None) => vec![write(key, Vec::new(), Body::Delete, "gone:")],
        (Some((old_key, old)), Some((key, item))) if old_key == key => {
            if old == item {
                Vec::new()
            } else {
                vec![write(key, Vec::new(), Body::Put(item), "changed")]
            }
        }
        (Some((old_key, _)), Some((key, item))) => {
            vec![
                write(old_key, Vec::new(), Body::Delete, "moved:"),
                write(key, new_guards, Body::Put(item), "moved"),
            ]
        }
    }
}

/// How a change moves one counter.
struct Difference<'a> {
    design: &'a Design,
    target: &'a Entity,
    attribute: &'a str,
    tally: &'a Tally,
    context: &'a Context<'a>,
}

impl Difference<'_> {
    fn writes(
        &self,
        old: Option<&Item>,
        new: Option<&Item>,
        known: &Known,
        needs: &mut Vec<ItemKey>,
    ) -> Vec<ItemWrite> {
        let share = |item: Option<&Item>| item.and_then(|item| self.share(item));
        match (share(old), share(new)) {
            (Some((old, less)), Some((new, more))) if old == new => {
                let difference = more.minus(less).unwrap_or(Number::ZERO);
                self.add(&new, difference, known, needs).into_iter().collect()
            }
            (old, new) => {
                let down = old.and_then(|(slots, number)| self.add(&slots, number.negated(), known, needs));
                let up = new.and_then(|(slots, number)| self.add(&slots, number, known, needs));
                down.into_iter().chain(up).collect()
            }
        }
    }

    /// The item's share in the counter: the slots of the counter's key, and the number. None if it does not count.
    fn share(&self, counted: &Item) -> Option<(Item, Number)> {
        if self.tally.when.as_ref().is_some_and(|when| !holds(&when.condition, counted, counted)) {
            return None;
        }
        let mut slots = Item::new();
        for slot in self.target.identity() {
            if self.target.constant(slot).is_none() {
                super::value::put_at(&mut slots, slot, at(counted, self.tally.source(slot))?.clone());
            }
        }
        let number = match &self.tally.sum {
            None => Number::from(1_i64),
            Some(path) => match at(counted, &path.value) {
                Some(Value::N(number)) => *number,
                _ => return None,
            },
        };
        Some((slots, number))
    }

    fn add(
        &self,
        slots: &Item,
        number: Number,
        known: &Known,
        needs: &mut Vec<ItemKey>,
    ) -> Option<ItemWrite> {
        if number == Number::ZERO {
            return None;
        }
        let key = item_key(self.design, self.target, slots, self.context)?;
        let made_by_counting = self.target.is_tally_only();
        if !made_by_counting && number < Number::ZERO {
            // What is counted may outlive what it is counted for.
            match known.find(&key) {
                None => needs.push(key.clone()),
                Some(None) => return None,
                Some(Some(_)) => {}
            }
        }
        let mut changes = Changes { add: vec![(self.attribute.to_owned(), number)], ..Changes::default() };
        if made_by_counting {
            let stored = stored_item(self.target, slots).unwrap_or_default();
            changes.initial = stored.into_iter().filter(|(name, _)| !key.key.contains_key(name)).collect();
        }
        let guards = if made_by_counting { Vec::new() } else { vec![Guard::Exists] };
        Some(ItemWrite {
            key,
            entity: self.target.name.value.clone(),
            because: vec![format!("counter {}.{}", self.target.name.value, self.attribute)],
            otherwise: (!made_by_counting).then(|| format!("there is no such {}", self.target.name.value)),
            guards,
            body: Body::Update(changes),
            before: None,
        })
    }
}

/// What the existence of an item implies elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Implied {
    /// Its copies, as they are stored.
    pub copies: Vec<ImpliedCopy>,
    /// Its shares in counters.
    pub shares: Vec<Share>,
}

/// A copy that must be there because its source is.
#[derive(Clone, Debug)]
pub struct ImpliedCopy {
    /// The entity of the copy.
    pub entity: String,
    /// Where it stands.
    pub key: ItemKey,
    /// The copy, as it is stored.
    pub stored: Item,
}

/// What an item adds to a counter.
#[derive(Clone, Debug)]
pub struct Share {
    /// The entity that has the counter.
    pub entity: String,
    /// Where the counter stands.
    pub key: ItemKey,
    /// The counter; dots reach into maps.
    pub attribute: String,
    /// How much of it is this item's.
    pub number: Number,
    /// The item that has the counter as it is stored before anything is counted, if it comes to be by counting.
    pub initial: Option<Item>,
}

/// The copies and the shares in counters that follow from an item.
pub fn implied(design: &CheckedDesign, entity: &str, logical: &Item, context: &Context<'_>) -> Implied {
    let mut found = Implied::default();
    for copy in design.copies_of(entity) {
        if let (Some(stored), Some(key)) = (copy_of(copy, logical), item_key(design, copy, logical, context))
        {
            found.copies.push(ImpliedCopy { entity: copy.name.value.clone(), key, stored });
        }
    }
    let Some(counted) = design.entity(entity) else { return found };
    let whole = with_constants(counted, logical);
    for target in &design.entities {
        for counter in &target.counters {
            let attribute = &counter.attribute.value;
            for tally in counter.tallies.iter().filter(|tally| tally.entity.value == entity) {
                let difference = Difference { design, target, attribute, tally, context };
                let Some((slots, number)) = difference.share(&whole) else { continue };
                let Some(key) = item_key(design, target, &slots, context) else { continue };
                found.shares.push(Share {
                    entity: target.name.value.clone(),
                    key,
                    attribute: attribute.clone(),
                    number,
                    initial: target.is_tally_only().then(|| stored_item(target, &slots)).flatten(),
                });
            }
        }
    }
    found
}

/// Copies of an attribute that a change of its source makes stale.
#[derive(Clone, Debug)]
pub struct Refresh {
    /// The entity whose items have a copy.
    pub entity: String,
    /// The attribute.
    pub attribute: String,
    /// Its new value; none if the source has it no more.
    pub value: Option<Value>,
    /// The entity, itself or a copy of it, in whose keys they are found.
    pub found_as: String,
    /// The index to ask; none for the table.
    pub index: Option<String>,
    /// The partition to ask.
    pub partition: Item,
}

/// The attributes elsewhere that must follow a change, and where their items are found.
pub fn refreshes(design: &CheckedDesign, change: &ItemChange) -> Vec<Refresh> {
    let (Some(source), Some(new)) = (design.entity(&change.entity), change.new.as_ref()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entity in design.entities.iter().filter(|entity| entity.copy.is_none()) {
        for attribute in &entity.attributes {
            let Some(from) =
                attribute.from.as_ref().filter(|from| from.refresh && from.entity() == change.entity)
            else {
                continue;
            };
            let before = change.old.as_ref().and_then(|old| at(old, from.attribute()));
            let after = at(new, from.attribute());
            let Some((holder, key)) = crate::check::goes_stale::dependents_key(design, entity, source, from)
            else {
                continue;
            };
            if before == after || change.old.is_none() {
                continue;
            }
            let mut slots = Item::new();
            for slot in source.identity() {
                if let Some(value) = at(new, slot) {
                    super::value::put_at(&mut slots, from.local(slot), value.clone());
                }
            }
            let width = key
                .index
                .as_ref()
                .and_then(|index| design.index(index))
                .map_or(1, |index| index.partition_key.len());
            let parts = key.parts.iter().take(width).filter_map(|part| {
                let template = &part.choices.first()?.template.value;
                Some((
                    part.attribute.value.clone(),
                    super::value::fill(template, &with_constants(holder, &slots))?,
                ))
            });
            found.push(Refresh {
                entity: entity.name.value.clone(),
                attribute: attribute.name.value.clone(),
                value: after.cloned(),
                found_as: holder.name.value.clone(),
                index: key.index.clone(),
                partition: parts.collect(),
            });
        }
    }
    found
}
