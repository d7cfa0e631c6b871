//! Tables as tests want them: keys, indexes, stream and expiry, and what follows from them for an item.

use std::cmp::Ordering;

use dynamo::operation::{
    AttributeDefinition, BillingMode, CreateGlobalSecondaryIndexAction, CreateTable, GlobalSecondaryIndex,
    KeyRole, KeySchemaElement, LocalSecondaryIndex, Projection, ProjectionType, SSESpecification, SSEType,
    StreamSpecification, StreamViewType,
};
use dynamo::{Item, KeyType, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX, Value, value_size_bytes};

/// A key attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: KeyType,
}

/// A text as a key.
pub(crate) const fn s(name: &'static str) -> Key {
    Key { name, kind: KeyType::S }
}

/// A number as a key.
pub(crate) const fn n(name: &'static str) -> Key {
    Key { name, kind: KeyType::N }
}

/// Bytes as a key.
pub(crate) const fn b(name: &'static str) -> Key {
    Key { name, kind: KeyType::B }
}

/// A table.
#[derive(Debug)]
pub(crate) struct TableDesign {
    pub(crate) name: &'static str,
    pub(crate) partition: Key,
    pub(crate) sort: Option<Key>,
    pub(crate) indexes: &'static [IndexDesign],
    /// Indexes that are added and removed while the table lives.
    pub(crate) later_indexes: &'static [IndexDesign],
    pub(crate) stream: Option<StreamViewType>,
    pub(crate) expiry: Option<&'static str>,
    /// Some items are so large that a page ends by its size.
    pub(crate) has_large_items: bool,
}

/// An index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IndexDesign {
    pub(crate) name: &'static str,
    pub(crate) is_local: bool,
    pub(crate) partition: &'static [Key],
    pub(crate) sort: &'static [Key],
    pub(crate) projected: Projected,
}

/// What an entry holds beside the keys.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Projected {
    All,
    KeysOnly,
    Include(&'static [&'static str]),
}

/// A key value with its order: texts and binaries by bytes, numbers by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sortable(pub(crate) Value);

impl Ord for Sortable {
    fn cmp(&self, other: &Sortable) -> Ordering {
        order(&self.0, &other.0).expect("keys of one place have one type")
    }
}

