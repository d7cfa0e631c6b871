use dynamo::ValueType;

use super::*;
use crate::testing::{b, bs, l, m, map, n, names, ns, s, ss, words};

/// The words about a filter with all values in `:a`, and `#a` standing for `a`.
fn filter(text: &str, value: Option<Value>) -> String {
    let names = names(&[("#a", "a")]);
    let names = text.contains("#a").then_some(&names);
    let values = value.map(|value| map(&[(":a", value)]));
    words(Substitutions::new(names, values.as_ref()).and_then(|mut substitutions| substitutions.filter(text)))
}

fn invalid_filter(words: &str) -> String {
    format!("Invalid FilterExpression: {words}")
}

#[test]
fn undefined_names_and_values_are_refused_condition_by_condition() {
    let name = "An expression attribute name used in the document path is not defined; attribute name: ";
    let value = "An expression attribute value used in expression is not defined; attribute value: ";
    for (text, words, placeholder) in [
        ("attribute_exists(#Pictures.RearView, :a) and b=a", name, "#Pictures"),
        ("begins_with(Pictures.#RearView)", name, "#RearView"),
        ("(#P between :lo and :hi) and (#PC in (:cat1, :cat2))", name, "#P"),
        ("#4g > b", name, "#4g"),
        ("(a)between(b.c[45].#d)and(:a)", name, "#d"),
        ("begins_with(:hello, #A, #b)", value, ":hello"),
        (":a < :b", value, ":a"),
        (":_ > b", value, ":_"),
    ] {
        assert_eq!(filter(text, None), invalid_filter(&format!("{words}{placeholder}")), "{text}");
    }
}

#[test]
fn functions_need_the_right_number_of_operands() {
    for (text, function, count) in [
        ("attribute_exists(things, a) and a=b", "attribute_exists", 2),
        ("attribute_not_exists(things, b)", "attribute_not_exists", 2),
        ("attribute_type(things)", "attribute_type", 1),
        ("begins_with(things)", "begins_with", 1),
        ("begins_with(things, size(a), b)", "begins_with", 3),
        ("contains(things)", "contains", 1),
        ("size(things, a) > b", "size", 2),
    ] {
        let expected = format!(
            "Incorrect number of operands for operator or function; operator or function: {function}, \
             number of operands: {count}"
        );
        assert_eq!(filter(text, None), invalid_filter(&expected), "{text}");
    }
}

#[test]
fn operands_need_types_that_can_work() {
    let all = [
        s("1"),
        n("1"),
        b(b"a"),
        Value::Bool(true),
        Value::Null,
        ss(&["1"]),
        ns(&[1]),
        bs(&[b"a"]),
        l(&[]),
        m(&[]),
    ];
    let refused = |text: &str, operator: &str, accepted: &[&str]| {
        for value in &all {
            let name = value.value_type().name();
            let expected = if accepted.contains(&name) {
                "accepted".to_owned()
            } else {
                invalid_filter(&format!(
                    "Incorrect operand type for operator or function; operator or function: {operator}, operand type: {name}"
                ))
            };
            assert_eq!(filter(text, Some(value.clone())), expected, "{text} with {name}");
        }
    };
    refused("begins_with(a, :a)", "begins_with", &["S", "B"]);
    refused("begins_with(:a, a)", "begins_with", &["S", "B"]);
    refused("size(:a) > a", "size", &["S", "B", "SS", "NS", "BS", "L", "M"]);
    refused("a < :a", "<", &["S", "N", "B"]);
    refused(":a >= a", ">=", &["S", "N", "B"]);
    refused("a between :a and b", "BETWEEN", &["S", "N", "B"]);
    refused("a between b and :a", "BETWEEN", &["S", "N", "B"]);
    refused(
        "a = :a or a <> :a or contains(a, :a) or contains(:a, a) or a in (:a)",
        "",
        &ValueType::ALL.map(ValueType::name),
    );
    for (text, function, operand) in [
        ("attribute_type(a, size(a)) and b=a", "attribute_type", "N"),
        ("attribute_type(ab.bc[1].a, SS)", "attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"),
        ("begins_with(a, size(a))", "begins_with", "N"),
        ("size(size(a)) > b", "size", "N"),
        ("attribute_not_exists(size(size(a)))", "size", "N"),
    ] {
        let expected = format!(
            "Incorrect operand type for operator or function; operator or function: {function}, operand type: {operand}"
        );
        assert_eq!(filter(text, None), invalid_filter(&expected), "{text}");
    }
    assert_eq!(
        filter("attribute_type(a, :a)", Some(s("1"))),
        invalid_filter(
            "Invalid attribute type name found; type: 1, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
        )
    );
    assert_eq!(filter("attribute_type(a, :a)", Some(s("SS"))), "accepted");
    assert_eq!(filter("attribute_type(:a, :a)", Some(s("SS"))), "accepted");
}

