//! Items as JSON as people write it, for what leaves the service.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dynamo::{Item, Value};

/// Appends an item as a JSON object. Numbers keep all their digits, sets become lists, bytes base64.
pub(crate) fn write_plain(item: &Item, out: &mut Vec<u8>) {
    out.push(b'{');
    for (number, (name, value)) in item.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        dynamo::write_text(name, out);
        out.push(b':');
        write_value(value, out);
    }
    out.push(b'}');
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::S(text) => dynamo::write_text(text, out),
        Value::N(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::B(bytes) => dynamo::write_text(&STANDARD.encode(bytes), out),
        Value::Bool(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
        Value::Null => out.extend_from_slice(b"null"),
        Value::Ss(set) => write_list(set.iter().map(|text| Value::S(text.clone())), out),
        Value::Ns(set) => write_list(set.iter().map(|number| Value::N(*number)), out),
        Value::Bs(set) => write_list(set.iter().map(|bytes| Value::B(bytes.clone())), out),
        Value::L(list) => write_list(list.iter().cloned(), out),
        Value::M(map) => write_plain(map, out),
    }
}

fn write_list(values: impl Iterator<Item = Value>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (number, value) in values.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        write_value(&value, out);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_written_as_people_write_json() {
        let item = Item::from([
            ("a".to_owned(), Value::from("x\"y")),
            ("b".to_owned(), Value::L(vec![Value::from(1), Value::Null, Value::Bool(true)])),
            ("c".to_owned(), Value::Ss(["m".to_owned(), "n".to_owned()].into())),
        ]);
        let mut out = Vec::new();
        write_plain(&item, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":"x\"y","b":[1,null,true],"c":["m","n"]}"#);
    }
}
