//! What the tests of this crate share: short ways to write values, and random ones.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use dynamo::{ApiError, Item, Map, Number, Value};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

/// A number.
pub(crate) fn n(text: &str) -> Value {
    Value::N(Number::parse(text).unwrap())
}

/// A text.
pub(crate) fn s(text: &str) -> Value {
    Value::from(text)
}

/// A binary.
pub(crate) fn b(bytes: &[u8]) -> Value {
    Value::B(Bytes::copy_from_slice(bytes))
}

/// A set of texts.
pub(crate) fn ss(texts: &[&str]) -> Value {
    Value::Ss(texts.iter().map(|text| (*text).to_owned()).collect())
}

/// A set of numbers.
pub(crate) fn ns(numbers: &[i64]) -> Value {
    Value::Ns(numbers.iter().map(|number| Number::from(*number)).collect())
}

/// A set of binaries.
pub(crate) fn bs(binaries: &[&[u8]]) -> Value {
    Value::Bs(binaries.iter().map(|bytes| Bytes::copy_from_slice(bytes)).collect::<BTreeSet<_>>())
}

/// A list.
pub(crate) fn l(values: &[Value]) -> Value {
    Value::L(values.to_vec())
}

/// A map.
pub(crate) fn m(entries: &[(&str, Value)]) -> Value {
    Value::M(map(entries))
}

/// An item, or the values of a request.
pub(crate) fn map(entries: &[(&str, Value)]) -> Map {
    entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// The names of a request.
pub(crate) fn names(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(key, name)| ((*key).to_owned(), (*name).to_owned())).collect()
}

/// The words of an error.
pub(crate) fn words<T>(result: Result<T, impl Into<ApiError>>) -> String {
    match result {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.into().message,
    }
}

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        (-3_i64..4).prop_map(Number::from),
        any::<i32>().prop_map(|number| Number::from(i64::from(number)))
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{0,3}", "\\PC{0,4}"]
}

fn any_bytes() -> impl Strategy<Value = Bytes> {
    vec(0_u8..3, 0..4).prop_map(Bytes::from)
}

/// Any value, a few levels deep; small ones often, so that some are equal.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any_text().prop_map(Value::S),
        any_number().prop_map(Value::N),
        any_bytes().prop_map(Value::B),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
        btree_set(any_text(), 1..4).prop_map(Value::Ss),
        btree_set(any_number(), 1..4).prop_map(Value::Ns),
        btree_set(any_bytes(), 1..4).prop_map(Value::Bs),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::L),
            btree_map("[abc]", inner, 0..4).prop_map(Value::M)
        ]
    })
}

/// Any item with attributes `a` to `e`.
pub(crate) fn any_item() -> impl Strategy<Value = Item> {
    btree_map("[a-e]", any_value(), 0..6)
}
