//! One page: the rows of several streams in one order.
//!
//! Always true: the page ends where the next one begins. Rows that came to be before the place where a page ended do not shift it, and are
//! not in later pages.

use std::cmp::Ordering;

use design::Apply;

use super::order;
use super::stream::{Mark, Row, Stream};
use crate::cursor::Positions;
use crate::refusal::Refusal;
use crate::service::Service;

/// How often the backend is asked for one page of one stream. A filter that drops nearly everything ends the page early, with a cursor.
const FETCHES_MAX: usize = 10;

/// What a page is made by.
pub(super) struct Page<'s> {
    pub(super) service: &'s Service,
    pub(super) limit: usize,
    pub(super) descending: bool,
    /// What the last row of the page before was ordered by.
    pub(super) mark: Option<Mark>,
    /// Rows of one entity that complete rows of another.
    pub(super) apply: Option<&'s Apply>,
}

impl<'s> Page<'s> {
    /// Reads a page: its rows, and where the next one begins if there may be one.
    pub(super) async fn read(
        &self,
        mut streams: Vec<Stream<'s>>,
    ) -> Result<(Vec<Row<'s>>, Option<Positions>), Refusal> {
        let mut rows = Vec::new();
        let mut applied: Vec<Row<'s>> = Vec::new();
        let mut fetches = FETCHES_MAX * streams.len();
        let more = loop {
            if !self.catch_up(&mut streams, self.limit - rows.len(), &mut fetches).await? {
                break true;
            }
            let Some(next) = self.next(&streams) else { break false };
            if rows.len() >= self.limit {
                break true;
            }
            let Some(row) = streams.get_mut(next).and_then(Stream::take) else { break false };
            if self.is_late(&row) {
                continue;
            }
            match self.apply {
                Some(apply) if row.found.entity.name.value == apply.entity.value => applied.push(row),
                Some(apply) => rows.push(completed(apply, row, &applied)),
                None => rows.push(row),
            }
        };
        let mark = rows.last().filter(|row| !row.rank.is_empty()).map(|row| Mark(row.rank.clone()));
        let mark = mark.or_else(|| self.mark.clone()).map(|mark| Some(mark.into_position()));
        let positions = more.then(|| streams.into_iter().map(Stream::into_position).chain(mark).collect());
        Ok((rows, positions))
    }

    /// Whether a row belongs before the end of the page before.
    fn is_late(&self, row: &Row<'_>) -> bool {
        let Some(Mark(mark)) = &self.mark else { return false };
        let before = if self.descending { Ordering::Greater } else { Ordering::Less };
        order(&row.rank, mark) == before
    }

    /// Fetches until the next row of every stream is known. False if that takes too long.
    async fn catch_up(
        &self,
        streams: &mut [Stream<'s>],
        missing: usize,
        fetches: &mut usize,
    ) -> Result<bool, Refusal> {
        for stream in streams {
            while stream.is_behind() {
                if *fetches == 0 {
                    return Ok(false);
                }
                *fetches -= 1;
                // One more than is missing tells whether there is another page.
                stream.fetch(self.service, missing.saturating_add(1)).await?;
            }
        }
        Ok(true)
    }

    /// The stream whose row comes next.
    fn next(&self, streams: &[Stream<'s>]) -> Option<usize> {
        let heads = streams.iter().enumerate().filter_map(|(number, stream)| Some((number, stream.head()?)));
        heads.min_by(|(_, left), (_, right)| self.compare(left, right)).map(|(number, _)| number)
    }

    /// The order of two rows. Of equal ones, what completes others comes first.
    fn compare(&self, left: &Row<'_>, right: &Row<'_>) -> Ordering {
        let ranks = order(&left.rank, &right.rank);
        let ranks = if self.descending { ranks.reverse() } else { ranks };
        let listed =
            |row: &Row<'_>| self.apply.is_none_or(|apply| row.found.entity.name.value != apply.entity.value);
        ranks.then_with(|| listed(left).cmp(&listed(right)))
    }
}

/// A row with what the applied rows say of it.
fn completed<'s>(apply: &Apply, mut row: Row<'s>, applied: &[Row<'s>]) -> Row<'s> {
    if row.found.entity.name.value != apply.to.value {
        return row;
    }
    let own = row.found.at(&apply.on.value);
    for other in applied.iter().filter(|other| own.is_some() && other.found.at(&apply.on.value) == own) {
        for name in &apply.take {
            if let Some(value) = other.found.at(&name.value) {
                row.found.tree().insert(name.value.clone(), value);
            }
        }
    }
    row
}
