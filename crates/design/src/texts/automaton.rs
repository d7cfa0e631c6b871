//! The automaton of a set of texts: one state for each position in the sequence of parts.
//!
//! Always true: state 0 is the beginning and is never entered again; a run through the states is one way to read a text,
//! so two different runs over one text are two ways to read it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use super::{COUNTED_MAX, Chars, Part};

#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// What a state reads on being entered; the beginning reads nothing.
    reads: Vec<Chars>,
    /// The states that can come next.
    next: Vec<Vec<usize>>,
    /// Whether a text may end here.
    accepts: Vec<bool>,
}

/// Texts between two bounds, as bytes compare; a bound that is absent does not bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    /// Not before this text.
    pub(crate) low: Option<String>,
    /// Not after the texts that begin with this.
    pub(crate) high: Option<String>,
}

/// Where a text stands against a bound while it is read: equal so far up to a character, or decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Against {
    EqualTo(usize),
    Inside,
}

impl Automaton {
    pub(super) fn new(parts: &[Part]) -> Automaton {
        let mut automaton =
            Automaton { reads: vec![Chars::of("")], next: vec![Vec::new()], accepts: vec![false] };
        let mut open = vec![0];
        for part in parts {
            open = automaton.append(part, &open);
        }
        for state in open {
            if let Some(accepts) = automaton.accepts.get_mut(state) {
                *accepts = true;
            }
        }
        automaton
    }

    /// Adds a part after the states `open`; the states after which the next part can begin.
    fn append(&mut self, part: &Part, open: &[usize]) -> Vec<usize> {
        match part {
            Part::Literal(text) => self.literal(text, open),
            Part::OneOf(choices) => self.choices(choices, open),
            Part::Run { chars, min, max } => self.run(chars, *min, *max, open),
        }
    }

    fn literal(&mut self, text: &str, open: &[usize]) -> Vec<usize> {
        let mut open = open.to_vec();
        for c in text.chars() {
            open = vec![self.state(Chars::one(c), &open)];
        }
        open
    }

