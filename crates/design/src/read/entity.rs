//! Reads entities: keys, attributes, copies and counters.

use super::{Fields, Reader, scalar_value};
use crate::check::{missing_key, wrong_value};
use crate::model::{Choice, Copy, Counter, Entity, EntityKey, KeyPart, Tally};
use crate::source::tree::{Entry, Node};
use crate::source::{Placed, Span};

/// What an entity says beside its keys in indexes.
pub(crate) const ENTITY_WORDS: [&str; 13] = [
    "about",
    "table",
    "key",
    "attributes",
    "constants",
    "counters",
    "copy-of",
    "when",
    "unique",
    "shares-key-with",
    "allow",
    "name",
    "index",
];

impl Reader<'_> {
    pub(super) fn entity(
        &mut self,
        fields: &mut Fields<'_>,
        name: &Placed<String>,
        only_table: Option<&str>,
        indexes: &[String],
    ) -> Option<Entity> {
        let about = self.about(fields);
        let copy = self.copy(fields);
        let table = match (&copy, only_table) {
            // A copy is in the table of its source unless it says otherwise.
            (Some(_), _) => self.text_of(fields, "table").map_or_else(String::new, |table| table.value),
            _ => self.table_of(fields, name, only_table)?.value,
        };
        let key = self.key(fields, "key", None).unwrap_or_else(|| EntityKey {
            index: None,
            when: None,
            parts: Vec::new(),
            implied: true,
            span: name.span,
        });
        let index_keys = indexes.iter().filter_map(|index| self.key(fields, index, Some(index))).collect();
        let constants = self.constants(fields);
        let attributes = match (&copy, fields.take("attributes")) {
            (None, Some(entry)) => {
                let entries = self.entries(&entry.value, "`attributes`").unwrap_or_default();
                self.attributes(entries)
            }
            (None, None) => {
                self.found(missing_key::finding(name.span, &fields.what, "attributes"));
                Vec::new()
            }
            (Some(_), _) => Vec::new(),
        };
        let counters = self.counters(fields);
        let shares_key_with = self.names(fields, "shares-key-with");
        Some(Entity {
            name: name.clone(),
            about,
            table,
            key,
            index_keys,
            constants,
            attributes,
            copy,
            counters,
            shares_key_with,
            span: fields.span,
        })
    }

    fn copy(&mut self, fields: &mut Fields<'_>) -> Option<Copy> {
        let source = self.text_of(fields, "copy-of")?;
        let when = self.condition_of(fields, "when");
        let unique = self.boolean(fields, "unique").is_some_and(|unique| unique.value);
        let attributes =
            fields.take("attributes").map(|entry| self.list_of_texts(&entry.value, "`attributes` of a copy"));
        Some(Copy { source, when, unique, attributes })
    }

    fn constants(&mut self, fields: &mut Fields<'_>) -> Vec<(Placed<String>, dynamo::Value)> {
        let Some(entry) = fields.take("constants") else { return Vec::new() };
        let Some(entries) = self.entries(&entry.value, "`constants`") else { return Vec::new() };
        let mut constants = Vec::new();
        for entry in entries {
            match scalar_value(&entry.value.value) {
                Some(value) => constants.push((entry.key.clone(), value)),
                None => {
                    let expected = "a text, a number or true or false";
                    self.found(wrong_value::kind(
                        entry.value.span,
                        "a constant",
                        expected,
                        entry.value.kind(),
                    ));
                }
            }
        }
        constants
    }

    /// `{ PK = "USER#{userId}", SK = "METADATA" }`, with `when` for a key that is not always written.
    fn key(&mut self, fields: &mut Fields<'_>, name: &str, index: Option<&String>) -> Option<EntityKey> {
        let entry = fields.take(name)?;
        let entries = self.entries(&entry.value, &format!("`{name}`"))?;
        let mut inner = Fields::new(format!("`{name}`"), entry.value.span, entries);
        self.allow(&mut inner);
        let when = self.condition_of(&mut inner, "when");
        let parts = entries
            .iter()
            .filter(|entry| !matches!(entry.key.value.as_str(), "when" | "allow"))
            .map(|entry| {
                let choices = self.choices_of(&entry.value).unwrap_or_default();
                KeyPart { attribute: entry.key.clone(), choices, implied: false }
            })
            .collect();
        let span = Span { start: entry.key.span.start, end: entry.value.span.end };
        Some(EntityKey { index: index.cloned(), when, parts, implied: false, span })
    }

    /// A template, or several with conditions: `[{ when = "…", is = "…" }, { is = "…" }]`.
    fn choices_of(&mut self, value: &Placed<Node>) -> Option<Vec<Choice>> {
        let Node::List(list) = &value.value else {
            let text = self.text(value, "a key template")?;
            return Some(vec![Choice { when: None, template: self.template(&text)? }]);
        };
        let choices = list.iter().filter_map(|element| {
            let entries = self.entries(element, "one of several templates")?;
            let mut fields = Fields::new("one of several templates", element.span, entries);
            let when = self.condition_of(&mut fields, "when");
            let text = self.required_text(&mut fields, "is");
            self.finish(&fields);
            Some(Choice { when, template: self.template(&text?)? })
        });
        Some(choices.collect())
    }

    fn counters(&mut self, fields: &mut Fields<'_>) -> Vec<Counter> {
        let Some(entry) = fields.take("counters") else { return Vec::new() };
        let Some(entries) = self.entries(&entry.value, "`counters`") else { return Vec::new() };
        entries.iter().map(|entry| self.counter(entry)).collect()
    }

    /// `{ count = "Order" }`, `{ sum = "Order.total", when = "…", by = { … } }`, or a list of them.
    fn counter(&mut self, entry: &Entry) -> Counter {
        let tallies = match &entry.value.value {
            Node::List(list) => list.iter().collect(),
            _ => vec![&entry.value],
        };
        let span = Span { start: entry.key.span.start, end: entry.value.span.end };
        let mut counter =
            Counter { attribute: entry.key.clone(), tallies: Vec::new(), eventual: false, span };
        for value in tallies {
            let Some(entries) = self.entries(value, "a counter") else { continue };
            let mut fields = Fields::new(format!("counter `{}`", entry.key.value), value.span, entries);
            self.allow(&mut fields);
            counter.eventual |= self.boolean(&mut fields, "eventual").is_some_and(|eventual| eventual.value);
            counter.tallies.extend(self.tally(&mut fields));
            self.finish(&fields);
        }
        counter
    }

    fn tally(&mut self, fields: &mut Fields<'_>) -> Option<Tally> {
        let count = self.text_of(fields, "count");
        let sum = self.text_of(fields, "sum");
        let when = self.condition_of(fields, "when");
        let by = fields.take("by").map(|entry| self.texts_by_name(&entry.value, "`by`")).unwrap_or_default();
        let (entity, sum) = match (count, sum) {
            (Some(entity), _) => (entity, None),
            (None, Some(path)) => {
                let (entity, attribute) = path.value.split_once('.').unwrap_or((path.value.as_str(), ""));
                let attribute = Placed::new(attribute.to_owned(), path.span);
                (Placed::new(entity.to_owned(), path.span), Some(attribute))
            }
            (None, None) => {
                self.found(missing_key::finding(fields.span, &fields.what, "count"));
                return None;
            }
        };
        Some(Tally { entity, sum, when, by })
    }
}
