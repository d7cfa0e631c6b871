//! From the items that steps have touched to the writes, with everything that follows.

use dynamo::{Item, Number, Value};

use super::{Touched, Work};
use crate::bind::consequence::{ItemChange, Wanted, follow};
use crate::bind::item::{item_key, stored_item};
use crate::bind::value::{at, put_at};
use crate::bind::write::{Body, Changes, Guard, ItemWrite, merged};
use crate::bind::{Bound, ItemKey, Problem};

impl Work<'_> {
    pub(super) fn finish(mut self) -> Result<Bound, Vec<Problem>> {
        if let Some((pattern, parameters)) = self.ask.take() {
            return Ok(Bound::Ask { pattern, parameters });
        }
        if !self.needs.is_empty() && self.problems.is_empty() {
            return Ok(Bound::Read(distinct(self.needs)));
        }
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let mut writes = std::mem::take(&mut self.other);
        let mut needs = Vec::new();
        let mut keys = Vec::new();
        for touched in std::mem::take(&mut self.touched) {
            writes.extend(self.main_writes(&touched));
            let Touched { entity, key, old, new, .. } = touched;
            keys.push(key);
            let change = ItemChange { entity, old, new };
            let wanted = Wanted::InTransaction;
            writes.extend(follow(self.design, &change, wanted, self.known, self.context, &mut needs));
        }
        // Where nothing is written, nothing depends on what was read.
        if !writes.is_empty() {
            writes.append(&mut self.read);
        }
        needs.retain(|key| !keys.contains(key));
        if needs.is_empty() { Ok(Bound::Write(merged(writes))) } else { Ok(Bound::Read(distinct(needs))) }
    }

    /// The writes of the item itself.
    fn main_writes(&self, touched: &Touched) -> Vec<ItemWrite> {
        let Some(entity) = self.design.entity(&touched.entity) else { return Vec::new() };
        let write = |key: ItemKey, guards: Vec<Guard>, body: Body, before: Option<Item>| ItemWrite {
            key,
            entity: touched.entity.clone(),
            because: touched.because.clone(),
            otherwise: touched.otherwise.clone(),
            guards,
            body,
            before: Some(before.unwrap_or_default()),
        };
        let stored = |item: &Option<Item>| item.as_ref().and_then(|item| stored_item(entity, item));
        let (key, guards) = (touched.key.clone(), touched.guards.clone());
        match (stored(&touched.old), stored(&touched.new)) {
            (None, None) => Vec::new(),
            (None, Some(new)) => vec![write(key, guards, Body::Put(new), None)],
            (Some(old), None) => vec![write(key, guards, Body::Delete, Some(old))],
            (Some(old), Some(new)) => {
                let moved =
                    touched.new.as_ref().and_then(|item| item_key(self.design, entity, item, self.context));
                match moved {
                    Some(moved) if moved != key => vec![
                        write(key, guards, Body::Delete, Some(old.clone())),
                        write(moved, vec![Guard::NotExists], Body::Put(new), Some(old)),
                    ],
                    _ => {
                        let changes = difference(&old, &new, &touched.added);
                        vec![write(key, guards, Body::Update(changes), Some(old))]
                    }
                }
            }
        }
    }
}

fn distinct(keys: Vec<ItemKey>) -> Vec<ItemKey> {
    let mut found: Vec<ItemKey> = Vec::new();
    for key in keys {
        if !found.contains(&key) {
            found.push(key);
        }
    }
    found
}

/// What must be set, added and removed to come from one stored item to another.
fn difference(old: &Item, new: &Item, added: &[(String, Number)]) -> Changes {
    let mut changes = Changes { add: added.to_vec(), ..Changes::default() };
    // What is added is added, not set: others may add at the same time.
    let mut expected = old.clone();
    for (path, number) in added {
        let before = match at(&expected, path) {
            Some(Value::N(before)) => *before,
            _ => Number::ZERO,
        };
        put_at(&mut expected, path, Value::N(before.plus(*number).unwrap_or(before)));
    }
    for (name, value) in new {
        if expected.get(name) != Some(value) {
            changes.set.push((name.clone(), value.clone()));
        }
    }
    changes.remove = old.keys().filter(|name| !new.contains_key(*name)).cloned().collect();
    changes
}
