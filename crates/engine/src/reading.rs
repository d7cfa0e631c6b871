//! What Query and Scan have in common: the table or index they read, what of each item they answer, the page and its cost.

use std::sync::Arc;

use dynamo::operation::{ConsumedCapacity, ReturnConsumedCapacity, Select};
use dynamo::{ApiError, Choice, Item, KeyValue, StoredItem};
use expression::{Condition, Projection};

use crate::capacity::{Detail, ReadKind, Units, consumed, read_units};
use crate::catalog::{Catalog, find_table};
use crate::commit::View;
use crate::fault::Fault;
use crate::keys::{INVALID, check_key, check_key_size, check_scalar_keys};
use crate::layout::{CollectionId, ItemKey, KeyAttribute, KeySchema, index_entry_key};
use crate::page::{PageRequest, key_attributes, read_page};
use crate::store::Space;
use crate::table::{self, Index, IndexState, KEY_MISMATCH, Table};

/// A table, or an index of it.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) table: Arc<Table>,
    /// The place of the index among the table's.
    index: Option<usize>,
}

impl Source {
    /// The table or index that a request names; it can be read, and read so.
    pub(crate) fn find(
        catalog: &Catalog,
        table_name: Option<&str>,
        index_name: Option<&str>,
        consistent_read: Option<bool>,
    ) -> Result<Source, ApiError> {
        let table = find_table(catalog, table_name)?;
        let Some(name) = index_name else { return Ok(Source { table, index: None }) };
        let place = table.indexes.iter().position(|index| index.name == name);
        let source = Source { table, index: place };
        let index = source.index().ok_or_else(|| {
            ApiError::validation(format!("The table does not have the specified index: {name}"))
        })?;
        if !index.local && consistent_read == Some(true) {
            return Err(ApiError::validation(
                "Consistent reads are not supported on global secondary indexes",
            ));
        }
        if index.state == IndexState::Creating {
            return Err(ApiError::validation(format!(
                "Cannot read from backfilling global secondary index: {name}"
            )));
        }
        Ok(source)
    }

    /// The index, if it is one.
    pub(crate) fn index(&self) -> Option<&Index> {
        self.table.indexes.get(self.index?)
    }

    /// Where its items or entries are.
    pub(crate) fn collection(&self) -> CollectionId {
        self.index().map_or(self.table.id, |index| index.id)
    }

    /// The key by which it is ordered.
    pub(crate) fn schema(&self) -> &KeySchema {
        self.index().map_or(&self.table.schema, |index| &index.schema)
    }

    /// The attributes that a start key has: the keys of the table and the index, each once.
    fn start_key_names(&self) -> impl Iterator<Item = &str> {
        let of_index = self.index().into_iter().flat_map(|index| index.schema.attributes());
        let beyond = of_index.filter(|attribute| !self.table.schema.contains(&attribute.name));
        self.table.schema.attributes().chain(beyond).map(|attribute| attribute.name.as_str())
    }

    /// Whether a start key has as many attributes as it should.
    pub(crate) fn has_start_key_length(&self, start_key: &Item) -> bool {
        start_key.len() == self.start_key_names().count()
    }

