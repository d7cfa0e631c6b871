use proptest::prelude::*;

use super::*;
use crate::substitute::Substitutions;
use crate::testing::{any_item, l, m, map, n, s};

fn project(text: &str) -> Map {
    let item = map(&[
        ("a", n("1")),
        (
            "b",
            m(&[
                ("x", s("1")),
                ("y", m(&[("z", s("2")), ("w", s("3"))])),
                ("lst", l(&[s("p"), s("q"), s("r"), s("t")])),
            ]),
        ),
        ("c", l(&[m(&[("k", s("u")), ("j", s("v"))]), l(&[n("5"), n("6")])])),
    ]);
    let projection = Substitutions::new(None, None).unwrap().projection(text).unwrap();
    projection.apply(&StoredItem::encode(&item)).decode()
}

#[test]
fn what_is_asked_for_is_kept_in_its_place() {
    for (text, expected) in [
        ("a", map(&[("a", n("1"))])),
        (
            "c, a",
            map(&[("a", n("1")), ("c", l(&[m(&[("k", s("u")), ("j", s("v"))]), l(&[n("5"), n("6")])]))]),
        ),
        ("b.x, b.y.w", map(&[("b", m(&[("x", s("1")), ("y", m(&[("w", s("3"))]))]))])),
        ("b.lst[3], b.lst[1]", map(&[("b", m(&[("lst", l(&[s("q"), s("t")]))]))])),
        ("b.lst[9], b.lst[0]", map(&[("b", m(&[("lst", l(&[s("p")]))]))])),
        ("c[1][1], c[0].k", map(&[("c", l(&[m(&[("k", s("u"))]), l(&[n("6")])]))])),
        ("zz, b.nope, b.y.nope, c[7], a.b, b.y.z.q", Map::new()),
        ("aa, c.x, a[0], zz", Map::new()),
    ] {
        assert_eq!(project(text), expected, "{text}");
    }
}

#[test]
fn names_tell_whether_a_part_is_wanted() {
    let projection = Substitutions::new(None, None).unwrap().projection("b.x, a, c[0]").unwrap();
    assert_eq!(projection.names().collect::<Vec<_>>(), [("a", false), ("b", true), ("c", true)]);
}

proptest! {
    #[test]
    fn a_projection_to_names_filters(item in any_item(), wanted in prop::collection::btree_set("[a-h]", 0..5)) {
        let projection = Projection::of_names(wanted.iter().map(String::as_str));
        let item = StoredItem::encode(&item);
        prop_assert_eq!(projection.apply(&item), item.filtered(|name| std::str::from_utf8(name).is_ok_and(|name| wanted.contains(name))));
    }
}
