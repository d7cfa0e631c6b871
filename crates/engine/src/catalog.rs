//! All tables, by name. The catalog is read once when the engine opens and changed only by the owner of the commit, with the batch
//! that makes the change durable.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use dynamo::{ApiError, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::arn;
use crate::backup::Backup;
use crate::copying::Copying;
use crate::export::Export;
use crate::layout::CollectionId;
use crate::meta::{self, MetaKey};
use crate::store::{Batch, Snapshot, Space, StoreError};
use crate::table::{Stream, Table};
use crate::table_key::{KeyCatalog, KeyOwner, TableKey};

/// All tables, closed streams, backups, exports, and the keys of tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    tables: BTreeMap<String, Arc<Table>>,
    closed_streams: BTreeMap<CollectionId, Arc<ClosedStream>>,
    backups: BTreeMap<CollectionId, Arc<Backup>>,
    exports: BTreeMap<CollectionId, Arc<Export>>,
    garbage: Vec<CollectionId>,
    next_id: u32,
    pub(crate) keys: KeyCatalog,
}

/// A stream that takes no more records but can still be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClosedStream {
    pub(crate) stream: Stream,
    pub(crate) table: Table,
    pub(crate) closed_milliseconds: i64,
}

/// A change of the catalog.
#[derive(Clone, Debug)]
pub(crate) enum CatalogChange {
    /// A new table, or a new version of one.
    Put(Arc<Table>),
    /// A table is gone; its collections are garbage.
    Remove(Arc<Table>),
    /// A stream takes no more records.
    CloseStream(Arc<ClosedStream>),
    /// A closed stream is forgotten; its records are garbage.
    ForgetStream(CollectionId),
    /// A new backup, or a new version of one.
    PutBackup(Arc<Backup>),
    /// A backup is gone; its items are garbage.
    ForgetBackup(CollectionId),
    /// A new export, or a new version of one.
    PutExport(Arc<Export>),
    /// An export is remembered no more.
    ForgetExport(CollectionId),
    /// A new key of tables, or a new version of one.
    PutKey(Arc<TableKey>),
    /// A collection nobody refers to any more.
    Discard(CollectionId),
    /// A collection has been emptied.
    Emptied(CollectionId),
    /// Ids up to this one are taken.
    TakeIds(u32),
}

impl Catalog {
    /// Reads the catalog.
    pub(crate) fn load(snapshot: &Snapshot) -> Result<Catalog, StoreError> {
        let mut catalog = Catalog { next_id: 1, keys: KeyCatalog::load(snapshot)?, ..Catalog::default() };
        if let Some(bytes) = snapshot.get(Space::Meta, &meta::key(MetaKey::NEXT_ID, b""))? {
            catalog.next_id = parse(&bytes)?;
        }
        for entry in meta::entries(snapshot, MetaKey::TABLE) {
            let table: Table = parse(&entry?.1)?;
            catalog.tables.insert(table.name.clone(), Arc::new(table));
        }
        for entry in meta::entries(snapshot, MetaKey::CLOSED_STREAM) {
            let closed: ClosedStream = parse(&entry?.1)?;
            catalog.closed_streams.insert(closed.stream.id, Arc::new(closed));
        }
        for entry in meta::entries(snapshot, MetaKey::BACKUP) {
            let backup: Backup = parse(&entry?.1)?;
            catalog.backups.insert(backup.id, Arc::new(backup));
        }
        for entry in meta::entries(snapshot, MetaKey::EXPORT) {
            let export: Export = parse(&entry?.1)?;
            catalog.exports.insert(export.id, Arc::new(export));
        }
        for entry in meta::entries(snapshot, MetaKey::GARBAGE) {
            catalog.garbage.extend(meta::collection_of(&entry?.0));
        }
        catalog.index_keys();
        Ok(catalog)
    }

