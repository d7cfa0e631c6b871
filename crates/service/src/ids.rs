//! New ids: ULID, KSUID, UUID (version 7) and base36 time. All begin with the time, so they sort by it.
//!
//! Always true: the ids of one request follow from its seed and time alone, so a request that is bound again makes the same ones; and
//! within a request each id is greater than the one before.

use std::sync::{Arc, OnceLock};

use design::Type;

use crate::options::Random;
use crate::service::Service;

/// The first second of KSUIDs: 2014-05-13T16:53:20Z.
const KSUID_EPOCH_SECONDS: i64 = 1_400_000_000;

const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The ids of one request.
pub(crate) struct Ids {
    chance: OnceLock<u128>,
    /// Where chance comes from when the first id is made: most requests make none, and the system is asked for it each time.
    random: Option<Arc<dyn Random>>,
    now_milliseconds: i64,
}

impl Ids {
    /// Ids from these random bytes at this time.
    pub(crate) fn new(seed: &[u8; 32], now_milliseconds: i64) -> Ids {
        Ids { chance: OnceLock::from(chance(seed)), random: None, now_milliseconds }
    }

    /// New ids at the time of a service.
    pub(crate) fn of(service: &Service) -> Ids {
        let random = Some(Arc::clone(&service.options().random));
        Ids { chance: OnceLock::new(), random, now_milliseconds: service.now_milliseconds() }
    }

    /// For what makes no ids.
    pub(crate) fn none() -> Ids {
        Ids { chance: OnceLock::new(), random: None, now_milliseconds: 0 }
    }

    fn chance(&self) -> u128 {
        *self.chance.get_or_init(|| self.random.as_ref().map_or(0, |random| chance(&random.bytes())))
    }

    pub(crate) fn now_milliseconds(&self) -> i64 {
        self.now_milliseconds
    }

    /// The n-th id of the request.
    pub(crate) fn make(&self, kind: &Type, number: usize) -> String {
        let milliseconds = u128::try_from(self.now_milliseconds).unwrap_or(0);
        let number = u128::try_from(number).unwrap_or(0);
        // The highest random bit stays free, so that counting up never runs over.
        let random = |bits: u32| (self.chance() & ((1 << (bits - 1)) - 1)) + number;
        match kind {
            Type::Ksuid => ksuid(self.now_milliseconds, random(127)),
            Type::Uuid => uuid(milliseconds << 74 | random(74)),
            Type::Time36 => format!("{}{}", digits(milliseconds, BASE36, 8), digits(random(62), BASE36, 12)),
            _ => digits(milliseconds << 80 | random(80), CROCKFORD, 26),
        }
    }
}

fn chance(seed: &[u8; 32]) -> u128 {
    seed.iter().take(16).fold(0_u128, |number, byte| number << 8 | u128::from(*byte))
}

/// The lowest digits of a number in some alphabet.
fn digits(mut number: u128, alphabet: &[u8], width: usize) -> String {
    let base = u128::try_from(alphabet.len()).unwrap_or(10);
    let mut text = Vec::with_capacity(width);
    for _ in 0..width {
        let digit = usize::try_from(number % base).unwrap_or(0);
        text.push(alphabet.get(digit).copied().map_or('0', char::from));
        number /= base;
    }
    text.iter().rev().collect()
}

/// 48 bits of time, the version, 12 bits, the variant, 62 bits.
fn uuid(bits: u128) -> String {
    let (time, high, low) = (bits >> 74, bits >> 62 & 0xfff, bits & ((1 << 62) - 1));
    let hex = format!("{:032x}", time << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low);
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

/// 32 bits of seconds and 128 random bits as one number in base 62.
fn ksuid(now_milliseconds: i64, random: u128) -> String {
    let seconds = now_milliseconds.div_euclid(1_000) - KSUID_EPOCH_SECONDS;
    let seconds = u32::try_from(seconds).unwrap_or(0);
    let mut bytes = seconds.to_be_bytes().to_vec();
    bytes.extend(random.to_be_bytes());
    let mut text = Vec::with_capacity(27);
    for _ in 0..27 {
        let mut rest = 0_u32;
        for byte in &mut bytes {
            let number = rest << 8 | u32::from(*byte);
            *byte = u8::try_from(number / 62).unwrap_or(0);
            rest = number % 62;
        }
        let digit = usize::try_from(rest).unwrap_or(0);
        text.push(BASE62.get(digit).copied().map_or('0', char::from));
    }
    text.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_705_314_600_123;

    #[test]
    fn ids_have_the_forms_that_designs_check() {
        let ids = Ids::new(&[0xff; 32], NOW);
        assert_eq!(ids.make(&Type::Ulid, 0), "01HM6AQH5VFZZZZZZZZZZZZZZZ");
        assert_eq!(ids.make(&Type::Ulid, 1), "01HM6AQH5VG000000000000000");
        assert_eq!(ids.make(&Type::Uuid, 0), "018d0cab-c4bb-77ff-bfff-ffffffffffff");
        assert_eq!(ids.make(&Type::Time36, 0).len(), 20);
        assert!(ids.make(&Type::Time36, 0).starts_with("lresa6rf"));
        assert_eq!(ids.make(&Type::Ksuid, 0), "2azHgjpIe5LjzXf6MVNtJ8vWnpH");
    }

    #[test]
    fn ids_of_one_request_sort_in_the_order_they_are_made() {
        let ids = Ids::new(&[7; 32], NOW);
        let later = Ids::new(&[0; 32], NOW + 1_000);
        for kind in [Type::Ulid, Type::Uuid, Type::Time36, Type::Ksuid] {
            let made = (0..50).map(|number| ids.make(&kind, number)).collect::<Vec<_>>();
            assert!(made.is_sorted(), "{made:?}");
            assert_eq!(ids.make(&kind, 7), made[7]);
            assert!(later.make(&kind, 0) > made[49]);
        }
    }
}
