use dynamo::{Item, KeyType, StoredItem};

use super::*;
use crate::key_condition::{KeyCondition, KeySchema};
use crate::testing::{b, bs, l, m, map, n, ns, s, ss, words};

fn conditions(entries: &[(&str, ComparisonOperator, &[Value])]) -> BTreeMap<String, LegacyCondition> {
    let entry = |(name, operator, values): &(&str, ComparisonOperator, &[Value])| {
        let attribute_value_list = (!values.is_empty()).then(|| values.to_vec());
        (
            (*name).to_owned(),
            LegacyCondition { comparison_operator: Some((*operator).into()), attribute_value_list },
        )
    };
    entries.iter().map(entry).collect()
}

fn sample() -> StoredItem {
    StoredItem::encode(&map(&[
        ("list", l(&[s("x"), n("1")])),
        ("nul", Value::Null),
        ("num", n("5")),
        ("set", ss(&["a", "b"])),
        ("txt", s("hello")),
    ]))
}

#[test]
fn every_operator() {
    use ComparisonOperator::*;
    for (name, operator, values, expected) in [
        ("num", Eq, vec![n("5.0")], true),
        ("gone", Eq, vec![n("5")], false),
        ("list", Eq, vec![l(&[s("x"), n("1")])], true),
        ("num", Ne, vec![n("5")], false),
        ("gone", Ne, vec![n("5")], true),
        ("num", Le, vec![n("5")], true),
        ("num", Lt, vec![n("5")], false),
        ("num", Ge, vec![n("4")], true),
        ("num", Gt, vec![s("4")], false),
        ("nul", NotNull, vec![], true),
        ("gone", NotNull, vec![], false),
        ("gone", Null, vec![], true),
        ("nul", Null, vec![], false),
        ("txt", Contains, vec![s("ell")], true),
        ("set", Contains, vec![s("a")], true),
        ("list", Contains, vec![n("1")], true),
        ("set", NotContains, vec![s("c")], true),
        ("set", NotContains, vec![s("a")], false),
        ("gone", NotContains, vec![s("a")], false),
        ("txt", BeginsWith, vec![s("he")], true),
        ("num", In, vec![n("4"), n("5")], true),
        ("gone", In, vec![n("4")], false),
        ("num", Between, vec![n("4"), n("5")], true),
        ("num", Between, vec![n("6"), n("7")], false),
    ] {
        let condition = filter(&conditions(&[(name, operator, &values)]), None).unwrap();
        assert_eq!(condition.matches(Some(&sample())), expected, "{name} {operator:?} {values:?}");
    }
}

#[test]
fn conditions_are_joined_with_and_or_or() {
    use ComparisonOperator::*;
    let both = conditions(&[("num", Eq, &[n("5")]), ("txt", Eq, &[s("no")])]);
    let matches = |operator| filter(&both, operator).unwrap().matches(Some(&sample()));
    assert!(!matches(None));
    assert!(!matches(Some(ConditionalOperator::And)));
    assert!(matches(Some(ConditionalOperator::Or)));
    assert_eq!(
        words(filter(&conditions(&[("num", Eq, &[n("5")])]), Some(ConditionalOperator::Or))),
        "ConditionalOperator can only be used when Filter or Expected has two or more elements"
    );
    assert_eq!(
        words(check_operator_alone(Some(ConditionalOperator::And))),
        "ConditionalOperator cannot be used without Filter or Expected"
    );
}