    fn choices(&mut self, choices: &[String], open: &[usize]) -> Vec<usize> {
        let distinct = choices.iter().collect::<std::collections::BTreeSet<_>>();
        let mut ends = distinct.into_iter().flat_map(|choice| self.literal(choice, open)).collect::<Vec<_>>();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    fn run(&mut self, chars: &Chars, min: usize, max: Option<usize>, open: &[usize]) -> Vec<usize> {
        let counted = min.min(COUNTED_MAX);
        let mut last = open.to_vec();
        for _ in 0..counted {
            last = vec![self.state(chars.clone(), &last)];
        }
        match max.filter(|max| *max <= COUNTED_MAX) {
            Some(max) => {
                let mut ends = last.clone();
                for _ in counted..max {
                    last = vec![self.state(chars.clone(), &last)];
                    ends.extend(&last);
                }
                ends
            }
            None => {
                let looping = if counted == 0 { self.state(chars.clone(), &last) } else { self.newest() };
                self.connect(looping, looping);
                let mut ends = if counted == 0 { last } else { Vec::new() };
                ends.push(looping);
                ends
            }
        }
    }

    fn newest(&self) -> usize {
        self.reads.len() - 1
    }

    fn state(&mut self, chars: Chars, from: &[usize]) -> usize {
        self.reads.push(chars);
        self.next.push(Vec::new());
        self.accepts.push(false);
        let state = self.newest();
        for before in from {
            self.connect(*before, state);
        }
        state
    }

    fn connect(&mut self, from: usize, to: usize) {
        if let Some(next) = self.next.get_mut(from) {
            next.push(to);
        }
    }

    fn accepts(&self, state: usize) -> bool {
        self.accepts.get(state).copied().unwrap_or(false)
    }

    /// The states after this one, with what they read.
    fn steps(&self, state: usize) -> impl Iterator<Item = (usize, &Chars)> {
        let next = self.next.get(state).map(Vec::as_slice).unwrap_or_default();
        next.iter().filter_map(|state| Some((*state, self.reads.get(*state)?)))
    }

    /// Whether this is a text of the set: all ways to read it at once.
    pub(super) fn contains(&self, text: &str) -> bool {
        let (mut here, mut next) = (vec![0], Vec::new());
        for c in text.chars() {
            next.clear();
            for state in &here {
                next.extend(
                    self.steps(*state).filter(|(_, chars)| chars.contains(c)).map(|(state, _)| state),
                );
            }
            next.sort_unstable();
            next.dedup();
            std::mem::swap(&mut here, &mut next);
        }
        here.into_iter().any(|state| self.accepts(state))
    }

    pub(super) fn common(&self, other: &Automaton) -> Option<String> {
        walk(
            (0, 0),
            |(left, right)| {
                let mut steps = Vec::new();
                for (next_left, chars) in self.steps(*left) {
                    for (next_right, others) in other.steps(*right) {
                        steps.push((chars.and(others), (next_left, next_right)));
                    }
                }
                steps
            },
            |(left, right)| self.accepts(*left) && other.accepts(*right),
        )
    }

    pub(super) fn read_in_two_ways(&self) -> Option<String> {
        walk(
            (0, 0, false),
            |(left, right, parted)| {
                let mut steps = Vec::new();
                for (next_left, chars) in self.steps(*left) {
                    for (next_right, others) in self.steps(*right) {
                        let parted = *parted || next_left != next_right;
                        // The two runs are interchangeable: look at each pair once.
                        let pair = (next_left.min(next_right), next_left.max(next_right));
                        steps.push((chars.and(others), (pair.0, pair.1, parted)));
                    }
                }
                steps
            },
            |(left, right, parted)| *parted && self.accepts(*left) && self.accepts(*right),
        )
    }

    pub(super) fn beginning_of_another(&self) -> Option<String> {
        let longer = self.can_go_on();
        walk(
            (0, 0),
            |(left, right)| {
                let mut steps = Vec::new();
                for (next_left, chars) in self.steps(*left) {
                    for (next_right, others) in self.steps(*right) {
                        steps.push((chars.and(others), (next_left, next_right)));
                    }
                }
                steps
            },
            |(left, right)| self.accepts(*left) && longer.contains(right),
        )
    }

    /// The states from which an accepting state is reached by one or more steps.
    fn can_go_on(&self) -> HashSet<usize> {
        let mut found = HashSet::new();
        loop {
            let more = (0..self.reads.len())
                .filter(|state| !found.contains(state))
                .filter(|state| {
                    self.steps(*state).any(|(next, chars)| {
                        !chars.is_empty() && (self.accepts(next) || found.contains(&next))
                    })
                })
                .collect::<Vec<_>>();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    pub(super) fn common_in_range(&self, range: &Range) -> Option<String> {
        let low = range.low.as_deref().unwrap_or_default().chars().collect::<Vec<_>>();
        let high = range.high.as_deref().map(|text| text.chars().collect::<Vec<_>>());
        let start_high = match &high {
            Some(bound) if !bound.is_empty() => Against::EqualTo(0),
            _ => Against::Inside,
        };
        let start_low = if low.is_empty() { Against::Inside } else { Against::EqualTo(0) };
        walk(
            (0, start_low, start_high),
            |(state, against_low, against_high)| {
                let mut steps = Vec::new();
                for (next, chars) in self.steps(*state) {
                    for (chars, against_low) in above(chars, *against_low, &low) {
                        for (chars, against_high) in below(&chars, *against_high, high.as_deref()) {
                            steps.push((chars, (next, against_low, against_high)));
                        }
                    }
                }
                steps
            },
            // A text that ends while equal to a longer low bound sorts before it.
            |(state, against_low, _)| self.accepts(*state) && *against_low == Against::Inside,
        )
    }
}

/// The characters that keep a text at or above the low bound, and where it then stands.
fn above(chars: &Chars, against: Against, low: &[char]) -> Vec<(Chars, Against)> {
    let Against::EqualTo(at) = against else { return vec![(chars.clone(), Against::Inside)] };
    let Some(bound) = low.get(at) else { return vec![(chars.clone(), Against::Inside)] };
    let equal = if at + 1 == low.len() { Against::Inside } else { Against::EqualTo(at + 1) };
    vec![(chars.and(&Chars::one(*bound)), equal), (chars.after(*bound), Against::Inside)]
}

/// The characters that keep a text at or below the high bound, and where it then stands.
fn below(chars: &Chars, against: Against, high: Option<&[char]>) -> Vec<(Chars, Against)> {
    let (Against::EqualTo(at), Some(high)) = (against, high) else {
        return vec![(chars.clone(), Against::Inside)];
    };
    let Some(bound) = high.get(at) else { return vec![(chars.clone(), Against::Inside)] };
    let equal = if at + 1 == high.len() { Against::Inside } else { Against::EqualTo(at + 1) };
    vec![(chars.and(&Chars::one(*bound)), equal), (chars.before(*bound), Against::Inside)]
}

/// Walks breadth first from a state to one where the walk may end; the text read on a shortest way, if there is a way.
fn walk<State: Copy + Eq + Hash>(
    start: State,
    steps: impl Fn(&State) -> Vec<(Chars, State)>,
    ends: impl Fn(&State) -> bool,
) -> Option<String> {
    let mut came_from: HashMap<State, Option<(State, char)>> = HashMap::from([(start, None)]);
    let mut waiting = VecDeque::from([start]);
    while let Some(state) = waiting.pop_front() {
        if ends(&state) {
            return Some(text_read(state, &came_from));
        }
        for (chars, next) in steps(&state) {
            let Some(c) = chars.sample() else { continue };
            if let std::collections::hash_map::Entry::Vacant(entry) = came_from.entry(next) {
                entry.insert(Some((state, c)));
                waiting.push_back(next);
            }
        }
    }
    None
}

fn text_read<State: Copy + Eq + Hash>(
    end: State,
    came_from: &HashMap<State, Option<(State, char)>>,
) -> String {
    let mut reversed = Vec::new();
    let mut state = end;
    while let Some(Some((before, c))) = came_from.get(&state) {
        reversed.push(*c);
        state = *before;
    }
    reversed.into_iter().rev().collect()
}
