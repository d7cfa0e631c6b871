//! Keys of tables: asks whether the customers' keys can still be used, replaces data keys, and seals again what was there before a
//! change.
//!
//! Always true: a data key leaves its envelope only after a pass over everything that has the key, in which nothing was left that it
//! seals. A pass is a row of small commits; one that was cut off begins again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use seal::{KeySource, SealError};

use super::{STEP_BYTES_MAX, STEP_WRITES_MAX};
use crate::catalog::{Catalog, CatalogChange};
use crate::commit::{Changes, Latest};
use crate::engine::Inner;
use crate::fault::Fault;
use crate::layout::{CollectionId, KeyRange};
use crate::store::{Direction, Space, TableKeyId, TableKeys, data_key_of, key_of};
use crate::table::{Encryption, SealChange, Settings, Table};
use crate::table_key::{TableKey, missing};

/// Entries that are looked at in one step.
const STEP_ENTRIES_MAX: usize = 5_000;

/// For so long a key stays in memory that no table has: one may be about to get it.
const SHORT_TIME: Duration = Duration::from_mins(1);

/// What is remembered between two steps.
#[derive(Default)]
pub(crate) struct KeyHouse {
    last_look: Mutex<Option<Instant>>,
    pass: Mutex<Option<Pass>>,
}

/// A pass over everything that has a key.
#[derive(Clone, Debug)]
struct Pass {
    key: TableKeyId,
    /// The data key that everything is to be sealed with.
    data_key: u32,
    /// The tables whose values are sealed or opened by it.
    tables: Vec<CollectionId>,
    /// What is left, the next at the end.
    left: Vec<(Space, CollectionId)>,
    /// The last entry that was looked at.
    after: Option<Bytes>,
}

/// Does one small step.
pub(super) fn step(inner: &Inner) -> Result<bool, Fault> {
    let catalog = inner.committer.catalog();
    let Some(opened) = catalog.keys.opened() else { return Ok(false) };
    if opened.len() > catalog.keys.all().count() {
        opened.retain(SHORT_TIME, |id| catalog.keys.get(id).is_some());
    }
    if catalog.keys.is_empty() {
        return Ok(false);
    }
    let mut worked = false;
    if is_time_to_look(inner) {
        worked |= look(inner, &catalog, opened)?;
        worked |= renew(inner, &catalog, opened)?;
    }
    Ok(worked | reseal(inner)?)
}

/// Whether the customers' keys are to be asked for again.
fn is_time_to_look(inner: &Inner) -> bool {
    let source = inner.options.table_keys.as_deref();
    let patience = source.map(KeySource::patience).unwrap_or_default();
    let mut last = inner.key_house.last_look.lock();
    let is_time = last.is_none_or(|last| last.elapsed() >= patience);
    if is_time {
        *last = Some(Instant::now());
    }
    is_time
}

/// Asks for the customers' keys again.
fn look(inner: &Inner, catalog: &Catalog, opened: &Arc<TableKeys>) -> Result<bool, Fault> {
    let source = inner.options.table_keys.as_deref();
    let mut worked = false;
    for key in catalog.keys.all() {
        let (is_open, found) = (opened.sealer(key.id).is_ok(), key.unwrap(source));
        match found {
            Ok(sealer) if !is_open => {
                opened.put(key.id, Arc::new(sealer));
                inner.committer.learn_history()?;
                worked = true;
            }
            // What cannot be asked says nothing about the key.
            Ok(_) | Err(SealError::MasterKeyUnreachable { .. }) => {}
            Err(error) => {
                let (id, opened) = (key.id, opened.clone());
                let gone = missing(&error, inner.committer.now_milliseconds());
                // As a commit of its own, so that no write to the table is under way.
                inner.committer.run_alone(move |_| {
                    opened.take(id, gone);
                    Ok(((), Changes::default()))
                })?;
                worked |= is_open;
            }
        }
    }
    Ok(worked)
}

/// Gives tables another data key once the database has got one.
fn renew(inner: &Inner, catalog: &Catalog, opened: &Arc<TableKeys>) -> Result<bool, Fault> {
    let source = inner.options.table_keys.as_deref();
    let database_key = inner.committer.store().data_key();
    let mut worked = false;
    for key in catalog.keys.all().filter(|key| key.database_key != database_key) {
        let more = key.master(source).and_then(|master| key.envelope.with_new_key(&*master));
        // It is tried again; `look` says what is wrong.
        let Ok(envelope) = more else { continue };
        let renewed = Arc::new(TableKey { envelope, database_key, ..TableKey::clone(key) });
        let Ok(sealer) = renewed.unwrap(source) else { continue };
        let (old, new) = (key.clone(), renewed);
        let was_put = inner.committer.run_alone(move |latest| Ok(replace(&old, new, latest)))?;
        if was_put {
            // From the next commit on it seals; what was sealed before is found by the pass.
            opened.put(key.id, Arc::new(sealer));
            worked = true;
        }
    }
    Ok(worked)
}

/// Puts a key in the place of another version of it, unless that has changed.
fn replace(old: &Arc<TableKey>, new: Arc<TableKey>, latest: &Latest<'_>) -> (bool, Changes) {
    let is_current = latest.catalog.keys.get(old.id) == Some(old);
    let catalog = if is_current { vec![CatalogChange::PutKey(new)] } else { Vec::new() };
    (is_current, Changes { catalog, ..Changes::default() })
}