#[test]
fn arguments_of_operators_are_checked() {
    use ComparisonOperator::*;
    let count = |name: &str| format!("Invalid number of argument(s) for the {name} ComparisonOperator");
    let of_type = |name: &str, kind: &str| {
        format!("ComparisonOperator {name} is not valid for {kind} AttributeValue type")
    };
    let mixed = "AttributeValues inside AttributeValueList must be of same type".to_owned();
    for (operator, values, reason) in [
        (Null, vec![s("a")], count("NULL")),
        (NotNull, vec![s("a")], count("NOT_NULL")),
        (Eq, vec![], count("EQ")),
        (Ne, vec![s("a"), s("a")], count("NE")),
        (Contains, vec![s("a"), s("a")], count("CONTAINS")),
        (In, vec![], count("IN")),
        (Between, vec![s("a")], count("BETWEEN")),
        (In, vec![s("a"), n("1")], mixed.clone()),
        (Between, vec![s("a"), n("1")], mixed),
        (Lt, vec![Value::Bool(true)], of_type("LT", "BOOL")),
        (Le, vec![ss(&["a"])], of_type("LE", "SS")),
        (Gt, vec![l(&[])], of_type("GT", "L")),
        (Ge, vec![m(&[])], of_type("GE", "M")),
        (In, vec![Value::Null], of_type("IN", "NULL")),
        (In, vec![bs(&[b"a"])], of_type("IN", "BS")),
        (Contains, vec![ns(&[1])], of_type("CONTAINS", "NS")),
        (NotContains, vec![l(&[])], of_type("NOT_CONTAINS", "L")),
        (Between, vec![l(&[]), l(&[])], of_type("BETWEEN", "L")),
        (BeginsWith, vec![n("1")], of_type("BEGINS_WITH", "N")),
    ] {
        let expected = format!("One or more parameter values were invalid: {reason}");
        assert_eq!(words(filter(&conditions(&[("a", operator, &values)]), None)), expected);
        assert_eq!(words(key_conditions(&conditions(&[("a", operator, &values)]))), expected);
    }
    assert_eq!(words(filter(&conditions(&[("a", BeginsWith, &[b(b"a")])]), None)), "accepted");
    assert_eq!(
        words(filter(&conditions(&[("a", Between, &[n("2"), n("1")])]), None)),
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
    );
}

#[test]
fn expected_values_are_conditions() {
    let entry = |value: Option<Value>,
                 exists,
                 comparison_operator: Option<ComparisonOperator>,
                 attribute_value_list: Option<Vec<Value>>| {
        let comparison_operator = comparison_operator.map(Choice::from);
        let entry = ExpectedAttributeValue { value, exists, comparison_operator, attribute_value_list };
        BTreeMap::from([("txt".to_owned(), entry)])
    };
    let matches = |entries: &BTreeMap<String, ExpectedAttributeValue>| {
        let condition = expected(entries, None).unwrap();
        (condition.matches(Some(&sample())), condition.matches(None))
    };
    let eq = Some(ComparisonOperator::Eq);
    assert_eq!(matches(&entry(Some(s("hello")), None, None, None)), (true, false));
    assert_eq!(matches(&entry(Some(s("hello")), Some(true), None, None)), (true, false));
    assert_eq!(matches(&entry(None, Some(false), None, None)), (false, true));
    assert_eq!(matches(&entry(Some(s("hello")), None, eq, None)), (true, false));
    assert_eq!(matches(&entry(None, None, eq, Some(vec![s("no")]))), (false, false));
    assert_eq!(matches(&entry(None, None, Some(ComparisonOperator::Null), None)), (false, true));
    assert!(expected(&BTreeMap::new(), None).unwrap().matches(None));
    for (entries, reason) in [
        (
            entry(Some(s("a")), None, eq, Some(vec![])),
            "Value and AttributeValueList cannot be used together for Attribute: txt",
        ),
        (
            entry(Some(s("a")), Some(true), eq, None),
            "Exists and ComparisonOperator cannot be used together for Attribute: txt",
        ),
        (
            entry(None, None, eq, None),
            "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: txt",
        ),
        (
            entry(None, None, None, Some(vec![s("a")])),
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: txt",
        ),
        (entry(None, None, None, None), "Value must be provided when Exists is null for Attribute: txt"),
        (
            entry(None, Some(true), None, None),
            "Value must be provided when Exists is true for Attribute: txt",
        ),
        (
            entry(Some(s("a")), Some(false), None, None),
            "Value cannot be used when Exists is false for Attribute: txt",
        ),
        (entry(None, None, eq, Some(vec![])), "Invalid number of argument(s) for the EQ ComparisonOperator"),
        (
            entry(Some(s("a")), None, Some(ComparisonOperator::Null), None),
            "Invalid number of argument(s) for the NULL ComparisonOperator",
        ),
        (
            entry(Some(s("a")), None, Some(ComparisonOperator::Between), None),
            "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
        ),
    ] {
        assert_eq!(
            words(expected(&entries, None)),
            format!("One or more parameter values were invalid: {reason}")
        );
    }
}

fn updates(entries: &[(&str, Option<AttributeAction>, Option<Value>)]) -> Result<Update, LegacyError> {
    let entries = entries.iter().map(|(name, action, value)| {
        ((*name).to_owned(), AttributeValueUpdate { value: value.clone(), action: action.map(Choice::from) })
    });
    attribute_updates(&entries.collect())
}

