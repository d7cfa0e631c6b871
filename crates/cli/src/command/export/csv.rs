//! Tables as RFC 4180 has them: a line of names, then a line for each item.

use dynamo::Value;
use service::Exported;

/// The items of one entity. Maps, lists and sets are JSON within their cell; what an item lacks is empty.
pub(super) fn table(group: &Exported) -> String {
    let mut text = row(group.attributes.iter().map(|name| cell(name)));
    for item in &group.items {
        text.push_str(&row(group
            .attributes
            .iter()
            .map(|name| item.get(name).map(shown).unwrap_or_default())));
    }
    text
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("{}\r\n", cells.collect::<Vec<_>>().join(","))
}

fn shown(value: &Value) -> String {
    match value {
        Value::S(text) => cell(text),
        other => cell(&service::value_json(other)),
    }
}

/// A cell, in quotes where a reader would take it apart otherwise.
fn cell(text: &str) -> String {
    if text.contains(['"', ',', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let item = dynamo::Item::from([
            ("a".to_owned(), Value::from("say \"hi\", twice")),
            ("b".to_owned(), Value::L(vec![Value::from(1), Value::from("x")])),
        ]);
        let group = Exported {
            entity: "E".to_owned(),
            attributes: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
            items: vec![item],
        };
        assert_eq!(table(&group), "a,b,c\r\n\"say \"\"hi\"\", twice\",\"[1,\"\"x\"\"]\",\r\n");
    }
}
