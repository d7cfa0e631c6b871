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
    let paths: Vec<&Path> = paths.collect();
    let mut by_root: Vec<usize> = (0..paths.len()).collect();
    let root = |index: &usize| paths.get(*index).map(|path| &*path.root);
    by_root.sort_by(|left, right| root(left).cmp(&root(right)));
    let mut overlap: Option<(usize, usize)> = None;
    let mut conflict: Option<(usize, usize)> = None;
    for group in by_root.chunk_by(|left, right| root(left) == root(right)) {
        for (place, later) in group.iter().enumerate() {
            for earlier in group.iter().take(place) {
                let found = match relation(&paths, *earlier, *later) {
                    Relation::Disjoint => continue,
                    Relation::Overlap => &mut overlap,
                    Relation::Conflict => &mut conflict,
                };
                // The later path is named first here so that the smallest pair is the one met first in the text.
                let pair = (*later, *earlier);
                *found = Some(found.map_or(pair, |other| other.min(pair)));
            }
        }
    }
    let named = |(later, earlier): (usize, usize)| {
        Some(((*paths.get(earlier)?).clone(), (*paths.get(later)?).clone()))
    };
    if let Some((one, two)) = overlap.and_then(named) {
        return Err(Fault::Overlap(one, two));
    }
    if let Some((one, two)) = conflict.and_then(named) {
        return Err(Fault::Conflict(one, two));
    }
    Ok(())
}

enum Relation {
    Disjoint,
    Overlap,
    Conflict,
}

/// How two paths with the same root relate.
fn relation(paths: &[&Path], earlier: usize, later: usize) -> Relation {
    let (Some(earlier), Some(later)) = (paths.get(earlier), paths.get(later)) else {
        return Relation::Disjoint;
    };
    for pair in earlier.steps.iter().zip(&later.steps) {
        match pair {
            (Step::Name(_), Step::Index(_)) | (Step::Index(_), Step::Name(_)) => return Relation::Conflict,
            (one, two) if one != two => return Relation::Disjoint,
            _ => {}
        }
    }
    Relation::Overlap
}
