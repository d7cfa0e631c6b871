//! JSON with relaxed spelling: what requests are written in, and what answers are read from.
//!
//! Beyond JSON: names without quotes, commas at the end, `"x" * 300`, `for n 1..26 element` for many elements or members, `$name` for
//! something kept, and two values that DynamoDB has and JSON has not: a set `{1, 2}` and binary `b"AQID"`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A JSON value. Numbers keep their text; members keep their order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
    /// A set of strings, numbers or binaries. Not in JSON.
    Set(Vec<Json>),
    /// Base64. Not in JSON.
    Bytes(String),
}

/// What `$name` stands for.
pub(crate) type Kept = BTreeMap<String, Json>;

impl Json {
    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// A map of these members.
    pub(crate) fn map<const N: usize>(members: [(&str, Json); N]) -> Json {
        Json::Map(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// A member of a map, or an element of a list by its index.
    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Map(members) => members.iter().find(|(member, _)| member == name).map(|(_, value)| value),
            Json::List(elements) => elements.get(name.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Sets a member of a map.
    pub(crate) fn set(&mut self, name: &str, value: Json) {
        if let Json::Map(members) = self {
            members.retain(|(member, _)| member != name);
            members.push((name.to_owned(), value));
        }
    }

    /// The text, of a text.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Strict JSON.
    pub(crate) fn strict(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) => out.push_str(text),
            Json::Text(text) => write_text(text, out),
            Json::List(elements) => write_list(elements, out),
            Json::Map(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    write_text(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
            Json::Set(_) | Json::Bytes(_) => {
                panic!("an exact request has no sets or binaries: use SS, NS, BS or B")
            }
        }
    }
}

fn write_list(elements: &[Json], out: &mut String) {
    out.push('[');
    for (index, element) in elements.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        element.write(out);
    }
    out.push(']');
}

/// Appends a text in quotes.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Reads JSON as a server writes it.
pub(crate) fn read_strict(text: &str) -> Result<Json, String> {
    let kept = Kept::new();
    let mut reader = Reader::new(text, &kept);
    let value = reader.value()?;
    reader.space();
    if reader.rest().is_empty() { Ok(value) } else { Err(format!("unexpected: {}", reader.rest())) }
}

/// Reads values one after another.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    kept: Kept,
}

impl<'a> Reader<'a> {
    /// Reads this text.
    pub(crate) fn new(text: &'a str, kept: &Kept) -> Reader<'a> {
        Reader { text, at: 0, kept: kept.clone() }
    }

    /// What has not been read.
    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// How much has been read, in bytes.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Passes over white space.
    pub(crate) fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn peek(&mut self) -> char {
        self.space();
        self.rest().chars().next().unwrap_or('\0')
    }

    fn take(&mut self, expected: char) -> bool {
        let found = self.peek() == expected;
        if found {
            self.at += expected.len_utf8();
        }
        found
    }

    fn expect(&mut self, expected: char) -> Result<(), String> {
        if self.take(expected) {
            Ok(())
        } else {
            Err(format!("expected `{expected}` before `{}`", self.rest()))
        }
    }

    /// Reads a value.
    pub(crate) fn value(&mut self) -> Result<Json, String> {
        match self.peek() {
            '"' => self.repeated_text().map(Json::Text),
            '[' => self.list(),
            '{' => self.map(),
            '$' => {
                self.at += 1;
                let name = self.word();
                self.kept.get(name).cloned().ok_or_else(|| format!("nothing is kept as `{name}`"))
            }
            'b' if self.rest().starts_with("b\"") => {
                self.at += 1;
                self.repeated_text().map(Json::Bytes)
            }
            '-' | '0'..='9' => Ok(Json::Number(self.number().to_owned())),
            _ => match self.word() {
                "true" => Ok(Json::Bool(true)),
                "false" => Ok(Json::Bool(false)),
                "null" => Ok(Json::Null),
                other => Err(format!("not a value: `{other}{}`", self.rest())),
            },
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn number(&mut self) -> &'a str {
        let rest = self.rest();
        let mut end = rest.find(|c: char| !"+-.eE0123456789".contains(c)).unwrap_or(rest.len());
        if let Some(range) = rest[..end].find("..") {
            end = range;
        }
        self.at += end;
        &rest[..end]
    }

    fn repeated_text(&mut self) -> Result<String, String> {
        let text = self.quoted()?;
        let here = self.at;
        if self.take('*') {
            self.space();
            let number = self.number();
            return Ok(text.repeat(number.parse().map_err(|_| format!("not a number of times: `{number}`"))?));
        }
        self.at = here;
        Ok(text)
    }

    fn quoted(&mut self) -> Result<String, String> {
        self.expect('"')?;
        let mut text = String::new();
        let mut characters = self.rest().char_indices();
        loop {
            match characters.next() {
                None => return Err(format!("the quotes are not closed: {}", self.rest())),
                Some((end, '"')) => {
                    self.at += end + 1;
                    return Ok(fill(&text, &self.kept));
                }
                Some((_, '\\')) => match characters.next().map(|(_, escaped)| escaped) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('b') => text.push('\u{8}'),
                    Some('f') => text.push('\u{c}'),
                    Some('u') => {
                        let digits: String = characters.by_ref().take(4).map(|(_, digit)| digit).collect();
                        let code = u32::from_str_radix(&digits, 16).map_err(|error| error.to_string())?;
                        text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    other => text.extend(other),
                },
                Some((_, character)) => text.push(character),
            }
        }
    }

    fn list(&mut self) -> Result<Json, String> {
        self.expect('[')?;
        let mut elements = Vec::new();
        while !self.take(']') {
            self.repeated(&mut |reader| {
                elements.push(reader.value()?);
                Ok(())
            })?;
            self.comma(']')?;
        }
        Ok(Json::List(elements))
    }

    /// A map, or a set where elements have no names.
    fn map(&mut self) -> Result<Json, String> {
        self.expect('{')?;
        let (mut members, mut elements) = (Vec::new(), Vec::new());
        while !self.take('}') {
            self.repeated(&mut |reader| {
                match reader.name()? {
                    Some(name) => members.push((name, reader.value()?)),
                    None => elements.push(reader.value()?),
                }
                Ok(())
            })?;
            self.comma('}')?;
        }
        Ok(if elements.is_empty() { Json::Map(members) } else { Json::Set(elements) })
    }

    fn comma(&mut self, end: char) -> Result<(), String> {
        if self.take(',') || self.peek() == end {
            Ok(())
        } else {
            Err(format!("expected `,` before `{}`", self.rest()))
        }
    }

    /// The name of a member with its colon; nothing where a value without a name follows.
    fn name(&mut self) -> Result<Option<String>, String> {
        let start = self.at;
        let name = match self.peek() {
            '"' => self.quoted()?,
            _ => {
                let rest = self.rest();
                let end =
                    rest.find(|c: char| !(c.is_alphanumeric() || "_-.#".contains(c))).unwrap_or(rest.len());
                self.at += end;
                rest[..end].to_owned()
            }
        };
        if self.peek() == ':' && !name.is_empty() || self.rest().starts_with(": ") {
            self.at += 1;
            return Ok(Some(name));
        }
        // `:name` itself may be the name of a member, as in ExpressionAttributeValues.
        self.at = start;
        if self.take(':') {
            let name = format!(":{}", self.word());
            self.expect(':')?;
            return Ok(Some(name));
        }
        self.at = start;
        Ok(None)
    }

    /// One element, or with `for n 1..26` one for each number.
    fn repeated(&mut self, one: &mut dyn FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.space();
        let Some(range) = Range::read(self.rest()) else { return one(self) };
        self.at += range.length;
        let start = self.at;
        for number in range.numbers() {
            self.at = start;
            self.kept.insert(range.name.clone(), Json::Number(number));
            one(self)?;
        }
        self.kept.remove(&range.name);
        Ok(())
    }
}

/// `for n 1..26 `: a name and the numbers it stands for, as wide as the first is written.
pub(crate) struct Range {
    pub(crate) name: String,
    /// Of its text.
    pub(crate) length: usize,
    width: usize,
    numbers: std::ops::RangeInclusive<usize>,
}

impl Range {
    /// Reads the range at the start of a text, if there is one.
    pub(crate) fn read(text: &str) -> Option<Range> {
        let mut words = text.strip_prefix("for ")?.splitn(3, ' ');
        let (name, range) = (words.next()?, words.next()?);
        let (first, last) = range.split_once("..")?;
        let numbers = first.parse().ok()?..=last.parse().ok()?;
        let length = "for ".len() + name.len() + 1 + range.len() + 1;
        Some(Range { name: name.to_owned(), length, width: first.len(), numbers })
    }

    /// The numbers as text.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = String> + use<> {
        let width = self.width;
        self.numbers.clone().map(move |number| format!("{number:0width$}"))
    }
}

/// Replaces `$name` by what is kept; other dollar signs stay.
pub(crate) fn fill(text: &str, kept: &Kept) -> String {
    let mut filled = text.to_owned();
    for (name, value) in kept.iter().rev() {
        if let Json::Text(value) | Json::Number(value) = value {
            filled = filled.replace(&format!("${name}"), value);
        }
    }
    filled
}
