//! Projections: an item with only what was asked for.
//!
//! A path that leads nowhere leaves nothing behind, not even an empty map. Elements of a list keep their order and
//! close up.

use std::collections::BTreeMap;
use std::sync::Arc;

use dynamo::{Attributes, ItemBuilder, List, Map, Shape, StoredItem, Value, ValueRef};

use crate::path::{Path, Step};

/// The paths of a projection as a tree, so that each attribute is read once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    attributes: BTreeMap<Arc<str>, Wanted>,
}

/// What is wanted of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Whole,
    Names(BTreeMap<Arc<str>, Wanted>),
    Indexes(BTreeMap<usize, Wanted>),
}

impl Projection {
    /// The projection to these paths, of which none overlaps or conflicts with another.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Projection {
        let mut projection = Projection::default();
        for path in paths {
            let wanted = projection.attributes.entry(path.root.clone());
            add(wanted.or_insert_with(|| empty(&path.steps)), &path.steps);
        }
        projection
    }

    /// The projection to these top-level attributes.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Projection {
        Projection { attributes: names.into_iter().map(|name| (Arc::from(name), Wanted::Whole)).collect() }
    }

    /// The names of the top-level attributes that the projection reads, in ascending order, each with whether only a part
    /// of it is wanted.
    pub fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        self.attributes.iter().map(|(name, wanted)| (&**name, *wanted != Wanted::Whole))
    }

    /// The item with only what is wanted.
    pub fn apply(&self, item: &StoredItem) -> StoredItem {
        let mut builder = ItemBuilder::with_capacity(item.as_bytes().len());
        let mut wanted = self.attributes.iter().peekable();
        for (name, value) in item.attributes() {
            while wanted.next_if(|(next, _)| &***next < name).is_some() {}
            match wanted.peek() {
                None => break,
                Some((next, part)) if &***next == name => push(&mut builder, name, value, part),
                Some(_) => {}
            }
        }
        builder.finish()
    }
}

fn push(builder: &mut ItemBuilder, name: &str, value: ValueRef<'_>, wanted: &Wanted) {
    match wanted {
        Wanted::Whole => builder.push_stored(name.as_bytes(), value),
        part => {
            if let Some(value) = part.of(value) {
                builder.push(name, &value);
            }
        }
    }
}

impl Wanted {
    /// The wanted part of a value, if there is any.
    fn of(&self, value: ValueRef<'_>) -> Option<Value> {
        match (self, value.shape()) {
            (Wanted::Whole, _) => Some(value.decode()),
            (Wanted::Names(names), Shape::M(map)) => of_map(names, map),
            (Wanted::Indexes(indexes), Shape::L(list)) => of_list(indexes, list),
            _ => None,
        }
    }
}

fn of_map(names: &BTreeMap<Arc<str>, Wanted>, map: Attributes<'_>) -> Option<Value> {
    let found: Map = names
        .iter()
        .filter_map(|(name, wanted)| Some((name.to_string(), wanted.of(map.get(name)?)?)))
        .collect();
    (!found.is_empty()).then_some(Value::M(found))
}

fn of_list(indexes: &BTreeMap<usize, Wanted>, list: List<'_>) -> Option<Value> {
    let found: Vec<Value> =
        indexes.iter().filter_map(|(index, wanted)| wanted.of(list.at(*index)?)).collect();
    (!found.is_empty()).then_some(Value::L(found))
}

/// The place where the first of these steps will go.
fn empty(steps: &[Step]) -> Wanted {
    match steps.first() {
        None => Wanted::Whole,
        Some(Step::Name(_)) => Wanted::Names(BTreeMap::new()),
        Some(Step::Index(_)) => Wanted::Indexes(BTreeMap::new()),
    }
}

fn add(wanted: &mut Wanted, steps: &[Step]) {
    let Some((first, rest)) = steps.split_first() else { return };
    match (wanted, first) {
        (Wanted::Names(names), Step::Name(name)) => {
            add(names.entry(name.clone()).or_insert_with(|| empty(rest)), rest);
        }
        (Wanted::Indexes(indexes), Step::Index(index)) => {
            add(indexes.entry(*index).or_insert_with(|| empty(rest)), rest);
        }
        // Overlapping and conflicting paths were refused before.
        _ => {}
    }
}

#[cfg(test)]
mod tests;
