//! Document paths with their names filled in: an attribute, then names of maps and indexes of lists.
//!
//! Always true: a path starts with the name of a top-level attribute.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use dynamo::{Shape, StoredItem, ValueRef};

use crate::error::Fault;

/// A document path such as `info.ratings[2]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The top-level attribute.
    pub root: Arc<str>,
    /// The way from there.
    pub steps: Vec<Step>,
}

/// One step into a map or a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The attribute of a map.
    Name(Arc<str>),
    /// The element of a list.
    Index(usize),
}

impl Path {
    /// The path of a top-level attribute.
    pub fn top_level(name: impl Into<Arc<str>>) -> Path {
        Path { root: name.into(), steps: Vec::new() }
    }

    /// True for a path into a map or list.
    pub fn is_nested(&self) -> bool {
        !self.steps.is_empty()
    }

    /// The value at the end of the path.
    pub fn find<'a>(&self, item: &'a StoredItem) -> Option<ValueRef<'a>> {
        let mut value = item.get(&self.root)?;
        for step in &self.steps {
            value = match (step, value.shape()) {
                (Step::Name(name), Shape::M(map)) => map.get(name)?,
                (Step::Index(index), Shape::L(list)) => list.at(*index)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

impl Display for Path {
    /// As messages show paths: `[info, ratings, [2]]`.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "[{}", self.root)?;
        for step in &self.steps {
            match step {
                Step::Name(name) => write!(out, ", {name}")?,
                Step::Index(index) => write!(out, ", [{index}]")?,
            }
        }
        out.write_str("]")
    }
}

/// Refuses two paths of which one lies within the other, or which need one place to be both map and list.
pub(crate) fn check_disjoint<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<(), Fault> {
    let mut places: Vec<(usize, &Path)> = paths.enumerate().collect();
    // Paths with different roots have nothing to do with each other; within a root the order of the text stays.
    places.sort_by_key(|(_, path)| &path.root);
    let groups =
        || places.chunk_by(|(_, one), (_, two)| one.root == two.root).filter(|group| group.len() > 1);
    if let Some((one, two)) =
        groups().filter_map(|group| first_pair(group, Relation::Overlap)).min_by_key(order)
    {
        return Err(Fault::Overlap(one.1.clone(), two.1.clone()));
    }
    if let Some((one, two)) =
        groups().filter_map(|group| first_pair(group, Relation::Conflict)).min_by_key(order)
    {
        return Err(Fault::Conflict(one.1.clone(), two.1.clone()));
    }
    Ok(())
}

/// A path and its place in the text.
type Place<'a> = (usize, &'a Path);

/// Of several pairs the one that the text completes first is reported.
fn order((earlier, later): &(Place<'_>, Place<'_>)) -> (usize, usize) {
    (later.0, earlier.0)
}

/// The first pair of paths with the same root that relate in this way, the earlier path first.
fn first_pair<'a>(group: &[Place<'a>], wanted: Relation) -> Option<(Place<'a>, Place<'a>)> {
    group.iter().enumerate().find_map(|(count, later)| {
        let earlier = group.iter().take(count).find(|earlier| relation(earlier.1, later.1) == wanted);
        earlier.map(|earlier| (*earlier, *later))
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Disjoint,
    Overlap,
    Conflict,
}

/// How two paths with the same root relate.
fn relation(one: &Path, two: &Path) -> Relation {
    for pair in one.steps.iter().zip(&two.steps) {
        match pair {
            (Step::Name(_), Step::Index(_)) | (Step::Index(_), Step::Name(_)) => return Relation::Conflict,
            (one, two) if one != two => return Relation::Disjoint,
            _ => {}
        }
    }
    Relation::Overlap
}