#[test]
fn existence_is_asked_of_paths_only() {
    for (text, function) in [
        ("attribute_exists(:a) and b=a", "attribute_exists"),
        ("attribute_not_exists(size(:a))", "attribute_not_exists"),
    ] {
        let expected =
            format!("Operator or function requires a document path; operator or function: {function}");
        assert_eq!(filter(text, Some(s("1"))), invalid_filter(&expected), "{text}");
    }
}

#[test]
fn both_sides_must_differ() {
    for (text, operator, path) in [
        ("a = a AND #a = b AND :views > a", "=", "[a]"),
        ("#a <> a", "<>", "[a]"),
        ("a > #a", ">", "[a]"),
        ("((a=a) OR (a=a))", "=", "[a]"),
        ("contains(ab.bc[1].a, ab.bc[1].#a)", "contains", "[ab, bc, [1], a]"),
        ("attribute_type(ab.bc[1].#a, ab.bc[1].a)", "attribute_type", "[ab, bc, [1], a]"),
        ("begins_with(ab.bc[1].a, ab.bc[1].#a)", "begins_with", "[ab, bc, [1], a]"),
    ] {
        let expected = format!(
            "The first operand must be distinct from the remaining operands for this operator or function; \
             operator: {operator}, first operand: {path}"
        );
        assert_eq!(filter(text, None), invalid_filter(&expected), "{text}");
    }
    assert_eq!(filter(":a = :a", Some(n("1"))), "accepted");
    assert_eq!(filter("a in (a, b)", None), "accepted");
}

#[test]
fn between_needs_bounds_of_one_type_in_order() {
    let between = |low: Value, high: Value| {
        let values = map(&[(":b", low), (":a", high)]);
        let mut substitutions = Substitutions::new(None, Some(&values)).unwrap();
        words(substitutions.key_condition("a between :b and :a"))
    };
    assert_eq!(
        between(n("1"), s("a")),
        "Invalid KeyConditionExpression: The BETWEEN operator requires same data type for lower and upper bounds; \
         lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}"
    );
    assert_eq!(
        between(s("b"), s("a")),
        "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to \
         lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}"
    );
    assert_eq!(between(n("9"), n("10")), "accepted");
    assert_eq!(between(n("9"), n("9.0")), "accepted");
}

fn update_with(text: &str, values: &Map) -> String {
    let names = names(&[("#a", "a"), ("#b", "b"), ("#c", "c"), ("#d", "[3]")]);
    let mut substitutions = Substitutions::new(Some(&names), Some(values)).unwrap();
    words(substitutions.update(text))
}

