//! From tree to model: what a design says, element by element.
//!
//! Always true: reading goes on after a mistake, so that all findings come at once; what could not be read is left out of the
//! model. Names are not looked up here but in `resolve`.
//!
//! Path of an element: [`Entry`]s -> [`Fields`], which remembers which keys were asked for -> the element ->
//! [`Reader::finish`], which reports the keys nobody asked for.

mod attribute;
mod entity;
mod example;
mod operation;
mod pattern;
mod table;

pub(crate) use entity::ENTITY_WORDS;
pub(crate) use table::KEY_TYPES;

use dynamo::{Number, Value};

use crate::check::{missing_key, not_toml, unknown_key, unreadable, wrong_value};
use crate::condition::Condition;
use crate::diagnostic::Finding;
use crate::model::{Allowed, Design, Given, GivenEntry, PlacedCondition, Target, Variable};
use crate::source::tree::{self, Entry, Node};
use crate::source::{Placed, Source, Span};
use crate::template::Template;

/// Reads a design; the findings say what could not be read.
pub(crate) fn read(source: &Source) -> (Option<Design>, Vec<Finding>) {
    let entries = match tree::parse(source.text()) {
        Ok(entries) => entries,
        Err(error) => return (None, vec![not_toml::finding(&error)]),
    };
    let mut reader = Reader { source, findings: Vec::new(), allowed: Vec::new() };
    let mut design = reader.design(&entries);
    design.allowed = reader.allowed;
    (Some(design), reader.findings)
}

pub(crate) struct Reader<'s> {
    source: &'s Source,
    findings: Vec<Finding>,
    allowed: Vec<Allowed>,
}

/// The keys of one element, and which of them were asked for.
struct Fields<'n> {
    /// The element, in words: "entity `Batch`".
    what: String,
    span: Span,
    entries: &'n [Entry],
    known: Vec<String>,
}

impl<'n> Fields<'n> {
    fn new(what: impl Into<String>, span: Span, entries: &'n [Entry]) -> Fields<'n> {
        Fields { what: what.into(), span, entries, known: Vec::new() }
    }

    fn take(&mut self, key: &str) -> Option<&'n Entry> {
        self.known.push(key.to_owned());
        self.entries.iter().find(|entry| entry.key.value == key)
    }
}

