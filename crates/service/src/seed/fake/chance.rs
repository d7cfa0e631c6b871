//! Chance for made-up items: fast, and none of it is for secrets.

/// A stream of pseudo-random numbers (SplitMix64).
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: [u8; 32]) -> Chance {
        Chance(seed.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ number >> 31
    }

    /// A number below another.
    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }

    /// A place in a list of this length.
    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(u64::try_from(length).unwrap_or(1))).unwrap_or(0)
    }

    /// One of some words.
    pub(super) fn word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.index(words.len())).copied().unwrap_or_default()
    }
}