#[test]
fn updates_are_checked_in_order() {
    let values = map(&[(":a", s("a")), (":n", n("1")), (":l", l(&[])), (":s", ss(&["a"]))]);
    let overlap = |one: &str, two: &str| {
        format!(
            "Two document paths overlap with each other; must remove or rewrite one of these paths; \
             path one: {one}, path two: {two}"
        )
    };
    let count = |function: &str| {
        format!(
            "Incorrect number of operands for operator or function; operator or function: {function}, number of operands: 1"
        )
    };
    let needs_path =
        "Operator or function requires a document path; operator or function: if_not_exists".to_owned();
    for (text, words) in [
        (
            "SET #x = if_not_exists(:c)",
            "An expression attribute name used in the document path is not defined; attribute name: #x"
                .to_owned(),
        ),
        (
            "SET a = :zz, b = #x",
            "An expression attribute name used in the document path is not defined; attribute name: #x"
                .to_owned(),
        ),
        (
            "SET #a = if_not_exists(:c)",
            "An expression attribute value used in expression is not defined; attribute value: :c".to_owned(),
        ),
        ("set d[1] = a, d.b = a, c[1].a = a, #c = if_not_exists(a)", overlap("[c, [1], a]", "[c]")),
        ("set #c[3].#d = a, #c[3] = a", overlap("[c, [3], [3]]", "[c, [3]]")),
        ("set a = :a remove a", overlap("[a]", "[a]")),
        (
            "set #c[3].#d = a, #c.#d[3] = if_not_exists(a)",
            overlap("[c, [3], [3]]", "[c, [3], [3]]").replace("overlap", "conflict"),
        ),
        ("remove a.#c set a[1] = #d", overlap("[a, c]", "[a, [1]]").replace("overlap", "conflict")),
        (
            "set b = list_append(:a, a), c = if_not_exists(a) add a.b :a",
            "Incorrect operand type for operator or function; operator: ADD, operand type: STRING".to_owned(),
        ),
        ("set a = if_not_exists(c)", count("if_not_exists")),
        ("set a = list_append(c)", count("list_append")),
        ("set a = if_not_exists(:a, c)", needs_path.clone()),
        ("set a = if_not_exists(if_not_exists(a, b), c)", needs_path),
    ] {
        assert_eq!(update_with(text, &values), format!("Invalid UpdateExpression: {words}"), "{text}");
    }
    for text in [
        "set a.b = :a, a.c = :a",
        "set a[0] = :a, a[1] = :a remove b",
        "set a = a + :n, b = if_not_exists(c, :a)",
    ] {
        assert_eq!(update_with(text, &values), "accepted", "{text}");
    }
}

#[test]
fn operands_of_updates_need_types_that_can_work() {
    let values = map(&[
        (":s", s("a")),
        (":n", n("1")),
        (":b", b(b"a")),
        (":t", Value::Bool(false)),
        (":u", Value::Null),
        (":ss", ss(&["a"])),
        (":ns", ns(&[1])),
        (":bs", bs(&[b"a"])),
        (":m", m(&[])),
        (":l", l(&[])),
    ]);
    for (placeholder, value) in &values {
        let (name, kind) = (value.value_type().name(), value.value_type());
        for (text, operator, accepted) in [
            (format!("set a = list_append({placeholder}, a)"), "list_append", kind == ValueType::L),
            (format!("set a = list_append(a, {placeholder})"), "list_append", kind == ValueType::L),
            (format!("set a = a + {placeholder}"), "+", kind == ValueType::N),
            (format!("set a = {placeholder} - a"), "-", kind == ValueType::N),
        ] {
            let expected = format!(
                "Invalid UpdateExpression: Incorrect operand type for operator or function; \
                 operator or function: {operator}, operand type: {name}"
            );
            assert_eq!(update_with(&text, &values), if accepted { "accepted" } else { &expected }, "{text}");
        }
        let added = kind.is_set() || kind == ValueType::N;
        assert_eq!(
            update_with(&format!("ADD a {placeholder}"), &values) == "accepted",
            added,
            "{placeholder}"
        );
        assert_eq!(
            update_with(&format!("DELETE a {placeholder}"), &values) == "accepted",
            kind.is_set(),
            "{placeholder}"
        );
    }
    for (value, name) in
        [(":l", "LIST"), (":m", "MAP"), (":t", "BOOLEAN"), (":u", "NULL"), (":b", "BINARY"), (":n", "NUMBER")]
    {
        assert_eq!(
            update_with(&format!("delete a.b {value}"), &values),
            format!(
                "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: DELETE, operand type: {name}"
            )
        );
    }
}

