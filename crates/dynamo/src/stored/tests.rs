use super::*;
use crate::Number;
use crate::size::item_size_bytes;
use crate::testing::{any_item, any_value};
use proptest::prelude::*;

fn sample() -> Item {
    Item::from([
        ("a".to_owned(), Value::from("text")),
        ("b".to_owned(), Value::from(-12)),
        (
            "c".to_owned(),
            Value::from(vec![Value::Null, Value::from(true), Value::from("x".repeat(300).as_str())]),
        ),
        ("d".to_owned(), Value::Ns(BTreeSet::from([Number::from(3_i64), Number::from(-1_i64)]))),
        ("e".to_owned(), Value::M(Map::from([("n".to_owned(), Value::M(Map::new()))]))),
    ])
}

#[test]
fn one_attribute_is_read_without_the_others() {
    let item = StoredItem::encode(&sample());
    assert!(matches!(item.get("a").unwrap().shape(), Shape::S("text")));
    assert_eq!(item.get("b").unwrap().decode(), Value::from(-12));
    assert_eq!(item.get("bb"), None);
    assert_eq!(item.get("z"), None);
    let Shape::L(list) = item.get("c").unwrap().shape() else { panic!("a list") };
    assert_eq!(list.count_elements(), 3);
    assert_eq!(list.at(1).unwrap().decode(), Value::from(true));
    assert_eq!(list.at(3), None);
    let Shape::M(map) = item.get("e").unwrap().shape() else { panic!("a map") };
    assert_eq!((map.count_elements(), map.get("n").unwrap().decode()), (1, Value::M(Map::new())));
}

#[test]
fn an_item_without_attributes_is_an_item() {
    let item = StoredItem::encode(&Item::new());
    assert_eq!((item.size_bytes(), item.decode()), (0, Item::new()));
    assert_eq!(item.check(), Ok(()));
}

#[test]
fn filtering_keeps_values_and_counts_the_size_anew() {
    let item = StoredItem::encode(&sample());
    let kept = item.filtered(|name| name == b"a" || name == b"d");
    let expected: Item = sample().into_iter().filter(|(name, _)| name == "a" || name == "d").collect();
    assert_eq!(kept, StoredItem::encode(&expected));
}

proptest! {
    #[test]
    fn encoding_round_trips(item in any_item()) {
        let stored = StoredItem::encode(&item);
        prop_assert_eq!(stored.decode(), item.clone());
        prop_assert_eq!(stored.size_bytes(), item_size_bytes(&item));
        prop_assert_eq!(stored.check(), Ok(()));
        for (name, value) in &item {
            let found = stored.get(name).unwrap();
            prop_assert_eq!(found.decode(), value.clone());
            prop_assert_eq!(found.size_bytes(), crate::size::value_size_bytes(value));
            prop_assert_eq!(found.value_type(), value.value_type());
        }
    }

    #[test]
    fn equal_values_have_equal_bytes(left in any_value(), right in any_value()) {
        prop_assert_eq!(StoredValue::encode(&left) == StoredValue::encode(&right), left == right);
    }

    #[test]
    fn stored_values_compare_as_the_values_do(left in any_value(), right in any_value()) {
        let expected = match (&left, &right) {
            (Value::S(left), Value::S(right)) => Some(left.cmp(right)),
            (Value::N(left), Value::N(right)) => Some(left.cmp(right)),
            (Value::B(left), Value::B(right)) => Some(left.cmp(right)),
            _ => None,
        };
        let begins = match (&left, &right) {
            (Value::S(left), Value::S(right)) => left.starts_with(right.as_str()),
            (Value::B(left), Value::B(right)) => left.starts_with(right),
            _ => false,
        };
        let (left, right) = (StoredValue::encode(&left), StoredValue::encode(&right));
        prop_assert_eq!(left.as_ref().compare(right.as_ref()), expected);
        prop_assert_eq!(left.as_ref().starts_with(right.as_ref()), begins);
    }

    #[test]
    fn damaged_bytes_never_panic(item in any_item(), at in any::<prop::sample::Index>(), bit in 0..8_u32, cut in any::<prop::sample::Index>()) {
        let mut bytes = StoredItem::encode(&item).as_bytes().to_vec();
        let index = at.index(bytes.len());
        bytes[index] ^= 1 << bit;
        bytes.truncate(cut.index(bytes.len() + 1));
        let damaged = StoredItem::from_bytes(Bytes::from(bytes));
        let _ = (damaged.decode(), damaged.check(), damaged.size_bytes(), damaged.get("a"));
    }

    #[test]
    fn foreign_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let foreign = StoredItem::from_bytes(Bytes::from(bytes));
        let _ = (foreign.decode(), foreign.check(), foreign.size_bytes(), foreign.get("a"));
    }
}

/// What happens to an attribute: nothing, a value, or removal.
type Edit = (String, Option<Value>);

proptest! {
    #[test]
    fn an_edited_item_is_the_edited_tree(item in any_item(), edits in proptest::collection::btree_map("[a-e]|\\PC{1,8}", proptest::option::of(any_value()), 0..5), stored in any::<bool>()) {
        let edits: Vec<Edit> = edits.into_iter().collect();
        let base = StoredItem::encode(&item);
        let mut editor = ItemEditor::new(&base);
        let mut expected = item;
        for (name, value) in &edits {
            match value {
                Some(value) if stored => editor.put_stored(name, StoredValue::encode(value).as_ref()),
                Some(value) => editor.put(name, value),
                None => editor.remove(name),
            }
            expected.remove(name);
            expected.extend(value.clone().map(|value| (name.clone(), value)));
        }
        prop_assert_eq!(editor.finish(), StoredItem::encode(&expected));
    }

    #[test]
    fn editing_damaged_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100), name in "\\PC{0,3}") {
        let foreign = StoredItem::from_bytes(Bytes::from(bytes));
        let mut editor = ItemEditor::new(&foreign);
        editor.put(&name, &Value::Null);
        let _ = editor.finish().check();
    }
}
