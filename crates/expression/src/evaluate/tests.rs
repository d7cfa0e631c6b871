use dynamo::{Item, StoredValue, Value};
use proptest::prelude::*;

use super::*;
use crate::path::{Path, Step};
use crate::substitute::Substitutions;
use crate::testing::{any_item, any_value, b, bs, l, m, map, n, ns, s, ss};

fn sample() -> Item {
    map(&[
        ("bin", b(b"hi there")),
        ("flag", Value::Bool(true)),
        ("info", m(&[("tags", l(&[s("x"), n("7"), ss(&["p", "q"])])), ("nul", Value::Null)])),
        ("num", n("12.50")),
        ("nums", ns(&[1, -2, 30])),
        ("bins", bs(&[b"a", b"b"])),
        ("num2", n("13")),
        ("txt", s("hello")),
        ("words", ss(&["cat", "dog"])),
    ])
}

fn matches(text: &str, values: &[(&str, Value)]) -> bool {
    let values = map(values);
    let values = Some(&values).filter(|values| !values.is_empty());
    let mut substitutions = Substitutions::new(None, values).unwrap();
    let condition = substitutions.condition(text).unwrap();
    condition.matches(Some(&StoredItem::encode(&sample())))
}

#[test]
fn every_operator_and_function() {
    for (text, value, expected) in [
        ("num = :v", n("12.5"), true),
        ("num = :v", s("12.5"), false),
        ("num <> :v", n("12.5"), false),
        ("num <> :v", s("12.5"), true),
        ("num < :v", n("12.51"), true),
        ("num < :v", s("zzz"), false),
        ("num > :v", n("-100"), true),
        ("num >= :v", n("12.5"), true),
        ("num <= :v", n("12.49"), false),
        (":v < num2", n("12.99"), true),
        ("txt > :v", s("hell"), true),
        ("txt < :v", s("\u{e9}"), true),
        ("bin >= :v", b(b"hi"), true),
        ("gone = :v", n("1"), false),
        ("gone <> :v", n("1"), true),
        ("gone < :v", n("1"), false),
        ("NOT gone < :v", n("1"), true),
        ("info.tags[1] = :v", n("7"), true),
        ("info.tags[9] = :v", n("7"), false),
        ("info.tags.x = :v", n("7"), false),
        ("txt.x = :v", n("7"), false),
        ("info.tags[2] = :v", ss(&["q", "p"]), true),
        ("info = :v", m(&[("nul", Value::Null), ("tags", l(&[s("x"), n("7.0"), ss(&["p", "q"])]))]), true),
        ("num between :v and num2", n("12"), true),
        ("num2 between num and :v", n("12.9"), false),
        ("txt in (gone, num, :v)", s("hello"), true),
        ("gone in (:v)", s("hello"), false),
        ("attribute_type(info.nul, :v)", s("NULL"), true),
        ("attribute_type(gone, :v)", s("NULL"), false),
        ("attribute_type(size(txt), :v)", s("N"), true),
        ("begins_with(txt, :v)", s("hell"), true),
        ("begins_with(txt, :v)", s("hello you"), false),
        ("begins_with(txt, :v)", b(b"hell"), false),
        ("begins_with(bin, :v)", b(b"hi"), true),
        ("begins_with(:v, txt)", s("hello you"), true),
        ("contains(txt, :v)", s("ell"), true),
        ("contains(txt, :v)", s("elo"), false),
        ("contains(bin, :v)", b(b"there"), true),
        ("contains(bin, :v)", b(b"thera"), false),
        ("contains(words, :v)", s("cat"), true),
        ("contains(words, :v)", s("ca"), false),
        ("contains(nums, :v)", n("30.0"), true),
        ("contains(nums, :v)", s("30"), false),
        ("contains(bins, :v)", b(b"b"), true),
        ("contains(info.tags, :v)", ss(&["p", "q"]), true),
        ("contains(info.tags, :v)", s("p"), false),
        ("contains(num, :v)", n("1"), false),
        ("contains(:v, txt)", l(&[s("hello")]), true),
        ("size(txt) = :v", n("5"), true),
        ("size(bin) = :v", n("8"), true),
        ("size(words) = :v", n("2"), true),
        ("size(info) = :v", n("2"), true),
        ("size(info.tags) < :v", n("4"), true),
        ("size(num) = :v", n("4"), false),
        ("size(num) <> :v", n("4"), true),
        ("size(txt) = :v", s("5"), false),
        ("size(txt) < num2 and :v < num2", n("1"), true),
        ("size(:v) = info.tags[1]", s("\u{1f600}abcde"), true),
        ("size(txt) in (num, :v)", n("5"), true),
        ("contains(nums, size(flag)) or :v = num", n("0"), false),
        ("flag = :v", Value::Bool(true), true),
        ("info.nul = :v", Value::Null, true),
        ("num = :v OR txt = :v AND NOT flag = :v", s("hello"), true),
        ("(num = :v OR txt = :v) AND flag = :v", s("hello"), false),
    ] {
        assert_eq!(matches(text, &[(":v", value.clone())]), expected, "{text} with {value:?}");
    }
}

