//! Writing one item: what is to happen to it, decided against the latest state.
//!
//! PutItem, UpdateItem, DeleteItem and BatchWriteItem are one such write, a transaction is several: all are decided here.

use std::sync::Arc;

use dynamo::{ApiError, ErrorKind, Item, StoredItem};
use expression::{Condition, Update};

use crate::change::ItemChange;
use crate::commit::{Changes, Latest};
use crate::fault::Fault;
use crate::keys::{check_index_keys, check_updated_index_keys};
use crate::layout::ItemKey;
use crate::record::Author;
use crate::store::Space;
use crate::table::Table;

/// The largest item, with its entries in local indexes.
pub(crate) const ITEM_BYTES_MAX: usize = 400 * 1024;

/// A write to one item.
pub(crate) struct ItemWrite {
    pub(crate) table: Arc<Table>,
    pub(crate) key: ItemKey,
    pub(crate) action: Action,
    pub(crate) condition: Option<Condition>,
}

/// What is to happen.
pub(crate) enum Action {
    /// The item takes the place of what was there.
    Put(StoredItem),
    /// The item is changed, or made with this key.
    Update(Box<Update>, Item),
    /// The item is removed.
    Delete,
    /// Nothing: only the condition counts.
    Check,
}

/// True if two of several writes are to one item.
pub(crate) fn has_item_twice<'a>(writes: impl Iterator<Item = &'a ItemWrite>) -> bool {
    let mut places: Vec<_> = writes.map(|write| (write.table.id, &write.key)).collect();
    places.sort_unstable();
    !places.is_sorted_by(|one, two| one < two)
}

/// What happened.
pub(crate) struct Written {
    pub(crate) table: Arc<Table>,
    pub(crate) key: ItemKey,
    pub(crate) old: Option<StoredItem>,
    pub(crate) new: Option<StoredItem>,
}

/// Why nothing happened.
pub(crate) enum Refusal {
    /// The condition does not hold for the item as it is.
    Condition(Option<StoredItem>),
    /// The write would break a rule, or the store failed.
    Fault(Fault),
}

impl<F: Into<Fault>> From<F> for Refusal {
    fn from(fault: F) -> Refusal {
        Refusal::Fault(fault.into())
    }
}

impl ItemWrite {
    /// Decides against the latest state; changes nothing yet.
    pub(crate) fn decide(&self, latest: &Latest<'_>) -> Result<Written, Refusal> {
        let table = latest.catalog.current(&self.table).ok_or_else(table_is_gone)?.clone();
        latest.catalog.check_key(&table)?;
        let stored = latest.get(Space::Data, &self.key.in_collection(table.id))?;
        let old = stored.map(StoredItem::from_bytes);
        if let Some(condition) = &self.condition
            && !condition.matches(old.as_ref())
        {
            return Err(Refusal::Condition(old));
        }
        let new = self.apply(&table, old.as_ref())?;
        Ok(Written { table, key: self.key.clone(), old, new })
    }

    fn apply(&self, table: &Arc<Table>, old: Option<&StoredItem>) -> Result<Option<StoredItem>, ApiError> {
        match &self.action {
            Action::Put(item) => {
                // The table may have got an index since the item was checked.
                if !Arc::ptr_eq(table, &self.table) {
                    check_index_keys(table, |name| item.get(name))?;
                }
                check_local_size(table, item, ITEM_TOO_LARGE)?;
                Ok(Some(item.clone()))
            }
            Action::Update(update, key) => {
                let Some(new) = update.apply(old, key)? else { return Ok(None) };
                if new.size_bytes() > ITEM_BYTES_MAX {
                    return Err(ApiError::validation(UPDATE_TOO_LARGE));
                }
                check_updated_index_keys(table, old, &new)?;
                check_local_size(table, &new, UPDATE_TOO_LARGE)?;
                Ok(Some(new))
            }
            Action::Delete => Ok(None),
            Action::Check => Ok(old.cloned()),
        }
    }
}

/// Said of an item that is larger than 400 KB.
pub(crate) const ITEM_TOO_LARGE: &str = "Item size has exceeded the maximum allowed size";
const UPDATE_TOO_LARGE: &str = "Item size to update has exceeded the maximum allowed size";

/// An item with its entries in local indexes is at most 400 KB.
fn check_local_size(table: &Table, item: &StoredItem, message: &str) -> Result<(), ApiError> {
    let mut size = item.size_bytes();
    for index in table.local_indexes() {
        size += crate::index_entry::projected_size(table, index, item);
    }
    if size > ITEM_BYTES_MAX { Err(ApiError::validation(message)) } else { Ok(()) }
}

/// Said where a table was deleted while a request was on its way.
pub(crate) fn table_is_gone() -> ApiError {
    ApiError::new(ErrorKind::ResourceNotFound, "Requested resource not found")
}

impl Written {
    /// The change of the item.
    pub(crate) fn change(&self) -> ItemChange<'_> {
        ItemChange { table: &self.table, key: &self.key, old: self.old.as_ref(), new: self.new.as_ref() }
    }

    /// Adds the write and all that follows from it; nothing if it would make an item collection too large.
    pub(crate) fn add_to(&self, changes: &mut Changes, latest: &Latest<'_>) -> Result<(), Fault> {
        self.change().add_to(changes, Author::Client, latest)
    }
}

impl Refusal {
    /// The refusal as an error of a single write.
    pub(crate) fn into_fault(self, with_item: bool) -> Fault {
        match self {
            Refusal::Fault(fault) => fault,
            Refusal::Condition(item) => {
                let mut error =
                    ApiError::new(ErrorKind::ConditionalCheckFailed, "The conditional request failed");
                error.item = item.filter(|_| with_item);
                Fault::Api(error)
            }
        }
    }
}
