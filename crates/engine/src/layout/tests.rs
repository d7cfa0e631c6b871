use dynamo::Value;
use proptest::prelude::*;

use super::*;

fn schema(with_sort: bool) -> KeySchema {
    let attribute = |name: &str, key_type| KeyAttribute { name: name.to_owned(), key_type };
    KeySchema {
        partition: vec![attribute("pk", KeyType::S)],
        sort: if with_sort { vec![attribute("sk", KeyType::B)] } else { Vec::new() },
    }
}

fn item(partition: &str, sort: &[u8]) -> Item {
    Item::from([
        ("pk".to_owned(), Value::from(partition)),
        ("sk".to_owned(), Value::B(Bytes::copy_from_slice(sort))),
    ])
}

fn any_key() -> impl Strategy<Value = (String, Vec<u8>)> {
    let byte = prop_oneof![Just(0_u8), Just(1), Just(0xFE), Just(0xFF), any::<u8>()];
    ("[a\\x00\u{10FFFF}]{1,4}", proptest::collection::vec(byte, 1..5))
}

fn any_id() -> impl Strategy<Value = CollectionId> {
    prop_oneof![Just(0), Just(1), Just(0xFF), Just(0xFFFF), any::<u32>()].prop_map(CollectionId)
}

proptest! {
    #[test]
    fn the_segments_of_a_collection_hold_every_key_exactly_once(
        id in any_id(), (partition, sort) in any_key(), total in prop_oneof![1_u32..9, 1_u32..=1_000_000],
    ) {
        let key = ItemKey::new(CollectionId(7), &schema(true), &item(&partition, &sort)).unwrap().in_collection(id);
        prop_assert!(KeyRange::of_collection(id).contains(&key));
        // Where the key's hash falls; its neighbours must not hold it.
        let hash = u32::from_be_bytes(key[4..8].try_into().unwrap());
        let segment = u32::try_from((u64::from(hash) * u64::from(total)) >> 32).unwrap();
        let near = segment.saturating_sub(1)..=segment.saturating_add(1).min(total - 1);
        let holding = near.filter(|segment| KeyRange::of_segment(id, *segment, total).contains(&key)).count();
        prop_assert_eq!(holding, 1);
    }

    #[test]
    fn segments_meet_without_a_gap(id in any_id(), total in 1_u32..1000) {
        let mut lower = KeyRange::of_collection(id).lower;
        for segment in 0..total {
            let range = KeyRange::of_segment(id, segment, total);
            let start = |bound: &Bound<Bytes>| match bound {
                Bound::Included(key) | Bound::Excluded(key) => {
                    let mut key = key.to_vec();
                    key.resize(8, 0);
                    key
                }
                Bound::Unbounded => Vec::new(),
            };
            prop_assert_eq!(start(&range.lower), start(&lower));
            lower = match range.upper {
                Bound::Excluded(key) => Bound::Included(key),
                other => other,
            };
        }
        let end = match KeyRange::of_collection(id).upper {
            Bound::Excluded(key) => Bound::Included(key),
            other => other,
        };
        prop_assert_eq!(lower, end);
    }

    #[test]
    fn keys_of_a_partition_start_so_and_no_others_do((one, sort) in any_key(), (two, _) in any_key(), id in any_id()) {
        let prefix = partition_prefix_of(id, [KeyValue::S(one.as_bytes())].into_iter());
        for partition in [&one, &two] {
            let key = ItemKey::new(CollectionId(7), &schema(true), &item(partition, &sort)).unwrap().in_collection(id);
            prop_assert_eq!(KeyRange::of_prefix(&prefix).contains(&key), *partition == one);
        }
    }

    #[test]
    fn keys_of_a_partition_are_in_the_order_of_their_sort_keys(
        (partition, one) in any_key(), (_, two) in any_key(), id in any_id(),
    ) {
        let key = |sort: &[u8]| ItemKey::new(CollectionId(7), &schema(true), &item(&partition, sort)).unwrap().in_collection(id);
        prop_assert_eq!(key(&one).cmp(&key(&two)), one.cmp(&two));
    }

    #[test]
    fn a_prefix_holds_what_starts_so(prefix in proptest::collection::vec(0xFD_u8..=0xFF, 1..4), key in proptest::collection::vec(0xFC_u8..=0xFF, 0..6)) {
        // No key of ours consists of FF bytes alone.
        prop_assume!(prefix.iter().any(|&byte| byte != 0xFF));
        prop_assert_eq!(KeyRange::of_prefix(&prefix).contains(&key), key.starts_with(&prefix));
    }

    #[test]
    fn entries_of_an_index_tell_items_apart((partition, one) in any_key(), (_, two) in any_key()) {
        let index = KeySchema { partition: schema(true).partition, sort: Vec::new() };
        let entry = |sort: &[u8]| {
            let item = item(&partition, sort);
            let key = ItemKey::new(CollectionId(7), &schema(true), &item).unwrap();
            index_entry_key(CollectionId(7), &index, &item, &key).unwrap()
        };
        prop_assert_eq!(entry(&one) == entry(&two), one == two);
    }

    #[test]
    fn expiry_entries_are_in_the_order_of_their_seconds_and_come_back(
        one in any::<u64>(), two in any::<u64>(), (partition, sort) in any_key(),
    ) {
        let key = ItemKey::new(CollectionId(7), &schema(true), &item(&partition, &sort)).unwrap();
        let entry = |second| expiry_key(CollectionId(3), second, &key);
        prop_assert_eq!(entry(one).cmp(&entry(two)), one.cmp(&two));
        prop_assert_eq!(parse_expiry_key(&entry(one)), Some((one, key.clone())));
    }

    #[test]
    fn record_keys_come_back(id in any_id(), sequence in any::<u64>()) {
        prop_assert_eq!(parse_record_key(&record_key(id, sequence)), Some(sequence));
    }
}

#[test]
fn an_item_without_a_key_attribute_has_no_key() {
    let mut item = item("a", b"b");
    item.remove("sk");
    assert_eq!(ItemKey::new(CollectionId(7), &schema(true), &item), None);
    assert!(ItemKey::new(CollectionId(7), &schema(false), &item).is_some());
    item.insert("sk".to_owned(), Value::from("a text"));
    assert_eq!(ItemKey::new(CollectionId(7), &schema(true), &item), None);
    item.insert("sk".to_owned(), Value::B(Bytes::new()));
    assert_eq!(ItemKey::new(CollectionId(7), &schema(true), &item), None);
}
