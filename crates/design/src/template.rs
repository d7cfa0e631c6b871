//! Key templates: `USER#{userId}` is a literal and a slot.
//!
//! A slot names an attribute or parameter, dots reach into maps, and a format after a colon says how the value is
//! written: `{order:06}`, `{email:lower}`, `{createdAt:day}`, `{storyId:shard(8)}`. `{{` and `}}` are braces.
//!
//! Always true: two literals never stand side by side, and no literal is empty.

use std::fmt;

/// A text with slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Exactly this text.
    Literal(String),
    /// The value of an attribute or parameter.
    Slot(Slot),
}

/// A slot of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The attribute or parameter; dots reach into maps.
    pub path: String,
    /// How its value is written.
    pub format: Format,
    /// Where the slot stands in the template, in bytes, braces included.
    pub at: (usize, usize),
}

/// How the value of a slot is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As it is; numbers in decimal.
    Plain,
    /// A whole number with zeros in front, so many digits wide.
    Padded(u8),
    /// In lower case.
    Lower,
    /// In upper case.
    Upper,
    /// The first so many characters of a timestamp or date: 4 for the year, 10 for the day.
    Truncated(u8),
    /// A number from 0 to n - 1 that follows from the value, written with as many digits as n - 1 has.
    Shard(u32),
}

/// Why a text is not a template, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// What is wrong.
    pub message: String,
    /// From which byte to which.
    pub at: (usize, usize),
}

/// The named truncations, with the number of characters they keep.
const TRUNCATIONS: [(&str, u8); 5] = [("year", 4), ("month", 7), ("day", 10), ("hour", 13), ("minute", 16)];
/// The widest padding: a DynamoDB number has 38 digits.
const PADDING_MAX: u8 = 38;
/// The most shards.
const SHARDS_MAX: u32 = 10_000;

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let rest = text.get(at..).unwrap_or_default();
            if rest.starts_with("{{") || rest.starts_with("}}") {
                literal.push(c);
                at += 2;
            } else if c == '{' {
                let Some(length) = rest.find('}') else {
                    return Err(error("this `{` is never closed", at, text.len()));
                };
                flush(&mut literal, &mut pieces);
                let inner = rest.get(1..length).unwrap_or_default();
                pieces.push(Piece::Slot(slot(inner, at, at + length + 1)?));
                at += length + 1;
            } else if c == '}' {
                return Err(error("this `}` closes nothing; write `}}` for a brace", at, at + 1));
            } else {
                literal.push(c);
                at += c.len_utf8();
            }
        }
        flush(&mut literal, &mut pieces);
        Ok(Template { pieces })
    }

    /// The template that is one slot and nothing else, written as it is.
    pub(crate) fn of_slot(path: &str) -> Template {
        let slot = Slot { path: path.to_owned(), format: Format::Plain, at: (0, 0) };
        Template { pieces: vec![Piece::Slot(slot)] }
    }

    /// The slots, in order.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Slot(slot) => Some(slot),
            Piece::Literal(_) => None,
        })
    }

    /// True if there is no slot.
    pub fn is_constant(&self) -> bool {
        self.slots().next().is_none()
    }

    /// The slot, if the template is one plain slot and nothing else: then it stands for a value of any type.
    pub fn only_slot(&self) -> Option<&Slot> {
        match self.pieces.as_slice() {
            [Piece::Slot(slot)] if slot.format == Format::Plain => Some(slot),
            _ => None,
        }
    }

    /// The text, if there is no slot.
    pub fn constant(&self) -> Option<String> {
        match self.pieces.as_slice() {
            [] => Some(String::new()),
            [Piece::Literal(text)] => Some(text.clone()),
            _ => None,
        }
    }
}

fn flush(literal: &mut String, pieces: &mut Vec<Piece>) {
    if !literal.is_empty() {
        pieces.push(Piece::Literal(std::mem::take(literal)));
    }
}

fn error(message: impl Into<String>, from: usize, to: usize) -> TemplateError {
    TemplateError { message: message.into(), at: (from, to) }
}

