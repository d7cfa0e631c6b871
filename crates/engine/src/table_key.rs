//! Keys of single tables: what `SSESpecification` with a customer's key means in an encrypted database.
//!
//! Such a table has a data key of its own, wrapped with the customer's key and kept in the catalog. Values of its items, index entries,
//! stream records, history and backups are sealed with it, inside of pages that the database seals anyway. Keys of items and index entries
//! are sealed with the database's key only, since they must keep their order (docs/decisions/0060).
//!
//! Always true:
//! - What is written to a collection of such a table is sealed in the commit that writes it, and so in everything made from it:
//!   the log, copies, backups of the whole database.
//! - While the customer's key cannot be had, the table is refused and everything else works.
//! - A key is forgotten in the commit that removes the last thing that has it.
//!
//! Path of a key: a request -> [`Inner::new_table_key`] (asks the customer's key) -> `CatalogChange::PutKey` -> [`KeyCatalog`] ->
//! [`KeyCatalog::seal`] in each commit. `housekeeping/table_keys.rs` asks again and again whether the customer's key is still there.

use std::collections::BTreeMap;
use std::sync::Arc;

use dynamo::{ApiError, ErrorKind};
use rustc_hash::FxHashMap;
use seal::{Envelope, KeySource, MasterKey, SealError, Sealer};
use serde::{Deserialize, Serialize};

use crate::catalog::{ClosedStream, parse, to_json};
use crate::engine::Inner;
use crate::layout::CollectionId;
use crate::meta::{self, MetaKey};
use crate::store::{Batch, Missing, Snapshot, Space, StoreError, TableKeyId, TableKeys};
use crate::table::Table;

/// What table keys seal.
const PURPOSE: &str = "values of a table";

/// The wrapped key of a table and of what was made from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableKey {
    pub(crate) id: TableKeyId,
    /// The customer's key, as it is asked for.
    pub(crate) named: String,
    #[serde(with = "envelope_text")]
    pub(crate) envelope: Envelope,
    /// The data key that the database had when the newest data key of the table was made: where that is another one now, the
    /// table is to get another one, too.
    pub(crate) database_key: u32,
}

/// An envelope stands in the catalog as it would in a file.
mod envelope_text {
    use super::{Deserialize, Envelope};

    pub(super) fn serialize<S: serde::Serializer>(envelope: &Envelope, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&envelope.to_json())
    }

    pub(super) fn deserialize<'a, D: serde::Deserializer<'a>>(from: D) -> Result<Envelope, D::Error> {
        let text = String::deserialize(from)?;
        Envelope::from_json(text.as_bytes()).map_err(serde::de::Error::custom)
    }
}

impl TableKey {
    /// Asks for the customer's key, and unwraps the data keys with it.
    pub(crate) fn unwrap(&self, source: Option<&dyn KeySource>) -> Result<Sealer, SealError> {
        let master = self.master(source)?;
        self.envelope.open(&*master)?.sealer(PURPOSE)
    }

    /// The customer's key.
    pub(crate) fn master(&self, source: Option<&dyn KeySource>) -> Result<Arc<dyn MasterKey>, SealError> {
        let nowhere = || SealError::Unreadable {
            from: self.named.clone(),
            reason: "no place for keys of tables was given (--table-keys DIR or --kms-table-keys)".to_owned(),
        };
        source.ok_or_else(nowhere)?.key(&self.named)
    }
}

/// The name by which a key is asked for later: an alias can be pointed elsewhere.
fn lasting_name(master: &dyn MasterKey, named: &str) -> String {
    let name = if master.id().starts_with("arn:") { master.id() } else { named };
    name.to_owned()
}

/// The keys of tables, as the catalog knows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyCatalog {
    keys: BTreeMap<TableKeyId, Arc<TableKey>>,
    /// The collections whose values are sealed when they are written.
    sealed: FxHashMap<CollectionId, TableKeyId>,
    /// Those that can be used now. None where the store has no place for such keys.
    opened: Option<Arc<TableKeys>>,
}

