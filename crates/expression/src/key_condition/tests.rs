use dynamo::Value;

use super::*;
use crate::substitute::Substitutions;
use crate::testing::{map, n, s, words};

fn conditions(text: &str) -> Result<KeyConditions, ApiError> {
    let values = map(&[(":a", s("1")), (":b", s("2")), (":n", n("1"))]);
    let condition = Substitutions::new(None, Some(&values))?.key_condition(text)?;
    Ok(KeyConditions::from_condition(&condition)?)
}

const HASH: &[&str] = &["a"];

fn schema<'a>(partition: &[&'a str], sort: &[&'a str]) -> KeySchema<'a> {
    let typed = |names: &[&'a str]| names.iter().map(|name| (*name, KeyType::S)).collect();
    KeySchema { partition: typed(partition), sort: typed(sort) }
}

fn resolve(text: &str, schema: &KeySchema<'_>) -> String {
    words(conditions(text).and_then(|conditions| Ok(conditions.resolve(schema)?)))
}

#[test]
fn faults_that_need_no_table() {
    for (text, message) in [
        (
            "attribute_type(a, :t)",
            "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; attribute value: :t",
        ),
        (
            "attribute_type(a, :n)",
            "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N",
        ),
        ("a > b and size(b) > c or a > c", "Invalid operator used in KeyConditionExpression: OR"),
        ("a in (b, size(c), d)", "Invalid operator used in KeyConditionExpression: IN"),
        ("attribute_exists(a)", "Invalid operator used in KeyConditionExpression: attribute_exists"),
        ("attribute_not_exists(a)", "Invalid operator used in KeyConditionExpression: attribute_not_exists"),
        ("contains(a.d, b)", "Invalid operator used in KeyConditionExpression: contains"),
        ("not a > b", "Invalid operator used in KeyConditionExpression: NOT"),
        ("a <> b", "Invalid operator used in KeyConditionExpression: <>"),
        (
            ":a between size(b) and size(a) and b > :b",
            "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand",
        ),
        (
            "begins_with(:a, b) and a > :b",
            "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand",
        ),
        ("size(b) > a AND a.b > b AND b > c", "KeyConditionExpressions cannot contain nested operations"),
        ("a > size(b.d)", "KeyConditionExpressions cannot contain nested operations"),
        ("a between size(b) and size(a)", "KeyConditionExpressions cannot contain nested operations"),
        (
            "b > a.b",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (
            "b between c[1] and d",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (
            "a between b and size(a)",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (
            "begins_with(a, b)",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (
            "a.d > c",
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes",
        ),
        (
            "b[0] > a",
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes",
        ),
        (":b > :a AND a < :b", "Invalid condition in KeyConditionExpression: No key attribute specified"),
        (":a > b AND :a < :b", "Invalid condition in KeyConditionExpression: No key attribute specified"),
        (
            "b > :a AND b < :a and c = :a and d = :a",
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "(a > :a and b > :a) and (b > :a and c > :a)",
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
    ] {
        assert_eq!(words(conditions(text)), message, "{text}");
    }
}

#[test]
fn faults_that_need_the_keys() {
    let not_supported = "Query key condition not supported";
    let wrong_type =
        "One or more parameter values were invalid: Condition parameter type does not match schema type";
    let (hash, range) = (schema(HASH, &[]), schema(HASH, &["b"]));
    for (text, schema, message) in [
        ("a > :a", &hash, not_supported),
        (":a <= a", &hash, not_supported),
        ("begins_with(a, :a)", &hash, not_supported),
        ("a between :a and :a", &hash, not_supported),
        (
            "a = :a AND b = :a",
            &hash,
            "The number of query conditions (2) exceeds the number of key attributes defined in the schema (1)",
        ),
        (
            "y = :a and z = :a",
            &hash,
            "The number of query conditions (2) exceeds the number of key attributes defined in the schema (1)",
        ),
        ("b = :a", &hash, "Query condition missed key schema element: a"),
        ("b = :a", &range, "Query condition missed key schema element: a"),
        ("a = :a and z = :a", &range, "Query condition missed key schema element: b"),
        (
            "a = :a and b = :a and c = :a",
            &range,
            "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
        ),
        ("a = :n", &range, wrong_type),
        ("a = :a and b < :n", &range, wrong_type),
    ] {
        assert_eq!(resolve(text, schema), message, "{text}");
    }
}

#[test]
fn keys_become_values_and_a_range() {
    let stored = |value: Value| StoredValue::encode(&value);
    let (one, two) = (stored(s("1")), stored(s("2")));
    let schema = schema(HASH, &["b"]);
    for (text, sort, range) in [
        ("a = :a", vec![], None),
        (":a = a", vec![], None),
        ("b = :b AND a = :a", vec![two.clone()], None),
        ("(a = :a) and (b < :b)", vec![], Some(KeyRange::Lt(two.clone()))),
        ("a = :a and b <= :b", vec![], Some(KeyRange::Le(two.clone()))),
        ("a = :a and b > :b", vec![], Some(KeyRange::Gt(two.clone()))),
        ("a = :a and :b <= b", vec![], Some(KeyRange::Ge(two.clone()))),
        ("a = :a and b between :a and :b", vec![], Some(KeyRange::Between(one.clone(), two.clone()))),
        ("a = :a and begins_with(b, :b)", vec![], Some(KeyRange::BeginsWith(two.clone()))),
    ] {
        let expected = KeyCondition { partition: vec![one.clone()], sort, range };
        assert_eq!(conditions(text).unwrap().resolve(&schema), Ok(expected), "{text}");
    }
}

#[test]
fn keys_of_several_attributes_are_used_from_the_left() {
    let schema = schema(&["h1", "h2"], &["r1", "r2", "r3"]);
    let stored = |value: Value| StoredValue::encode(&value);
    let found = conditions("r2 > :b and h2 = :b and r1 = :a and h1 = :a").unwrap().resolve(&schema).unwrap();
    assert_eq!(found.partition, [stored(s("1")), stored(s("2"))]);
    assert_eq!(found.sort, [stored(s("1"))]);
    assert_eq!(found.range, Some(KeyRange::Gt(stored(s("2")))));
    let partition = |names: &str| {
        format!("HASH key attributes {names} must have equality conditions specified in the query")
    };
    let sort = |names: &str, later: &str| {
        format!(
            "RANGE key attributes {names} must have equality conditions specified in the query because a condition is present on \
             key attribute {later}"
        )
    };
    for (text, message) in [
        ("h1 = :a", &*partition("h2")),
        ("h1 = :a and h2 > :a", &partition("h2")),
        ("h1 = :a and h2 = :a and r2 = :a", &sort("r1", "r2")),
        ("h1 = :a and h2 = :a and r1 = :a and r3 = :a", &sort("r2", "r3")),
        ("h1 = :a and h2 = :a and r1 > :a and r2 = :a", &sort("r1", "r2")),
        ("h1 = :a and h2 = :a and begins_with(r1, :a) and r2 = :a", &sort("r1", "r2")),
        ("h1 = :a and h2 = :a and r1 = :a and r2 = :a and r3 = :a", "accepted"),
        (
            "h1 = :a and h2 = :a and r1 = :a and r2 = :a and r3 = :a and z = :a",
            "The number of query conditions (6) exceeds the number of key attributes defined in the schema (5)",
        ),
    ] {
        assert_eq!(resolve(text, &schema), message, "{text}");
    }
}

#[test]
fn ranges_contain_values() {
    let stored = |value: i64| StoredValue::encode(&Value::from(value));
    let contains = |range: &KeyRange| [1_i64, 2, 3].map(|value| range.contains(stored(value).as_ref()));
    assert_eq!(contains(&KeyRange::Lt(stored(2))), [true, false, false]);
    assert_eq!(contains(&KeyRange::Le(stored(2))), [true, true, false]);
    assert_eq!(contains(&KeyRange::Gt(stored(2))), [false, false, true]);
    assert_eq!(contains(&KeyRange::Ge(stored(2))), [false, true, true]);
    assert_eq!(contains(&KeyRange::Between(stored(2), stored(3))), [false, true, true]);
    let prefix = KeyRange::BeginsWith(StoredValue::encode(&s("ab")));
    assert!(prefix.contains(StoredValue::encode(&s("abc")).as_ref()));
    assert!(!prefix.contains(StoredValue::encode(&s("ac")).as_ref()));
}
