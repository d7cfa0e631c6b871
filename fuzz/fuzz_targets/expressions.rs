//! Expressions of all five kinds: whatever comes is bound or refused, and what was bound can be used.
#![no_main]

use std::collections::BTreeMap;

use dynamo::{Item, StoredItem, Value};
use expression::Substitutions;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let names = BTreeMap::from([("#a".to_owned(), "a".to_owned()), ("#b".to_owned(), "b".to_owned())]);
    let list = Value::L(vec![Value::from(1), Value::from("x")]);
    let set = Value::Ss(["x".to_owned(), "y".to_owned()].into());
    let values = Item::from([
        (":n".to_owned(), Value::from(1)),
        (":s".to_owned(), Value::from("x")),
        (":l".to_owned(), list.clone()),
        (":t".to_owned(), set.clone()),
    ]);
    let key = Item::from([("pk".to_owned(), Value::from("k"))]);
    let map = Value::M(Item::from([("b".to_owned(), list)]));
    let item = Item::from([("a".to_owned(), map), ("b".to_owned(), set), ("n".to_owned(), Value::from(2))]);
    let stored = StoredItem::encode(&item);
    let substitutions =
        || Substitutions::new(Some(&names), Some(&values)).expect("the names and values are sound");
    if let Ok(condition) = substitutions().condition(text) {
        condition.matches(Some(&stored));
        condition.matches(None);
    }
    if let Ok(filter) = substitutions().filter(text) {
        filter.matches(Some(&stored));
    }
    let _ = substitutions().key_condition(text);
    if let Ok(projection) = substitutions().projection(text) {
        projection.apply(&stored).check().expect("a projection of an item is an item");
    }
    if let Ok(update) = substitutions().update(text) {
        for old in [Some(&stored), None] {
            if let Ok(Some(new)) = update.apply(old, &key) {
                new.check().expect("an updated item is an item");
                update.updated_new(&new);
            }
        }
    }
});