#[test]
fn existence_is_of_the_whole_path() {
    for (text, expected) in [
        ("attribute_exists(num)", true),
        ("attribute_exists(gone)", false),
        ("attribute_not_exists(gone)", true),
        ("attribute_exists(info.nul)", true),
        ("attribute_exists(info.tags[2])", true),
        ("attribute_exists(info.tags[3])", false),
        ("attribute_not_exists(info.tags.x)", true),
        ("gone = lost", false),
        ("gone <> lost", true),
        ("gone between lost and num", false),
        ("NOT (attribute_exists(num) AND attribute_exists(gone))", true),
    ] {
        assert_eq!(matches(text, &[]), expected, "{text}");
    }
}

#[test]
fn no_item_has_no_attributes() {
    let bind = |text: &str| Substitutions::new(None, None).unwrap().condition(text).unwrap();
    assert!(bind("attribute_not_exists(a)").matches(None));
    assert!(!bind("attribute_exists(a)").matches(None));
    assert!(bind("a <> b").matches(None));
    assert!(!bind("a = b").matches(None));
}

#[test]
fn the_paths_that_are_read_are_known() {
    let values = map(&[(":v", s("S"))]);
    let text = "a.b = size(c[0]) AND NOT (d IN (e, :v) OR f BETWEEN g AND h) AND attribute_exists(i) AND attribute_type(j, :v)";
    let condition = Substitutions::new(None, Some(&values)).unwrap().condition(text).unwrap();
    let paths: Vec<String> = condition.paths().iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["[a, b]", "[c, [0]]", "[d]", "[e]", "[f]", "[g]", "[h]", "[i]", "[j]"]);
}

/// The same language over decoded items, as simply as it can be said.
mod naive {
    use super::*;

    pub(super) fn matches(condition: &Condition, item: &Item) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| matches(part, item)),
            Condition::Any(parts) => parts.iter().any(|part| matches(part, item)),
            Condition::Not(inner) => !matches(inner, item),
            Condition::Compare { comparator, left, right } => {
                compare(*comparator, find(left, item).as_ref(), find(right, item).as_ref())
            }
            Condition::Between { value, low, high } => {
                compare(Comparator::Ge, find(value, item).as_ref(), find(low, item).as_ref())
                    && compare(Comparator::Le, find(value, item).as_ref(), find(high, item).as_ref())
            }
            Condition::In { value, list } => list.iter().any(|option| {
                compare(Comparator::Eq, find(value, item).as_ref(), find(option, item).as_ref())
            }),
            Condition::Exists(path) => follow(path, item).is_some(),
            Condition::NotExists(path) => follow(path, item).is_none(),
            Condition::HasType(value, kind) => {
                find(value, item).is_some_and(|value| value.value_type() == *kind)
            }
            Condition::BeginsWith(value, prefix) => match (find(value, item), find(prefix, item)) {
                (Some(Value::S(value)), Some(Value::S(prefix))) => value.starts_with(&prefix),
                (Some(Value::B(value)), Some(Value::B(prefix))) => value.starts_with(&prefix),
                _ => false,
            },
            Condition::Contains(value, part) => match (find(value, item), find(part, item)) {
                (Some(Value::S(value)), Some(Value::S(part))) => value.contains(&part),
                (Some(Value::B(value)), Some(Value::B(part))) => {
                    (0..=value.len()).any(|start| value[start..].starts_with(&part))
                }
                (Some(Value::Ss(set)), Some(Value::S(part))) => set.contains(&part),
                (Some(Value::Ns(set)), Some(Value::N(part))) => set.contains(&part),
                (Some(Value::Bs(set)), Some(Value::B(part))) => set.contains(&part),
                (Some(Value::L(list)), Some(part)) => list.contains(&part),
                _ => false,
            },
        }
    }

    pub(super) fn follow(path: &Path, item: &Item) -> Option<Value> {
        let mut value = item.get(&*path.root)?.clone();
        for step in &path.steps {
            value = match (step, value) {
                (Step::Name(name), Value::M(map)) => map.get(&**name)?.clone(),
                (Step::Index(index), Value::L(list)) => list.get(*index)?.clone(),
                _ => return None,
            };
        }
        Some(value)
    }

    fn find(operand: &Operand, item: &Item) -> Option<Value> {
        match operand {
            Operand::Path(path) => follow(path, item),
            Operand::Value(value) => Some(value.as_ref().decode()),
            Operand::Size(inner) => {
                let count = match find(inner, item)? {
                    Value::S(text) => text.encode_utf16().count(),
                    Value::B(bytes) => bytes.len(),
                    Value::Ss(set) => set.len(),
                    Value::Ns(set) => set.len(),
                    Value::Bs(set) => set.len(),
                    Value::L(list) => list.len(),
                    Value::M(map) => map.len(),
                    Value::N(_) | Value::Bool(_) | Value::Null => return None,
                };
                Some(Value::from(i64::try_from(count).unwrap()))
            }
        }
    }

    fn compare(comparator: Comparator, left: Option<&Value>, right: Option<&Value>) -> bool {
        let (Some(left), Some(right)) = (left, right) else { return comparator == Comparator::Ne };
        let order = match (left, right) {
            (Value::S(left), Value::S(right)) => Some(left.cmp(right)),
            (Value::N(left), Value::N(right)) => Some(left.cmp(right)),
            (Value::B(left), Value::B(right)) => Some(left.cmp(right)),
            _ => None,
        };
        match comparator {
            Comparator::Eq => left == right,
            Comparator::Ne => left != right,
            Comparator::Lt => order.is_some_and(Ordering::is_lt),
            Comparator::Le => order.is_some_and(Ordering::is_le),
            Comparator::Gt => order.is_some_and(Ordering::is_gt),
            Comparator::Ge => order.is_some_and(Ordering::is_ge),
        }
    }
}