impl Reader<'_> {
    fn found(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn design(&mut self, entries: &[Entry]) -> Design {
        let end = entries.first().map_or(Span::default(), |entry| entry.key.span);
        let mut fields = Fields::new("the design", end, entries);
        let name = self.required_text(&mut fields, "design").map_or_else(String::new, |name| name.value);
        let mut design = Design { name, about: self.about(&mut fields), ..Design::default() };
        design.variables = self.variables(&mut fields);
        design.runs_on =
            self.words(&mut fields, "runs-on", &Target::ALL.map(|target| (target.name(), target)));
        design.tables = self.elements(&mut fields, "table", Reader::table);
        let only_table = match design.tables.as_slice() {
            [table] => Some(table.name.value.clone()),
            _ => None,
        };
        design.indexes = self.elements(&mut fields, "index", |reader, fields, name| {
            reader.index(fields, name, only_table.as_deref())
        });
        let indexes = design.indexes.iter().map(|index| index.name.value.clone()).collect::<Vec<_>>();
        design.entities = self.elements(&mut fields, "entity", |reader, fields, name| {
            reader.entity(fields, name, only_table.as_deref(), &indexes)
        });
        design.patterns = self.elements(&mut fields, "pattern", |reader, fields, name| {
            reader.pattern(fields, name, only_table.as_deref())
        });
        design.operations = self.elements(&mut fields, "operation", Reader::operation);
        design.reactions = self.elements(&mut fields, "reaction", Reader::reaction);
        design.seeds = self.seeds(&mut fields);
        design.examples = self.elements(&mut fields, "example", Reader::example);
        self.finish(&fields);
        design
    }

    /// The elements of one kind: `[entity.Batch]` is the element `Batch` of the kind `entity`.
    fn elements<T>(
        &mut self,
        fields: &mut Fields<'_>,
        kind: &str,
        mut read: impl FnMut(&mut Self, &mut Fields<'_>, &Placed<String>) -> Option<T>,
    ) -> Vec<T> {
        let Some(section) = fields.take(kind) else { return Vec::new() };
        let Some(entries) = self.entries(&section.value, &format!("`{kind}`")) else { return Vec::new() };
        let mut elements = Vec::new();
        for entry in entries {
            let what = format!("{kind} `{}`", entry.key.value);
            let Some(inner) = self.entries(&entry.value, &what) else { continue };
            let span =
                Span { start: entry.key.span.start, end: entry.value.span.end.max(entry.key.span.end) };
            let mut fields = Fields::new(what, span, inner);
            self.allow(&mut fields);
            let element = read(self, &mut fields, &entry.key);
            self.finish(&fields);
            elements.extend(element);
        }
        elements
    }

    /// Reports the keys that nobody asked for.
    fn finish(&mut self, fields: &Fields<'_>) {
        for entry in fields.entries {
            if !fields.known.contains(&entry.key.value) {
                self.found(unknown_key::finding(&entry.key, &fields.what, &fields.known));
            }
        }
    }

    fn allow(&mut self, fields: &mut Fields<'_>) {
        let Some(entry) = fields.take("allow") else { return };
        for (code, reason) in self.texts_by_name(&entry.value, "`allow`") {
            self.allowed.push(Allowed { code, reason: reason.value, within: fields.span });
        }
    }

    fn variables(&mut self, fields: &mut Fields<'_>) -> Vec<Variable> {
        let Some(entry) = fields.take("variables") else { return Vec::new() };
        let list = self.texts_by_name(&entry.value, "`variables`");
        list.into_iter().map(|(name, default)| Variable { name, default: default.value }).collect()
    }

    fn entries<'n>(&mut self, value: &'n Placed<Node>, what: &str) -> Option<&'n [Entry]> {
        match &value.value {
            Node::Table(entries) => Some(entries),
            other => {
                self.found(wrong_value::kind(value.span, what, "a table", other.kind()));
                None
            }
        }
    }

    fn text(&mut self, value: &Placed<Node>, what: &str) -> Option<Placed<String>> {
        match &value.value {
            Node::Text(text) | Node::Datetime(text) => Some(Placed::new(text.clone(), value.span)),
            other => {
                self.found(wrong_value::kind(value.span, what, "a text", other.kind()));
                None
            }
        }
    }

    fn text_of(&mut self, fields: &mut Fields<'_>, key: &str) -> Option<Placed<String>> {
        let entry = fields.take(key)?;
        self.text(&entry.value, &format!("`{key}`"))
    }

    fn required_text(&mut self, fields: &mut Fields<'_>, key: &str) -> Option<Placed<String>> {
        let entry = self.required(fields, key)?;
        self.text(&entry.value, &format!("`{key}`"))
    }

    fn required<'n>(&mut self, fields: &mut Fields<'n>, key: &str) -> Option<&'n Entry> {
        let entry = fields.take(key);
        if entry.is_none() {
            self.found(missing_key::finding(fields.span, &fields.what, key));
        }
        entry
    }

    fn about(&mut self, fields: &mut Fields<'_>) -> String {
        self.text_of(fields, "about").map_or_else(String::new, |text| text.value)
    }

    fn boolean(&mut self, fields: &mut Fields<'_>, key: &str) -> Option<Placed<bool>> {
        let value = &fields.take(key)?.value;
        match &value.value {
            Node::Boolean(flag) => Some(Placed::new(*flag, value.span)),
            other => {
                self.found(wrong_value::kind(value.span, &format!("`{key}`"), "true or false", other.kind()));
                None
            }
        }
    }

    fn count(&mut self, fields: &mut Fields<'_>, key: &str) -> Option<Placed<usize>> {
        let value = &fields.take(key)?.value;
        let count = match &value.value {
            Node::Integer(number) => usize::try_from(*number).ok().filter(|number| *number > 0),
            _ => None,
        };
        if count.is_none() {
            self.found(wrong_value::kind(
                value.span,
                &format!("`{key}`"),
                "a whole number from 1",
                value.kind(),
            ));
        }
        count.map(|count| Placed::new(count, value.span))
    }

    /// A list of texts.
    fn names(&mut self, fields: &mut Fields<'_>, key: &str) -> Vec<Placed<String>> {
        let Some(entry) = fields.take(key) else { return Vec::new() };
        self.list_of_texts(&entry.value, &format!("`{key}`"))
    }

    fn list_of_texts(&mut self, value: &Placed<Node>, what: &str) -> Vec<Placed<String>> {
        match &value.value {
            Node::List(list) => list.iter().filter_map(|element| self.text(element, what)).collect(),
            other => {
                self.found(wrong_value::kind(value.span, what, "a list of texts", other.kind()));
                Vec::new()
            }
        }
    }

    /// A table from names to texts.
    fn texts_by_name(&mut self, value: &Placed<Node>, what: &str) -> Vec<(Placed<String>, Placed<String>)> {
        let Some(entries) = self.entries(value, what) else { return Vec::new() };
        entries.iter().filter_map(|entry| Some((entry.key.clone(), self.text(&entry.value, what)?))).collect()
    }

    /// One of some words.
    fn word<T: Copy>(
        &mut self,
        fields: &mut Fields<'_>,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<Placed<T>> {
        let text = self.text_of(fields, key)?;
        self.one_of(&text, key, words)
    }

    fn words<T: Copy>(&mut self, fields: &mut Fields<'_>, key: &str, words: &[(&str, T)]) -> Vec<Placed<T>> {
        let texts = self.names(fields, key);
        texts.iter().filter_map(|text| self.one_of(text, key, words)).collect()
    }

    fn one_of<T: Copy>(
        &mut self,
        text: &Placed<String>,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<Placed<T>> {
        let found = words.iter().find(|(word, _)| *word == text.value);
        if found.is_none() {
            let known = words.iter().map(|(word, _)| *word).collect::<Vec<_>>();
            self.found(wrong_value::word(text, &format!("`{key}`"), &known));
        }
        found.map(|(_, meaning)| Placed::new(*meaning, text.span))
    }

    fn template(&mut self, text: &Placed<String>) -> Option<Placed<Template>> {
        match Template::parse(&text.value) {
            Ok(template) => Some(Placed::new(template, text.span)),
            Err(error) => {
                let span = self.source.within(text.span, &text.value, error.at.0, error.at.1);
                self.found(unreadable::finding(span, "template", &error.message));
                None
            }
        }
    }

    fn condition(&mut self, text: &Placed<String>) -> Option<PlacedCondition> {
        match Condition::parse(&text.value) {
            Ok(condition) => Some(PlacedCondition { condition, text: text.value.clone(), span: text.span }),
            Err(error) => {
                let span = self.source.within(text.span, &text.value, error.at.0, error.at.1);
                self.found(unreadable::finding(span, "condition", &error.message));
                None
            }
        }
    }

    fn condition_of(&mut self, fields: &mut Fields<'_>, key: &str) -> Option<PlacedCondition> {
        let text = self.text_of(fields, key)?;
        self.condition(&text)
    }

    /// The values given in a table, with slots.
    fn given_entries(&mut self, fields: &mut Fields<'_>, key: &str) -> Vec<GivenEntry> {
        let Some(entry) = fields.take(key) else { return Vec::new() };
        let Some(entries) = self.entries(&entry.value, &format!("`{key}`")) else { return Vec::new() };
        entries.iter().filter_map(|entry| self.given_entry(entry, true)).collect()
    }

    /// The values given in a table, without slots: a brace is a brace.
    fn literal_entries(&mut self, entries: &[Entry]) -> Vec<GivenEntry> {
        entries.iter().filter_map(|entry| self.given_entry(entry, false)).collect()
    }

    fn given_entry(&mut self, entry: &Entry, slots: bool) -> Option<GivenEntry> {
        let value = self.given(&entry.value, slots)?;
        Some(GivenEntry { name: entry.key.clone(), value })
    }

    fn given(&mut self, value: &Placed<Node>, slots: bool) -> Option<Placed<Given>> {
        let given = match &value.value {
            Node::Text(text) if slots => {
                let template = self.template(&Placed::new(text.clone(), value.span))?.value;
                match template.constant() {
                    Some(text) => Given::Value(Value::S(text)),
                    None => Given::Template(template),
                }
            }
            Node::List(list) => {
                let list = list.iter().filter_map(|element| self.given(element, slots)).collect::<Vec<_>>();
                list_or_value(list)
            }
            Node::Table(entries) => {
                let map =
                    entries.iter().filter_map(|entry| self.given_entry(entry, slots)).collect::<Vec<_>>();
                map_or_value(map)
            }
            scalar => Given::Value(scalar_value(scalar)?),
        };
        Some(Placed::new(given, value.span))
    }
}

fn scalar_value(node: &Node) -> Option<Value> {
    match node {
        Node::Text(text) | Node::Datetime(text) => Some(Value::S(text.clone())),
        Node::Integer(number) => Some(Value::from(*number)),
        Node::Float(number) => Number::parse(&number.to_string()).ok().map(Value::N),
        Node::Boolean(flag) => Some(Value::Bool(*flag)),
        Node::List(_) | Node::Table(_) => None,
    }
}

fn list_or_value(list: Vec<Placed<Given>>) -> Given {
    let values = list.iter().map(|element| match &element.value {
        Given::Value(value) => Some(value.clone()),
        _ => None,
    });
    match values.collect::<Option<Vec<_>>>() {
        Some(values) => Given::Value(Value::L(values)),
        None => Given::List(list),
    }
}

fn map_or_value(map: Vec<GivenEntry>) -> Given {
    let values = map.iter().map(|entry| match &entry.value.value {
        Given::Value(value) => Some((entry.name.value.clone(), value.clone())),
        _ => None,
    });
    match values.collect::<Option<dynamo::Map>>() {
        Some(values) => Given::Value(Value::M(values)),
        None => Given::Map(map),
    }
}