#[test]
fn paths_of_projections_must_not_meet() {
    let names = names(&[("#a", "a"), ("#b", "[3]")]);
    let projection = |text: &str| words(Substitutions::new(Some(&names), None).unwrap().projection(text));
    for (text, verb, one, two) in [
        ("b[1], b.a, #a.b, a", "overlap", "[a, b]", "[a]"),
        ("a, #a[1]", "overlap", "[a]", "[a, [1]]"),
        ("a.b, #a[1], #b", "conflict", "[a, b]", "[a, [1]]"),
        ("a.b[1], #a[1], #b", "conflict", "[a, b, [1]]", "[a, [1]]"),
        ("a[3].b, #a.#b.b", "conflict", "[a, [3], b]", "[a, [3], b]"),
    ] {
        let expected = format!(
            "Invalid ProjectionExpression: Two document paths {verb} with each other; must remove or rewrite one of these \
             paths; path one: {one}, path two: {two}"
        );
        assert_eq!(projection(text), expected, "{text}");
    }
    assert_eq!(
        projection("a,b,a,#z"),
        "Invalid ProjectionExpression: An expression attribute name used in the document path is not defined; attribute name: #z"
    );
    assert_eq!(projection("a.b, a.c[1], a.c[2], b, #b"), "accepted");
    let wide = (0..680).map(|index| format!("a[{index}]")).collect::<Vec<_>>().join(",");
    assert_eq!(projection(wide.get(..4094).unwrap_or(&wide).rsplit_once(',').unwrap().0), "accepted");
}

#[test]
fn the_maps_themselves_are_checked() {
    let names_of = |entries: &[(&str, &str)]| words(Substitutions::new(Some(&names(entries)), None));
    let values_of = |entries: &[(&str, Value)]| words(Substitutions::new(None, Some(&map(entries))));
    assert_eq!(names_of(&[]), "ExpressionAttributeNames must not be empty");
    assert_eq!(values_of(&[]), "ExpressionAttributeValues must not be empty");
    for key in ["a", "#", "#a-b", "", ":a"] {
        assert_eq!(
            names_of(&[(key, "a")]),
            format!("ExpressionAttributeNames contains invalid key: Syntax error; key: \"{key}\"")
        );
    }
    for key in ["b", ":", ":hi!there", "#a"] {
        assert_eq!(
            values_of(&[(key, s("a"))]),
            format!("ExpressionAttributeValues contains invalid key: Syntax error; key: \"{key}\"")
        );
    }
    assert_eq!(names_of(&[("#_1a", "a"), ("#0", "b")]), "accepted");
}

#[test]
fn what_no_expression_uses_is_refused_at_the_end() {
    let names = names(&[("#a", "a"), ("#b", "b"), ("#c", "c")]);
    let values = map(&[(":a", s("a")), (":b", s("b")), (":c", s("c"))]);
    let finish = |texts: [&str; 2]| {
        let mut substitutions = Substitutions::new(Some(&names), Some(&values)).unwrap();
        substitutions.update(texts[0]).unwrap();
        substitutions.condition(texts[1]).unwrap();
        words(substitutions.finish())
    };
    assert_eq!(finish(["SET #a = :a, #b = :b", "#c = :c"]), "accepted");
    assert_eq!(
        finish(["SET #a = :a", "#c = :c"]),
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"
    );
    assert_eq!(
        finish(["SET #a = #b", "#c = :b"]),
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a, :c}"
    );
}

#[test]
fn a_text_is_parsed_once() {
    let text = "once_only = :a";
    let one = cached_condition(ExpressionKind::Filter, text).unwrap();
    let two = cached_condition(ExpressionKind::Filter, text).unwrap();
    let other_kind = cached_condition(ExpressionKind::Condition, text).unwrap();
    assert!(std::sync::Arc::ptr_eq(&one, &two));
    assert!(!std::sync::Arc::ptr_eq(&one, &other_kind));
}
