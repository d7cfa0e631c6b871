//! Random values for property tests.

use bytes::Bytes;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use crate::{Item, Number, Value};

/// Any number.
pub(crate) fn any_number() -> impl Strategy<Value = Number> {
    let digits = prop_oneof!["[0-9]{1,5}", "[0-9]{1,38}"];
    (any::<bool>(), digits, prop_oneof![Just(0), -3..3, -130..88])
        .prop_map(|(negative, digits, exponent)| {
            format!("{}{digits}e{exponent}", if negative { "-" } else { "" })
        })
        .prop_filter_map("within range", |text| Number::parse(&text).ok())
}

fn any_bytes() -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..20).prop_map(Bytes::from)
}

/// Any value, a few levels deep.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        "\\PC{0,20}".prop_map(Value::S),
        any_number().prop_map(Value::N),
        any_bytes().prop_map(Value::B),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
        btree_set("\\PC{0,8}", 1..5).prop_map(Value::Ss),
        btree_set(any_number(), 1..5).prop_map(Value::Ns),
        btree_set(any_bytes(), 1..5).prop_map(Value::Bs),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::L),
            btree_map("\\PC{1,6}", inner, 0..5).prop_map(Value::M),
        ]
    })
}

/// Any item.
pub(crate) fn any_item() -> impl Strategy<Value = Item> {
    btree_map("[a-e]|\\PC{1,8}", any_value(), 0..8)
}