impl PartialOrd for Sortable {
    fn partial_cmp(&self, other: &Sortable) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of two values, if they have one.
pub(crate) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::S(left), Value::S(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        (Value::N(left), Value::N(right)) => Some(left.cmp(right)),
        (Value::B(left), Value::B(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

/// The values of these attributes, if each is there, with its type and not empty.
pub(crate) fn key_values(item: &Item, keys: impl IntoIterator<Item = Key>) -> Option<Vec<Sortable>> {
    keys.into_iter()
        .map(|key| item.get(key.name).filter(|value| can_be(value, key.kind)).cloned().map(Sortable))
        .collect()
}

/// True for a value that can stand in such a key.
pub(crate) fn can_be(value: &Value, kind: KeyType) -> bool {
    match value {
        Value::S(text) => kind == KeyType::S && !text.is_empty(),
        Value::N(_) => kind == KeyType::N,
        Value::B(bytes) => kind == KeyType::B && !bytes.is_empty(),
        _ => false,
    }
}

impl TableDesign {
    /// The attributes of the key.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        std::iter::once(self.partition).chain(self.sort)
    }

    /// The key of an item.
    pub(crate) fn key_of(&self, item: &Item) -> Vec<Sortable> {
        key_values(item, self.keys()).expect("an item has its key")
    }

    /// The key of an item as a request gives it.
    pub(crate) fn key_item(&self, item: &Item) -> Item {
        self.keys().map(|key| (key.name.to_owned(), item[key.name].clone())).collect()
    }

    /// The index with this name, whether it is there from the beginning or not.
    pub(crate) fn index(&self, name: &str) -> &'static IndexDesign {
        self.indexes.iter().chain(self.later_indexes).find(|index| index.name == name).unwrap()
    }

    /// The request that makes the table.
    pub(crate) fn create(&self) -> CreateTable {
        let mut definitions: Vec<Key> = self.keys().collect();
        definitions.extend(self.indexes.iter().flat_map(IndexDesign::keys));
        let of_kind = |local: bool| self.indexes.iter().filter(move |index| index.is_local == local);
        let local: Vec<_> = of_kind(true).map(IndexDesign::local).collect();
        let global: Vec<_> = of_kind(false).map(IndexDesign::global).collect();
        CreateTable {
            table_name: Some(self.name.to_owned()),
            attribute_definitions: Some(attribute_definitions(definitions)),
            key_schema: Some(elements(std::slice::from_ref(&self.partition), self.sort.as_slice())),
            billing_mode: Some(BillingMode::PayPerRequest.into()),
            // Some tables have a key of their own, and some have not.
            sse_specification: (!local.is_empty()).then(sealed),
            local_secondary_indexes: (!local.is_empty()).then_some(local),
            global_secondary_indexes: (!global.is_empty()).then_some(global),
            stream_specification: self.stream.map(|view| StreamSpecification {
                stream_enabled: Some(true),
                stream_view_type: Some(view.into()),
            }),
            ..CreateTable::default()
        }
    }
}

/// Encryption with a key of the customer's. Where keys of tables have no place it changes nothing.
fn sealed() -> SSESpecification {
    SSESpecification {
        enabled: Some(true),
        sse_type: Some(SSEType::Kms.into()),
        kms_master_key_id: Some("first".to_owned()),
    }
}

/// The definitions of these attributes, each once.
pub(crate) fn attribute_definitions(keys: Vec<Key>) -> Vec<AttributeDefinition> {
    let mut definitions: Vec<AttributeDefinition> = Vec::new();
    for key in keys {
        if definitions.iter().all(|known| known.attribute_name.as_deref() != Some(key.name)) {
            definitions.push(AttributeDefinition {
                attribute_name: Some(key.name.to_owned()),
                attribute_type: Some(key.kind.into()),
            });
        }
    }
    definitions
}

fn elements(partition: &[Key], sort: &[Key]) -> Vec<KeySchemaElement> {
    let element = |role: KeyRole| {
        move |key: &Key| KeySchemaElement {
            attribute_name: Some(key.name.to_owned()),
            key_type: Some(role.into()),
        }
    };
    partition.iter().map(element(KeyRole::Hash)).chain(sort.iter().map(element(KeyRole::Range))).collect()
}

impl IndexDesign {
    /// The attributes of the key.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        self.partition.iter().chain(self.sort).copied()
    }

    /// Partition and sort key of an item in the index; none for an item that is not in it, because it lacks a key attribute or
    /// has one that cannot stand in a key.
    pub(crate) fn key_of(&self, item: &Item) -> Option<(Vec<Sortable>, Vec<Sortable>)> {
        let fits = |keys: &[Key], bytes_max: usize| {
            keys.iter()
                .all(|key| item.get(key.name).is_some_and(|value| value_size_bytes(value) <= bytes_max))
        };
        if !fits(self.partition, PARTITION_KEY_BYTES_MAX) || !fits(self.sort, SORT_KEY_BYTES_MAX) {
            return None;
        }
        Some((
            key_values(item, self.partition.iter().copied())?,
            key_values(item, self.sort.iter().copied())?,
        ))
    }

    /// What an entry of the index holds of an item.
    pub(crate) fn entry_of(&self, table: &TableDesign, item: &Item) -> Item {
        item.iter()
            .filter(|(name, _)| self.holds(table, name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// True for an attribute that entries hold.
    pub(crate) fn holds(&self, table: &TableDesign, name: &str) -> bool {
        let is_key = table.keys().chain(self.keys()).any(|key| key.name == name);
        is_key
            || match self.projected {
                Projected::All => true,
                Projected::KeysOnly => false,
                Projected::Include(names) => names.contains(&name),
            }
    }

    fn projection(&self) -> Projection {
        let (kind, names) = match self.projected {
            Projected::All => (ProjectionType::All, None),
            Projected::KeysOnly => (ProjectionType::KeysOnly, None),
            Projected::Include(names) => (ProjectionType::Include, Some(names)),
        };
        Projection {
            projection_type: Some(kind.into()),
            non_key_attributes: names.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
        }
    }

    fn local(&self) -> LocalSecondaryIndex {
        LocalSecondaryIndex {
            index_name: Some(self.name.to_owned()),
            key_schema: Some(elements(self.partition, self.sort)),
            projection: Some(self.projection()),
        }
    }

    fn global(&self) -> GlobalSecondaryIndex {
        GlobalSecondaryIndex {
            index_name: Some(self.name.to_owned()),
            key_schema: Some(elements(self.partition, self.sort)),
            projection: Some(self.projection()),
            ..GlobalSecondaryIndex::default()
        }
    }

    /// The part of UpdateTable that adds the index.
    pub(crate) fn added(&self) -> CreateGlobalSecondaryIndexAction {
        CreateGlobalSecondaryIndexAction {
            index_name: Some(self.name.to_owned()),
            key_schema: Some(elements(self.partition, self.sort)),
            projection: Some(self.projection()),
            ..CreateGlobalSecondaryIndexAction::default()
        }
    }
}
