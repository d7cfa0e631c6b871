//! A persistent B+ tree of bytes: an ordered map whose clone shares everything and costs one reference count.
//!
//! A general persistent map compares whole keys, each somewhere else in memory, at every step of a search. Here a node
//! keeps eight bytes of each key side by side (`Keys`), so that a search seldom looks at a key before the last step.
//!
//! Always true:
//! - All leaves are at one depth. No node but the root is empty; a branch has one key fewer than children.
//! - Key i of a branch is greater than every key below child i, and not greater than any below child i + 1.
//! - A change copies only nodes that a clone shares.

mod keys;
mod range;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use keys::Keys;

pub(super) use range::TreeRange;

/// The most keys of a node.
const KEYS_MAX: usize = keys::CAPACITY;
/// A node with fewer keys is joined with its neighbour, if both fit into one node.
const KEYS_MIN: usize = KEYS_MAX / 4;

/// The map.
#[derive(Clone, Default)]
pub(super) struct Tree {
    root: Arc<Node>,
}

#[derive(Clone)]
enum Node {
    Leaf(Leaf),
    Branch(Branch),
}

#[derive(Clone, Default)]
struct Leaf {
    keys: Keys,
    values: Vec<Bytes>,
}

#[derive(Clone)]
struct Branch {
    keys: Keys,
    children: Vec<Arc<Node>>,
}

/// What a full node gives up: the keys from `separator` on.
struct Split {
    separator: Bytes,
    right: Arc<Node>,
}

impl Default for Node {
    fn default() -> Node {
        Node::Leaf(Leaf::default())
    }
}

impl Tree {
    /// The value of a key.
    pub(super) fn get(&self, key: &[u8]) -> Option<&Bytes> {
        let mut node = &*self.root;
        loop {
            match node {
                Node::Branch(branch) => node = branch.children.get(branch.child_of(key))?,
                Node::Leaf(leaf) => return leaf.values.get(leaf.keys.find(key)?),
            }
        }
    }

    /// Stores a value under a key.
    pub(super) fn insert(&mut self, key: Bytes, value: Bytes) {
        if let Some(split) = insert(&mut self.root, key, value, true) {
            let left = std::mem::take(&mut self.root);
            let mut keys = Keys::default();
            keys.insert(0, split.separator);
            self.root = Arc::new(Node::Branch(Branch { keys, children: vec![left, split.right] }));
        }
    }

    /// Removes a key, which need not exist.
    pub(super) fn remove(&mut self, key: &[u8]) {
        // Nothing is copied for a key that is not there.
        if self.get(key).is_none() {
            return;
        }
        remove(&mut self.root, key);
        if self.root.is_vacant() {
            self.root = Arc::default();
        }
        while let Node::Branch(branch) = &*self.root
            && let [only] = &branch.children[..]
        {
            self.root = only.clone();
        }
    }
}

impl Branch {
    fn child_of(&self, key: &[u8]) -> usize {
        match self.keys.locate(key) {
            Ok(equal) => equal + 1,
            Err(greater) => greater,
        }
    }

    fn insert_child(&mut self, position: usize, split: Split) {
        self.keys.insert(position, split.separator);
        self.children.insert(position + 1, split.right);
    }

    /// Removes the child at a position, and the key between it and a neighbour.
    fn remove_child(&mut self, position: usize) {
        self.children.remove(position);
        if self.keys.len() > 0 {
            self.keys.remove(position.saturating_sub(1));
        }
    }

    /// Joins the child at a position with a neighbour, if one of them is small and both fit into one node.
    fn join_child(&mut self, position: usize) {
        let left = position.saturating_sub(usize::from(position + 1 == self.children.len()));
        let Some([first, second]) = self.children.get(left..left + 2) else { return };
        if first.len().min(second.len()) >= KEYS_MIN || first.len() + second.len() >= KEYS_MAX {
            return;
        }
        let separator = self.keys.remove(left);
        let second = self.children.remove(left + 1);
        if let Some(first) = self.children.get_mut(left) {
            join(Arc::make_mut(first), separator, Arc::unwrap_or_clone(second));
        }
    }
}

