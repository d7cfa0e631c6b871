//! Reads attributes and their types.
//!
//! A type is a word (`"string"`, with `?` for one that may be absent and `[]` for a list), a list of values (one of them), a
//! list with one table (a list of such maps) or a table with `type` and more about the attribute; `type` may be a table: a map.

use super::{Fields, Reader, scalar_value};
use crate::check::wrong_value;
use crate::model::{Attribute, From, MapType, Type};
use crate::source::tree::{Entry, Node};
use crate::source::{Placed, Span};

impl Reader<'_> {
    pub(super) fn attributes(&mut self, entries: &[Entry]) -> Vec<Attribute> {
        entries.iter().filter_map(|entry| self.attribute(&entry.key, &entry.value)).collect()
    }

    pub(super) fn attribute(&mut self, name: &Placed<String>, value: &Placed<Node>) -> Option<Attribute> {
        let span = Span { start: name.span.start, end: value.span.end };
        match &value.value {
            Node::Table(entries) => {
                let mut fields = Fields::new(format!("attribute `{}`", name.value), span, entries);
                self.allow(&mut fields);
                let attribute = self.long_attribute(&mut fields, name);
                self.finish(&fields);
                attribute
            }
            _ => {
                let (kind, optional) = self.kind(value)?;
                Some(Attribute { optional, span, ..Attribute::plain(name.clone(), kind) })
            }
        }
    }

    fn long_attribute(&mut self, fields: &mut Fields<'_>, name: &Placed<String>) -> Option<Attribute> {
        let about = self.about(fields);
        let kind = self.required(fields, "type").map(|entry| self.kind(&entry.value));
        let default = fields.take("default").and_then(|entry| self.given(&entry.value, true));
        let from = self.from(fields);
        let stored = self.boolean(fields, "stored").is_none_or(|stored| stored.value);
        let secret = self.boolean(fields, "secret").is_some_and(|secret| secret.value);
        let max_bytes = self.count(fields, "max-bytes").map(|max| max.value);
        let max_items = self.count(fields, "max-items").map(|max| max.value);
        let after = self.names(fields, "after");
        let may_be_absent = self.boolean(fields, "optional").is_some_and(|optional| optional.value);
        let (kind, optional) = kind??;
        let optional = optional || may_be_absent;
        Some(Attribute {
            name: name.clone(),
            about,
            kind,
            optional,
            default,
            from,
            stored,
            secret,
            max_bytes,
            max_items,
            after,
            span: fields.span,
        })
    }

    fn from(&mut self, fields: &mut Fields<'_>) -> Option<From> {
        let source = self.text_of(fields, "from");
        let by = fields.take("by").map(|entry| self.texts_by_name(&entry.value, "`by`")).unwrap_or_default();
        let refresh = self.boolean(fields, "refresh").is_none_or(|refresh| refresh.value);
        Some(From { source: source?, by, refresh })
    }

    /// A type, and whether the attribute may be absent.
    pub(super) fn kind(&mut self, value: &Placed<Node>) -> Option<(Type, bool)> {
        match &value.value {
            Node::Text(text) => self.kind_word(&Placed::new(text.clone(), value.span)),
            Node::List(list) => match list.as_slice() {
                [Placed { value: Node::Table(entries), .. }] => {
                    Some((Type::List(Box::new(self.map(entries))), false))
                }
                _ => self.choices(value, list).map(|kind| (kind, false)),
            },
            Node::Table(entries) => Some((self.map(entries), false)),
            other => {
                self.found(wrong_value::kind(
                    value.span,
                    "a type",
                    "a text, a list of values or a table",
                    other.kind(),
                ));
                None
            }
        }
    }

    fn kind_word(&mut self, text: &Placed<String>) -> Option<(Type, bool)> {
        let (word, optional) = match text.value.strip_suffix('?') {
            Some(word) => (word, true),
            None => (text.value.as_str(), false),
        };
        let (word, list) = match word.strip_suffix("[]") {
            Some(word) => (word, true),
            None => (word, false),
        };
        let Some(kind) = Type::named(word) else {
            self.found(wrong_value::word(text, "a type", &Type::NAMES));
            return None;
        };
        Some((if list { Type::List(Box::new(kind)) } else { kind }, optional))
    }

    fn choices(&mut self, value: &Placed<Node>, list: &[Placed<Node>]) -> Option<Type> {
        let mut values = Vec::new();
        for element in list {
            match scalar_value(&element.value) {
                Some(scalar) => values.push(Placed::new(scalar, element.span)),
                None => {
                    let expected = "a text, a number or true or false";
                    self.found(wrong_value::kind(
                        element.span,
                        "one of several values",
                        expected,
                        element.kind(),
                    ));
                }
            }
        }
        if values.is_empty() {
            self.found(wrong_value::kind(value.span, "a type", "at least one value in the list", "none"));
            return None;
        }
        Some(Type::OneOf(values))
    }

    fn map(&mut self, entries: &[Entry]) -> Type {
        let mut map = MapType { members: Vec::new(), others: None };
        for entry in entries {
            if entry.key.value == "*" {
                map.others = self.kind(&entry.value).map(|(kind, _)| Box::new(kind));
            } else {
                map.members.extend(self.attribute(&entry.key, &entry.value));
            }
        }
        Type::Map(map)
    }
}
