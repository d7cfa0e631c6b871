use proptest::prelude::*;

use super::*;
use crate::substitute::Substitutions;
use crate::testing::{any_item, any_value, b, bs, l, m, map, n, names, ns, s, ss, words};

/// The values that all tests may use.
fn values() -> Item {
    map(&[
        (":one", n("1")),
        (":two", n("2")),
        (":x", s("x")),
        (":y", s("y")),
        (":list", l(&[s("x")])),
        (":ss", ss(&["x", "q"])),
        (":ns", ns(&[1, 2])),
        (":m", m(&[("k", s("x"))])),
        (":big", n("9e125")),
        (":tiny", n("1e-130")),
        (":bs", bs(&[b"x"])),
        (":bin", b(b"x")),
    ])
}

fn bind(text: &str) -> Update {
    let (names, values) = (names(&[("#a", "a")]), values());
    Substitutions::new(Some(&names), Some(&values)).unwrap().update(text).unwrap()
}

fn key() -> Item {
    map(&[("pk", s("k"))])
}

/// The item after the update, without its key.
fn after(text: &str, item: &Item) -> Result<Option<Item>, UpdateError> {
    let mut old = item.clone();
    old.extend(key());
    let new = bind(text).apply(Some(&StoredItem::encode(&old)), &key())?;
    Ok(new.map(|new| new.decode().into_iter().filter(|(name, _)| name != "pk").collect()))
}

fn sample() -> Item {
    map(&[
        ("a", n("10")),
        ("b", s("text")),
        ("c", m(&[("x", n("3")), ("y", l(&[n("0"), n("1"), n("2"), n("3")])), ("z", m(&[]))])),
        ("d", l(&[s("p"), m(&[("q", s("r"))]), l(&[n("1"), n("2"), n("3")])])),
        ("t", ss(&["p", "q"])),
        ("u", ns(&[2, 3])),
    ])
}

/// The sample with some attributes changed or, with `None`, removed.
fn sample_with(changes: &[(&str, Option<Value>)]) -> Item {
    let mut item = sample();
    for (name, value) in changes {
        item.remove(*name);
        item.extend(value.clone().map(|value| ((*name).to_owned(), value)));
    }
    item
}

fn c(x: Option<Value>, y: Value, z: Option<Value>) -> Value {
    let mut map = map(&[("y", y)]);
    map.extend(x.map(|x| ("x".to_owned(), x)));
    map.extend(z.map(|z| ("z".to_owned(), z)));
    Value::M(map)
}

fn y() -> Value {
    l(&[n("0"), n("1"), n("2"), n("3")])
}

