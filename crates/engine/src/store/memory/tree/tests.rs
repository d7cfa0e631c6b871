//! The tree against a `BTreeMap`.

use std::{
    collections::BTreeMap,
    ops::{Bound, RangeBounds},
};

use bytes::Bytes;
use proptest::{collection::vec, prelude::*};

use super::{Node, Tree};
use crate::store::is_empty_range;

type Model = BTreeMap<Bytes, Bytes>;

#[derive(Debug, Clone)]
enum Step {
    Insert(Bytes, u8),
    Remove(Bytes),
    RemoveNth(usize),
    InsertInOrder(u16),
    Keep,
}

/// Keys that share long beginnings, that are beginnings of each other, and that differ only by zeros at the end.
fn key() -> impl Strategy<Value = Bytes> {
    let beginning = prop::sample::select(vec![&b""[..], b"t", b"table-1#", &[b'x'; 45], &[0; 9]]);
    let tail = prop_oneof![
        vec(prop::sample::select(vec![0_u8, 1, 255]), 0..12),
        (0_u16..400).prop_map(|number| number.to_be_bytes().to_vec()),
    ];
    (beginning, tail).prop_map(|(beginning, tail)| [beginning, &tail].concat().into())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (key(), any::<u8>()).prop_map(|(key, value)| Step::Insert(key, value)),
        3 => key().prop_map(Step::Remove),
        6 => any::<usize>().prop_map(Step::RemoveNth),
        6 => (0_u16..2_000).prop_map(Step::InsertInOrder),
        1 => Just(Step::Keep),
    ]
}

fn bound() -> impl Strategy<Value = Bound<Bytes>> {
    prop_oneof![Just(Bound::Unbounded), key().prop_map(Bound::Included), key().prop_map(Bound::Excluded),]
}

fn apply(step: Step, tree: &mut Tree, model: &mut Model) {
    let key = match step {
        Step::Insert(key, value) => {
            let value = Bytes::from(vec![value]);
            model.insert(key.clone(), value.clone());
            return tree.insert(key, value);
        }
        Step::InsertInOrder(number) => {
            let key = Bytes::from(format!("in-order-{:05}", model.len() * 10 + usize::from(number) % 10));
            model.insert(key.clone(), Bytes::new());
            return tree.insert(key, Bytes::new());
        }
        Step::Remove(key) => key,
        Step::RemoveNth(nth) => match model.keys().nth(nth % model.len().max(1)) {
            Some(key) => key.clone(),
            None => return,
        },
        Step::Keep => return,
    };
    model.remove(&key);
    tree.remove(&key);
}

fn assert_same(tree: &Tree, model: &Model) {
    assert_shape(&tree.root, true, None, None);
    assert!(tree.range(Bound::Unbounded, Bound::Unbounded, false).eq(model));
    assert!(tree.range(Bound::Unbounded, Bound::Unbounded, true).eq(model.iter().rev()));
    assert!(model.iter().all(|(key, value)| tree.get(key) == Some(value)));
}

/// Checks what the module says is always true, and returns the depth.
fn assert_shape(node: &Node, is_root: bool, lower: Option<&Bytes>, upper: Option<&Bytes>) -> usize {
    assert!(is_root || node.len() > 0 || matches!(node, Node::Branch(_)));
    let keys = match node {
        Node::Leaf(leaf) => &leaf.keys,
        Node::Branch(branch) => &branch.keys,
    };
    let keys: Vec<&Bytes> = (0..keys.len()).map(|position| keys.get(position).unwrap()).collect();
    assert!(keys.is_sorted_by(|a, b| a < b));
    assert!(keys.iter().all(|&key| lower.is_none_or(|lower| key >= lower)));
    assert!(keys.iter().all(|&key| upper.is_none_or(|upper| key < upper)));
    match node {
        Node::Leaf(leaf) => {
            assert_eq!(leaf.values.len(), keys.len());
            1
        }
        Node::Branch(branch) => {
            assert_eq!(branch.children.len(), keys.len() + 1);
            let limits = |position: usize| {
                let lower = position.checked_sub(1).map_or(lower, |before| Some(keys[before]));
                (lower, keys.get(position).copied().or(upper))
            };
            let depths = branch.children.iter().enumerate().map(|(position, child)| {
                let (lower, upper) = limits(position);
                assert_shape(child, false, lower, upper)
            });
            let depths: Vec<usize> = depths.collect();
            assert!(depths.iter().all(|depth| *depth == depths[0]));
            depths[0] + 1
        }
    }
}

#[test]
fn no_node_is_left_empty_however_a_full_tree_is_emptied() {
    const KEYS: u32 = 5_000;
    let key = |number: u32| Bytes::copy_from_slice(&number.to_be_bytes());
    // Keys that come in order leave full nodes behind them, which cannot be joined with anything.
    let mut full = Tree::default();
    (0..KEYS).for_each(|number| full.insert(key(number), Bytes::new()));
    let orders: [fn(u32) -> u32; 3] = [|n| KEYS - 1 - n, |n| n, |n| n * 2_003 % KEYS];
    for order in orders {
        let mut tree = full.clone();
        for number in 0..KEYS {
            tree.remove(&key(order(number)));
            if number % 13 == 0 || number + 100 > KEYS {
                assert_shape(&tree.root, true, None, None);
            }
        }
        assert_eq!(tree.root.len(), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn it_equals_a_btree_map_and_its_clones_stay_as_they_were(
        steps in vec(step(), 1..1_500),
        absent in vec(key(), 20),
        ranges in vec((bound(), bound()), 20),
    ) {
        let (mut tree, mut model) = (Tree::default(), Model::new());
        let mut kept = Vec::new();
        for step in steps {
            if matches!(step, Step::Keep) {
                kept.push((tree.clone(), model.clone()));
            }
            apply(step, &mut tree, &mut model);
        }
        kept.push((tree, model));
        for (tree, model) in &kept {
            assert_same(tree, model);
            assert!(absent.iter().all(|key| tree.get(key) == model.get(key)));
        }
        let (tree, model) = kept.last().unwrap();
        for (lower, upper) in &ranges {
            let range = (lower.as_ref().map(|key| &key[..]), upper.as_ref().map(|key| &key[..]));
            if !is_empty_range(range.0, range.1) {
                let expected: Vec<_> = model.iter().filter(|(key, _)| RangeBounds::<[u8]>::contains(&range, &key[..])).collect();
                prop_assert!(tree.range(range.0, range.1, false).eq(expected.iter().copied()));
                prop_assert!(tree.range(range.0, range.1, true).eq(expected.iter().rev().copied()));
            }
        }
    }
}

#[test]
fn keys_in_order_fill_their_nodes_and_removing_all_leaves_an_empty_leaf() {
    let mut tree = Tree::default();
    let keys: Vec<Bytes> =
        (0..20_000_u32).map(|number| Bytes::copy_from_slice(&number.to_be_bytes())).collect();
    for key in &keys {
        tree.insert(key.clone(), key.clone());
    }
    assert_eq!(assert_shape(&tree.root, true, None, None), 3);
    for key in &keys {
        tree.remove(key);
    }
    assert!(matches!(&*tree.root, Node::Leaf(leaf) if leaf.values.is_empty()));
}