fn any_path() -> impl Strategy<Value = Path> {
    let step = prop_oneof![
        "[abc]".prop_map(|name| Step::Name(name.as_str().into())),
        (0_usize..3).prop_map(Step::Index),
    ];
    ("[a-f]", prop::collection::vec(step, 0..2))
        .prop_map(|(root, steps)| Path { root: root.as_str().into(), steps })
}

fn any_operand() -> impl Strategy<Value = Operand> {
    let plain = || {
        prop_oneof![
            2 => any_path().prop_map(Operand::Path),
            1 => any_value().prop_map(|value| Operand::Value(StoredValue::encode(&value))),
        ]
    };
    prop_oneof![4 => plain(), 1 => plain().prop_map(|inner| Operand::Size(Box::new(inner)))]
}

fn any_condition() -> impl Strategy<Value = Condition> {
    use Comparator::*;
    let leaf = prop_oneof![
        (prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge]), any_operand(), any_operand())
            .prop_map(|(comparator, left, right)| Condition::Compare { comparator, left, right }),
        (any_operand(), any_operand(), any_operand()).prop_map(|(value, low, high)| Condition::Between {
            value,
            low,
            high
        }),
        (any_operand(), prop::collection::vec(any_operand(), 1..3))
            .prop_map(|(value, list)| Condition::In { value, list }),
        any_path().prop_map(Condition::Exists),
        any_path().prop_map(Condition::NotExists),
        (any_operand(), prop::sample::select(ValueType::ALL.to_vec()))
            .prop_map(|(value, kind)| Condition::HasType(value, kind)),
        (any_operand(), any_operand()).prop_map(|(value, prefix)| Condition::BeginsWith(value, prefix)),
        (any_operand(), any_operand()).prop_map(|(value, part)| Condition::Contains(value, part)),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Condition::All),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Condition::Any),
            inner.prop_map(|inner| Condition::Not(Box::new(inner))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn stored_items_are_judged_as_decoded_ones(condition in any_condition(), item in any_item()) {
        prop_assert_eq!(condition.matches(Some(&StoredItem::encode(&item))), naive::matches(&condition, &item));
    }

    #[test]
    fn bytes_are_found_where_they_are(bytes in prop::collection::vec(0_u8..2, 0..12), part in prop::collection::vec(0_u8..2, 0..5)) {
        let expected = part.is_empty() || bytes.windows(part.len()).any(|window| window == part);
        prop_assert_eq!(contains_bytes(&bytes, &part), expected);
    }
}