impl KeyCatalog {
    /// Reads the keys of a database.
    pub(crate) fn load(snapshot: &Snapshot) -> Result<KeyCatalog, StoreError> {
        let mut catalog = KeyCatalog { opened: snapshot.table_keys().cloned(), ..KeyCatalog::default() };
        for entry in meta::entries(snapshot, MetaKey::TABLE_KEY) {
            let key: TableKey = parse(&entry?.1)?;
            catalog.keys.insert(key.id, Arc::new(key));
        }
        if catalog.opened.is_none() && !catalog.keys.is_empty() {
            return Err(StoreError::PlainWithTableKeys);
        }
        Ok(catalog)
    }

    /// Asks for the customers' keys of all tables. Those that cannot be had are noted.
    pub(crate) fn open_all(&self, source: Option<&dyn KeySource>, now_milliseconds: i64) {
        let Some(opened) = &self.opened else { return };
        for (id, key) in &self.keys {
            match key.unwrap(source) {
                Ok(sealer) => opened.put(*id, Arc::new(sealer)),
                Err(error) => opened.take(*id, missing(&error, now_milliseconds)),
            }
        }
    }

    /// True where no table has a key.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// All keys.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<TableKey>> {
        self.keys.values()
    }

    /// The key with this id.
    pub(crate) fn get(&self, id: TableKeyId) -> Option<&Arc<TableKey>> {
        self.keys.get(&id)
    }

    /// The keys that can be used now.
    pub(crate) fn opened(&self) -> Option<&Arc<TableKeys>> {
        self.opened.as_ref()
    }

    /// The key that values of a collection are sealed with.
    pub(crate) fn of_collection(&self, id: CollectionId) -> Option<TableKeyId> {
        self.sealed.get(&id).copied()
    }

    /// Why a key cannot be used now, if it cannot.
    pub(crate) fn missing(&self, id: TableKeyId) -> Option<Missing> {
        self.opened.as_ref()?.sealer(id).err()
    }

    /// Refuses what needs a key that cannot be had.
    pub(crate) fn check(&self, id: TableKeyId) -> Result<(), ApiError> {
        self.missing(id).map_or(Ok(()), |missing| Err(access_denied(&missing.reason)))
    }

    /// Seals the values of a batch that belong to tables with keys.
    pub(crate) fn seal(&self, batch: &mut Batch) -> Result<(), StoreError> {
        let Some(opened) = self.opened.as_ref().filter(|_| !self.sealed.is_empty()) else { return Ok(()) };
        batch.replace_values(|space, key, plain| {
            // An entry without a value has nothing to hide but its key.
            let id = collection_of(space, key).filter(|_| !plain.is_empty());
            let id = id.and_then(|id| self.of_collection(id));
            id.map(|id| opened.seal(id, space, key, plain)).transpose()
        })
    }

    pub(crate) fn put(&mut self, key: Arc<TableKey>, batch: &mut Batch) {
        batch.put(Space::Meta, meta::key(MetaKey::TABLE_KEY, &key.id.0.to_be_bytes()), to_json(&*key));
        self.keys.insert(key.id, key);
    }

    pub(crate) fn index(&mut self, sealed: Vec<(CollectionId, TableKeyId)>) {
        self.sealed = sealed.into_iter().collect();
    }

    pub(crate) fn retain(&mut self, used: &[TableKeyId], batch: &mut Batch) {
        self.keys.retain(|id, _| {
            let is_used = used.contains(id);
            if !is_used {
                batch.remove(Space::Meta, meta::key(MetaKey::TABLE_KEY, &id.0.to_be_bytes()));
            }
            is_used
        });
    }
}

/// The collection of an entry in the data or log space.
fn collection_of(space: Space, key: &[u8]) -> Option<CollectionId> {
    let id = key.first_chunk().filter(|_| space != Space::Meta)?;
    Some(CollectionId(u32::from_be_bytes(*id)))
}

