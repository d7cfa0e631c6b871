//! The text of a design, and places in it.
//!
//! Always true: a [`Span`] lies within its text and on character boundaries, so every finding can show its line.
//!
//! Path of a design: text -> [`tree`] (TOML with the place of every key and value) -> `read` -> model.

pub(crate) mod tree;

/// A design file: its name, as findings show it, and its text.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

/// A stretch of the text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it ends; not included.
    pub end: usize,
}

/// A line and column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Something with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed<T> {
    /// The thing.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Placed<T> {
    /// The thing at this place.
    pub fn new(value: T, span: Span) -> Placed<T> {
        Placed { value, span }
    }
}

impl<T> std::ops::Deref for Placed<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl Span {
    /// True if `other` lies within this span.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

impl Source {
    /// A design file with this name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect::<Vec<_>>();
        Source { name: name.into(), text, line_starts }
    }

    /// The name, as findings show it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; empty if the span is not of this text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// Line and column of a byte of the text.
    pub fn place(&self, at: usize) -> Place {
        let line = self.line_starts.partition_point(|start| *start <= at).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        Place { line, column }
    }

    /// The text of a line, counted from 1, without its end.
    pub fn line(&self, line: usize) -> &str {
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let rest = self.text.get(start..).unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }

    /// The place of a part of a text value: `from..to` counts bytes of the value, `span` is where the value stands in
    /// the file, quotes included. The whole value if it is written with escapes.
    pub(crate) fn within(&self, span: Span, value: &str, from: usize, to: usize) -> Span {
        match self.slice(span).find(value) {
            Some(offset) if !value.is_empty() => {
                Span { start: span.start + offset + from, end: span.start + offset + to.max(from) }
            }
            _ => span,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let source = Source::new("a.toml", "one\nzwölf = 1\n");
        assert_eq!(source.place(0), Place { line: 1, column: 1 });
        let equals = source.text().find('=').unwrap();
        assert_eq!(source.place(equals), Place { line: 2, column: 7 });
        assert_eq!(source.line(2), "zwölf = 1");
        assert_eq!(source.place(source.text().len()), Place { line: 3, column: 1 });
    }

    #[test]
    fn a_part_of_a_quoted_value_has_its_own_place() {
        let source = Source::new("a.toml", "key = \"USER#{id}\"");
        let value = Span { start: 6, end: 17 };
        let slot = source.within(value, "USER#{id}", 5, 9);
        assert_eq!(source.slice(slot), "{id}");
    }
}
