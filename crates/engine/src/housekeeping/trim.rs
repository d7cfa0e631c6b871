//! Trims what is kept for a time only: stream records for 24 hours, closed streams as long, histories for 1 to 35 days, backups of
//! deleted tables for 35 days, tokens of transactions for ten minutes.

use std::ops::Bound;

use bytes::{Buf, Bytes};

use super::STEP_WRITES_MAX;
use crate::catalog::{Catalog, CatalogChange};
use crate::commit::{Changes, Latest, View};
use crate::engine::Inner;
use crate::fault::Fault;
use crate::history;
use crate::layout::{CollectionId, KeyRange, parse_record_key};
use crate::meta::{self, MetaKey};
use crate::record::record_time_milliseconds;
use crate::recovery;
use crate::store::{Direction, Range, Snapshot, Space, StoreError};
use crate::stream::RETENTION_MILLISECONDS;

/// Trims a little of every stream and of the tokens, and forgets streams that were closed long ago.
pub(super) fn step(inner: &Inner) -> Result<bool, Fault> {
    let view = inner.committer.view();
    let now_milliseconds = inner.committer.now_milliseconds();
    let horizon = now_milliseconds - RETENTION_MILLISECONDS;
    let mut worked = false;
    let open = view.catalog.readable_tables().filter_map(|table| table.stream.as_ref());
    let closed = view.catalog.closed_streams().filter(|closed| view.catalog.check_key(&closed.table).is_ok());
    let closed = closed.map(|closed| &closed.stream);
    for id in open.chain(closed).map(|stream| stream.id) {
        let first = range_of(&view.snapshot, Space::Log, &KeyRange::of_collection(id)).next().transpose()?;
        if first.is_some_and(|(_, record)| is_older(&record, horizon)) {
            inner.committer.run_alone(move |latest| trim_stream(id, horizon, latest))?;
            worked = true;
        }
    }
    for closed in view.catalog.closed_streams() {
        if closed.closed_milliseconds <= horizon {
            let id = closed.stream.id;
            inner.committer.run(move |latest| Ok(((), forget_stream(id, latest))))?;
            worked = true;
        }
    }
    worked |= trim_histories(inner, &view)?;
    worked |= forget_backups(inner, &view, now_milliseconds)?;
    Ok(worked | trim_tokens(inner, &view.snapshot, now_milliseconds)?)
}

/// Removes changes that are older than the days of each table with recovery, unless a copy still undoes them.
fn trim_histories(inner: &Inner, view: &View) -> Result<bool, Fault> {
    let now_milliseconds = inner.committer.history_milliseconds();
    let mut worked = false;
    for table in view.catalog.readable_tables() {
        let (Some(recovery), Some(history)) = (&table.recovery, table.history) else { continue };
        let horizon = recovery.horizon_milliseconds(now_milliseconds);
        if next_to_trim(&view.catalog, history, horizon, &view.snapshot)?.is_some() {
            inner.committer.run_alone(move |latest| trim_history(history, horizon, latest))?;
            worked = true;
        }
    }
    Ok(worked)
}

/// The oldest change of a history, if nobody needs it any more.
fn next_to_trim(
    catalog: &Catalog,
    history: CollectionId,
    horizon: i64,
    snapshot: &Snapshot,
) -> Result<Option<Bytes>, StoreError> {
    let first = range_of(snapshot, Space::Log, &KeyRange::of_collection(history)).next().transpose()?;
    let needed = first_needed(catalog, history);
    Ok(first.filter(|(key, record)| is_over(key, record, needed, horizon)).map(|(key, _)| key))
}

/// The first change that a copy is still to undo.
fn first_needed(catalog: &Catalog, history: CollectionId) -> u64 {
    let undone = catalog.copies().filter_map(|copying| copying.undo).filter(|undo| undo.history == history);
    undone.map(|undo| undo.from).min().unwrap_or(u64::MAX)
}

fn is_over(key: &[u8], record: &[u8], needed: u64, horizon: i64) -> bool {
    parse_record_key(key).is_none_or(|number| number < needed)
        && history::time_milliseconds(record).is_none_or(|time| time <= horizon)
}

