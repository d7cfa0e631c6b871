//! Formatting: a design as everybody writes it.
//!
//! Always true: only spaces and empty lines change, so a formatted design says what it said, comments included; and formatting
//! twice is formatting once. What is not TOML is left as it is.

use crate::source::tree;

/// The design with `=` lined up within each group of lines, one empty line before each table, and no spaces at the end of lines.
pub fn format_design(text: &str) -> String {
    let Ok(before) = tree::parse(text) else { return text.to_owned() };
    let formatted = lines_formatted(text);
    let same = tree::parse(&formatted).is_ok_and(|after| meaning(&after) == meaning(&before));
    if same { formatted } else { text.to_owned() }
}

/// What a tree says, without its places.
fn meaning(entries: &[tree::Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        text.push_str(&entry.key.value);
        text.push('=');
        value_meaning(&entry.value.value, &mut text);
        text.push(';');
    }
    text
}

fn value_meaning(node: &tree::Node, text: &mut String) {
    match node {
        tree::Node::List(list) => {
            text.push('[');
            for element in list {
                value_meaning(&element.value, text);
                text.push(',');
            }
            text.push(']');
        }
        tree::Node::Table(entries) => text.extend(["{", &meaning(entries), "}"]),
        tree::Node::Text(value) => text.extend(["text ", value]),
        tree::Node::Datetime(value) => text.extend(["date ", value]),
        tree::Node::Integer(value) => text.push_str(&value.to_string()),
        tree::Node::Float(value) => text.push_str(&value.to_string()),
        tree::Node::Boolean(value) => text.push_str(&value.to_string()),
    }
}

/// A line of the file, taken apart.
enum Line<'a> {
    Empty,
    /// A heading, a comment, or a line inside a value of several lines.
    Other(&'a str),
    Pair(&'a str, &'a str),
}

fn lines_formatted(text: &str) -> String {
    let mut out = String::new();
    let mut group: Vec<(&str, &str)> = Vec::new();
    let mut state = Inside::default();
    let mut empty_before = true;
    for line in text.lines() {
        let nested = state.is_inside();
        let read = if nested { Line::Other(line) } else { line_of(line) };
        state.follow(line);
        match read {
            Line::Pair(key, value) => {
                group.push((key, value));
                if state.is_inside() {
                    flush(&mut group, &mut out);
                }
                empty_before = false;
            }
            Line::Empty => {
                flush(&mut group, &mut out);
                if !empty_before {
                    out.push('\n');
                }
                empty_before = true;
            }
            Line::Other(line) => {
                flush(&mut group, &mut out);
                let heading = !nested && line.trim_start().starts_with('[');
                let after_comment = out.lines().last().is_some_and(|last| last.starts_with('#'));
                if heading && !empty_before && !after_comment {
                    out.push('\n');
                }
                out.push_str(if nested { line } else { line.trim() }.trim_end());
                out.push('\n');
                empty_before = false;
            }
        }
    }
    flush(&mut group, &mut out);
    let trimmed = out.trim_end_matches('\n').len();
    out.truncate(trimmed);
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn line_of(line: &str) -> Line<'_> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Line::Empty;
    }
    if trimmed.starts_with(['[', '#']) {
        return Line::Other(line);
    }
    match key_end(trimmed).and_then(|at| Some((trimmed.get(..at)?, trimmed.get(at + 1..)?))) {
        Some((key, value)) => Line::Pair(key.trim_end(), value.trim_start()),
        None => Line::Other(line),
    }
}

/// Where the `=` after the key stands; keys may be in quotes.
fn key_end(line: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '=') => return Some(at),
            _ => {}
        }
    }
    None
}

fn flush(group: &mut Vec<(&str, &str)>, out: &mut String) {
    let width = group.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    for (key, value) in group.drain(..) {
        let room = " ".repeat(width.saturating_sub(key.chars().count()));
        out.extend([key, &room, " = ", value.trim_end(), "\n"]);
    }
}

/// Whether a value goes on after the end of a line: open brackets, or a text of several lines.
#[derive(Default)]
struct Inside {
    brackets: usize,
    text: Option<&'static str>,
}

impl Inside {
    fn is_inside(&self) -> bool {
        self.brackets > 0 || self.text.is_some()
    }

    fn follow(&mut self, line: &str) {
        let heading = !self.is_inside() && line.trim_start().starts_with('[');
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let mut step = c.len_utf8();
            match self.text {
                Some(end) => {
                    if rest.starts_with(end) {
                        self.text = None;
                        step = end.len();
                    } else if c == '\\' && end.starts_with('"') {
                        step += rest.chars().nth(1).map_or(0, char::len_utf8);
                    }
                }
                None => {
                    let opening =
                        ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote));
                    if let Some(quote) = opening {
                        self.text = Some(quote);
                        step = quote.len();
                    } else if c == '#' {
                        break;
                    } else if !heading && matches!(c, '[' | '{') {
                        self.brackets += 1;
                    } else if !heading && matches!(c, ']' | '}') {
                        self.brackets = self.brackets.saturating_sub(1);
                    }
                }
            }
            rest = rest.get(step..).unwrap_or_default();
        }
        // A text in single quotes ends with its line.
        if self.text.is_some_and(|end| end.len() == 1) {
            self.text = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equals_signs_line_up_and_tables_stand_apart() {
        let text = "design=\"a\"\n[table.T]\npartition-key = \"PK\"   \nsort-key=\"SK\" # why\n\n\n\n# about\n[entity.E]\nkey = {}\n";
        let expected = "design = \"a\"\n\n[table.T]\npartition-key = \"PK\"\nsort-key      = \"SK\" # why\n\n# about\n[entity.E]\nkey = {}\n";
        assert_eq!(format_design(text), expected);
        assert_eq!(format_design(expected), expected);
    }

    #[test]
    fn what_is_not_toml_is_left_alone() {
        assert_eq!(format_design("a = = 1 "), "a = = 1 ");
    }

    proptest! {
        #[test]
        fn formatting_keeps_the_meaning_and_is_stable(text in "([a-c] ?= ?(1|\"x\"|'y #'|\\[1,\\n 2\\]|\"\"\"p\\n=q\"\"\") ?\\n|\\[[d-z]{3}\\]\\n|# c\\n|\\n){0,8}") {
            let once = format_design(&text);
            prop_assert_eq!(format_design(&once), once.clone());
            if let Ok(before) = tree::parse(&text) {
                prop_assert_eq!(meaning(&tree::parse(&once).unwrap()), meaning(&before));
            }
        }
    }
}
