//! Every store against a `BTreeMap` under random batches.

use std::{collections::BTreeMap, ops::Bound};

use bytes::Bytes;
use proptest::{collection::vec, prelude::*};

use super::super::{
    Batch, Direction, FjallStore, MemoryStore, SealedStore, Snapshot, Space, Store, StoreOptions, Write,
};
use super::master_key;

type Model = BTreeMap<(Space, Bytes), Bytes>;

const SPACES: [Space; 3] = [Space::Data, Space::Log, Space::Meta];

#[derive(Debug, Clone)]
struct Step {
    batch: Vec<Write>,
    sync: bool,
    keep_snapshot: bool,
    range: (Space, Bound<Bytes>, Bound<Bytes>),
}

fn space() -> impl Strategy<Value = Space> {
    prop::sample::select(SPACES.to_vec())
}

/// Few and short keys, so that writes meet.
fn key() -> impl Strategy<Value = Bytes> {
    vec(prop::sample::select(vec![0_u8, 1, b'd', 0xFE, 0xFF]), 1..4).prop_map(Bytes::from)
}

fn bound() -> impl Strategy<Value = Bound<Bytes>> {
    prop_oneof![
        Just(Bound::Unbounded),
        key().prop_map(Bound::Included),
        key().prop_map(Bound::Excluded),
        Just(Bound::Included(Bytes::new())),
        Just(Bound::Excluded(Bytes::new())),
    ]
}

fn write() -> impl Strategy<Value = Write> {
    let value = prop::option::weighted(0.7, vec(any::<u8>(), 0..40).prop_map(Bytes::from));
    (space(), key(), value).prop_map(|(space, key, value)| Write { space, key, value })
}

fn step() -> impl Strategy<Value = Step> {
    (vec(write(), 0..12), any::<bool>(), prop::bool::weighted(0.3), (space(), bound(), bound()))
        .prop_map(|(batch, sync, keep_snapshot, range)| Step { batch, sync, keep_snapshot, range })
}

fn batch_of(writes: &[Write]) -> Batch {
    let mut batch = Batch::default();
    for write in writes {
        match &write.value {
            Some(value) => batch.put(write.space, write.key.clone(), value.clone()),
            None => batch.remove(write.space, write.key.clone()),
        }
    }
    batch
}

fn apply_to_model(model: &mut Model, writes: &[Write]) {
    for write in writes {
        let place = (write.space, write.key.clone());
        match &write.value {
            Some(value) => model.insert(place, value.clone()),
            None => model.remove(&place),
        };
    }
}

fn entries(snapshot: &Snapshot, space: Space, range: (Bound<&[u8]>, Bound<&[u8]>)) -> Vec<(Bytes, Bytes)> {
    let forward: Vec<_> =
        snapshot.range(space, range.0, range.1, Direction::Forward).collect::<Result<_, _>>().unwrap();
    let mut reverse: Vec<_> =
        snapshot.range(space, range.0, range.1, Direction::Reverse).collect::<Result<_, _>>().unwrap();
    reverse.reverse();
    assert_eq!(forward, reverse, "both directions see the same");
    forward
}

fn assert_same(snapshot: &Snapshot, model: &Model) {
    for space in SPACES {
        let expected: Vec<_> = model
            .iter()
            .filter(|((at, _), _)| *at == space)
            .map(|((_, k), v)| (k.clone(), v.clone()))
            .collect();
        assert_eq!(entries(snapshot, space, (Bound::Unbounded, Bound::Unbounded)), expected);
    }
    for ((space, key), value) in model {
        assert_eq!(snapshot.get(*space, key).unwrap().as_ref(), Some(value));
    }
}

fn assert_same_range(
    snapshot: &Snapshot,
    model: &Model,
    (space, lower, upper): &(Space, Bound<Bytes>, Bound<Bytes>),
) {
    let range = (lower.as_ref().map(|key| &key[..]), upper.as_ref().map(|key| &key[..]));
    let expected: Vec<_> = model
        .iter()
        .filter(|((at, key), _)| at == space && std::ops::RangeBounds::<[u8]>::contains(&range, &key[..]))
        .map(|((_, key), value)| (key.clone(), value.clone()))
        .collect();
    assert_eq!(entries(snapshot, *space, range), expected);
}

