//! Trims what is kept for a time only: stream records for 24 hours, closed streams as long, tokens of transactions for ten minutes.

use std::ops::Bound;

use bytes::{Buf, Bytes};

use super::STEP_WRITES_MAX;
use crate::catalog::CatalogChange;
use crate::commit::{Changes, Latest};
use crate::engine::Inner;
use crate::fault::Fault;
use crate::layout::{CollectionId, KeyRange, parse_record_key};
use crate::meta::{self, MetaKey};
use crate::record::record_time_milliseconds;
use crate::store::{Direction, Range, Snapshot, Space, StoreError};
use crate::stream::RETENTION_MILLISECONDS;

/// Trims a little of every stream and of the tokens, and forgets streams that were closed long ago.
pub(super) fn step(inner: &Inner) -> Result<bool, Fault> {
    let view = inner.committer.view();
    let now_milliseconds = inner.committer.now_milliseconds();
    let horizon = now_milliseconds - RETENTION_MILLISECONDS;
    let mut worked = false;
    let open = view.catalog.tables().filter_map(|table| table.stream.as_ref()).map(|stream| stream.id);
    let closed = view.catalog.closed_streams().map(|closed| closed.stream.id);
    for id in open.chain(closed) {
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
    Ok(worked | trim_tokens(inner, &view.snapshot, now_milliseconds)?)
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
