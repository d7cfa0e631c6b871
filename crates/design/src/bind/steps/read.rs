//! Items as the steps so far have left them.
//!
//! Always true: what a `get` has read and a later step uses, and what was copied from another item and must stay equal to it, is in a
//! condition of the writes. So two operations never decide on the same old value; the one that is late is bound again.

use dynamo::Item;

use super::Work;
use crate::bind::item::{item_key, logical_item};
use crate::bind::value::at;
use crate::bind::write::{Body, Guard, ItemWrite};
use crate::bind::{ItemKey, Problem, ProblemKind};
use crate::model::{Entity, Step};

impl Work<'_> {
    /// The item with this identity as the steps so far have left it. None if it must be read first; the inner none if there is none.
    #[expect(clippy::option_option, reason = "not known and not there are different answers")]
    pub(super) fn current(&mut self, entity: &Entity, identity: &Item) -> Option<Option<(ItemKey, Item)>> {
        let Some(key) = item_key(self.design, entity, identity, self.context) else {
            for slot in entity.identity().into_iter().filter(|slot| at(identity, slot).is_none()) {
                self.problems.push(Problem::invalid(slot, "is missing"));
            }
            return None;
        };
        if let Some(touched) = self.touched.iter().find(|touched| touched.key == key) {
            return Some(touched.new.clone().map(|item| (key, item)));
        }
        match self.known.find(&key) {
            Some(item) => {
                let logical = item.map(|item| logical_item(self.design, entity, item));
                Some(logical.map(|item| (key, item)))
            }
            None => {
                self.needs.push(key);
                None
            }
        }
    }

    /// Reads an item for later steps. What they use of it must still be so when the writes are made.
    pub(super) fn get(
        &mut self,
        step: &Step,
        later: &[Step],
        entity: &Entity,
        identity: &Item,
    ) -> Option<Item> {
        let Some((key, item)) = self.current(entity, identity)? else {
            let message = step.otherwise.clone();
            let message = message.unwrap_or_else(|| format!("there is no such {}", entity.name.value));
            self.problems.push(Problem::new(ProblemKind::NotFound, &entity.name.value, message));
            return None;
        };
        let used = step.name.as_ref().map(|name| used(&name.value, later)).unwrap_or_default();
        self.depends(entity, key, &item, &used, format!("get {}", entity.name.value));
        Some(item)
    }

    /// What was used of an item that was read must still be so when the writes are made.
    pub(super) fn depends(
        &mut self,
        entity: &Entity,
        key: ItemKey,
        item: &Item,
        used: &[String],
        because: String,
    ) {
        let before = match self.touched.iter().find(|touched| touched.key == key) {
            // An earlier step makes it: there was nothing that could change.
            Some(touched) if touched.old.is_none() => return,
            Some(touched) => touched.old.as_ref(),
            None => Some(item),
        };
        let guards = before.map(|before| unchanged(entity, before, used)).unwrap_or_default();
        self.read.push(ItemWrite {
            key,
            entity: entity.name.value.clone(),
            because: vec![because],
            otherwise: None,
            guards,
            body: Body::Check,
            before: None,
        });
    }
}

/// The conditions that an item is there and what was used of it is as it was. What stands in its key cannot change.
fn unchanged(entity: &Entity, before: &Item, used: &[String]) -> Vec<Guard> {
    let identity = entity.identity();
    let paths = entity.attributes.iter().filter(|attribute| attribute.stored).flat_map(|attribute| {
        let name = attribute.name.value.as_str();
        let own = used.iter().filter_map(move |path| match path.as_str() {
            "" => Some(name),
            path => (path.split('.').next() == Some(name)).then_some(path),
        });
        own.collect::<Vec<_>>()
    });
    let paths = paths.filter(|path| !identity.contains(path));
    let unchanged = paths.map(|path| Guard::Unchanged(path.to_owned(), at(before, path).cloned()));
    [Guard::Exists].into_iter().chain(unchanged).collect()
}

/// The attributes of a named item that steps use; empty for the item as a whole.
fn used(name: &str, steps: &[Step]) -> Vec<String> {
    let own = |path: &str| {
        let rest = path.strip_prefix(name)?;
        if rest.is_empty() { Some(String::new()) } else { rest.strip_prefix('.').map(str::to_owned) }
    };
    let mut found = Vec::new();
    for step in steps {
        found.extend(step.scope_paths().iter().filter_map(|path| own(path)));
        let is_sent = |text: &str| text.contains(&format!(":{name}"));
        found.extend(step.expression.iter().filter(|text| is_sent(&text.value)).map(|_| String::new()));
    }
    found.sort_unstable();
    found.dedup();
    found
}