#[test]
fn set_gives_values() {
    for (text, changes) in [
        ("SET a = :x", vec![("a", Some(s("x")))]),
        ("SET aa = :x, zz = :list", vec![("aa", Some(s("x"))), ("zz", Some(l(&[s("x")])))]),
        ("SET a = :x, b = a", vec![("a", Some(s("x"))), ("b", Some(n("10")))]),
        ("SET a = b, b = a", vec![("a", Some(s("text"))), ("b", Some(n("10")))]),
        ("SET a = a + :one", vec![("a", Some(n("11")))]),
        ("SET a = :one - a", vec![("a", Some(n("-9")))]),
        ("SET a = c.x - c.y[2]", vec![("a", Some(n("1")))]),
        ("SET a = if_not_exists(a, :x)", vec![]),
        ("SET e = if_not_exists(e, :x)", vec![("e", Some(s("x")))]),
        ("SET e = if_not_exists(e, if_not_exists(f, b))", vec![("e", Some(s("text")))]),
        ("SET e = if_not_exists(e, :one) + :two", vec![("e", Some(n("3")))]),
        ("SET e = list_append(c.y, :list)", vec![("e", Some(l(&[n("0"), n("1"), n("2"), n("3"), s("x")])))]),
        ("SET e = list_append(if_not_exists(e, :list), :list)", vec![("e", Some(l(&[s("x"), s("x")])))]),
        ("SET c.x = :x", vec![("c", Some(c(Some(s("x")), y(), Some(m(&[])))))]),
        ("SET c.z.n = c.x", vec![("c", Some(c(Some(n("3")), y(), Some(m(&[("n", n("3"))])))))]),
        (
            "SET d[1].q = :x",
            vec![("d", Some(l(&[s("p"), m(&[("q", s("x"))]), l(&[n("1"), n("2"), n("3")])])))],
        ),
        (
            "SET d[2][1] = d[2][0] + d[2][2]",
            vec![("d", Some(l(&[s("p"), m(&[("q", s("r"))]), l(&[n("1"), n("4"), n("3")])])))],
        ),
        (
            "SET c.y[84] = :x, c.y[7] = :y, c.y[0] = :one",
            vec![(
                "c",
                Some(c(Some(n("3")), l(&[n("1"), n("1"), n("2"), n("3"), s("y"), s("x")]), Some(m(&[])))),
            )],
        ),
        ("SET c = :m", vec![("c", Some(m(&[("k", s("x"))])))]),
        ("SET a = :x REMOVE b, t, nope", vec![("a", Some(s("x"))), ("b", None), ("t", None)]),
        ("REMOVE b SET e = b", vec![("b", None), ("e", Some(s("text")))]),
    ] {
        assert_eq!(after(text, &sample()), Ok(Some(sample_with(&changes))), "{text}");
    }
}

#[test]
fn remove_takes_away() {
    for (text, changes) in [
        ("REMOVE a", vec![("a", None)]),
        ("REMOVE c.x", vec![("c", Some(c(None, y(), Some(m(&[])))))]),
        ("REMOVE c.nope, c.y[9], nope", vec![]),
        ("REMOVE c.y[1], c.y[0], c.y[3]", vec![("c", Some(c(Some(n("3")), l(&[n("2")]), Some(m(&[])))))]),
        ("REMOVE d[0], d[2][0], d[2][1]", vec![("d", Some(l(&[m(&[("q", s("r"))]), l(&[n("3")])])))]),
        (
            "REMOVE c.y[1] SET c.y[3] = :x, c.y[9] = :y",
            vec![("c", Some(c(Some(n("3")), l(&[n("0"), n("2"), s("x"), s("y")]), Some(m(&[])))))],
        ),
        (
            "SET c.y[3] = :x REMOVE c.y[1]",
            vec![("c", Some(c(Some(n("3")), l(&[n("0"), n("2"), s("x")]), Some(m(&[])))))],
        ),
    ] {
        assert_eq!(after(text, &sample()), Ok(Some(sample_with(&changes))), "{text}");
    }
}

#[test]
fn what_was_not_there_is_not_taken_away() {
    let text = "SET d[7] = :x REMOVE d[3]";
    let d = l(&[s("p"), m(&[("q", s("r"))]), l(&[n("1"), n("2"), n("3")]), s("x")]);
    assert_eq!(after(text, &sample()), Ok(Some(sample_with(&[("d", Some(d))]))));
    assert_eq!(after("SET d[7] = :m REMOVE d[3].k", &sample()), Err(UpdateError::InvalidPath));
}