fn slot(inner: &str, from: usize, to: usize) -> Result<Slot, TemplateError> {
    let (path, format) = match inner.split_once(':') {
        Some((path, format)) => {
            (path.trim(), format_of(format.trim()).ok_or_else(|| unknown_format(format, from, to))?)
        }
        None => (inner.trim(), Format::Plain),
    };
    if !is_path(path) {
        return Err(error(format!("`{{{inner}}}` does not name an attribute"), from, to));
    }
    Ok(Slot { path: path.to_owned(), format, at: (from, to) })
}

fn unknown_format(format: &str, from: usize, to: usize) -> TemplateError {
    let known = "06 (zeros in front), lower, upper, year, month, day, hour, minute, shard(8)";
    error(format!("`{}` is no format; there are {known}", format.trim()), from, to)
}

/// Names separated by dots: letters, digits, `_`, `-`, `$`; not starting with a digit.
fn is_path(path: &str) -> bool {
    path.split('.').all(|name| {
        name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
    })
}

fn format_of(text: &str) -> Option<Format> {
    if let Some((_, kept)) = TRUNCATIONS.iter().find(|(name, _)| *name == text) {
        return Some(Format::Truncated(*kept));
    }
    match text {
        "lower" => return Some(Format::Lower),
        "upper" => return Some(Format::Upper),
        _ => {}
    }
    if let Some(count) = text.strip_prefix("shard(").and_then(|rest| rest.strip_suffix(')')) {
        let count = count.trim().parse().ok().filter(|count| (2..=SHARDS_MAX).contains(count))?;
        return Some(Format::Shard(count));
    }
    let width = text.strip_prefix('0')?.parse().ok().filter(|width| (1..=PADDING_MAX).contains(width))?;
    Some(Format::Padded(width))
}

impl Format {
    /// How many digits a shard of so many is written with.
    pub(crate) fn shard_digits(count: u32) -> usize {
        count.saturating_sub(1).to_string().len()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Format::Plain => Ok(()),
            Format::Padded(width) => write!(formatter, ":0{width}"),
            Format::Lower => write!(formatter, ":lower"),
            Format::Upper => write!(formatter, ":upper"),
            Format::Truncated(kept) => {
                let name =
                    TRUNCATIONS.iter().find(|(_, count)| count == kept).map_or("day", |(name, _)| name);
                write!(formatter, ":{name}")
            }
            Format::Shard(count) => write!(formatter, ":shard({count})"),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => {
                    write!(formatter, "{}", text.replace('{', "{{").replace('}', "}}"))?;
                }
                Piece::Slot(slot) => write!(formatter, "{{{}{}}}", slot.path, slot.format)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn templates_are_literals_and_slots() {
        let template = Template::parse("CHILD#{order:06}#{stats.id}{{x}}").unwrap();
        assert_eq!(template.pieces.len(), 5);
        assert_eq!(template.to_string(), "CHILD#{order:06}#{stats.id}{{x}}");
        let slots = template.slots().map(|slot| (slot.path.as_str(), slot.format)).collect::<Vec<_>>();
        assert_eq!(slots, [("order", Format::Padded(6)), ("stats.id", Format::Plain)]);
    }

    #[test]
    fn formats_read_as_they_are_written() {
        for text in ["{a:lower}", "{a:upper}", "{a:day}", "{a:year}", "{a:shard(8)}", "{a:012}"] {
            assert_eq!(Template::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_template_says_where() {
        assert_eq!(Template::parse("A#{b").unwrap_err().at, (2, 4));
        assert_eq!(Template::parse("A}").unwrap_err().at, (1, 2));
        assert!(Template::parse("{}").is_err());
        assert!(Template::parse("{a:6}").is_err());
        assert!(Template::parse("{a:shard(1)}").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_a_template_or_an_error(text in "\\PC{0,20}|[{}a:#0-9]{0,12}") {
            if let Ok(template) = Template::parse(&text) {
                let again = template.to_string();
                prop_assert_eq!(Template::parse(&again).unwrap().to_string(), again);
            }
        }
    }
}
