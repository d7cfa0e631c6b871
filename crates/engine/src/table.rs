//! A table as the engine knows it: its keys, indexes and settings.
//!
//! A [`Table`] is what the catalog stores, as JSON with defaults for fields that came later. It is never changed in place: a change makes a
//! new one, so whoever holds a table holds a consistent one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::copying::Copying;
use crate::layout::{CollectionId, ItemKey, KeyAttribute, KeySchema};
use crate::store::TableKeyId;

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Table {
    /// Where its items are.
    pub(crate) id: CollectionId,
    pub(crate) name: String,
    /// The id that DescribeTable reports.
    pub(crate) uuid: String,
    pub(crate) created_milliseconds: i64,
    pub(crate) schema: KeySchema,
    /// Key attributes of table and indexes, in the order the client gave them.
    pub(crate) definitions: Vec<KeyAttribute>,
    /// Local indexes first, then global ones, each in the order of their making.
    pub(crate) indexes: Vec<Index>,
    pub(crate) settings: Settings,
    #[serde(default)]
    pub(crate) stream: Option<Stream>,
    /// When the latest stream was made; DynamoDB tells of it even after it was closed.
    #[serde(default)]
    pub(crate) latest_stream_milliseconds: Option<i64>,
    #[serde(default)]
    pub(crate) time_to_live: Option<TimeToLive>,
    #[serde(default)]
    pub(crate) tags: BTreeMap<String, String>,
    /// Where it is recorded what each change took away: while recovery is on, or while the table is copied.
    #[serde(default)]
    pub(crate) history: Option<CollectionId>,
    #[serde(default)]
    pub(crate) recovery: Option<Recovery>,
    #[serde(default)]
    pub(crate) restored: Option<Restored>,
}

/// Recovery to any moment of the last days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recovery {
    pub(crate) days: i32,
    /// From when on the history is whole, as far as it has not been trimmed since.
    pub(crate) since_milliseconds: i64,
}

/// Where a restored table came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Restored {
    pub(crate) table_arn: String,
    #[serde(default)]
    pub(crate) backup_arn: Option<String>,
    /// The moment that it shows.
    pub(crate) time_milliseconds: i64,
    /// While it is being filled.
    #[serde(default)]
    pub(crate) copying: Option<Copying>,
}

/// What is stored and reported and has no effect on one machine, and deletion protection, which has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) on_demand: bool,
    pub(crate) throughput: Throughput,
    #[serde(default)]
    pub(crate) billing_changed_milliseconds: Option<i64>,
    #[serde(default)]
    pub(crate) on_demand_limits: OnDemandLimits,
    #[serde(default)]
    pub(crate) warm_throughput: Option<(i64, i64)>,
    #[serde(default)]
    pub(crate) table_class: Option<String>,
    #[serde(default)]
    pub(crate) table_class_changed_milliseconds: Option<i64>,
    #[serde(default)]
    pub(crate) encryption: Option<Encryption>,
    #[serde(default)]
    pub(crate) deletion_protection: bool,
}

/// Provisioned capacity; zero on demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Throughput {
    pub(crate) read_units: i64,
    pub(crate) write_units: i64,
    #[serde(default)]
    pub(crate) last_increase_milliseconds: Option<i64>,
    #[serde(default)]
    pub(crate) last_decrease_milliseconds: Option<i64>,
    #[serde(default)]
    pub(crate) decreases_today: i64,
}

/// Limits of an on-demand table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OnDemandLimits {
    pub(crate) read_units: Option<i64>,
    pub(crate) write_units: Option<i64>,
}

/// Encryption with a customer's key, as it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Encryption {
    pub(crate) key_arn: Option<String>,
    /// The table's own key, which the customer's key wraps. None where the database is plain or knows no keys of customers.
    #[serde(default)]
    pub(crate) key: Option<TableKeyId>,
    /// While values that were there before are sealed, or unsealed.
    #[serde(default)]
    pub(crate) change: Option<SealChange>,
}

/// What happens to the values that were there before a change of a table's encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SealChange {
    /// They are being sealed with the table's key.
    Sealing,
    /// The table gives up its key: they are being opened.
    Unsealing,
}