#[test]
fn add_and_delete_change_numbers_and_sets() {
    for (text, changes) in [
        ("ADD a :two", vec![("a", Some(n("12")))]),
        ("ADD e :two, f :ss", vec![("e", Some(n("2"))), ("f", Some(ss(&["x", "q"])))]),
        ("ADD t :ss, u :ns", vec![("t", Some(ss(&["p", "q", "x"]))), ("u", Some(ns(&[1, 2, 3])))]),
        ("ADD c.x :two", vec![("c", Some(c(Some(n("5")), y(), Some(m(&[])))))]),
        ("ADD c.z.n :two", vec![("c", Some(c(Some(n("3")), y(), Some(m(&[("n", n("2"))])))))]),
        (
            "ADD c.y[0] :two, c.y[9] :two",
            vec![("c", Some(c(Some(n("3")), l(&[n("2"), n("1"), n("2"), n("3"), n("2")]), Some(m(&[])))))],
        ),
        ("DELETE t :ss, u :ns, e :ss, c.nope :ss", vec![("t", Some(ss(&["p"]))), ("u", Some(ns(&[3])))]),
    ] {
        assert_eq!(after(text, &sample()), Ok(Some(sample_with(&changes))), "{text}");
    }
    let sets = map(&[("a", ss(&["x"])), ("b", m(&[("c", bs(&[b"x"]))])), ("d", l(&[ss(&["q"]), n("1")]))]);
    let emptied = map(&[("b", m(&[])), ("d", l(&[n("1")]))]);
    assert_eq!(after("DELETE a :ss, b.c :bs, d[0] :ss", &sets), Ok(Some(emptied)));
}

#[test]
fn what_does_not_fit_is_refused() {
    use UpdateError::*;
    for (text, error) in [
        ("SET b.x = :x", InvalidPath),
        ("SET b[0] = :x", InvalidPath),
        ("SET c[0] = :x", InvalidPath),
        ("SET d.x = :x", InvalidPath),
        ("SET e.x = :x", InvalidPath),
        ("SET e[0] = :x", InvalidPath),
        ("SET c.nope.x = :x", InvalidPath),
        ("SET d[9][0] = :x", InvalidPath),
        ("REMOVE a.c", InvalidPath),
        ("REMOVE e.c", InvalidPath),
        ("REMOVE d.c", InvalidPath),
        ("REMOVE b[0]", InvalidPath),
        ("ADD e.c :one", InvalidPath),
        ("DELETE e.c :ss", InvalidPath),
        ("SET a = b + :one", OperandType),
        ("SET a = :one + if_not_exists(b, :one)", OperandType),
        ("SET a = list_append(b, :list)", OperandType),
        ("SET a = list_append(:list, if_not_exists(nope, :x))", OperandType),
        ("ADD b :one", OperandType),
        ("ADD t :ns", OperandType),
        ("ADD d :ss", OperandType),
        ("DELETE a :ns", OperandType),
        ("DELETE t :ns", OperandType),
        ("SET a = nope", MissingAttribute),
        ("SET a = c.nope", MissingAttribute),
        ("SET a = nope + :one", MissingAttribute),
        ("SET a = list_append(nope, :list)", MissingAttribute),
        ("SET a = :big + :big", Number(NumberError::TooLarge)),
        ("SET a = :big + :one", Number(NumberError::TooLarge)),
        ("ADD a :tiny", Number(NumberError::TooManyDigits)),
        // Values are computed before any path is followed.
        ("SET e.x = :x, a = nope", MissingAttribute),
    ] {
        assert_eq!(after(text, &sample()), Err(error), "{text}");
    }
    assert_eq!(
        words(Err::<(), _>(InvalidPath)),
        "The document path provided in the update expression is invalid for update"
    );
    assert_eq!(
        words(Err::<(), _>(OperandType)),
        "An operand in the update expression has an incorrect data type"
    );
    assert_eq!(
        words(Err::<(), _>(MissingAttribute)),
        "The provided expression refers to an attribute that does not exist in the item"
    );
    assert_eq!(
        words(Err::<(), _>(Number(NumberError::TooLarge))),
        "Number overflow. Attempting to store a number with magnitude larger than supported range"
    );
}