fn run(store: &dyn Store, steps: &[Step]) -> Model {
    let mut model = Model::new();
    let mut kept = Vec::new();
    let mut commits = store.last_commit();
    for step in steps {
        apply_to_model(&mut model, &step.batch);
        commits += u64::from(!step.batch.is_empty());
        assert_eq!(store.apply(batch_of(&step.batch)).unwrap(), commits);
        if step.sync {
            store.sync().unwrap();
        }
        let snapshot = store.snapshot();
        assert_same(&snapshot, &model);
        assert_same_range(&snapshot, &model, &step.range);
        if step.keep_snapshot {
            kept.push((snapshot, model.clone()));
        }
    }
    for (snapshot, model) in &kept {
        assert_same(snapshot, model);
    }
    model
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn in_memory_equals_the_model_and_snapshots_stay_as_they_were(steps in vec(step(), 1..30)) {
        run(&MemoryStore::new(), &steps);
    }
}

fn check_on_disk<S: Store>(open: impl Fn() -> S, steps: &[Step], more: &[Step]) {
    let store = open();
    let mut model = run(&store, steps);
    let commits = store.last_commit();
    drop(store);
    let store = open();
    assert_same(&store.snapshot(), &model);
    assert_eq!(store.last_commit(), commits);
    for step in more {
        apply_to_model(&mut model, &step.batch);
        store.apply(batch_of(&step.batch)).unwrap();
    }
    assert_same(&store.snapshot(), &model);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]
    #[test]
    fn on_disk_equals_the_model_also_after_opening_again(
        steps in vec(step(), 1..30),
        more in vec(step(), 1..5),
    ) {
        let directory = tempfile::tempdir().unwrap();
        check_on_disk(|| FjallStore::open(directory.path(), StoreOptions::default()).unwrap(), &steps, &more);
    }

    #[test]
    fn encrypted_equals_the_model_also_after_opening_again(
        steps in vec(step(), 1..30),
        more in vec(step(), 1..5),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let open = || SealedStore::open(directory.path(), StoreOptions::default(), &master_key(1)).unwrap();
        check_on_disk(open, &steps, &more);
    }
}

#[test]
fn the_later_write_to_a_key_wins_within_a_batch() {
    let (plain, encrypted) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let disk = FjallStore::open(plain.path(), StoreOptions::default()).unwrap();
    let sealed = SealedStore::open(encrypted.path(), StoreOptions::default(), &master_key(1)).unwrap();
    for store in [&MemoryStore::new() as &dyn Store, &disk, &sealed] {
        let mut batch = Batch::default();
        batch.put(Space::Data, &b"a"[..], &b"1"[..]);
        batch.remove(Space::Data, &b"a"[..]);
        batch.remove(Space::Data, &b"b"[..]);
        batch.put(Space::Data, &b"b"[..], &b"2"[..]);
        batch.put(Space::Data, &b"b"[..], &b"3"[..]);
        store.apply(batch).unwrap();
        let snapshot = store.snapshot();
        assert_eq!(snapshot.get(Space::Data, b"a").unwrap(), None);
        assert_eq!(snapshot.get(Space::Data, b"b").unwrap(), Some(Bytes::from_static(b"3")));
    }
}

#[test]
fn the_longest_keys_and_values_come_back() {
    let (plain, encrypted) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let disk = FjallStore::open(plain.path(), StoreOptions::default()).unwrap();
    let sealed = SealedStore::open(encrypted.path(), StoreOptions::default(), &master_key(1)).unwrap();
    let key = Bytes::from(vec![7; super::super::KEY_BYTES_MAX]);
    let value = Bytes::from(vec![8; 3 << 20]);
    for store in [&MemoryStore::new() as &dyn Store, &disk, &sealed] {
        let mut batch = Batch::default();
        batch.put(Space::Data, key.clone(), value.clone());
        assert_eq!(batch.size_bytes(), key.len() + value.len());
        store.apply(batch).unwrap();
        store.sync().unwrap();
        assert_eq!(store.snapshot().get(Space::Data, &key).unwrap(), Some(value.clone()));
    }
}

#[test]
#[should_panic(expected = "a key of 0 bytes")]
fn an_empty_key_cannot_be_written() {
    Batch::default().remove(Space::Data, Bytes::new());
}