#[test]
fn attribute_updates_put_add_and_delete() {
    use AttributeAction::*;
    let apply = |entries: &[(&str, Option<AttributeAction>, Option<Value>)]| -> Result<Item, ApiError> {
        let new = updates(entries)?.apply(Some(&sample()), &Item::new())?;
        Ok(new.unwrap().decode())
    };
    let changed = |name: &str, value: Option<Value>| {
        let mut item = sample().decode();
        item.remove(name);
        item.extend(value.map(|value| (name.to_owned(), value)));
        Ok(item)
    };
    for (name, action, value, new) in [
        ("num", None, Some(s("x")), Some(s("x"))),
        ("num", Some(Put), Some(s("x")), Some(s("x"))),
        ("num", Some(Add), Some(n("2")), Some(n("7"))),
        ("new", Some(Add), Some(n("2")), Some(n("2"))),
        ("set", Some(Add), Some(ss(&["c", "a"])), Some(ss(&["a", "b", "c"]))),
        ("list", Some(Add), Some(l(&[n("2")])), Some(l(&[s("x"), n("1"), n("2")]))),
        ("new", Some(Add), Some(l(&[n("2")])), Some(l(&[n("2")]))),
        ("num", Some(Delete), None, None),
        ("gone", Some(Delete), None, None),
        ("set", Some(Delete), Some(ss(&["a", "z"])), Some(ss(&["b"]))),
        ("set", Some(Delete), Some(ss(&["a", "b"])), None),
        ("gone", Some(Delete), Some(ss(&["a"])), None),
    ] {
        assert_eq!(
            apply(&[(name, action, value.clone())]),
            changed(name, new),
            "{name} {action:?} {value:?}"
        );
    }
    for (name, action, value) in [
        ("txt", Add, n("1")),
        ("num", Add, ss(&["a"])),
        ("set", Add, ns(&[1])),
        ("set", Delete, ns(&[1])),
        ("num", Delete, ns(&[1])),
    ] {
        assert_eq!(
            words(apply(&[(name, Some(action), Some(value))])),
            "Type mismatch for attribute to update",
            "{name}"
        );
    }
    for (action, value, reason) in [
        (None, None, "Only DELETE action is allowed when no attribute value is specified"),
        (Some(Add), None, "Only DELETE action is allowed when no attribute value is specified"),
        (Some(Delete), Some(s("1")), "DELETE action with value is not supported for the type S"),
        (Some(Delete), Some(l(&[])), "DELETE action with value is not supported for the type L"),
        (Some(Add), Some(b(b"a")), "ADD action is not supported for the type B"),
        (Some(Add), Some(m(&[])), "ADD action is not supported for the type M"),
    ] {
        let expected = format!("One or more parameter values were invalid: {reason}");
        assert_eq!(words(updates(&[("a", action, value)])), expected);
    }
}

#[test]
fn key_conditions_are_resolved_like_expressions() {
    use ComparisonOperator::*;
    let schema = KeySchema { partition: vec![("a", KeyType::S)], sort: vec![("b", KeyType::N)] };
    let resolve = |entries: &[(&str, ComparisonOperator, &[Value])]| {
        key_conditions(&conditions(entries)).unwrap().resolve(&schema)
    };
    let stored = |value: Value| StoredValue::encode(&value);
    assert_eq!(
        resolve(&[("a", Eq, &[s("x")]), ("b", Between, &[n("1"), n("2")])]),
        Ok(KeyCondition {
            partition: vec![stored(s("x"))],
            sort: vec![],
            range: Some(KeyRange::Between(stored(n("1")), stored(n("2"))))
        })
    );
    for (entries, message) in [
        (
            vec![("a", Eq, &[s("x")][..]), ("b", Ne, &[n("1")])],
            "Attempted conditional constraint is not an indexable operation",
        ),
        (vec![("a", Null, &[][..])], "Attempted conditional constraint is not an indexable operation"),
        (vec![("a", Gt, &[s("x")][..])], "Query key condition not supported"),
        (vec![("z", Null, &[][..])], "Query condition missed key schema element: a"),
        (vec![], "Conditions can be of length 1 or 2 only"),
    ] {
        assert_eq!(words(resolve(&entries)), message);
    }
}

#[test]
fn attributes_to_get_are_a_projection() {
    let names = ["txt".to_owned(), "num".to_owned(), "gone".to_owned()];
    let projected = attributes_to_get(&names).unwrap().apply(&sample()).decode();
    assert_eq!(projected, map(&[("num", n("5")), ("txt", s("hello"))]));
    let twice = ["b".to_owned(), "a".to_owned(), "b".to_owned()];
    assert_eq!(
        words(attributes_to_get(&twice)),
        "One or more parameter values were invalid: Duplicate value in attribute name: b"
    );
}