#[test]
fn an_item_is_created_unless_all_is_removal() {
    let create = |text: &str| bind(text).apply(None, &key()).map(|item| item.map(|item| item.decode()));
    assert_eq!(create("SET a = :x"), Ok(Some(map(&[("a", s("x")), ("pk", s("k"))]))));
    assert_eq!(create("ADD z :one"), Ok(Some(map(&[("pk", s("k")), ("z", n("1"))]))));
    assert_eq!(create("SET a = :x REMOVE b"), Ok(Some(map(&[("a", s("x")), ("pk", s("k"))]))));
    assert_eq!(create("SET a = if_not_exists(pk, :x)"), Ok(Some(map(&[("a", s("k")), ("pk", s("k"))]))));
    assert_eq!(create("REMOVE b"), Ok(None));
    assert_eq!(create("REMOVE b.c, d[0] DELETE t :ss"), Ok(None));
    assert_eq!(create("SET a.b = :x"), Err(UpdateError::InvalidPath));
    assert_eq!(create("SET a = b"), Err(UpdateError::MissingAttribute));
    let nothing = Update::new(Vec::new());
    assert_eq!(nothing.apply(None, &key()).unwrap().unwrap().decode(), key());
}

#[test]
fn updated_values_have_the_shape_of_the_paths() {
    let updated = |text: &str| {
        let update = bind(text);
        let old = StoredItem::encode(&sample());
        let new = update.apply(Some(&old), &key()).unwrap().unwrap();
        let decode = |item: Option<StoredItem>| item.map(|item| item.decode());
        (decode(update.updated_old(Some(&old))), decode(update.updated_new(&new)))
    };
    assert_eq!(
        updated("SET b = :x, e = :y"),
        (Some(map(&[("b", s("text"))])), Some(map(&[("b", s("x")), ("e", s("y"))])))
    );
    assert_eq!(updated("REMOVE b"), (Some(map(&[("b", s("text"))])), None));
    assert_eq!(updated("SET e = :x").0, None);
    assert_eq!(
        updated("SET c.y[1] = :x, c.x = :y"),
        (
            Some(map(&[("c", m(&[("x", n("3")), ("y", l(&[n("1")]))]))])),
            Some(map(&[("c", m(&[("x", s("y")), ("y", l(&[s("x")]))]))]))
        )
    );
    assert_eq!(updated("REMOVE c.y[1], c.y[9]").0, Some(map(&[("c", m(&[("y", l(&[n("1")]))]))])));
    // An element beyond the end is not at its index afterwards; what moves to a removed index is.
    assert_eq!(updated("SET c.y[100] = :x"), (None, None));
    assert_eq!(updated("REMOVE c.y[1]").1, Some(map(&[("c", m(&[("y", l(&[n("2")]))]))])));
    assert_eq!(bind("SET b = :x").updated_old(None), None);
}

#[test]
fn changed_and_read_paths_are_known() {
    let update =
        bind("SET a.b = c + d[0], e = list_append(if_not_exists(f.g, h), :list) REMOVE i ADD j :one");
    assert_eq!(update.names().collect::<Vec<_>>(), ["a", "e", "i", "j"]);
    let read: Vec<String> = update.read_paths().iter().map(ToString::to_string).collect();
    assert_eq!(read, ["[c]", "[d, [0]]", "[f, g]", "[h]"]);
}

proptest! {
    #[test]
    fn top_level_updates_do_as_a_map_does(item in any_item(), changes in prop::collection::btree_map("[a-h]", prop::option::of(any_value()), 1..5)) {
        let actions = changes.iter().map(|(name, value)| {
            let path = Path::top_level(name.as_str());
            value.clone().map_or(Action::Remove(path.clone()), |value| Action::Set(path, Assigned::Value(StoredValue::encode(&value))))
        });
        let new = Update::new(actions.collect()).apply(Some(&StoredItem::encode(&item)), &Item::new()).unwrap().unwrap();
        let mut expected = item;
        for (name, value) in changes {
            expected.remove(&name);
            expected.extend(value.map(|value| (name, value)));
        }
        prop_assert_eq!(new, StoredItem::encode(&expected));
    }
}