/// A local or global secondary index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Index {
    /// Where its entries are.
    pub(crate) id: CollectionId,
    pub(crate) name: String,
    pub(crate) local: bool,
    pub(crate) schema: KeySchema,
    pub(crate) projection: Projection,
    pub(crate) state: IndexState,
    /// While it is being filled: the last item that it covers. It holds no entries of later ones.
    #[serde(default)]
    pub(crate) filled_to: Option<ItemKey>,
    #[serde(default)]
    pub(crate) throughput: Throughput,
    #[serde(default)]
    pub(crate) on_demand_limits: OnDemandLimits,
    #[serde(default)]
    pub(crate) warm_throughput: Option<(i64, i64)>,
    #[serde(default)]
    pub(crate) entries: Entries,
}

/// How the entries of an index hold what it projects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Entries {
    /// As a copy: indexes that were made before entries could refer.
    #[default]
    Copy,
    /// As a copy, or as a reference to the item (`index_entry.rs`).
    MayRefer,
}

/// Whether an index answers queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum IndexState {
    /// Being filled from the items that were there before it. Writes go into it as far as it is filled.
    Creating,
    /// Complete.
    Active,
    /// Being changed or removed; no longer written to.
    Deleting,
}

/// What of an item an index entry holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Projection {
    /// The whole item.
    All,
    /// The keys of the table and the index.
    KeysOnly,
    /// The keys and these attributes.
    Include(Vec<String>),
}

/// The stream of a table's changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stream {
    /// Where its records are.
    pub(crate) id: CollectionId,
    pub(crate) view: StreamView,
    /// When it was made: its label.
    pub(crate) created_milliseconds: i64,
}

/// What a stream record holds beside the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StreamView {
    KeysOnly,
    NewImage,
    OldImage,
    NewAndOldImages,
}

impl StreamView {
    /// True if records hold the item after the change.
    pub(crate) fn has_new_image(self) -> bool {
        matches!(self, StreamView::NewImage | StreamView::NewAndOldImages)
    }

    /// True if records hold the item before the change.
    pub(crate) fn has_old_image(self) -> bool {
        matches!(self, StreamView::OldImage | StreamView::NewAndOldImages)
    }
}

/// Expiry by an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeToLive {
    pub(crate) attribute: String,
    /// Where the expiry entries are.
    pub(crate) id: CollectionId,
    /// Expiry entries of items that were there before are still being made.
    pub(crate) filling: bool,
    /// While they are being made: the last item that has one.
    #[serde(default)]
    pub(crate) filled_to: Option<ItemKey>,
    pub(crate) changed_milliseconds: i64,
}

impl Index {
    /// True if a write of this item goes into the index: always once it is complete, and as far as it is filled before.
    pub(crate) fn covers(&self, key: &ItemKey) -> bool {
        match self.state {
            IndexState::Creating => self.filled_to.as_ref().is_some_and(|filled_to| key <= filled_to),
            IndexState::Active => true,
            IndexState::Deleting => false,
        }
    }
}

impl Table {
    /// The index with this name.
    pub(crate) fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// The local indexes.
    pub(crate) fn local_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| index.local)
    }

    /// The global indexes.
    pub(crate) fn global_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| !index.local)
    }

    /// The indexes that a write goes into.
    pub(crate) fn written_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| index.state != IndexState::Deleting)
    }

    /// True while an index or expiry list is being filled.
    pub(crate) fn is_filling(&self) -> bool {
        self.indexes.iter().any(|index| index.state == IndexState::Creating)
            || self.time_to_live.as_ref().is_some_and(|ttl| ttl.filling)
    }

    /// True while the items of a restored table are not all there yet.
    pub(crate) fn is_restoring(&self) -> bool {
        self.copying().is_some()
    }

    /// What fills the table, while it is being restored.
    pub(crate) fn copying(&self) -> Option<&Copying> {
        self.restored.as_ref()?.copying.as_ref()
    }

    /// The key of its own, if it has one.
    pub(crate) fn key(&self) -> Option<TableKeyId> {
        self.settings.encryption.as_ref()?.key
    }

    /// The key that what is written is sealed with.
    pub(crate) fn sealing_key(&self) -> Option<TableKeyId> {
        let encryption = self.settings.encryption.as_ref()?;
        encryption.key.filter(|_| encryption.change != Some(SealChange::Unsealing))
    }

    /// All collections of the table but its stream.
    pub(crate) fn collections(&self) -> impl Iterator<Item = CollectionId> {
        let indexes = self.indexes.iter().map(|index| index.id);
        let ttl = self.time_to_live.iter().map(|ttl| ttl.id);
        std::iter::once(self.id).chain(indexes).chain(ttl).chain(self.history)
    }
}

/// Said of a key that lacks an attribute, has another type or one attribute too many.
pub(crate) const KEY_MISMATCH: &str = "The provided key element does not match the schema";
