//! Request ids: 52 characters of A-Z and 0-9, as DynamoDB's.

use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};

use hyper::header::HeaderValue;

const LENGTH: usize = 52;
/// Five random bits choose one of them: the letters that DynamoDB's ids use, without I, L, O and U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

thread_local! {
    static STATE: Cell<u64> = Cell::new(RandomState::new().build_hasher().finish());
}

/// The id of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId([u8; LENGTH]);

impl RequestId {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl From<RequestId> for HeaderValue {
    fn from(id: RequestId) -> HeaderValue {
        HeaderValue::from_bytes(&id.0).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

/// Two characters for each ten bits.
const PAIRS: [[u8; 2]; 1024] = {
    let mut pairs = [[0; 2]; 1024];
    let mut bits = 0;
    #[allow(clippy::indexing_slicing, reason = "every index is below the length")]
    while bits < 1024 {
        pairs[bits] = [ALPHABET[bits & 31], ALPHABET[bits >> 5]];
        bits += 1;
    }
    pairs
};

/// A new id. Unique, not secret: nothing is allowed to whoever knows one.
pub(crate) fn next() -> RequestId {
    let mut id = [b'0'; LENGTH];
    let mut state = STATE.get();
    for part in id.chunks_mut(12) {
        let mut bits = next_bits(&mut state);
        for pair in part.as_chunks_mut::<2>().0 {
            *pair = usize::try_from(bits & 1023)
                .ok()
                .and_then(|place| PAIRS.get(place))
                .copied()
                .unwrap_or_default();
            bits >>= 10;
        }
    }
    STATE.set(state);
    RequestId(id)
}

/// SplitMix64 from a random start, one sequence for each thread.
fn next_bits(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_52_upper_case_letters_and_digits_and_differs_from_the_next() {
        let (one, two) = (next(), next());
        assert_eq!(one.as_str().len(), 52);
        assert!(one.as_bytes().iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()));
        assert_ne!(one, two);
    }
}
