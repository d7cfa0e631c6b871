//! Sets of texts, and the questions a design asks about them.
//!
//! A key template stands for a set of texts: a sequence of parts, each a literal, a choice of literals, or a run of characters
//! of one class with a least and a greatest length. Every question about keys is decided here and nowhere else:
//!
//! - can this be a key: [`Texts::contains`]
//! - can two keys be equal: [`Texts::common`]
//! - can a `begins_with` match: [`Texts::common`] with [`Texts::then_anything`]
//! - can a comparison match: [`Texts::common_in_range`]
//! - does a text decode in one way only: [`Texts::read_in_two_ways`]
//! - can one text of the set be the beginning of another: [`Texts::beginning_of_another`]
//!
//! Always true: a yes comes with an example text. Parts are taken as independent of each other, so a "no" is certain, and a
//! "yes" is wrong only where one slot stands twice in a key.
//!
//! How: the parts become an automaton whose states are positions in the sequence; a question is a walk over pairs of
//! positions. Work is bounded by the product of the lengths.

mod automaton;
mod chars;

pub(crate) use automaton::Range;
pub(crate) use chars::Chars;

use automaton::Automaton;

/// Longest run of characters that is counted exactly; a longer bound is taken as none.
const COUNTED_MAX: usize = 64;

/// One part of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Exactly this text.
    Literal(String),
    /// One of these texts.
    OneOf(Vec<String>),
    /// Between `min` and `max` characters of a class.
    Run { chars: Chars, min: usize, max: Option<usize> },
}

impl Part {
    /// One or more characters of a class.
    pub(crate) fn some(chars: Chars) -> Part {
        Part::Run { chars, min: 1, max: None }
    }

    /// Exactly so many characters of a class.
    pub(crate) fn exactly(chars: Chars, count: usize) -> Part {
        Part::Run { chars, min: count, max: Some(count) }
    }
}

/// A set of texts: all that the parts can give, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    parts: Vec<Part>,
    automaton: Automaton,
}

impl Texts {
    /// The texts that these parts give.
    pub(crate) fn new(parts: Vec<Part>) -> Texts {
        let automaton = Automaton::new(&parts);
        Texts { parts, automaton }
    }

    /// These texts with anything after them.
    pub(crate) fn then_anything(&self) -> Texts {
        let mut parts = self.parts.clone();
        parts.push(Part::Run { chars: Chars::any(), min: 0, max: None });
        Texts::new(parts)
    }

    /// Whether this text is in the set.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.automaton.contains(text)
    }

    /// A text that is in both sets, if there is one.
    pub(crate) fn common(&self, other: &Texts) -> Option<String> {
        self.automaton.common(&other.automaton)
    }

    /// A text of the set within the range, if there is one.
    pub(crate) fn common_in_range(&self, range: &Range) -> Option<String> {
        self.automaton.common_in_range(range)
    }

    /// A text that the parts give in two ways, if there is one.
    pub(crate) fn read_in_two_ways(&self) -> Option<String> {
        self.automaton.read_in_two_ways()
    }

    /// A text of the set that is also the beginning of a longer text of the set, if there is one.
    pub(crate) fn beginning_of_another(&self) -> Option<String> {
        self.automaton.beginning_of_another()
    }

    /// No text of the set sorts before this; not itself in the set in general.
    pub(crate) fn floor(&self) -> String {
        self.bound(Chars::first)
    }

    /// No text of the set sorts after the texts that begin with this.
    pub(crate) fn ceiling(&self) -> String {
        self.bound(Chars::last)
    }

    fn bound(&self, end: fn(&Chars) -> Option<char>) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                // Which choice is least depends on what follows it: stop at the first letter.
                Part::OneOf(choices) => {
                    let firsts = choices.iter().filter_map(|choice| choice.chars().next());
                    let firsts = Chars::of(&firsts.collect::<String>());
                    text.extend(end(&firsts));
                    return text;
                }
                Part::Run { min: 0, .. } => return text,
                Part::Run { chars, min, max } => {
                    let Some(edge) = end(chars) else { return text };
                    text.extend(std::iter::repeat_n(edge, (*min).min(COUNTED_MAX)));
                    if *max != Some(*min) {
                        return text;
                    }
                }
            }
        }
        text
    }

    /// The literal text that every text of the set begins with.
    pub(crate) fn head(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                _ => break,
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;