    /// Checks some of the attributes of a start key by which the table or index is ordered.
    pub(crate) fn check_start_key<'a>(
        &self,
        start_key: &Item,
        attributes: impl IntoIterator<Item = &'a KeyAttribute>,
    ) -> Result<(), ApiError> {
        for attribute in attributes {
            let value = start_key.get(&attribute.name).ok_or_else(|| ApiError::validation(INVALID_START))?;
            match KeyValue::from_value(value).filter(|value| value.key_type() == attribute.key_type) {
                Some(value) => check_key_size(self.schema(), attribute, value)?,
                None => return Err(ApiError::validation(KEY_MISMATCH)),
            }
        }
        Ok(())
    }

    /// The place in the store after which a page starts.
    pub(crate) fn start_position(&self, start_key: &Item) -> Result<bytes::Bytes, ApiError> {
        let of_table =
            self.table.schema.attributes().filter_map(|attribute| {
                Some((attribute.name.clone(), start_key.get(&attribute.name)?.clone()))
            });
        let item_key = check_key(&self.table, &of_table.collect())
            .map_err(|error| ApiError::validation(format!("{INVALID_START}: {}", error.message)))?;
        match self.index() {
            Some(index) => index_entry_key(index.id, &index.schema, start_key, &item_key)
                .ok_or_else(|| ApiError::validation(INVALID_START)),
            None => Ok(item_key.in_collection(self.table.id)),
        }
    }

    /// The start key of the next page.
    fn start_key(&self, last: &StoredItem) -> Item {
        key_attributes(last, self.start_key_names())
    }

    /// True if an entry holds this attribute.
    pub(crate) fn projects(&self, name: &str) -> bool {
        let Some(index) = self.index() else { return true };
        match &index.projection {
            table::Projection::All => true,
            _ if self.table.schema.contains(name) || index.schema.contains(name) => true,
            table::Projection::KeysOnly => false,
            table::Projection::Include(names) => names.iter().any(|included| included == name),
        }
    }

    fn projects_all(&self) -> bool {
        self.index().is_none_or(|index| index.projection == table::Projection::All)
    }
}

/// Said of a start key that is not one of this table or index.
pub(crate) const INVALID_START: &str = "The provided starting key is invalid";

/// What of each item is answered.
pub(crate) enum Output {
    /// Only how many there are.
    Count,
    /// What the table or index holds.
    Entries,
    /// The whole item, also where an index holds less.
    Items,
    /// These attributes.
    Attributes(Projection),
}

/// Checks Select against the other parameters; needs only the request.
pub(crate) fn check_select(
    select: Option<&Choice<Select>>,
    has_projection: bool,
    has_attributes_to_get: bool,
    has_index: bool,
) -> Result<(), ApiError> {
    let select = select.and_then(Choice::known);
    if select == Some(Select::AllProjectedAttributes) && !has_index {
        return Err(ApiError::validation(
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ));
    }
    let has_either = has_projection || has_attributes_to_get;
    match select {
        Some(Select::SpecificAttributes) if !has_either => Err(ApiError::validation(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
        )),
        Some(other) if other != Select::SpecificAttributes && has_either => {
            let parameter = if has_projection { "ProjectionExpression" } else { "AttributesToGet" };
            let what = if other == Select::Count { "only the Count" } else { other.name() };
            Err(ApiError::validation(format!("Cannot specify the {parameter} when choosing to get {what}")))
        }
        _ => Ok(()),
    }
}

/// A page to read from a table or index.
pub(crate) struct Reading {
    pub(crate) source: Source,
    pub(crate) page: PageRequest,
    pub(crate) filter: Option<Condition>,
    pub(crate) output: Output,
    /// Entries of a local index are completed from the table.
    completes: bool,
    kind: ReadKind,
    wanted_capacity: Option<Choice<ReturnConsumedCapacity>>,
}

/// A page as Query and Scan answer it.
pub(crate) struct Answer {
    pub(crate) items: Option<Vec<StoredItem>>,
    pub(crate) count: i32,
    pub(crate) scanned_count: i32,
    /// The size of all that was read.
    pub(crate) scanned_bytes: usize,
    pub(crate) units: Units,
    pub(crate) last_evaluated_key: Option<Item>,
    pub(crate) consumed_capacity: Option<ConsumedCapacity>,
}

impl Reading {
    /// Checks what is answered against what the index holds.
    pub(crate) fn new(
        source: Source,
        page: PageRequest,
        filter: Option<Condition>,
        projection: Option<Projection>,
        select: Option<&Choice<Select>>,
        consistent_read: Option<bool>,
        wanted_capacity: Option<Choice<ReturnConsumedCapacity>>,
    ) -> Result<Reading, ApiError> {
        check_scalar_keys(&source.table, projection.iter().flat_map(Projection::names))?;
        let select = select.and_then(Choice::known);
        let wants_whole = select == Some(Select::AllAttributes) && !source.projects_all();
        let missing: Vec<&str> = projection
            .iter()
            .flat_map(Projection::names)
            .map(|(name, _)| name)
            .filter(|name| !source.projects(name))
            .collect();
        if let Some(index) = source.index().filter(|index| !index.local) {
            check_whole(&source, select)?;
            check_missing(index, &missing)?;
        }
        let filtered = filter.iter().flat_map(Condition::paths);
        check_scalar_keys(&source.table, filtered.map(|path| (&*path.root, path.is_nested())))?;
        let filters_missing =
            filter.iter().flat_map(Condition::paths).any(|path| !source.projects(&path.root));
        let completes = wants_whole || !missing.is_empty() || filters_missing;
        let is_local = source.index().is_some_and(|index| index.local);
        Ok(Reading {
            completes: completes && is_local,
            output: match (select, projection) {
                (Some(Select::Count), _) => Output::Count,
                (_, Some(projection)) => Output::Attributes(projection),
                // A filter may need the whole item where the answer does not.
                _ if wants_whole => Output::Items,
                _ => Output::Entries,
            },
            source,
            page,
            filter,
            kind: ReadKind::of(consistent_read),
            wanted_capacity,
        })
    }

