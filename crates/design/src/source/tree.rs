//! TOML as a tree with places: what is left of the file format when everything is known about where it stands.

use toml_edit::{Document, Item, TableLike, Value};

use super::{Placed, Span};

/// A value of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Datetime(String),
    List(Vec<Placed<Node>>),
    Table(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Placed<String>,
    pub(crate) value: Placed<Node>,
}

/// Why a text is not TOML.
#[derive(Clone, Debug)]
pub(crate) struct NotToml {
    pub(crate) message: String,
    pub(crate) span: Span,
}

impl Node {
    /// What the value is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Node::Text(_) => "a text",
            Node::Integer(_) | Node::Float(_) => "a number",
            Node::Boolean(_) => "true or false",
            Node::Datetime(_) => "a date",
            Node::List(_) => "a list",
            Node::Table(_) => "a table",
        }
    }
}

/// Reads TOML. The places of tables reach from their heading or opening brace to the end of their last value.
pub(crate) fn parse(text: &str) -> Result<Vec<Entry>, NotToml> {
    let document = Document::parse(text.to_owned()).map_err(|error| NotToml {
        message: error.message().to_owned(),
        span: error.span().map_or(Span::default(), |range| clamp(text, range.start, range.end)),
    })?;
    Ok(entries(document.as_table(), text))
}

fn clamp(text: &str, start: usize, end: usize) -> Span {
    let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Span { start: floor(start), end: floor(end.max(start)) }
}

fn entries(table: &dyn TableLike, text: &str) -> Vec<Entry> {
    let mut result = Vec::new();
    for (name, item) in table.iter() {
        let key_span = table
            .key(name)
            .and_then(toml_edit::Key::span)
            .map_or(Span::default(), |range| clamp(text, range.start, range.end));
        if let Some(value) = node(item, key_span, text) {
            result.push(Entry { key: Placed::new(name.to_owned(), key_span), value });
        }
    }
    result
}

fn node(item: &Item, fallback: Span, text: &str) -> Option<Placed<Node>> {
    let own = item.span().map(|range| clamp(text, range.start, range.end));
    match item {
        Item::None => None,
        Item::Value(value) => Some(of_value(value, fallback, text)),
        Item::Table(table) => {
            let entries = entries(table, text);
            let span = reach(own.unwrap_or(fallback), &entries);
            Some(Placed::new(Node::Table(entries), span))
        }
        Item::ArrayOfTables(tables) => {
            let elements = tables
                .iter()
                .map(|table| {
                    let own = table.span().map_or(fallback, |range| clamp(text, range.start, range.end));
                    let entries = entries(table, text);
                    let span = reach(own, &entries);
                    Placed::new(Node::Table(entries), span)
                })
                .collect::<Vec<_>>();
            let span = elements.iter().fold(own.unwrap_or(fallback), |span, element| Span {
                start: span.start.min(element.span.start),
                end: span.end.max(element.span.end),
            });
            Some(Placed::new(Node::List(elements), span))
        }
    }
}

/// A table's place reaches over all its entries, wherever in the file they are written.
fn reach(own: Span, entries: &[Entry]) -> Span {
    entries
        .iter()
        .fold(own, |span, entry| Span { start: span.start, end: span.end.max(entry.value.span.end) })
}

fn of_value(value: &Value, fallback: Span, text: &str) -> Placed<Node> {
    let span = value.span().map_or(fallback, |range| clamp(text, range.start, range.end));
    let node = match value {
        Value::String(text) => Node::Text(text.value().clone()),
        Value::Integer(number) => Node::Integer(*number.value()),
        Value::Float(number) => Node::Float(*number.value()),
        Value::Boolean(flag) => Node::Boolean(*flag.value()),
        Value::Datetime(date) => Node::Datetime(date.value().to_string()),
        Value::Array(list) => Node::List(list.iter().map(|element| of_value(element, span, text)).collect()),
        Value::InlineTable(table) => Node::Table(entries(table, text)),
    };
    Placed::new(node, span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_value_knows_its_place() {
        let text = "[a.b]\nkey = { x = 'one' }\n[[c]]\nn = 1\n";
        let tree = parse(text).unwrap();
        let Node::Table(a) = &tree[0].value.value else { panic!() };
        let Node::Table(b) = &a[0].value.value else { panic!() };
        assert_eq!(&text[b[0].key.span.start..b[0].key.span.end], "key");
        assert_eq!(&text[b[0].value.span.start..b[0].value.span.end], "{ x = 'one' }");
        assert_eq!(&text[a[0].value.span.start..a[0].value.span.end], "[a.b]\nkey = { x = 'one' }");
        let Node::List(c) = &tree[1].value.value else { panic!() };
        assert_eq!(&text[c[0].span.start..c[0].span.end], "[[c]]\nn = 1");
    }

    #[test]
    fn what_is_not_toml_says_where() {
        let error = parse("a = 1\nb = = 2\n").unwrap_err();
        assert!(error.span.start >= 6, "{error:?}");
    }
}
