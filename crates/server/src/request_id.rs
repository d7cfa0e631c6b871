//! Request ids: 52 characters of A-Z and 0-9, as DynamoDB's.

use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};

use hyper::header::HeaderValue;

const LENGTH: usize = 52;
/// Five random bits choose one of them; the letters that DynamoDB's ids use, without I, L, O and U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

thread_local! {
    static STATE: Cell<u64> = Cell::new(RandomState::new().build_hasher().finish());
}

/// A new id. Unique, not secret: nothing is allowed to whoever knows one.
pub(crate) fn next() -> HeaderValue {
    let mut id = [b'0'; LENGTH];
    for part in id.chunks_mut(12) {
        let mut bits = next_bits();
        for byte in part {
            *byte = character(bits);
            bits >>= 5;
        }
    }
    HeaderValue::from_bytes(&id).unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn character(bits: u64) -> u8 {
    let index = usize::try_from(bits & 31).unwrap_or(0);
    ALPHABET.get(index).copied().unwrap_or(b'0')
}

/// SplitMix64 from a random start, one sequence for each thread.
fn next_bits() -> u64 {
    STATE.with(|state| {
        let value = state.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        state.set(value);
        let mixed = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_52_upper_case_letters_and_digits_and_differs_from_the_next() {
        let (one, two) = (next(), next());
        assert_eq!(one.len(), 52);
        assert!(one.as_bytes().iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()));
        assert_ne!(one, two);
    }
}