    /// Reads the page.
    pub(crate) fn read(&self, view: &View) -> Result<Answer, Fault> {
        let mut items = Vec::new();
        let mut count = 0_usize;
        let mut completed_units = 0.0;
        let page = read_page(&view.snapshot, &self.page, |item| {
            let whole = if self.completes {
                Some(self.complete(view, item.clone(), &mut completed_units)?)
            } else {
                None
            };
            let seen = whole.as_ref().unwrap_or(&item);
            if let Some(filter) = &self.filter
                && !filter.matches(Some(seen))
            {
                return Ok(());
            }
            count += 1;
            match &self.output {
                Output::Count => {}
                Output::Entries => items.push(item),
                Output::Items => items.push(whole.unwrap_or(item)),
                Output::Attributes(projection) => items.push(projection.apply(seen)),
            }
            Ok(())
        })?;
        let units = self.units(page.scanned_bytes, completed_units);
        Ok(Answer {
            items: (!matches!(self.output, Output::Count)).then_some(items),
            count: i32::try_from(count).unwrap_or(i32::MAX),
            scanned_count: i32::try_from(page.scanned).unwrap_or(i32::MAX),
            scanned_bytes: page.scanned_bytes,
            last_evaluated_key: page.last.as_ref().map(|last| self.source.start_key(last)),
            consumed_capacity: consumed(
                self.wanted_capacity.as_ref(),
                &self.source.table,
                &units,
                Detail::Plain,
            ),
            units,
        })
    }

    /// The whole item of an entry.
    fn complete(&self, view: &View, entry: StoredItem, units: &mut f64) -> Result<StoredItem, Fault> {
        let Some(key) = ItemKey::new(self.source.table.id, &self.source.table.schema, &entry) else {
            return Ok(entry);
        };
        let stored = view.snapshot.get(Space::Data, &key.in_collection(self.source.table.id))?;
        let item = stored.map_or(entry, StoredItem::from_bytes);
        *units += read_units(item.size_bytes(), self.kind);
        Ok(item)
    }

    fn units(&self, scanned_bytes: usize, completed_units: f64) -> Units {
        let scanned = read_units(scanned_bytes, self.kind);
        let mut units = Units::of_table(completed_units);
        match self.source.index() {
            Some(index) => units.add_index(index.local, &index.name, scanned),
            None => units.table += scanned,
        }
        units
    }
}

/// A global index answers only what it holds: not the whole item, where it holds less.
pub(crate) fn check_whole(source: &Source, select: Option<Select>) -> Result<(), ApiError> {
    let wants_whole = select == Some(Select::AllAttributes) && !source.projects_all();
    match source.index().filter(|index| !index.local && wants_whole) {
        Some(index) => Err(ApiError::validation(format!(
            "{INVALID}Select type ALL_ATTRIBUTES is not supported for global secondary index {} because its projection \
             type is not ALL",
            index.name
        ))),
        None => Ok(()),
    }
}

/// Nor attributes that it does not hold.
fn check_missing(index: &Index, missing: &[&str]) -> Result<(), ApiError> {
    if missing.is_empty() {
        return Ok(());
    }
    Err(ApiError::validation(format!(
        "{INVALID}Global secondary index {} does not project [{}]",
        index.name,
        missing.join(", ")
    )))
}
