//! Reads operations and reactions.

use super::{Fields, Reader};
use crate::check::{missing_key, unreadable, wrong_value};
use crate::model::{
    Action, Attribute, Each, EachOver, Event, EventKind, Input, Operation, Reaction, Step, Type,
};
use crate::source::tree::{Entry, Node};
use crate::source::{Placed, Span};

impl Reader<'_> {
    #[expect(clippy::unnecessary_wraps, reason = "every reader of an element may leave it out")]
    pub(super) fn operation(&mut self, fields: &mut Fields<'_>, name: &Placed<String>) -> Option<Operation> {
        let about = self.about(fields);
        let inputs = match fields.take("input") {
            Some(entry) => {
                let entries = self.entries(&entry.value, "`input`").unwrap_or_default();
                entries.iter().filter_map(|entry| self.input(entry)).collect()
            }
            None => Vec::new(),
        };
        let chunks = self.boolean(fields, "chunks").is_some_and(|chunks| chunks.value);
        let steps = self.steps(fields);
        if steps.is_empty() {
            self.found(missing_key::finding(fields.span, &fields.what, "step"));
        }
        Some(Operation { name: name.clone(), about, inputs, steps, chunks, span: fields.span })
    }

    /// A type, or the attribute whose type it has: `"Batch.userId"`, with `?` if it may be absent.
    fn input(&mut self, entry: &Entry) -> Option<Input> {
        let Node::Text(text) = &entry.value.value else {
            return Some(Input { attribute: self.attribute(&entry.key, &entry.value)?, like: None });
        };
        let word = text.strip_suffix('?').unwrap_or(text);
        if !word.contains('.') {
            return Some(Input { attribute: self.attribute(&entry.key, &entry.value)?, like: None });
        }
        let span = Span { start: entry.key.span.start, end: entry.value.span.end };
        let attribute = Attribute {
            optional: text.ends_with('?'),
            span,
            ..Attribute::plain(entry.key.clone(), Type::Any)
        };
        Some(Input { attribute, like: Some(Placed::new(word.to_owned(), entry.value.span)) })
    }

    fn steps(&mut self, fields: &mut Fields<'_>) -> Vec<Step> {
        let Some(entry) = fields.take("step") else { return Vec::new() };
        let Node::List(list) = &entry.value.value else {
            self.found(wrong_value::kind(entry.value.span, "`step`", "a list of steps", entry.value.kind()));
            return Vec::new();
        };
        let steps = list.iter().filter_map(|element| {
            let entries = self.entries(element, "a step")?;
            let mut fields = Fields::new("a step", element.span, entries);
            self.allow(&mut fields);
            let step = self.step(&mut fields);
            self.finish(&fields);
            step
        });
        steps.collect()
    }

    fn step(&mut self, fields: &mut Fields<'_>) -> Option<Step> {
        let mut action = None;
        for (word, meaning) in Action::ALL {
            if let Some(entity) = self.text_of(fields, word) {
                action = Some((meaning, entity));
            }
        }
        let step_action = action.clone();
        let step = Step {
            action: step_action.as_ref().map_or(Action::Check, |(action, _)| *action),
            entity: step_action.map_or(Placed::new(String::new(), fields.span), |(_, entity)| entity),
            name: self.text_of(fields, "as"),
            when: self.condition_of(fields, "when"),
            each: self.each(fields),
            key: self.given_entries(fields, "key"),
            condition: self.condition_of(fields, "if"),
            otherwise: self.text_of(fields, "otherwise").map(|text| text.value),
            with: self.given_entries(fields, "with"),
            set: self.given_entries(fields, "set"),
            add: self.given_entries(fields, "add"),
            append: self.given_entries(fields, "append"),
            remove: self.names(fields, "remove"),
            expression: self.text_of(fields, "expression"),
            span: fields.span,
        };
        if action.is_none() {
            let words = "`create`, `upsert`, `update`, `delete`, `get` or `check`";
            self.found(missing_key::one_of(fields.span, &fields.what, words));
            return None;
        }
        Some(step)
    }

    /// `{ uid = "uids" }` for a list that the caller gives, `{ chapter = "pattern chapters-of-story" }` for an answer.
    fn each(&mut self, fields: &mut Fields<'_>) -> Option<Each> {
        let distinct = self.text_of(fields, "distinct");
        let entry = fields.take("each")?;
        let pairs = self.texts_by_name(&entry.value, "`each`");
        let [(name, over)] = pairs.as_slice() else {
            let expected = "one name and what it is an element of: { uid = \"uids\" }";
            self.found(wrong_value::kind(entry.value.span, "`each`", expected, "something else"));
            return None;
        };
        let over = match over.value.strip_prefix("pattern ") {
            Some(pattern) => EachOver::Pattern(Placed::new(pattern.trim().to_owned(), over.span)),
            None => EachOver::Input(over.clone()),
        };
        Some(Each { name: name.clone(), over, distinct })
    }

    pub(super) fn reaction(&mut self, fields: &mut Fields<'_>, name: &Placed<String>) -> Option<Reaction> {
        let about = self.about(fields);
        let on = self.required_text(fields, "on");
        let hook = self.text_of(fields, "hook");
        let steps = self.steps(fields);
        if steps.is_empty() && hook.is_none() {
            self.found(missing_key::one_of(fields.span, &fields.what, "`step` or `hook`"));
        }
        let on = self.event(&on?)?;
        Some(Reaction { name: name.clone(), about, on, steps, hook, span: fields.span })
    }

    /// `update Story when status = "COMPLETED"`
    fn event(&mut self, text: &Placed<String>) -> Option<Event> {
        let (head, when) = match text.value.find(" when ") {
            Some(at) => (text.value.get(..at)?, text.value.get(at + 6..)),
            None => (text.value.as_str(), None),
        };
        let mut words = head.split_whitespace();
        let (kind, entity, rest) = (words.next(), words.next(), words.next());
        let kind = EventKind::ALL.into_iter().find(|(word, _)| Some(*word) == kind);
        let (Some((word, kind)), Some(entity), None) = (kind, entity, rest) else {
            let message =
                "it reads `create Entity`, `update Entity when …`, `delete …`, `expire …` or `change …`";
            self.found(unreadable::finding(text.span, "event", message));
            return None;
        };
        let from = head.get(word.len()..)?.find(entity)? + word.len();
        let entity_span = self.source.within(text.span, &text.value, from, from + entity.len());
        let when = match when {
            Some(when) => {
                let from = text.value.len() - when.len();
                let span = self.source.within(text.span, &text.value, from, text.value.len());
                Some(self.condition(&Placed::new(when.to_owned(), span))?)
            }
            None => None,
        };
        Some(Event { kind, entity: Placed::new(entity.to_owned(), entity_span), when, span: text.span })
    }
}