fn trim_history(history: CollectionId, horizon: i64, latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let mut changes = Changes::default();
    let needed = first_needed(latest.catalog, history);
    let mut trimmed_milliseconds = None;
    for entry in
        range_of(latest.snapshot(), Space::Log, &KeyRange::of_collection(history)).take(STEP_WRITES_MAX)
    {
        let (key, record) = entry?;
        if !is_over(&key, &record, needed, horizon) {
            break;
        }
        trimmed_milliseconds = history::time_milliseconds(&record).or(trimmed_milliseconds);
        changes.batch.remove(Space::Log, key);
    }
    if let Some(milliseconds) = trimmed_milliseconds {
        recovery::put_trimmed(history, milliseconds, &mut changes.batch);
    }
    Ok(((), changes))
}

/// Forgets backups of deleted tables whose time is over.
fn forget_backups(inner: &Inner, view: &View, now_milliseconds: i64) -> Result<bool, Fault> {
    let is_over = |expires: Option<i64>| expires.is_some_and(|expires| expires <= now_milliseconds);
    let due = view.catalog.backups().find(|backup| is_over(backup.expires_milliseconds));
    let Some(id) = due.map(|backup| backup.id) else { return Ok(false) };
    inner.committer.run(move |latest| {
        let is_there = latest.catalog.backup(id).is_some();
        let catalog = if is_there { vec![CatalogChange::ForgetBackup(id)] } else { Vec::new() };
        Ok(((), Changes { catalog, ..Changes::default() }))
    })?;
    Ok(true)
}

fn is_older(record: &[u8], horizon_milliseconds: i64) -> bool {
    record_time_milliseconds(record).is_none_or(|time| time <= horizon_milliseconds)
}

/// Removes the oldest records and remembers the last of them, so that who asks for one of them is told.
fn trim_stream(id: CollectionId, horizon: i64, latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let mut changes = Changes::default();
    let mut last = None;
    let records = range_of(latest.snapshot(), Space::Log, &KeyRange::of_collection(id));
    for entry in records.take(STEP_WRITES_MAX) {
        let (key, record) = entry?;
        if !is_older(&record, horizon) {
            break;
        }
        last = parse_record_key(&key);
        changes.batch.remove(Space::Log, key);
    }
    if let Some(sequence) = last {
        let place = Bytes::copy_from_slice(&sequence.to_be_bytes());
        changes.batch.put(Space::Meta, meta::collection_key(MetaKey::TRIMMED, id), place);
    }
    Ok(((), changes))
}

fn forget_stream(id: CollectionId, latest: &Latest<'_>) -> Changes {
    let is_there = latest.catalog.closed_streams().any(|closed| closed.stream.id == id);
    let catalog = if is_there { vec![CatalogChange::ForgetStream(id)] } else { Vec::new() };
    Changes { catalog, ..Changes::default() }
}

/// Removes tokens whose time is over, with the entries that tell it.
fn trim_tokens(inner: &Inner, snapshot: &Snapshot, now_milliseconds: i64) -> Result<bool, Fault> {
    let now = u64::try_from(now_milliseconds).unwrap_or_default();
    let lower = meta::key(MetaKey::TOKEN_EXPIRY, b"");
    let upper = meta::key(MetaKey::TOKEN_EXPIRY, &now.to_be_bytes());
    let range = KeyRange { lower: Bound::Included(lower), upper: Bound::Excluded(upper) };
    let due: Vec<Bytes> = range_of(snapshot, Space::Meta, &range)
        .take(STEP_WRITES_MAX)
        .map(|entry| Ok(entry?.0))
        .collect::<Result<_, StoreError>>()?;
    if due.is_empty() {
        return Ok(false);
    }
    inner.committer.run(move |latest| remove_tokens(&due, latest))?;
    Ok(true)
}

/// Removes the tokens that these entries tell of. A token that was used again after its time has a later entry and stays.
fn remove_tokens(due: &[Bytes], latest: &Latest<'_>) -> Result<((), Changes), Fault> {
    let mut changes = Changes::default();
    for entry in due {
        if let Some(token) = entry.get(1 + size_of::<i64>()..) {
            let key = meta::key(MetaKey::TOKEN, token);
            let expiry = latest.get(Space::Meta, &key)?.and_then(|mut value| value.try_get_i64().ok());
            if expiry.is_some_and(|expiry| expiry <= latest.now_milliseconds) {
                changes.batch.remove(Space::Meta, key);
            }
        }
        changes.batch.remove(Space::Meta, entry.clone());
    }
    Ok(((), changes))
}

fn range_of<'a>(snapshot: &'a Snapshot, space: Space, range: &KeyRange) -> Range<'a> {
    let (lower, upper) = range.bounds();
    snapshot.range(space, lower, upper, Direction::Forward)
}
