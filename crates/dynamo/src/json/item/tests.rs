use super::*;
use crate::json::{Fault, Wire};
use crate::{Item, item_size_bytes};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// What reading gives: the item as stored or the error, and the fault that was noted.
type Read = (Result<StoredItem, ApiError>, Option<Fault>);

fn read_as<T: Wire>(json: &[u8], store: impl FnOnce(T) -> StoredItem) -> Read {
    let mut reader = Reader::new(json);
    let item = reader.member().map(store).and_then(|item| reader.finish().map(|()| item));
    (item, reader.take_fault("Item"))
}

fn read_straight(json: &[u8]) -> Read {
    read_as(json, std::convert::identity::<StoredItem>)
}

fn read_by_tree(json: &[u8]) -> Read {
    read_as(json, |item: Item| StoredItem::encode(&item))
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    crate::json::write_text(text, &mut out);
    String::from_utf8(out).unwrap()
}

/// A few texts that come again and again, so that names and elements repeat.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{0,2}", "\\PC{0,12}", Just("t".repeat(140))].prop_map(|text| quoted(&text))
}

fn any_number_text() -> impl Strategy<Value = String> {
    prop_oneof!["-?[0-9]{1,3}(\\.[0-9]{1,2})?", "[0-9]{36,40}", Just("1e126".to_owned()), "[a1]{0,2}"]
        .prop_map(|text| quoted(&text))
}

fn any_base64() -> impl Strategy<Value = String> {
    let encoded = vec(0..3_u8, 0..4).prop_map(|bytes| BASE64.encode(bytes));
    prop_oneof![9 => encoded, 1 => Just("A".to_owned()), 1 => Just("AB==".to_owned())]
        .prop_map(|text| quoted(&text))
}

fn list_of(element: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    vec(element, 0..5).prop_map(|elements| format!("[{}]", elements.join(",")))
}

fn map_of(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    vec((any_text(), value), 0..5).prop_map(|entries| {
        let entries: Vec<String> = entries.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        format!("{{{}}}", entries.join(" ,"))
    })
}

/// What can stand after a type, right or wrong.
fn any_leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any_text().prop_map(|text| format!("\"S\":{text}")),
        4 => any_number_text().prop_map(|text| format!("\"N\":{text}")),
        2 => any_base64().prop_map(|text| format!("\"B\":{text}")),
        2 => select(vec!["true", "false", "\"yes\"", "1"]).prop_map(|value| format!("\"BOOL\":{value}")),
        2 => select(vec!["true", "true", "false", "[]"]).prop_map(|value| format!("\"NULL\":{value}")),
        3 => list_of(any_text()).prop_map(|list| format!("\"SS\":{list}")),
        3 => list_of(any_number_text()).prop_map(|list| format!("\"NS\":{list}")),
        2 => list_of(any_base64()).prop_map(|list| format!("\"BS\":{list}")),
        1 => select(vec!["\"S\":null", "\"other\":{\"S\":1}", "\"SS\":1", "\"M\":[]", "\"L\":{}", "\"S\":\"a\",\"N\":\"1\"", "\"S\":\"a\",\"S\":\"b\""]).prop_map(str::to_owned),
    ]
}

fn any_value_json() -> impl Strategy<Value = String> {
    let braced = |content: String| format!("{{{content}}}");
    let leaf = prop_oneof![
        12 => any_leaf().prop_map(braced),
        1 => Just("{}".to_owned()),
        1 => (any_leaf(), any_leaf()).prop_map(move |(one, two)| braced(format!("{one},{two}"))),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            list_of(inner.clone()).prop_map(move |list| braced(format!("\"L\":{list}"))),
            map_of(inner).prop_map(move |map| braced(format!("\"M\":{map}"))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn reading_straight_gives_what_reading_a_tree_gives(json in map_of(any_value_json())) {
        prop_assert_eq!(read_straight(json.as_bytes()), read_by_tree(json.as_bytes()));
    }

    #[test]
    fn damaged_items_are_refused_alike(json in map_of(any_value_json()), at in any::<Index>(), byte in any::<u8>()) {
        let mut json = json.into_bytes();
        let index = at.index(json.len());
        json[index] = byte;
        prop_assert_eq!(read_straight(&json), read_by_tree(&json));
    }

    #[test]
    fn written_items_are_read_as_they_were(item in crate::testing::any_item()) {
        let mut json = Vec::new();
        crate::json::write_item(&item, &mut json);
        let (read, fault) = read_straight(&json);
        let read = read.unwrap();
        prop_assert_eq!((&read, fault), (&StoredItem::encode(&item), None));
        prop_assert_eq!(read.size_bytes(), item_size_bytes(&item));
    }
}

#[test]
fn lengths_and_counts_beyond_one_byte_are_written_alike() {
    for count in [127, 128, 200, 20_000] {
        let list = vec!["{\"NULL\":true}"; count].join(",");
        let names: Vec<String> = (0..count).rev().map(|n| format!("\"n{n}\":{{\"BOOL\":true}}")).collect();
        let texts: Vec<String> = (0..count).rev().map(|n| format!("\"{n}\"")).collect();
        let json = format!(
            r#"{{"m":{{"M":{{{}}}}},"l":{{"L":[{list}]}},"ns":{{"NS":[{texts}]}},"ss":{{"SS":[{texts}]}},"s":{{"S":"{}"}},"b":{{"B":"{}"}}}}"#,
            names.join(","),
            "x".repeat(count),
            BASE64.encode("b".repeat(count)),
            texts = texts.join(","),
        );
        assert_eq!(read_straight(json.as_bytes()), read_by_tree(json.as_bytes()), "{count}");
    }
}

#[test]
fn values_nested_too_deep_are_noted_alike() {
    for levels in [30, 31, 32, 33, 60] {
        let json = format!("{{\"a\":{}{{\"S\":\"x\"}}{}}}", "{\"L\":[".repeat(levels), "]}".repeat(levels));
        assert_eq!(read_straight(json.as_bytes()), read_by_tree(json.as_bytes()), "{levels}");
    }
}

#[test]
fn items_of_one_request_share_nothing() {
    let json = br#"[{"b":{"S":"long text of the first"},"a":{"N":"1"}},{"c":{"S":"x"}},null]"#;
    let mut reader = Reader::new(json);
    let peek = reader.peek().unwrap();
    let items = Vec::<StoredItem>::read(&mut reader, peek, Place::Member).unwrap();
    let names: Vec<Vec<String>> = items.iter().map(|item| item.decode().into_keys().collect()).collect();
    assert_eq!(names, [vec!["a", "b"], vec!["c"], vec![]]);
}
