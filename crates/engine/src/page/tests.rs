use std::ops::Bound;

use bytes::Bytes;
use dynamo::Value;
use proptest::prelude::*;

use super::*;
use crate::layout::CollectionId;
use crate::store::{Batch, MemoryStore, Store as _};

const ID: CollectionId = CollectionId(5);

fn item(number: usize, pad_bytes: usize) -> StoredItem {
    StoredItem::encode(&Item::from([
        ("number".to_owned(), Value::from(i64::try_from(number).unwrap())),
        ("pad".to_owned(), Value::from("p".repeat(pad_bytes))),
    ]))
}

fn key(number: usize) -> Bytes {
    Bytes::from([&ID.0.to_be_bytes()[..], &number.to_be_bytes()].concat())
}

/// A collection of items with these sizes, between two others.
fn snapshot(pads: &[usize]) -> Snapshot {
    let store = MemoryStore::new();
    let mut batch = Batch::default();
    for neighbour in [CollectionId(4), CollectionId(6)] {
        let key = [&neighbour.0.to_be_bytes()[..], b"other"].concat();
        batch.put(Space::Data, Bytes::from(key), item(0, 0).as_bytes().clone());
    }
    for (number, pad_bytes) in pads.iter().enumerate() {
        batch.put(Space::Data, key(number), item(number, *pad_bytes).as_bytes().clone());
    }
    store.apply(batch).unwrap();
    store.snapshot()
}

fn number_of(item: &StoredItem) -> usize {
    match item.decode()["number"] {
        Value::N(number) => number.to_string().parse().unwrap(),
        _ => unreachable!("it was written as a number"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// All pages together are all items in order; each is full but the last, by its limit or by its size.
    #[test]
    fn pages_hold_everything_once_and_in_order(
        pads in proptest::collection::vec(prop_oneof![9 => 0..40_usize, 1 => 100_000..400_000_usize], 0..25),
        limit in proptest::option::of(1_usize..6),
        reverse in any::<bool>(),
    ) {
        let snapshot = snapshot(&pads);
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let mut range = KeyRange::of_collection(ID);
        let mut found = Vec::new();
        loop {
            let request = PageRequest { range: range.clone(), direction, limit };
            let mut items = Vec::new();
            let page = read_page(&snapshot, &request, |item| {
                items.push(item);
                Ok(())
            }).unwrap();
            let bytes: usize = items.iter().map(StoredItem::size_bytes).sum();
            prop_assert_eq!((page.scanned, page.scanned_bytes), (items.len(), bytes));
            let before_last = bytes - items.last().map_or(0, StoredItem::size_bytes);
            prop_assert!(before_last < PAGE_BYTES_MAX);
            let is_full = limit == Some(items.len()) || bytes >= PAGE_BYTES_MAX;
            prop_assert_eq!(page.last.as_ref(), items.last().filter(|_| is_full));
            found.extend(items.iter().map(number_of));
            let Some(last) = page.last else { break };
            let last = key(number_of(&last));
            range = if reverse { range.before(last) } else { range.after(last) };
        }
        if reverse {
            found.reverse();
        }
        prop_assert_eq!(found, (0..pads.len()).collect::<Vec<_>>());
    }
}

#[test]
fn an_error_ends_a_page() {
    let snapshot = snapshot(&[0, 0, 0]);
    let range = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded };
    let request = PageRequest { range, direction: Direction::Forward, limit: None };
    let mut count = 0;
    let outcome = read_page(&snapshot, &request, |_| {
        count += 1;
        Err(Fault::Api(dynamo::ApiError::internal()))
    });
    assert!(outcome.is_err());
    assert_eq!(count, 1);
}
