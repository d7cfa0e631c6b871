//! Walking along the leaves, from either end.

use std::ops::Bound;

use bytes::Bytes;

use super::{Branch, Leaf, Node, Tree, keys::Keys};

/// The entries of a range, in one direction.
pub(in super::super) struct TreeRange<'a> {
    /// The branches above the leaf, each with the position of the child below.
    path: Vec<(&'a Branch, usize)>,
    leaf: &'a Leaf,
    /// The entries of the leaf still to come: `next..end`.
    next: usize,
    end: usize,
    /// Where the walk ends.
    far: Bound<Bytes>,
    is_reverse: bool,
}

impl Tree {
    /// The entries between two bounds, the greatest first if `is_reverse`. The bounds are not inverted.
    pub(in super::super) fn range(
        &self,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        is_reverse: bool,
    ) -> TreeRange<'_> {
        let (near, far) = if is_reverse { (upper, lower) } else { (lower, upper) };
        let mut path = Vec::with_capacity(8);
        let leaf = descend(&self.root, &mut path, |branch| match near {
            Bound::Included(key) | Bound::Excluded(key) => branch.child_of(key),
            Bound::Unbounded => end_of(branch, is_reverse),
        });
        let mut range =
            TreeRange { path, leaf, next: 0, end: 0, far: far.map(Bytes::copy_from_slice), is_reverse };
        range.enter(leaf);
        if is_reverse {
            range.end = range.end.min(upper_position(&leaf.keys, upper));
        } else {
            range.next = lower_position(&leaf.keys, lower);
        }
        range
    }
}

impl<'a> TreeRange<'a> {
    fn enter(&mut self, leaf: &'a Leaf) {
        self.leaf = leaf;
        let far = self.far.as_ref().map(AsRef::as_ref);
        (self.next, self.end) = if self.is_reverse {
            (lower_position(&leaf.keys, far), leaf.keys.len())
        } else {
            (0, upper_position(&leaf.keys, far))
        };
    }

    /// Goes to the next leaf, unless the range ends within this one.
    fn advance(&mut self) -> Option<()> {
        let ends_here = if self.is_reverse { self.next > 0 } else { self.end < self.leaf.keys.len() };
        if ends_here {
            return None;
        }
        loop {
            let (branch, position) = self.path.pop()?;
            let position = if self.is_reverse { position.checked_sub(1) } else { Some(position + 1) };
            let Some((position, child)) = position.and_then(|at| Some((at, branch.children.get(at)?))) else {
                continue;
            };
            self.path.push((branch, position));
            let is_reverse = self.is_reverse;
            let leaf = descend(child, &mut self.path, |branch| end_of(branch, is_reverse));
            self.enter(leaf);
            return Some(());
        }
    }
}

impl<'a> Iterator for TreeRange<'a> {
    type Item = (&'a Bytes, &'a Bytes);

    fn next(&mut self) -> Option<Self::Item> {
        while self.next >= self.end {
            self.advance()?;
        }
        let position = if self.is_reverse {
            self.end -= 1;
            self.end
        } else {
            self.next += 1;
            self.next - 1
        };
        Some((self.leaf.keys.get(position)?, self.leaf.values.get(position)?))
    }
}

/// Goes down to a leaf and notes the way.
fn descend<'a>(
    mut node: &'a Node,
    path: &mut Vec<(&'a Branch, usize)>,
    choose: impl Fn(&Branch) -> usize,
) -> &'a Leaf {
    loop {
        match node {
            Node::Leaf(leaf) => return leaf,
            Node::Branch(branch) => {
                let position = choose(branch);
                path.push((branch, position));
                node = branch.children.get(position).expect("a branch has a child for every key");
            }
        }
    }
}

fn end_of(branch: &Branch, is_last: bool) -> usize {
    if is_last { branch.keys.len() } else { 0 }
}

/// The first position within a lower bound.
fn lower_position(keys: &Keys, bound: Bound<&[u8]>) -> usize {
    match bound {
        Bound::Unbounded => 0,
        Bound::Included(key) => keys.locate(key).unwrap_or_else(|position| position),
        Bound::Excluded(key) => keys.locate(key).map_or_else(|position| position, |equal| equal + 1),
    }
}

/// The first position beyond an upper bound.
fn upper_position(keys: &Keys, bound: Bound<&[u8]>) -> usize {
    match bound {
        Bound::Unbounded => keys.len(),
        Bound::Included(key) => keys.locate(key).map_or_else(|position| position, |equal| equal + 1),
        Bound::Excluded(key) => keys.locate(key).unwrap_or_else(|position| position),
    }
}
