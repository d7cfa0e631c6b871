//! Sets of characters, as ranges.

/// A set of characters. Ranges are sorted, disjoint and not adjacent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Chars {
    ranges: Vec<(u32, u32)>,
}

const LAST: u32 = char::MAX as u32;

impl Chars {
    /// Every character.
    pub(crate) fn any() -> Chars {
        Chars { ranges: vec![(0, LAST)] }
    }

    /// These characters.
    pub(crate) fn of(text: &str) -> Chars {
        Chars::from_ranges(text.chars().map(|c| (u32::from(c), u32::from(c))).collect())
    }

    /// One character.
    pub(crate) fn one(c: char) -> Chars {
        Chars { ranges: vec![(u32::from(c), u32::from(c))] }
    }

    /// The characters of some ranges.
    pub(crate) fn ranges(ranges: &[(char, char)]) -> Chars {
        Chars::from_ranges(ranges.iter().map(|(from, to)| (u32::from(*from), u32::from(*to))).collect())
    }

    /// `0` to `9`.
    pub(crate) fn digits() -> Chars {
        Chars::ranges(&[('0', '9')])
    }

    fn from_ranges(mut ranges: Vec<(u32, u32)>) -> Chars {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Chars { ranges: merged }
    }

    /// The characters that are in neither.
    fn complement(&self) -> Chars {
        let mut next = 0;
        let mut ranges = Vec::new();
        for (from, to) in &self.ranges {
            if next < *from {
                ranges.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= LAST {
            ranges.push((next, LAST));
        }
        Chars { ranges }
    }

    /// The characters that are in both.
    pub(crate) fn and(&self, other: &Chars) -> Chars {
        let mut ranges = Vec::new();
        let (mut left, mut right) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        while let (Some((a, b)), Some((c, d))) = (left.peek(), right.peek()) {
            let (from, to) = (*a.max(c), *b.min(d));
            if from <= to {
                ranges.push((from, to));
            }
            if b < d {
                left.next();
            } else {
                right.next();
            }
        }
        Chars { ranges }
    }

    /// The characters that are in this set and not in the other.
    pub(crate) fn without(&self, other: &Chars) -> Chars {
        self.and(&other.complement())
    }

    /// The characters of this set after `c`.
    pub(crate) fn after(&self, c: char) -> Chars {
        self.and(&Chars { ranges: vec![(u32::from(c).saturating_add(1), LAST)] })
    }

    /// The characters of this set before `c`.
    pub(crate) fn before(&self, c: char) -> Chars {
        match u32::from(c).checked_sub(1) {
            Some(last) => self.and(&Chars { ranges: vec![(0, last)] }),
            None => Chars { ranges: Vec::new() },
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn contains(&self, c: char) -> bool {
        let c = u32::from(c);
        self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c))
    }

    /// The smallest character.
    pub(crate) fn first(&self) -> Option<char> {
        self.ranges.first().and_then(|(from, _)| char::from_u32(*from))
    }

    /// The largest character.
    pub(crate) fn last(&self) -> Option<char> {
        self.ranges.last().and_then(|(_, to)| char::from_u32(*to))
    }

    /// A character to show in an example: a letter or digit if there is one.
    pub(crate) fn sample(&self) -> Option<char> {
        ['a', '1', 'A', 'x'].into_iter().chain('0'..='z').find(|c| self.contains(*c)).or_else(|| self.first())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_chars() -> impl Strategy<Value = Chars> {
        "[a-h]{0,6}".prop_map(|text| Chars::of(&text))
    }

    proptest! {
        #[test]
        fn sets_behave_like_sets(left in any_chars(), right in any_chars(), c in proptest::char::range('a', 'i')) {
            prop_assert_eq!(left.and(&right).contains(c), left.contains(c) && right.contains(c));
            prop_assert_eq!(left.without(&right).contains(c), left.contains(c) && !right.contains(c));
            prop_assert_eq!(left.after('d').contains(c), left.contains(c) && c > 'd');
            prop_assert_eq!(left.before('d').contains(c), left.contains(c) && c < 'd');
            prop_assert_eq!(left.is_empty(), left.first().is_none());
        }
    }
}
