//! Reads patterns.

use super::{Fields, Reader};
use crate::check::{missing_key, wrong_value};
use crate::model::{Apply, Collected, Order, Pattern, PatternKind};
use crate::source::Placed;
use crate::source::tree::Node;

impl Reader<'_> {
    pub(super) fn pattern(
        &mut self,
        fields: &mut Fields<'_>,
        name: &Placed<String>,
        only_table: Option<&str>,
    ) -> Option<Pattern> {
        let about = self.about(fields);
        let kind = self.pattern_kind(fields, name, only_table);
        let inputs = match fields.take("input") {
            Some(entry) => {
                let entries = self.entries(&entry.value, "`input`").unwrap_or_default();
                self.attributes(entries)
            }
            None => Vec::new(),
        };
        let orders = [("ascending", Order::Ascending), ("descending", Order::Descending)];
        let pattern = Pattern {
            name: name.clone(),
            about,
            inputs,
            filter: self.condition_of(fields, "filter"),
            order: self.word(fields, "order", &orders),
            limit: self.count(fields, "limit"),
            max_limit: self.count(fields, "max-limit"),
            consistent: self.boolean(fields, "consistent"),
            select: self.names(fields, "select"),
            returns: self.names(fields, "returns"),
            span: fields.span,
            kind: kind?,
        };
        Some(pattern)
    }

    fn pattern_kind(
        &mut self,
        fields: &mut Fields<'_>,
        name: &Placed<String>,
        only_table: Option<&str>,
    ) -> Option<PatternKind> {
        let get = self.text_of(fields, "get");
        let batch = self.count(fields, "batch");
        let index = self.text_of(fields, "index");
        let has_where = fields.take("where").is_some();
        let merge = fields.take("merge");
        let collect = fields.take("collect");
        let by = self.text_of(fields, "by");
        let apply = self.apply(fields);
        if let Some(entity) = get {
            fields.known.push("table".to_owned());
            return Some(PatternKind::Get { entity, batch });
        }
        if let Some(entry) = merge {
            let patterns = self.list_of_texts(&entry.value, "`merge`");
            let by = by.or_else(|| {
                self.found(missing_key::finding(entry.key.span, &fields.what, "by"));
                None
            })?;
            return Some(PatternKind::Merge { patterns, by, apply });
        }
        if let Some(entry) = collect {
            return Some(PatternKind::Collect(self.collected(&entry.value)));
        }
        let table = match &index {
            // The index knows its table.
            Some(_) => self.text_of(fields, "table").unwrap_or_else(|| Placed::new(String::new(), name.span)),
            None => self.table_of(fields, name, only_table)?,
        };
        if !has_where {
            let words = "`get`, `where`, `merge` or `collect`";
            self.found(missing_key::one_of(fields.span, &fields.what, words));
            return None;
        }
        let condition = self.condition_of(fields, "where")?;
        Some(PatternKind::Query { table, index, condition })
    }

    fn apply(&mut self, fields: &mut Fields<'_>) -> Option<Apply> {
        let entry = fields.take("apply")?;
        let entries = self.entries(&entry.value, "`apply`")?;
        let mut fields = Fields::new("`apply`", entry.value.span, entries);
        let entity = self.required_text(&mut fields, "entity");
        let to = self.required_text(&mut fields, "to");
        let on = self.required_text(&mut fields, "on");
        let take = self.names(&mut fields, "take");
        self.finish(&fields);
        Some(Apply { entity: entity?, to: to?, on: on?, take })
    }

    fn collected(&mut self, value: &Placed<Node>) -> Vec<Collected> {
        let Node::List(list) = &value.value else {
            self.found(wrong_value::kind(value.span, "`collect`", "a list of tables", value.kind()));
            return Vec::new();
        };
        let parts = list.iter().filter_map(|element| {
            let entries = self.entries(element, "a part of `collect`")?;
            let mut fields = Fields::new("a part of `collect`", element.span, entries);
            let name = self.required_text(&mut fields, "as");
            let pattern = self.required_text(&mut fields, "pattern");
            let with = self.given_entries(&mut fields, "with");
            let limit = self.count(&mut fields, "limit");
            self.finish(&fields);
            Some(Collected { name: name?, pattern: pattern?, with, limit })
        });
        parts.collect()
    }
}
