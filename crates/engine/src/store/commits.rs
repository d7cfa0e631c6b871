//! Numbered commits: every batch on disk carries its number, so that one lost from the middle is noticed.
//!
//! The storage crate drops what follows a damaged place in one of its journals without a word and goes on with the
//! next journal (fjall issue 311). Commit n therefore writes n into slot n mod `WINDOW` of a ring of keys.
//!
//! Always true: the ring holds exactly the last `WINDOW` numbers. A lost commit leaves an older number, or none, in
//! its slot. The cost is one tiny write per commit, never a removal.

use bytes::Bytes;

use super::StoreError;

/// How many commits back a gap is noticed. With group commits of 32 KB this spans every journal there can be; reading
/// it takes a few milliseconds.
pub(super) const WINDOW: u64 = 8_192;

/// What commit `number` writes: its slot in the ring, and itself.
pub(super) fn marker(number: u64) -> (Bytes, Bytes) {
    let slot = (number % WINDOW).to_be_bytes();
    (Bytes::copy_from_slice(&slot), Bytes::copy_from_slice(&number.to_be_bytes()))
}

/// The number of the last commit, given all entries of the ring; 0 if there is none.
pub(super) fn last_commit(ring: &[(Bytes, Bytes)]) -> Result<u64, StoreError> {
    let numbers = ring.iter().map(number_of).collect::<Result<Vec<u64>, StoreError>>()?;
    let last = numbers.iter().copied().max().unwrap_or(0);
    match first_missing(numbers, last) {
        None => Ok(last),
        Some(missing) => {
            Err(StoreError::corrupt(format!("commit {missing} is missing though commit {last} is there")))
        }
    }
}

fn number_of((key, value): &(Bytes, Bytes)) -> Result<u64, StoreError> {
    value
        .as_ref()
        .try_into()
        .map(u64::from_be_bytes)
        .ok()
        .filter(|&number| number > 0 && marker(number).0 == *key)
        .ok_or_else(|| StoreError::corrupt(format!("the commit marker {key:?} holds {value:?}")))
}

fn first_missing(mut numbers: Vec<u64>, last: u64) -> Option<u64> {
    let first_expected = last.saturating_sub(WINDOW - 1).max(1);
    numbers.retain(|&number| number >= first_expected);
    numbers.sort_unstable();
    (first_expected..=last)
        .zip(numbers.into_iter().map(Some).chain(std::iter::repeat(None)))
        .find_map(|(expected, found)| (found != Some(expected)).then_some(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(numbers: impl Iterator<Item = u64>) -> Vec<(Bytes, Bytes)> {
        numbers.map(marker).collect()
    }

    #[test]
    fn an_empty_ring_has_seen_no_commit() {
        assert_eq!(last_commit(&[]).unwrap(), 0);
    }

    #[test]
    fn a_ring_without_gaps_ends_with_the_last_commit() {
        assert_eq!(last_commit(&ring(1..=10)).unwrap(), 10);
        assert_eq!(last_commit(&ring(5_000..5_000 + WINDOW)).unwrap(), 4_999 + WINDOW);
    }

    #[test]
    fn a_gap_is_named_in_a_ring_not_yet_full() {
        let error = last_commit(&ring((1..=10).filter(|&number| number != 1))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the database is damaged: commit 1 is missing though commit 10 is there"
        );
    }

    #[test]
    fn a_gap_is_named_when_its_slot_still_holds_an_older_number() {
        let last = 3 * WINDOW;
        let gap = last - 7;
        let numbers =
            (last - WINDOW + 1..=last).map(|number| if number == gap { gap - WINDOW } else { number });
        let error = last_commit(&ring(numbers)).unwrap_err();
        assert!(error.to_string().contains(&format!("commit {gap} is missing")), "{error}");
    }

    #[test]
    fn a_marker_in_the_wrong_slot_is_damage() {
        let entry = (marker(3).0, marker(4).1);
        assert!(matches!(last_commit(&[entry]), Err(StoreError::Corrupt { .. })));
    }
}