    /// The table with this name.
    pub(crate) fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(name)
    }

    /// The table as it is now, if it has not been deleted since.
    pub(crate) fn current(&self, table: &Table) -> Option<&Arc<Table>> {
        self.tables.get(&table.name).filter(|current| current.id == table.id)
    }

    /// All tables, ascending by name.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    /// The tables after this name.
    pub(crate) fn tables_after(&self, name: Option<&str>) -> impl Iterator<Item = &Arc<Table>> {
        use std::ops::Bound::{Excluded, Unbounded};
        let lower = name.map_or(Unbounded, Excluded);
        self.tables.range::<str, _>((lower, Unbounded)).map(|(_, table)| table)
    }

    /// Streams that take no more records.
    pub(crate) fn closed_streams(&self) -> impl Iterator<Item = &Arc<ClosedStream>> {
        self.closed_streams.values()
    }

    /// All backups, in the order of their making; those of deleted tables somewhere among them.
    pub(crate) fn backups(&self) -> impl Iterator<Item = &Arc<Backup>> {
        self.backups.values()
    }

    /// The backup whose items are here.
    pub(crate) fn backup(&self, id: CollectionId) -> Option<&Arc<Backup>> {
        self.backups.get(&id)
    }

    /// All exports that are remembered.
    pub(crate) fn exports(&self) -> impl Iterator<Item = &Arc<Export>> {
        self.exports.values()
    }

    /// The export whose copy is here.
    pub(crate) fn export(&self, id: CollectionId) -> Option<&Arc<Export>> {
        self.exports.get(&id)
    }

    /// All copies that are being made.
    pub(crate) fn copies(&self) -> impl Iterator<Item = &Copying> {
        let restores = self.tables.values().filter_map(|table| table.copying());
        let backups = self.backups.values().filter_map(|backup| backup.copying.as_ref());
        let exports = self.exports.values().filter_map(|export| export.copying());
        restores.chain(backups).chain(exports)
    }

    /// A collection that waits to be emptied and that nobody reads.
    pub(crate) fn garbage(&self) -> Option<CollectionId> {
        let is_read = |id: CollectionId| self.copies().any(|copying| copying.reads(id));
        self.garbage.iter().copied().find(|id| !is_read(*id))
    }

    /// The id that the next new collection gets; record it with [`CatalogChange::TakeIds`].
    pub(crate) fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Makes a change and adds it to the batch.
    pub(crate) fn apply(&mut self, change: CatalogChange, batch: &mut Batch) {
        self.make(change, batch);
        self.index_keys();
    }

    fn make(&mut self, change: CatalogChange, batch: &mut Batch) {
        match change {
            CatalogChange::Put(table) => {
                put(batch, MetaKey::TABLE, table.id, &*table);
                self.tables.insert(table.name.clone(), table);
            }
            CatalogChange::Remove(table) => {
                batch.remove(Space::Meta, meta::collection_key(MetaKey::TABLE, table.id));
                self.tables.remove(&table.name);
                for id in table.collections() {
                    // The backup of a deleted table is what the table left.
                    if !self.backups.contains_key(&id) {
                        self.discard(id, batch);
                    }
                }
            }
            CatalogChange::CloseStream(closed) => {
                put(batch, MetaKey::CLOSED_STREAM, closed.stream.id, &*closed);
                self.closed_streams.insert(closed.stream.id, closed);
            }
            CatalogChange::ForgetStream(id) => {
                batch.remove(Space::Meta, meta::collection_key(MetaKey::CLOSED_STREAM, id));
                self.closed_streams.remove(&id);
                self.discard(id, batch);
            }
            CatalogChange::PutBackup(backup) => {
                put(batch, MetaKey::BACKUP, backup.id, &*backup);
                self.backups.insert(backup.id, backup);
            }
            CatalogChange::ForgetBackup(id) => {
                batch.remove(Space::Meta, meta::collection_key(MetaKey::BACKUP, id));
                self.backups.remove(&id);
                self.discard(id, batch);
            }
            CatalogChange::PutExport(export) => {
                put(batch, MetaKey::EXPORT, export.id, &*export);
                self.exports.insert(export.id, export);
            }
            CatalogChange::ForgetExport(id) => {
                batch.remove(Space::Meta, meta::collection_key(MetaKey::EXPORT, id));
                self.exports.remove(&id);
            }
            CatalogChange::PutKey(key) => self.keys.put(key, batch),
            CatalogChange::Discard(id) => self.discard(id, batch),
            CatalogChange::Emptied(id) => {
                batch.remove(Space::Meta, meta::collection_key(MetaKey::GARBAGE, id));
                batch.remove(Space::Meta, meta::collection_key(MetaKey::TOTALS, id));
                batch.remove(Space::Meta, meta::collection_key(MetaKey::TRIMMED, id));
                self.garbage.retain(|garbage| *garbage != id);
            }
            CatalogChange::TakeIds(last) => {
                self.next_id = last + 1;
                batch.put(Space::Meta, meta::key(MetaKey::NEXT_ID, b""), to_json(&self.next_id));
            }
        }
    }

    /// Notes which collections are sealed with which key.
    fn index_keys(&mut self) {
        if self.keys.is_empty() {
            return;
        }
        let owners: Vec<_> = self.key_owners().flat_map(|owner| owner.sealed_collections()).collect();
        self.keys.index(owners);
    }

    /// Everything that has, or had, the key of a table.
    pub(crate) fn key_owners(&self) -> impl Iterator<Item = KeyOwner<'_>> {
        let tables = self.tables.values().map(|table| KeyOwner::Table(table));
        let streams = self.closed_streams.values().map(|closed| KeyOwner::Stream(closed));
        let backups = self.backups.values().map(|backup| KeyOwner::Copy(backup.id, &backup.table));
        let exports = self.exports.values().filter(|export| !export.is_ended());
        let exports = exports.map(|export| KeyOwner::Copy(export.id, &export.table));
        tables.chain(streams).chain(backups).chain(exports)
    }

    /// Forgets keys that nobody has any more: what they sealed can never be read again.
    pub(crate) fn forget_unused_keys(&mut self, batch: &mut Batch) {
        // What is being copied may be what a table left that is gone.
        if self.keys.is_empty() || self.copies().next().is_some() {
            return;
        }
        let used: Vec<_> = self.key_owners().filter_map(|owner| owner.table().key()).collect();
        self.keys.retain(&used, batch);
    }

    /// Refuses a table whose key cannot be had.
    pub(crate) fn check_key(&self, table: &Table) -> Result<(), ApiError> {
        if self.keys.is_empty() {
            return Ok(());
        }
        table.key().map_or(Ok(()), |id| self.keys.check(id))
    }

    /// The tables whose key, if they have one, can be had.
    pub(crate) fn readable_tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values().filter(|table| self.check_key(table).is_ok())
    }

    fn discard(&mut self, id: CollectionId, batch: &mut Batch) {
        batch.put(Space::Meta, meta::collection_key(MetaKey::GARBAGE, id), Bytes::new());
        self.garbage.push(id);
    }
}

