//! Reads tables and indexes.

use dynamo::KeyType;

use super::{Fields, Reader};
use crate::check::wrong_value;
use crate::model::{Billing, Index, KeyAttribute, Projection, StreamView, Table};
use crate::source::Placed;
use crate::source::tree::Node;

/// The types of key attributes, as a design writes them.
pub(crate) const KEY_TYPES: [(&str, KeyType); 3] =
    [("string", KeyType::S), ("number", KeyType::N), ("binary", KeyType::B)];

impl Reader<'_> {
    pub(super) fn table(&mut self, fields: &mut Fields<'_>, name: &Placed<String>) -> Option<Table> {
        let physical_name = self.text_of(fields, "name").unwrap_or_else(|| name.clone());
        let about = self.about(fields);
        let partition_key = self.key_attribute(fields, "partition-key");
        let sort_key =
            fields.take("sort-key").and_then(|entry| self.key_attribute_of(&entry.value, "`sort-key`"));
        let partition_key = match partition_key {
            Some(key) => key,
            None => KeyAttribute { name: Placed::new("PK".to_owned(), name.span), key_type: KeyType::S },
        };
        Some(Table {
            name: name.clone(),
            about,
            physical_name: self.template(&physical_name)?,
            partition_key,
            sort_key,
            stream: self.word(fields, "stream", &StreamView::ALL),
            point_in_time_recovery: self.boolean(fields, "point-in-time-recovery"),
            billing: self.billing(fields),
            encryption_key: self.text_of(fields, "encryption-key").map(|key| key.value),
            span: fields.span,
        })
    }

    fn billing(&mut self, fields: &mut Fields<'_>) -> Billing {
        let Some(entry) = fields.take("provisioned") else { return Billing::OnDemand };
        let Some(entries) = self.entries(&entry.value, "`provisioned`") else { return Billing::OnDemand };
        let mut inner = Fields::new("`provisioned`", entry.value.span, entries);
        let read = self.count(&mut inner, "read").map_or(1, |units| units.value);
        let write = self.count(&mut inner, "write").map_or(1, |units| units.value);
        self.finish(&inner);
        let units = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Billing::Provisioned { read: units(read), write: units(write) }
    }

    fn key_attribute(&mut self, fields: &mut Fields<'_>, key: &str) -> Option<KeyAttribute> {
        let entry = self.required(fields, key)?;
        self.key_attribute_of(&entry.value, &format!("`{key}`"))
    }

    /// `"PK"`, or `{ name = "PK", type = "number" }`.
    fn key_attribute_of(&mut self, value: &Placed<Node>, what: &str) -> Option<KeyAttribute> {
        match &value.value {
            Node::Text(name) => {
                Some(KeyAttribute { name: Placed::new(name.clone(), value.span), key_type: KeyType::S })
            }
            Node::Table(entries) => {
                let mut fields = Fields::new(what, value.span, entries);
                let name = self.required_text(&mut fields, "name");
                let key_type =
                    self.word(&mut fields, "type", &KEY_TYPES).map_or(KeyType::S, |kind| kind.value);
                self.finish(&fields);
                Some(KeyAttribute { name: name?, key_type })
            }
            other => {
                let expected = "the name of an attribute, or { name = \"…\", type = \"number\" }";
                self.found(wrong_value::kind(value.span, what, expected, other.kind()));
                None
            }
        }
    }

    fn key_attributes(&mut self, fields: &mut Fields<'_>, key: &str) -> Vec<KeyAttribute> {
        let Some(entry) = fields.take(key) else { return Vec::new() };
        let what = format!("`{key}`");
        match &entry.value.value {
            Node::List(list) => {
                list.iter().filter_map(|element| self.key_attribute_of(element, &what)).collect()
            }
            _ => self.key_attribute_of(&entry.value, &what).into_iter().collect(),
        }
    }

    pub(super) fn index(
        &mut self,
        fields: &mut Fields<'_>,
        name: &Placed<String>,
        only_table: Option<&str>,
    ) -> Option<Index> {
        let about = self.about(fields);
        let table = self.table_of(fields, name, only_table)?;
        let local = self.boolean(fields, "local").is_some_and(|local| local.value);
        let partition_key = self.key_attributes(fields, "partition-key");
        let sort_key = self.key_attributes(fields, "sort-key");
        if partition_key.is_empty() && !local {
            self.required(fields, "partition-key");
        }
        let projection = self.projection(fields);
        Some(Index {
            name: name.clone(),
            about,
            table,
            local,
            partition_key,
            sort_key,
            projection,
            span: fields.span,
        })
    }

    /// The table of an element: named, or the only one there is.
    pub(super) fn table_of(
        &mut self,
        fields: &mut Fields<'_>,
        name: &Placed<String>,
        only_table: Option<&str>,
    ) -> Option<Placed<String>> {
        if let Some(table) = self.text_of(fields, "table") {
            return Some(table);
        }
        match only_table {
            Some(table) => Some(Placed::new(table.to_owned(), name.span)),
            None => {
                self.required(fields, "table");
                None
            }
        }
    }

    fn projection(&mut self, fields: &mut Fields<'_>) -> Projection {
        let Some(entry) = fields.take("projection") else { return Projection::All };
        match &entry.value.value {
            Node::List(_) => Projection::Include(self.list_of_texts(&entry.value, "`projection`")),
            _ => {
                let words = [("all", false), ("keys-only", true)];
                match self.word(fields, "projection", &words) {
                    Some(Placed { value: true, .. }) => Projection::KeysOnly,
                    _ => Projection::All,
                }
            }
        }
    }
}