/// What has the key of a table.
pub(crate) enum KeyOwner<'a> {
    Table(&'a Table),
    Stream(&'a ClosedStream),
    /// A backup or an export: a collection, and the table it was made from.
    Copy(CollectionId, &'a Table),
}

impl<'a> KeyOwner<'a> {
    /// The table that it is, or was made from.
    pub(crate) fn table(&self) -> &'a Table {
        match *self {
            KeyOwner::Table(table) | KeyOwner::Copy(_, table) => table,
            KeyOwner::Stream(closed) => &closed.table,
        }
    }

    /// Its collections, with the space each is in.
    pub(crate) fn collections(&self) -> Vec<(Space, CollectionId)> {
        match *self {
            KeyOwner::Table(table) => {
                let logs = table.history.into_iter().chain(table.stream.as_ref().map(|stream| stream.id));
                let logs: Vec<_> = logs.map(|id| (Space::Log, id)).collect();
                let data = table.collections().filter(|id| table.history != Some(*id));
                data.map(|id| (Space::Data, id)).chain(logs).collect()
            }
            KeyOwner::Stream(closed) => vec![(Space::Log, closed.stream.id)],
            KeyOwner::Copy(id, _) => vec![(Space::Data, id)],
        }
    }

    /// The collections whose values are sealed, with their key.
    pub(crate) fn sealed_collections(&self) -> Vec<(CollectionId, TableKeyId)> {
        let Some(key) = self.table().sealing_key() else { return Vec::new() };
        self.collections().into_iter().map(|(_, id)| (id, key)).collect()
    }
}

impl Inner {
    /// Whether tables can have keys of their own here.
    fn has_table_keys(&self) -> bool {
        self.options.table_keys.is_some() && self.committer.catalog().keys.opened().is_some()
    }

    /// A new key for a table, wrapped with the customer's key of this name. None where there is no name, or where the specification is only
    /// kept: the database is plain or knows no keys of customers.
    pub(crate) fn new_table_key(&self, named: Option<&str>) -> Result<Option<Arc<TableKey>>, ApiError> {
        let Some(named) = named.filter(|_| self.has_table_keys()) else { return Ok(None) };
        let make = || -> Result<(TableKey, Sealer), SealError> {
            let master = self.customers_key(named)?;
            let key = TableKey {
                id: TableKeyId(u64::from_be_bytes(seal::random_bytes()?)),
                named: lasting_name(&*master, named),
                envelope: Envelope::create(&*master)?,
                database_key: self.committer.store().data_key(),
            };
            let sealer = key.envelope.open(&*master)?.sealer(PURPOSE)?;
            Ok((key, sealer))
        };
        let (key, sealer) = make().map_err(|error| access_denied(&error.to_string()))?;
        if let Some(opened) = self.committer.catalog().keys.opened() {
            opened.put(key.id, Arc::new(sealer));
        }
        Ok(Some(Arc::new(key)))
    }

    /// The same key, wrapped with another key of the customer's.
    pub(crate) fn rewrapped_key(&self, key: &TableKey, named: &str) -> Result<Arc<TableKey>, ApiError> {
        let rewrap = || -> Result<TableKey, SealError> {
            let (old, new) = (key.master(self.options.table_keys.as_deref())?, self.customers_key(named)?);
            let envelope = key.envelope.rewrap(&*old, &*new)?;
            Ok(TableKey { named: lasting_name(&*new, named), envelope, ..key.clone() })
        };
        rewrap().map(Arc::new).map_err(|error| access_denied(&error.to_string()))
    }

    fn customers_key(&self, named: &str) -> Result<Arc<dyn MasterKey>, SealError> {
        let unknown =
            || SealError::Unreadable { from: named.to_owned(), reason: "no place for keys".to_owned() };
        self.options.table_keys.as_ref().ok_or_else(unknown)?.key(named)
    }
}

/// Gives a table that is being made the key that was made for it.
pub(crate) fn give_key(table: &mut Table, key: Option<&Arc<TableKey>>) {
    let Some(encryption) = &mut table.settings.encryption else { return };
    encryption.key = key.map(|key| key.id);
    encryption.change = None;
    if let Some(arn) = key.and_then(|key| key_arn(key)) {
        encryption.key_arn = Some(arn);
    }
}

/// The ARN of a customer's key, where its service told one.
pub(crate) fn key_arn(key: &TableKey) -> Option<String> {
    key.named.starts_with("arn:").then(|| key.named.clone())
}

/// A key that cannot be had.
pub(crate) fn missing(error: &SealError, now_milliseconds: i64) -> Missing {
    Missing { since_milliseconds: now_milliseconds, reason: error.to_string().into() }
}

/// What DynamoDB says where it cannot use the customer's key: the exception and the beginning of the words are its own, the rest is
/// what the place of the keys said. Seen in reports of others, not on DynamoDB itself.
pub(crate) fn access_denied(reason: &str) -> ApiError {
    ApiError::new(ErrorKind::AccessDenied, format!("KMS key access denied error: {reason}"))
}

#[cfg(test)]
mod tests;