/// The table that an operation on items names, by name or ARN. A table that is being restored has no items yet.
pub(crate) fn find_table(catalog: &Catalog, name: Option<&str>) -> Result<Arc<Table>, ApiError> {
    let table = catalog
        .table(arn::table_name(name.unwrap_or_default()))
        .filter(|table| !table.is_restoring())
        .ok_or_else(|| ApiError::new(ErrorKind::ResourceNotFound, "Requested resource not found"))?;
    catalog.check_key(table)?;
    Ok(table.clone())
}

/// The table that an operation on tables names, by name or ARN; DynamoDB says more about a missing one here.
pub(crate) fn find_named_table(catalog: &Catalog, name: Option<&str>) -> Result<Arc<Table>, ApiError> {
    let name = arn::table_name(name.unwrap_or_default());
    catalog.table(name).cloned().ok_or_else(|| table_not_found(name))
}

/// The table that an operation on tables is to change.
pub(crate) fn find_changeable_table(catalog: &Catalog, name: Option<&str>) -> Result<Arc<Table>, ApiError> {
    let table = find_named_table(catalog, name)?;
    if table.is_restoring() {
        let message = format!(
            "Attempt to change a resource which is still in use: Table is being created: {}",
            table.name
        );
        return Err(ApiError::new(ErrorKind::ResourceInUse, message));
    }
    catalog.check_key(&table)?;
    Ok(table)
}

/// The table that an operation on backups names, by name or ARN; DynamoDB has another exception for a missing one here.
pub(crate) fn find_backed_up_table(catalog: &Catalog, name: &str) -> Result<Arc<Table>, ApiError> {
    let name = arn::table_name(name);
    catalog
        .table(name)
        .cloned()
        .ok_or_else(|| ApiError::new(ErrorKind::TableNotFound, format!("Table not found: {name}")))
}

/// Says that there is no such table.
pub(crate) fn table_not_found(name: &str) -> ApiError {
    let message = format!("Requested resource not found: Table: {name} not found");
    ApiError::new(ErrorKind::ResourceNotFound, message)
}

fn put(batch: &mut Batch, kind: MetaKey, id: CollectionId, record: &impl Serialize) {
    batch.put(Space::Meta, meta::collection_key(kind, id), to_json(record));
}

/// A record of the catalog as it is stored.
pub(crate) fn to_json(record: &impl Serialize) -> Bytes {
    Bytes::from(serde_json::to_vec(record).expect("records have text keys only"))
}

/// Reads a record of the catalog.
pub(crate) fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| StoreError::Corrupt {
        detail: "a record of the catalog cannot be read".into(),
        source: Some(Arc::new(error)),
    })
}
