//! Reads seed data and examples.

use super::{Fields, Reader};
use crate::check::{missing_key, wrong_value};
use crate::model::{Action, Example, ExampleKind, ExpectedItem, Seed};
use crate::source::Placed;
use crate::source::tree::{Entry, Node};

impl Reader<'_> {
    /// `[[seed.User]]`: items of an entity, in the order of the file.
    pub(super) fn seeds(&mut self, fields: &mut Fields<'_>) -> Vec<Seed> {
        let Some(section) = fields.take("seed") else { return Vec::new() };
        let Some(entries) = self.entries(&section.value, "`seed`") else { return Vec::new() };
        entries.iter().flat_map(|entry| self.seeds_of(entry)).collect()
    }

    fn seeds_of(&mut self, entry: &Entry) -> Vec<Seed> {
        let Node::List(list) = &entry.value.value else {
            self.found(wrong_value::kind(
                entry.value.span,
                "seed data",
                "a list: `[[seed.Entity]]`",
                entry.value.kind(),
            ));
            return Vec::new();
        };
        let seeds = list.iter().filter_map(|element| self.item(&entry.key, element));
        seeds.collect()
    }

    fn item(&mut self, entity: &Placed<String>, value: &Placed<Node>) -> Option<Seed> {
        let entries = self.entries(value, "an item")?;
        let attributes = self.literal_entries(entries);
        Some(Seed { entity: entity.clone(), attributes, span: value.span })
    }

    /// `[{ Batch = { batchId = "b1" } }]`
    fn items(&mut self, fields: &mut Fields<'_>, key: &str) -> Vec<Seed> {
        let Some(entry) = fields.take(key) else { return Vec::new() };
        let what = format!("`{key}`");
        let Node::List(list) = &entry.value.value else {
            self.found(wrong_value::kind(entry.value.span, &what, "a list of items", entry.value.kind()));
            return Vec::new();
        };
        let mut items = Vec::new();
        for element in list {
            for entry in self.entries(element, &what).unwrap_or_default() {
                items.extend(self.item(&entry.key, &entry.value));
            }
        }
        items
    }

    pub(super) fn example(&mut self, fields: &mut Fields<'_>, name: &Placed<String>) -> Option<Example> {
        let about = self.about(fields);
        let given = self.items(fields, "given");
        let kind = self.example_kind(fields);
        let with = match fields.take("with") {
            Some(entry) => {
                let entries = self.entries(&entry.value, "`with`").unwrap_or_default();
                self.literal_entries(entries)
            }
            None => Vec::new(),
        };
        let example = Example {
            name: name.clone(),
            about,
            given,
            with,
            now: self.text_of(fields, "now"),
            answer: self.answer(fields),
            fails: self.text_of(fields, "fails"),
            then: self.items(fields, "then"),
            gone: self.items(fields, "gone"),
            span: fields.span,
            kind: kind?,
        };
        Some(example)
    }

    fn example_kind(&mut self, fields: &mut Fields<'_>) -> Option<ExampleKind> {
        let mut kind = self.text_of(fields, "pattern").map(ExampleKind::Pattern);
        if let Some(operation) = self.text_of(fields, "operation") {
            kind = Some(ExampleKind::Operation(operation));
        }
        for action in [Action::Create, Action::Update, Action::Delete] {
            if let Some(entity) = self.text_of(fields, action.name()) {
                kind = Some(ExampleKind::Write(action, entity));
            }
        }
        if kind.is_none() {
            let words = "`pattern`, `operation`, `create`, `update` or `delete`";
            self.found(missing_key::one_of(fields.span, &fields.what, words));
        }
        kind
    }

    /// A list of items, or for a collection a table from its parts to lists.
    fn answer(&mut self, fields: &mut Fields<'_>) -> Option<Vec<ExpectedItem>> {
        let entry = fields.take("answer")?;
        match &entry.value.value {
            Node::List(list) => Some(self.expected(None, list)),
            Node::Table(parts) => {
                let mut items = Vec::new();
                for part in parts {
                    match &part.value.value {
                        Node::List(list) => items.extend(self.expected(Some(&part.key), list)),
                        other => {
                            self.found(wrong_value::kind(
                                part.value.span,
                                "`answer`",
                                "a list of items",
                                other.kind(),
                            ));
                        }
                    }
                }
                Some(items)
            }
            other => {
                self.found(wrong_value::kind(entry.value.span, "`answer`", "a list of items", other.kind()));
                None
            }
        }
    }

    fn expected(&mut self, part: Option<&Placed<String>>, list: &[Placed<Node>]) -> Vec<ExpectedItem> {
        let items = list.iter().filter_map(|element| {
            let entries = self.entries(element, "an item of `answer`")?;
            let attributes = self.literal_entries(entries);
            Some(ExpectedItem { part: part.cloned(), attributes, span: element.span })
        });
        items.collect()
    }
}