/// Does a step of the pass that is under way, or begins one.
fn reseal(inner: &Inner) -> Result<bool, Fault> {
    let mut current = inner.key_house.pass.lock();
    let pass = match current.take() {
        Some(pass) => pass,
        None => match next_pass(&inner.committer.catalog()) {
            Some(pass) => pass,
            None => return Ok(false),
        },
    };
    // Where a step fails, the pass begins again.
    if let Some(collection) = pass.left.last().copied() {
        *current = Some(inner.committer.run_alone(move |latest| seal_some(pass, collection, latest))?);
    } else {
        inner.committer.run_alone(move |latest| Ok(((), finish(&pass, latest))))?;
    }
    Ok(true)
}

/// The first key with something to be sealed or opened.
fn next_pass(catalog: &Catalog) -> Option<Pass> {
    let changing = |id: TableKeyId| {
        let tables = catalog.tables().filter(move |table| table.key() == Some(id));
        tables.filter(|table| change_of(table).is_some()).map(|table| table.id)
    };
    let is_due = |key: &&Arc<TableKey>| {
        let is_renewed = key.envelope.data_key_ids().count() > 1;
        (is_renewed || changing(key.id).next().is_some()) && catalog.keys.missing(key.id).is_none()
    };
    let key = catalog.keys.all().find(is_due)?;
    let owners = catalog.key_owners().filter(|owner| owner.table().key() == Some(key.id));
    Some(Pass {
        key: key.id,
        data_key: key.envelope.data_key_ids().max()?,
        tables: changing(key.id).collect(),
        left: owners.flat_map(|owner| owner.collections()).collect(),
        after: None,
    })
}

fn change_of(table: &Table) -> Option<SealChange> {
    table.settings.encryption.as_ref()?.change
}

/// Writes some entries of a collection again that are not sealed as they should be: the commit seals them.
fn seal_some(
    mut pass: Pass,
    (space, id): (Space, CollectionId),
    latest: &Latest<'_>,
) -> Result<(Pass, Changes), Fault> {
    let mut changes = Changes::default();
    let is_owned = |pass: &Pass| {
        let mut owners = latest.catalog.key_owners().filter(|owner| owner.table().key() == Some(pass.key));
        owners.any(|owner| owner.collections().contains(&(space, id)))
    };
    let Some(opened) = latest.catalog.keys.opened().filter(|_| is_owned(&pass)) else {
        // It went meanwhile, and is emptied by others.
        pass.left.pop();
        pass.after = None;
        return Ok((pass, changes));
    };
    let wanted = latest.catalog.keys.of_collection(id);
    let mut range = KeyRange::of_collection(id);
    if let Some(after) = pass.after.take() {
        range = range.after(after);
    }
    let (lower, upper) = range.bounds();
    let snapshot = latest.snapshot().unopened();
    for (count, entry) in snapshot.range(space, lower, upper, Direction::Forward).enumerate() {
        let (key, value) = entry?;
        if !is_as_wanted(space, &value, wanted, pass.data_key) {
            changes.batch.put(space, key.clone(), opened.open(space, &key, value)?);
        }
        let is_enough =
            changes.batch.len() >= STEP_WRITES_MAX || changes.batch.size_bytes() >= STEP_BYTES_MAX;
        if is_enough || count >= STEP_ENTRIES_MAX {
            pass.after = Some(key);
            return Ok((pass, changes));
        }
    }
    pass.left.pop();
    Ok((pass, changes))
}

fn is_as_wanted(space: Space, value: &[u8], wanted: Option<TableKeyId>, data_key: u32) -> bool {
    let found = key_of(space, value);
    value.is_empty() || found == wanted && (wanted.is_none() || data_key_of(value) == Some(data_key))
}

/// Says of the tables that they are sealed or opened, and takes older data keys out of the envelope.
fn finish(pass: &Pass, latest: &Latest<'_>) -> Changes {
    let mut changes = Changes::default();
    if let Some(key) = latest.catalog.keys.get(pass.key)
        && key.envelope.data_key_ids().max() == Some(pass.data_key)
    {
        let envelope = key.envelope.with_current_key_only();
        changes.catalog.push(CatalogChange::PutKey(Arc::new(TableKey { envelope, ..TableKey::clone(key) })));
    }
    for table in latest.catalog.tables().filter(|table| pass.tables.contains(&table.id)) {
        let Some(encryption) = &table.settings.encryption else { continue };
        let encryption = changed(encryption);
        let settings = Settings { encryption, ..table.settings.clone() };
        changes.catalog.push(CatalogChange::Put(Arc::new(Table { settings, ..Table::clone(table) })));
    }
    changes
}

/// The encryption after its change.
fn changed(encryption: &Encryption) -> Option<Encryption> {
    let after = Encryption { change: None, ..encryption.clone() };
    match encryption.change {
        Some(SealChange::Unsealing) if encryption.key_arn.is_none() => None,
        Some(SealChange::Unsealing) => Some(Encryption { key: None, ..after }),
        _ => Some(after),
    }
}