impl Node {
    fn len(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.keys.len(),
            Node::Branch(branch) => branch.keys.len(),
        }
    }

    /// True if there is nothing below it. A branch without keys has one child.
    fn is_vacant(&self) -> bool {
        match self {
            Node::Leaf(leaf) => leaf.keys.len() == 0,
            Node::Branch(branch) => branch.children.is_empty(),
        }
    }
}

/// `at_end`: there is nothing to the right of this node.
fn insert(node: &mut Arc<Node>, key: Bytes, value: Bytes, at_end: bool) -> Option<Split> {
    match Arc::make_mut(node) {
        Node::Leaf(leaf) => insert_into_leaf(leaf, key, value, at_end),
        Node::Branch(branch) => insert_into_branch(branch, key, value, at_end),
    }
}

fn insert_into_leaf(leaf: &mut Leaf, key: Bytes, value: Bytes, at_end: bool) -> Option<Split> {
    let position = match leaf.keys.locate(&key) {
        Ok(position) => {
            if let Some(old) = leaf.values.get_mut(position) {
                *old = value;
            }
            return None;
        }
        Err(position) => position,
    };
    if leaf.keys.len() < KEYS_MAX {
        leaf.keys.insert(position, key);
        leaf.values.insert(position, value);
        return None;
    }
    let middle = middle_for(position, at_end);
    let mut right = Leaf { keys: leaf.keys.split_off(middle), values: leaf.values.split_off(middle) };
    let (half, position) = if position < middle || (position == middle && middle < KEYS_MAX) {
        (leaf, position)
    } else {
        (&mut right, position - middle)
    };
    half.keys.insert(position, key);
    half.values.insert(position, value);
    let separator = right.keys.first()?.clone();
    Some(Split { separator, right: Arc::new(Node::Leaf(right)) })
}

fn insert_into_branch(branch: &mut Branch, key: Bytes, value: Bytes, at_end: bool) -> Option<Split> {
    let position = branch.child_of(&key);
    let at_end = at_end && position + 1 == branch.children.len();
    let split = insert(branch.children.get_mut(position)?, key, value, at_end)?;
    if branch.keys.len() < KEYS_MAX {
        branch.insert_child(position, split);
        return None;
    }
    // The key in the middle moves up; it stays in neither half.
    let middle = middle_for(position, at_end).min(KEYS_MAX - 1);
    let mut right =
        Branch { keys: branch.keys.split_off(middle + 1), children: branch.children.split_off(middle + 1) };
    let separator = branch.keys.remove(middle);
    if position <= middle {
        branch.insert_child(position, split);
    } else {
        right.insert_child(position - middle - 1, split);
    }
    Some(Split { separator, right: Arc::new(Node::Branch(right)) })
}

/// Where to split a full node. Keys that come in order would leave nodes half empty behind them, so at the end of the
/// tree the old node stays full.
fn middle_for(position: usize, at_end: bool) -> usize {
    if at_end && position == KEYS_MAX { KEYS_MAX } else { KEYS_MAX / 2 }
}

fn remove(node: &mut Arc<Node>, key: &[u8]) {
    match Arc::make_mut(node) {
        Node::Leaf(leaf) => {
            if let Ok(position) = leaf.keys.locate(key) {
                leaf.keys.remove(position);
                leaf.values.remove(position);
            }
        }
        Node::Branch(branch) => {
            let position = branch.child_of(key);
            if let Some(child) = branch.children.get_mut(position) {
                remove(child, key);
                // A neighbour that is full has no room for even this.
                if child.is_vacant() {
                    branch.remove_child(position);
                } else {
                    branch.join_child(position);
                }
            }
        }
    }
}

fn join(first: &mut Node, separator: Bytes, second: Node) {
    match (first, second) {
        (Node::Leaf(first), Node::Leaf(second)) => {
            first.keys.append(second.keys);
            first.values.extend(second.values);
        }
        (Node::Branch(first), Node::Branch(second)) => {
            first.keys.insert(first.keys.len(), separator);
            first.keys.append(second.keys);
            first.children.extend(second.children);
        }
        _ => unreachable!("all leaves are at one depth"),
    }
}
